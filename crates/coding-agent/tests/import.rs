//! Sessions of other programs become sessions of this one, and run on.

#![expect(clippy::unwrap_used, reason = "a set-up that fails is a test that fails")]

use std::fs;
use std::path::{Path, PathBuf};

use longhand_agent::UserInput;
use longhand_agent::maintenance::ManualRequest;
use longhand_coding_agent::agent::SessionChoice;
use longhand_coding_agent::demo::Pace;
use longhand_coding_agent::import::{ForeignError, ImportedSession, Repeat};
use longhand_coding_agent::{CodingAgent, Environment, OpenRequest, Setup};
use longhand_session::import::{ImportError, Origin};
use longhand_session::jsonl::JsonlStore;
use longhand_session::place::SessionPlace;
use longhand_session::{EntryKind, EntryReader, SessionStore};
use serde_json::{Value, json};

const ID: &str = "11111111-2222-3333-4444-555555555555";

/// A user's home with other programs in it, and a project.
struct Desk(tempfile::TempDir);

impl Desk {
    fn new() -> Self {
        let desk = Self(tempfile::tempdir().unwrap());
        fs::create_dir_all(desk.path("project")).unwrap();
        desk
    }

    fn path(&self, path: &str) -> PathBuf {
        self.0.path().canonicalize().unwrap().join(path)
    }

    fn agent(&self) -> CodingAgent {
        self.agent_with(&[])
    }

    fn agent_with(&self, assignments: &[&str]) -> CodingAgent {
        let environment: Environment = [
            ("LONGHAND_HOME", self.path("home").display().to_string()),
            ("HOME", self.path("user").display().to_string()),
        ]
        .into_iter()
        .collect();
        let setup = Setup {
            assignments: assignments.iter().copied().map(String::from).collect(),
            demo_pace: Pace::AtOnce,
            ..Setup::new(environment, self.path("project"))
        };
        CodingAgent::new(setup).unwrap()
    }

    fn write(&self, name: &str, records: &[Value]) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let lines: String = records.iter().map(|record| format!("{record}\n")).collect();
        fs::write(&path, lines).unwrap();
        path
    }

    /// A session of Claude Code with some turns.
    fn claude(&self, id: &str, cwd: &Path, turns: u64) -> PathBuf {
        let mut records =
            vec![json!({"type": "custom-title", "customTitle": format!("Title {}", &id[..1])})];
        let mut parent = Value::Null;
        for turn in 0..turns {
            let record = |kind: &str, parent: &Value, message: Value| {
                json!({"type": kind, "uuid": format!("{kind}-{turn}"), "parentUuid": parent, "cwd": cwd,
                    "sessionId": id, "timestamp": "2026-02-01T09:00:00.000Z", "message": message})
            };
            let said = record(
                "user",
                &parent,
                json!({"content": format!("question {turn} {}", "word ".repeat(300))}),
            );
            let answer = record(
                "assistant",
                &said["uuid"],
                json!({
                    "id": format!("msg_{turn}"), "model": "claude-x", "stop_reason": "end_turn",
                    "content": [{"type": "text", "text": "answer ".repeat(300)}],
                }),
            );
            parent = answer["uuid"].clone();
            records.extend([said, answer]);
        }
        self.write(&format!("user/.claude/projects/-p/{id}.jsonl"), &records)
    }
}

/// Imports the session of Claude Code that a word means.
fn import(agent: &CodingAgent, word: &str, repeat: Repeat) -> ImportedSession {
    let source = agent.foreign_session(Origin::Claude, word).unwrap();
    agent.importer(None).import(&source, repeat).unwrap()
}

#[tokio::test]
async fn an_imported_session_runs_on_and_is_compacted() {
    let desk = Desk::new();
    let own = desk.path("elsewhere");
    fs::create_dir_all(&own).unwrap();
    desk.claude(ID, &own, 12);
    let agent = desk.agent();
    let imported = import(&agent, "1111", Repeat::Offer);
    let new = imported.new.unwrap();
    assert_eq!((new.tally.messages(), new.title.as_deref()), (24, Some("Title 1")));

    let request = OpenRequest {
        session: SessionChoice::At(imported.place.clone()),
        model: Some("demo/offline-small".into()),
        ..OpenRequest::default()
    };
    let opened = agent.open(request.clone()).await.unwrap();
    assert_eq!((&opened.header.id, &opened.directory), (&imported.id, &own));
    let end = opened.session.prompt(UserInput::text("hello")).await.unwrap();
    assert!(end.last.is_some());
    opened.session.compact(ManualRequest::default()).await.unwrap();
    opened.session.prompt(UserInput::text("go on")).await.unwrap();
    let before = opened.session.transcript().await.unwrap().unwrap().messages;
    opened.session.close().await.unwrap();

    let again = agent.open(request).await.unwrap();
    assert_eq!(again.session.transcript().await.unwrap().unwrap().messages, before);
    assert!(before.iter().any(|message| message.role() == "compactionSummary"));
    again.session.close().await.unwrap();
}

