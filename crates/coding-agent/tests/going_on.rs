//! How sessions go on: with which model and how much thinking, in which folder, as themselves or as copies.

#![expect(clippy::unwrap_used, reason = "a set-up that fails is a test that fails")]

use std::path::{Path, PathBuf};

use longhand_agent::{Navigation, UserInput};
use longhand_coding_agent::agent::{
    CopySessionError, MoveSessionError, OpenError, SessionChoice, Thinking,
};
use longhand_coding_agent::demo::Pace;
use longhand_coding_agent::sessions::Scope;
use longhand_coding_agent::{CodingAgent, Environment, OpenRequest, Opened, Setup};
use longhand_session::breadcrumbs::TerminalId;
use longhand_session::jsonl::JsonlStore;
use longhand_session::model::Effort;
use longhand_session::place::SessionPlace;
use longhand_session::{EntryId, SessionStore, StoreError};
use serde_json::{Value, json};

/// A user's home and a project, in a folder of their own.
struct Desk {
    temp: tempfile::TempDir,
}

impl Desk {
    fn new() -> Self {
        let desk = Self { temp: tempfile::tempdir().unwrap() };
        std::fs::create_dir_all(desk.path("project")).unwrap();
        desk
    }

    fn path(&self, path: &str) -> PathBuf {
        self.temp.path().canonicalize().unwrap().join(path)
    }

    fn agent_in(&self, folder: &str, assignments: &[&str]) -> CodingAgent {
        let environment: Environment = [
            ("LONGHAND_HOME", self.path("home").display().to_string()),
            ("HOME", self.path("user").display().to_string()),
        ]
        .into_iter()
        .collect();
        let setup = Setup {
            assignments: assignments.iter().copied().map(String::from).collect(),
            demo_pace: Pace::AtOnce,
            ..Setup::new(environment, self.path(folder))
        };
        CodingAgent::new(setup).unwrap()
    }

    fn agent(&self, assignments: &[&str]) -> CodingAgent {
        self.agent_in("project", assignments)
    }

    /// A session in a file, one entry after another.
    fn session(&self, entries: &[Value]) -> PathBuf {
        let file = self.path("session.jsonl");
        let cwd = self.path("project").display().to_string();
        let header = json!({ "type": "session", "version": 3, "id": "0199", "cwd": cwd,
            "timestamp": "2026-01-01T00:00:00.000Z" });
        let mut lines = vec![header.to_string()];
        for (n, entry) in entries.iter().enumerate() {
            let mut entry = entry.clone();
            entry["id"] = json!(format!("e{n}"));
            entry["parentId"] = n.checked_sub(1).map(|before| format!("e{before}")).into();
            entry["timestamp"] = json!("2026-01-01T00:00:00.000Z");
            lines.push(entry.to_string());
        }
        std::fs::write(&file, lines.join("\n") + "\n").unwrap();
        file
    }
}

fn at(file: &Path) -> OpenRequest {
    let session = SessionChoice::At(SessionPlace::File(file.to_owned()));
    OpenRequest { session, ..OpenRequest::default() }
}

fn file_of(place: &SessionPlace) -> &Path {
    place.file().unwrap()
}

async fn say(opened: &Opened, text: &str) {
    opened.session.prompt(UserInput::text(text)).await.unwrap();
}

async fn began(desk: &Desk, prompts: &[&str]) -> Opened {
    let request = OpenRequest { model: Some("demo/offline".into()), ..OpenRequest::default() };
    let opened = desk.agent(&[]).open(request).await.unwrap();
    for prompt in prompts {
        say(&opened, prompt).await;
    }
    opened
}

fn model(model: &str, role: Option<&str>) -> Value {
    match role {
        Some(role) => json!({ "type": "model_change", "model": model, "role": role }),
        None => json!({ "type": "model_change", "model": model }),
    }
}

fn reply_of(model: &str) -> Value {
    let (provider, model) = model.split_once('/').unwrap();
    json!({ "type": "message", "message": {
        "role": "assistant", "content": [{ "type": "text", "text": "." }], "stopReason": "stop",
        "api": "x", "provider": provider, "model": model,
    } })
}

/// The changes of model that a file holds, as `role=model`.
fn changes(file: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(file).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines
        .filter(|line| line["type"] == "model_change")
        .map(|line| {
            let role = line["role"].as_str().unwrap_or("default");
            format!("{role}={}", line["model"].as_str().unwrap())
        })
        .collect()
}

