//! Two processes on one session: each goes on with its own branch, and hears of the other once.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use longhand_agent::testing::{Reply, ScriptedClient};
use longhand_agent::{AgentSession, SessionConfig, SessionEvent, SessionHandle, UserInput};
use longhand_session::time::Timestamp;
use longhand_session::{Header, JsonlStore, SessionStore, Tree};
use tempfile::TempDir;

async fn start(store: JsonlStore, replies: &[&'static str]) -> SessionHandle {
    let client = ScriptedClient::new(replies.iter().map(|reply| Reply::text(*reply)));
    AgentSession::start(SessionConfig::new(Box::new(store), Arc::new(client)))
        .await
        .expect("a session")
}

async fn resume(path: &Path, replies: &[&'static str]) -> SessionHandle {
    start(JsonlStore::resume(path), replies).await
}

async fn say(session: &SessionHandle, text: &str) {
    session.prompt(UserInput::text(text)).await.expect("the prompt is taken");
}

/// A session in a file in which one thing was said.
async fn begun() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("s.jsonl");
    let header = Header::new("s".into(), Timestamp::from_millis(0), "/w");
    let session = start(JsonlStore::create(&path, header), &["Good morning."]).await;
    say(&session, "Hello").await;
    session.close().await.expect("written");
    (folder, path)
}

fn shown(session: &SessionHandle) -> Vec<String> {
    let branch = session.snapshot();
    let messages = branch.live.iter();
    messages
        .map(|message| serde_json::to_value(&**message).expect("JSON")["content"].to_string())
        .collect()
}

#[tokio::test]
async fn each_keeps_its_branch_and_hears_of_the_other_once() {
    let (_folder, path) = begun().await;
    let one = resume(&path, &["One.", "Once more."]).await;
    let two = resume(&path, &["Two."]).await;
    let mut events = one.subscribe().await.expect("it runs");
    say(&two, "second").await;
    say(&one, "first").await;
    say(&one, "again").await;
    let shown_by_one = shown(&one);
    assert!(shown_by_one.iter().any(|text| text.contains("first")));
    assert!(shown_by_one.iter().all(|text| !text.contains("second")), "{shown_by_one:?}");
    one.close().await.expect("written");
    two.close().await.expect("written");

    let mut told = 0;
    while let Some(event) = events.next().await {
        if let SessionEvent::Notice { code: Some(code), .. } = &event.event {
            told += usize::from(code == "session.shared");
        }
    }
    assert_eq!(told, 1);
    let opened = JsonlStore::resume(&path).open().expect("a session");
    let messages = opened.rows.iter().filter(|row| row.tag.is_message()).count();
    assert_eq!(messages, 8, "two of the beginning, four of one, two of the other");
}

#[tokio::test]
async fn a_process_that_ends_last_does_not_take_the_session_back() {
    let (_folder, path) = begun().await;
    let idle = resume(&path, &[]).await;
    let busy = resume(&path, &["Done."]).await;
    say(&busy, "Work").await;
    busy.close().await.expect("written");
    idle.close().await.expect("written");

    let mut store = JsonlStore::resume(&path);
    let tree = Tree::new(store.open().expect("a session").rows);
    let leaf = tree.leaf().expect("a leaf");
    let on_branch = tree.ancestors(leaf).filter(|row| row.tag.is_message()).count();
    assert_eq!(on_branch, 4, "the branch of the busy one goes on");
}