#[test]
fn what_was_imported_is_offered_and_not_imported_again() {
    let desk = Desk::new();
    desk.claude(ID, &desk.path("project"), 1);
    let agent = desk.agent();
    let first = import(&agent, ID, Repeat::Offer);
    let offered = import(&agent, "title 1", Repeat::Offer);
    assert_eq!((&offered.id, &offered.place, &offered.new), (&first.id, &first.place, &None));
    let source = agent.foreign_session(Origin::Claude, ID).unwrap();
    let plan = agent.importer(None).plan(&source).unwrap();
    assert_eq!(plan.existing.as_ref(), Some(&first.id));

    let second = import(&agent, ID, Repeat::Again);
    assert_ne!(second.place, first.place);
    fs::remove_file(first.place.file().unwrap()).unwrap();
    let offered = import(&agent, ID, Repeat::Offer);
    assert_eq!(offered.place, second.place);
}

#[test]
fn an_import_goes_into_the_database_where_sessions_lie_there() {
    let desk = Desk::new();
    desk.claude(ID, &desk.path("project"), 1);
    let agent = desk.agent_with(&["sessions.store=sqlite"]);
    let first = import(&agent, ID, Repeat::Offer);
    assert!(matches!(first.place, SessionPlace::Database { .. }), "{}", first.place);
    let offered = import(&agent, ID, Repeat::Offer);
    assert_eq!((&offered.id, &offered.place, &offered.new), (&first.id, &first.place, &None));
}

#[test]
fn a_session_goes_on_here_where_its_folder_is_gone() {
    let desk = Desk::new();
    desk.claude(ID, Path::new("/gone/for/good"), 1);
    let agent = desk.agent();
    let imported = import(&agent, ID, Repeat::Offer);
    assert_eq!(imported.new.unwrap().notices.len(), 1);
    let SessionPlace::File(file) = imported.place else { panic!("a file") };
    let mut store = JsonlStore::resume(&file);
    let opened = store.open().unwrap();
    assert_eq!(opened.header.cwd, Some(desk.path("project").display().to_string()));
    let last = opened.rows.last().unwrap().id.clone();
    let mark = store.read(&[last]).unwrap().pop().unwrap();
    let EntryKind::Custom(mark) = &mark.kind else { panic!("{mark:?}") };
    assert_eq!(mark.data.as_ref().unwrap().get("sourceCwd"), Some(&json!("/gone/for/good")));
}

#[test]
fn a_word_means_one_session_or_none() {
    let desk = Desk::new();
    let other = ID.replacen("11111111", "11119999", 1);
    for id in [ID, &other] {
        desk.claude(id, &desk.path("project"), 1);
    }
    let empty = desk.write("empty.jsonl", &[json!({"type": "summary"})]);
    let agent = desk.agent();
    let refused = |word: &str| agent.foreign_session(Origin::Claude, word).unwrap_err();
    assert!(matches!(refused("1111"), ForeignError::Ambiguous { ids, .. } if ids.len() == 2));
    for word in ["", "zzz", "Titl"] {
        assert!(matches!(refused(word), ForeignError::NotFound { .. }), "{word}");
    }
    let not_imported = |path: &str| {
        let source = agent.foreign_session(Origin::Claude, path).unwrap();
        agent.importer(None).import(&source, Repeat::Offer).unwrap_err()
    };
    let no_messages = not_imported(empty.to_str().unwrap());
    assert!(matches!(no_messages, ImportError::NoMessages { .. }));
    assert!(matches!(not_imported("./missing.jsonl"), ImportError::Read { .. }));
    assert!(!desk.path("home/sessions").exists(), "nothing was written");
}

#[test]
fn a_session_in_two_folders_is_one() {
    let desk = Desk::new();
    let file = desk.claude(ID, &desk.path("project"), 1);
    fs::create_dir_all(desk.path("user/.claude/projects/-q")).unwrap();
    fs::copy(&file, desk.path(&format!("user/.claude/projects/-q/{ID}.jsonl"))).unwrap();
    assert!(desk.agent().foreign_session(Origin::Claude, ID).is_ok());
}

#[test]
fn variables_say_where_other_programs_keep_their_sessions() {
    let desk = Desk::new();
    let hello = json!({"type": "response_item", "payload":
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hi"}]}});
    desk.write(
        "codex/sessions/rollout-1.jsonl",
        &[json!({"type": "session_meta", "payload": {"id": "c-1", "cwd": "/w"}}), hello],
    );
    let environment = |variables: &[(&str, PathBuf)]| -> Environment {
        variables.iter().map(|(name, path)| (*name, path.display().to_string())).collect()
    };
    let agent =
        |environment| CodingAgent::new(Setup::new(environment, desk.path("project"))).unwrap();
    let home = ("LONGHAND_HOME", desk.path("home"));
    let named = agent(environment(&[home.clone(), ("CODEX_HOME", desk.path("codex"))]));
    let ids: Vec<String> = named
        .foreign_sessions(Origin::Codex)
        .unwrap()
        .into_iter()
        .map(|session| session.id)
        .collect();
    assert_eq!(ids, ["c-1"]);
    let nowhere = agent(environment(&[home]));
    let error = nowhere.foreign_sessions(Origin::Codex).unwrap_err();
    assert!(matches!(error, ForeignError::NoHome { variable: "CODEX_HOME" }));
}