#[tokio::test]
async fn a_session_goes_on_with_the_model_of_its_last_role_else_its_own() {
    const BIG: &str = "demo/offline";
    const SMALL: &str = "demo/offline-small";
    for (name, entries, expected) in [
        ("the last change", vec![model(SMALL, None), model(BIG, None)], BIG),
        ("a role", vec![model(BIG, None), model(SMALL, Some("plan"))], SMALL),
        ("a role that is gone", vec![model(SMALL, None), model("x/y", Some("plan"))], SMALL),
        ("a stand-in", vec![model(SMALL, None), model(BIG, Some("fallback"))], SMALL),
        ("a reply", vec![reply_of(SMALL)], SMALL),
        ("a reply of another", vec![model(SMALL, None), reply_of(BIG)], SMALL),
    ] {
        let desk = Desk::new();
        let file = desk.session(&entries);
        let opened = desk.agent(&[&format!("model={BIG}")]).open(at(&file)).await.unwrap();
        assert_eq!(opened.model().to_string(), expected, "{name}");
        opened.session.close().await.unwrap();
        assert_eq!(
            changes(&file).len(),
            entries.len() - usize::from(name.contains("reply")),
            "{name}"
        );
    }
}

#[tokio::test]
async fn a_model_that_is_gone_is_stood_in_for_visibly_and_stays_the_sessions_own() {
    let desk = Desk::new();
    let file = desk.session(&[reply_of("gone/away")]);
    let agent = desk.agent(&["model=demo/offline"]);
    for _ in 0..2 {
        let opened = agent.open(at(&file)).await.unwrap();
        assert_eq!(opened.model().to_string(), "demo/offline");
        let told: Vec<&String> =
            opened.notices.iter().filter(|notice| notice.contains("the session")).collect();
        assert!(told[0].contains("`gone/away`"), "{told:?}");
        assert_eq!(told[1], "the session goes on with `demo/offline`");
        say(&opened, "hello").await;
        opened.session.close().await.unwrap();
    }
    assert_eq!(changes(&file), ["default=gone/away", "fallback=demo/offline"]);
}

#[tokio::test]
async fn a_model_that_is_asked_for_becomes_the_sessions_own() {
    let desk = Desk::new();
    let file = desk.session(&[reply_of("gone/away")]);
    let request = OpenRequest { model: Some("demo/offline".into()), ..at(&file) };
    let opened = desk.agent(&[]).open(request).await.unwrap();
    opened.session.close().await.unwrap();
    assert_eq!(changes(&file), ["default=demo/offline"]);
}

#[tokio::test]
async fn thinking_goes_on_as_it_was_asked_for() {
    let level = |level: Value, configured: Value| json!({ "type": "thinking_level_change", "thinkingLevel": level, "configured": configured });
    for (entries, expected) in [
        (vec![], Thinking::Inherit),
        (vec![level(json!("high"), Value::Null)], Thinking::Level(Effort::High)),
        (vec![level(json!("low"), json!("high"))], Thinking::Level(Effort::High)),
        (vec![level(json!("low"), json!("auto"))], Thinking::Level(Effort::Low)),
        (vec![level(json!("off"), Value::Null)], Thinking::Off),
        (vec![level(json!("high"), json!("inherit"))], Thinking::Inherit),
    ] {
        let desk = Desk::new();
        let file = desk.session(&entries);
        let opened = desk.agent(&["model=demo/offline"]).open(at(&file)).await.unwrap();
        assert_eq!(opened.session.live().thinking, expected, "{entries:?}");
    }
}

#[tokio::test]
async fn a_session_goes_on_where_it_worked_if_that_can_be_entered() {
    let desk = Desk::new();
    let file = desk.session(&[reply_of("demo/offline")]);
    std::fs::create_dir(desk.path("elsewhere")).unwrap();
    let elsewhere = || desk.agent_in("elsewhere", &[]);
    assert_eq!(elsewhere().open(at(&file)).await.unwrap().directory, desk.path("project"));

    std::fs::remove_dir(desk.path("project")).unwrap();
    let opened = elsewhere().open(at(&file)).await.unwrap();
    assert_eq!(opened.directory, desk.path("elsewhere"));
    assert!(opened.notices.iter().any(|notice| notice.contains("is gone")), "{:?}", opened.notices);
    let header = JsonlStore::resume(&file).open().unwrap().header;
    assert_eq!(header.cwd, Some(desk.path("project").display().to_string()));
}

#[tokio::test]
async fn a_fork_goes_on_by_itself() {
    let desk = Desk::new();
    let origin = began(&desk, &["hello"]).await;
    origin.session.close().await.unwrap();
    let id = origin.header.id.to_string();
    let request =
        OpenRequest { session: SessionChoice::Fork(id.clone()), ..OpenRequest::default() };

    let fork = desk.agent(&[]).open(request).await.unwrap();
    say(&fork, "more").await;
    fork.session.close().await.unwrap();

    assert_eq!(fork.header.parent_session, Some(id));
    assert_ne!(fork.place, origin.place);
    assert_eq!(fork.model().to_string(), "demo/offline");
    let rows = |opened: &Opened| {
        let place = opened.place.clone().unwrap();
        JsonlStore::resume(file_of(&place)).open().unwrap().rows
    };
    assert!(rows(&fork).len() > rows(&origin).len());
    assert!(rows(&fork).starts_with(&rows(&origin)));
}

#[tokio::test]
async fn a_session_that_is_not_there_has_no_fork() {
    let desk = Desk::new();
    for wanted in ["0000", "gone.jsonl"] {
        let request =
            OpenRequest { session: SessionChoice::Fork(wanted.into()), ..OpenRequest::default() };
        let refused = desk.agent(&["model=demo/offline"]).open(request).await.err().unwrap();
        assert!(matches!(refused, OpenError::Fork(_)), "{refused}");
    }
    assert!(!desk.path("home/sessions").exists());
}

#[tokio::test]
async fn a_fork_that_cannot_be_opened_is_not_listed() {
    let desk = Desk::new();
    let file = desk.session(&[reply_of("gone/away")]);
    let fork = SessionChoice::Fork(file.display().to_string());
    let request = OpenRequest { session: fork, ..OpenRequest::default() };
    let refused = desk.agent(&[]).open(request).await.err().unwrap();
    assert!(matches!(refused, OpenError::NoModel(_)), "{refused}");
    assert_eq!(desk.agent(&[]).sessions().list(Scope::Everywhere).unwrap(), []);
}

#[tokio::test]
async fn an_open_session_is_copied_as_it_is_now() {
    let desk = Desk::new();
    let origin = began(&desk, &["one", "two"]).await;
    let agent = desk.agent(&[]);
    let branch = origin.session.snapshot();
    let second = branch.entries.iter().filter(|e| e.message().is_some()).nth(2).unwrap().clone();

    let whole = agent.fork_opened(&origin, None).await.unwrap();
    let part = agent.fork_opened(&origin, Some(&second.id)).await.unwrap();
    origin.session.navigate(Navigation::to(second.id.clone())).await.unwrap();
    let moved = agent.fork_opened(&origin, None).await.unwrap();

    assert_eq!((whole.editor.as_ref(), whole.closed_calls), (None, 0));
    assert_eq!(part.editor, Some(UserInput::text("two")));
    for (copy, messages) in [(whole, 4), (part, 2), (moved, 2)] {
        let opened = agent.open(at(file_of(&copy.place))).await.unwrap();
        assert_eq!(opened.session.snapshot().live.len(), messages, "{copy:?}");
    }
}

#[tokio::test]
async fn what_is_nowhere_or_empty_cannot_be_copied() {
    let desk = Desk::new();
    let agent = desk.agent(&["model=demo/offline"]);
    let in_memory = OpenRequest { session: SessionChoice::InMemory, ..OpenRequest::default() };
    let in_memory = agent.open(in_memory).await.unwrap();
    let refused = agent.fork_opened(&in_memory, None).await;
    assert!(matches!(refused, Err(CopySessionError::InMemory)), "{refused:?}");

    let empty = agent.open(OpenRequest::default()).await.unwrap();
    let refused = agent.fork_opened(&empty, None).await;
    assert!(matches!(refused, Err(CopySessionError::Empty)), "{refused:?}");

    let begun = began(&desk, &["one"]).await;
    let first: EntryId = begun.session.snapshot().entries[0].id.clone();
    let refused = agent.fork_opened(&begun, Some(&first)).await;
    assert!(matches!(refused, Err(CopySessionError::NothingBefore)), "{refused:?}");
}

#[tokio::test]
async fn a_session_moves_to_another_folder_and_works_there() {
    let desk = Desk::new();
    std::fs::create_dir(desk.path("elsewhere")).unwrap();
    let opened = began(&desk, &["hello"]).await;
    opened.session.close().await.unwrap();
    let agent = desk.agent(&[]);
    let from = opened.place.clone().unwrap();

    let to = agent.move_session(&from, &desk.path("elsewhere")).unwrap();

    assert!(!file_of(&from).exists());
    let again = agent.open(at(file_of(&to))).await.unwrap();
    assert_eq!(again.directory, desk.path("elsewhere"));
    assert_eq!(again.header.previous_session_files, Some(vec![from.to_string()]));
    let newest = desk.agent_in("elsewhere", &[]).sessions().newest(&desk.path("elsewhere"));
    assert_eq!(newest.unwrap().unwrap().place, to);
    let refused = agent.move_session(&to, &desk.path("gone"));
    assert!(matches!(refused, Err(MoveSessionError::Directory { .. })), "{refused:?}");
    let refused = agent.move_session(&from, &desk.path("project"));
    let is_missing = matches!(refused, Err(MoveSessionError::Store(StoreError::Missing { .. })));
    assert!(is_missing, "{refused:?}");
}

/// Opens a session for somebody at a terminal; without a name nobody watches.
async fn at_terminal(agent: &CodingAgent, name: Option<&str>, session: SessionChoice) -> Opened {
    let terminal = name.and_then(|name| TerminalId::find(Some(Path::new(name)), |_| None));
    let model = Some("demo/offline".into());
    let request = OpenRequest { session, terminal, model, ..OpenRequest::default() };
    agent.open(request).await.unwrap()
}

async fn continued(agent: &CodingAgent, name: Option<&str>) -> Opened {
    at_terminal(agent, name, SessionChoice::Continue).await
}

#[tokio::test]
async fn each_terminal_goes_on_with_its_own_session() {
    for store in ["jsonl", "sqlite"] {
        let desk = Desk::new();
        let agent = desk.agent(&[&format!("sessions.store={store}")]);
        let [first, newest] = ["/dev/pts/1", "/dev/pts/2"].map(Some);
        let mut ids = Vec::new();
        for name in [first, newest] {
            let opened = at_terminal(&agent, name, SessionChoice::New).await;
            say(&opened, "help").await;
            ids.push(opened.header.id.clone());
            opened.session.close().await.unwrap();
        }
        assert_eq!(continued(&agent, first).await.header.id, ids[0], "{store}");
        assert_eq!(continued(&agent, Some("/dev/pts/9")).await.header.id, ids[1], "{store}");
        assert_eq!(continued(&agent, None).await.header.id, ids[1], "{store}: nobody watches");
    }
}

#[tokio::test]
async fn a_session_that_had_not_begun_does_not_bring_back_an_older_one() {
    let desk = Desk::new();
    let agent = desk.agent(&[]);
    let terminal = Some("/dev/pts/1");
    let old = at_terminal(&agent, terminal, SessionChoice::New).await;
    say(&old, "help").await;
    at_terminal(&agent, terminal, SessionChoice::New).await;
    let next = continued(&agent, terminal).await;
    assert_ne!(next.header.id, old.header.id);
    assert_eq!(continued(&agent, None).await.header.id, old.header.id);
}

#[tokio::test]
async fn a_session_moves_along_with_its_renamed_folder() {
    let desk = Desk::new();
    let terminal = Some("/dev/pts/1");
    let opened = at_terminal(&desk.agent(&[]), terminal, SessionChoice::New).await;
    say(&opened, "help").await;
    opened.session.close().await.unwrap();
    std::fs::rename(desk.path("project"), desk.path("renamed")).unwrap();

    let agent = desk.agent_in("renamed", &[]);
    let next = continued(&agent, terminal).await;
    assert_eq!((&next.header.id, &next.directory), (&opened.header.id, &desk.path("renamed")));
    let file = file_of(next.place.as_ref().unwrap()).to_owned();
    assert!(file.starts_with(agent.sessions().folder(&desk.path("renamed"))), "{file:?}");
    assert!(next.notices.iter().any(|notice| notice.contains("it moved along")));
}
