//! The whole agent, offline: the demo model, real tools in a folder of their own, and sessions in files.

#![expect(clippy::unwrap_used, reason = "a set-up that fails is a test that fails")]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use longhand_agent::client::ModelsError;
use longhand_agent::maintenance::ManualRequest;
use longhand_agent::{SessionEvent, UserInput};
use longhand_coding_agent::agent::{
    ContextFilesUse, FileCompaction, OpenError, SessionChoice, ToolSelection,
};
use longhand_coding_agent::demo::Pace;
use longhand_coding_agent::{CodingAgent, Environment, OpenRequest, Opened, SessionFile, Setup};
use longhand_session::jsonl::JsonlStore;
use longhand_session::place::SessionPlace;
use longhand_session::{Block, Message, MethodId};

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

    fn agent(&self, assignments: &[&str]) -> CodingAgent {
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

    /// The files of sessions, without the locks beside them.
    fn files(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let mut open = vec![self.path("home/sessions")];
        while let Some(folder) = open.pop() {
            for item in std::fs::read_dir(folder).into_iter().flatten() {
                let path = item.unwrap().path();
                if path.is_dir() { open.push(path) } else { found.push(path) }
            }
        }
        found.retain(|path| path.extension().is_none_or(|ending| ending != "os"));
        found
    }
}

fn with(model: &str) -> OpenRequest {
    OpenRequest { model: Some(model.into()), ..OpenRequest::default() }
}

async fn say(opened: &Opened, text: &str) -> String {
    let end = opened.session.prompt(UserInput::text(text)).await.unwrap();
    end.last.as_ref().and_then(|last| last.as_assistant()).unwrap().text("")
}

async fn transcript(opened: &Opened) -> Vec<Arc<Message>> {
    opened.session.transcript().await.unwrap().unwrap().messages
}

fn roles(messages: &[Arc<Message>]) -> Vec<&str> {
    messages.iter().map(|message| message.role()).collect()
}

#[tokio::test]
async fn a_prompt_runs_a_tool_is_answered_and_is_the_same_after_reopening() {
    let desk = Desk::new();
    std::fs::write(desk.path("project/notes.txt"), "first\nsecond\n").unwrap();
    let agent = desk.agent(&[]);
    let opened = agent.open(with("demo/offline")).await.unwrap();
    assert_eq!(
        desk.files(),
        [""; 0].map(PathBuf::from),
        "nothing is written before the first message"
    );

    let answer = say(&opened, "read notes.txt").await;
    assert!(answer.starts_with("`read notes.txt` gave"), "{answer}");
    let before = transcript(&opened).await;
    assert_eq!(roles(&before), ["user", "assistant", "toolResult", "assistant"]);
    opened.session.close().await.unwrap();
    assert_eq!(desk.files(), [opened.place.as_ref().unwrap().file().unwrap()]);
    #[cfg(unix)]
    for (path, mode) in [(desk.files()[0].clone(), 0o600), (desk.path("home/sessions"), 0o700)] {
        use std::os::unix::fs::PermissionsExt;
        let actual = std::fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(actual & 0o777, mode, "sessions are their owner's alone");
    }

    let again = desk
        .agent(&[])
        .open(OpenRequest { session: SessionChoice::Continue, ..OpenRequest::default() })
        .await
        .unwrap();
    assert_eq!(again.header.id, opened.header.id);
    assert_eq!(again.model().to_string(), "demo/offline", "a session goes on with its own model");
    assert_eq!(transcript(&again).await, before);
    let id = again.header.id.to_string();
    again.session.close().await.unwrap();

    let resume = OpenRequest {
        session: SessionChoice::Resume(id[..13].into()),
        ..with("demo/offline-small")
    };
    let resumed = agent.open(resume).await.unwrap();
    assert_eq!(resumed.model().to_string(), "demo/offline-small");
    resumed.session.close().await.unwrap();
    let last = OpenRequest { session: SessionChoice::Resume(id), ..OpenRequest::default() };
    let last = agent.open(last).await.unwrap();
    assert_eq!(
        last.model().to_string(),
        "demo/offline-small",
        "the change is part of the transcript"
    );
    last.session.close().await.unwrap();
}

#[tokio::test]
async fn a_small_window_compacts_by_itself_and_goes_on() {
    let desk = Desk::new();
    let text: String = (0..80).map(|_| "a line of a file that fills the window\n").collect();
    std::fs::write(desk.path("project/long.txt"), text).unwrap();
    let agent = desk.agent(&["compaction.methodOrder=soft"]);
    let request = OpenRequest {
        tools: ToolSelection::Only(vec!["read".into()]),
        context_files: ContextFilesUse::Skip,
        ..with("demo/offline-small")
    };
    let opened = agent.open(request).await.unwrap();
    let mut events = opened.session.subscribe().await.unwrap();
    let mut compactions = 0;
    for _ in 0..12 {
        let answer = say(&opened, "read long.txt").await;
        assert!(answer.starts_with("`read long.txt` gave"), "{answer}");
        while let Some(event) = events.try_next() {
            if let SessionEvent::AutoCompactionEnd { result: Some(_), .. } = event.event {
                compactions += 1;
            }
        }
    }
    assert!(compactions > 0, "no compaction in twelve turns");
    let branch = opened.session.snapshot();
    let compaction = branch.latest_compaction().unwrap().compaction().unwrap();
    assert!(compaction.summary.contains("read long.txt"), "{}", compaction.summary);
    assert!(transcript(&opened).await.len() > 12 * 4, "everything that was said is still there");
    opened.session.close().await.unwrap();
}

#[tokio::test]
async fn without_a_model_nothing_is_chosen_silently() {
    let desk = Desk::new();
    let error = desk.agent(&[]).open(OpenRequest::default()).await.err().unwrap();
    assert!(matches!(error, OpenError::NoModel(_)), "{error}");
    let error =
        desk.agent(&["model=demo/ofline"]).open(OpenRequest::default()).await.err().unwrap();
    let OpenError::Model(ModelsError::Unknown { closest, .. }) = &error else { panic!("{error}") };
    assert_eq!(closest.as_deref(), Some("demo/offline"));
    assert_eq!(desk.files(), [""; 0].map(PathBuf::from));
}

#[tokio::test]
async fn an_unknown_tool_is_refused_with_the_names_of_those_that_exist() {
    let desk = Desk::new();
    let request = OpenRequest {
        tools: ToolSelection::Only(vec!["telepathy".into()]),
        ..with("demo/offline")
    };
    let error = desk.agent(&[]).open(request).await.err().unwrap().to_string();
    assert!(error.starts_with("there is no tool `telepathy`; there are: read, write"), "{error}");
}

#[tokio::test]
async fn a_session_in_memory_leaves_no_file() {
    let desk = Desk::new();
    let request = OpenRequest { session: SessionChoice::InMemory, ..with("demo/offline") };
    let opened = desk.agent(&[]).open(request).await.unwrap();
    say(&opened, "hello").await;
    opened.session.close().await.unwrap();
    assert_eq!(desk.files(), [""; 0].map(PathBuf::from));
}

#[tokio::test]
async fn settings_prompts_and_instructions_reach_the_model() {
    let desk = Desk::new();
    std::fs::create_dir_all(desk.path("home/prompts")).unwrap();
    std::fs::write(desk.path("home/prompts/system-prompt.md"), "You are a gardener.\n{{tools}}")
        .unwrap();
    std::fs::write(desk.path("home/prompts/poem.md"), "x").unwrap();
    std::fs::write(desk.path("home/config.toml"), "model = \"demo/offline\"\npoem = 1\n").unwrap();
    std::fs::write(desk.path("project/AGENTS.md"), "Water daily.").unwrap();
    let agent = desk.agent(&[]);
    assert_eq!(agent.notices().len(), 2, "{:?}", agent.notices());
    let opened = agent.open(OpenRequest::default()).await.unwrap();
    let live = opened.session.live();
    assert!(live.system[0].starts_with("You are a gardener.\n- `read`:"), "{}", live.system[0]);
    assert!(live.system.iter().any(|segment| segment.contains("Water daily.")));
    assert!(live.non_message_tokens > 0);
    opened.session.close().await.unwrap();
}

/// A session of some turns in a file.
async fn told_session(desk: &Desk, turns: usize) -> PathBuf {
    let opened = desk.agent(&[]).open(with("demo/offline")).await.unwrap();
    for turn in 0..turns {
        say(&opened, &format!("write file-{turn}.txt: {}", "word ".repeat(400))).await;
    }
    opened.session.close().await.unwrap();
    opened.place.unwrap().file().unwrap().to_path_buf()
}

fn entries(file: &Path) -> usize {
    SessionFile::open(Box::new(JsonlStore::resume(file))).unwrap().rows.len()
}

#[tokio::test]
async fn a_file_is_compacted_into_another_one_and_stays_as_it_was() {
    let desk = Desk::new();
    let file = told_session(&desk, 6).await;
    let before = std::fs::read(&file).unwrap();
    let agent = desk.agent(&["compaction.keepRecentTokens=500"]);

    let session = SessionFile::open(Box::new(JsonlStore::resume(&file))).unwrap();
    let client = agent.model_of(&session).await.unwrap();
    assert_eq!(client.as_ref().unwrap().model().id, "offline");
    let rows = agent.plan_methods(&session, None, client).await.unwrap();
    assert_eq!(
        rows.iter().map(|row| (row.method.as_str(), row.available)).collect::<Vec<_>>(),
        [("snapcompact", true), ("soft", true)]
    );

    let compaction = FileCompaction {
        session: SessionPlace::File(file.clone()),
        out: Some(desk.path("out.jsonl")),
        request: ManualRequest { method: Some(MethodId::from("soft")), focus: None },
        model: None,
    };
    let compacted = agent.compact_file(compaction.clone()).await.unwrap();
    assert_eq!(std::fs::read(&file).unwrap(), before);
    assert!(compacted.result.summary.contains("## Goal"));
    assert!(entries(&desk.path("out.jsonl")) > entries(&file));

    let taken = agent.compact_file(compaction).await.err().unwrap().to_string();
    assert_eq!(taken, format!("cannot write `{}`", desk.path("out.jsonl").display()));
}

#[tokio::test]
async fn a_file_is_archived_without_a_key_and_its_frames_are_read_again() {
    let desk = Desk::new();
    let opened = desk.agent(&[]).open(with("demo/offline")).await.unwrap();
    for turn in 0..3 {
        say(&opened, &format!("remember {turn}: {}", "some words of it ".repeat(2_500))).await;
    }
    opened.session.close().await.unwrap();
    let file = opened.place.unwrap().file().unwrap().to_path_buf();
    let agent = desk.agent(&["compaction.keepRecentTokens=500", "snapcompact.shape=8x13-bw"]);
    let session = SessionFile::open(Box::new(JsonlStore::resume(&file))).unwrap();
    let client = agent.model_of(&session).await.unwrap();
    let rows = agent.plan_methods(&session, None, client).await.unwrap();
    let row = rows.iter().find(|row| row.method == "snapcompact").unwrap();
    assert!(row.exact && row.frames > 1, "{row:?}");

    let out = desk.path("out.jsonl");
    let request = |focus: Option<&str>| FileCompaction {
        session: SessionPlace::File(file.clone()),
        out: Some(out.clone()),
        request: ManualRequest {
            method: Some(MethodId::from("snapcompact")),
            focus: focus.map(str::to_owned),
        },
        model: None,
    };
    let refused = agent.compact_file(request(Some("words"))).await.err().unwrap().to_string();
    assert_eq!(refused, "`snapcompact` takes no focus");
    assert!(!out.exists());

    let compacted = agent.compact_file(request(None)).await.unwrap();
    assert!(compacted.result.spent.is_empty(), "no model was asked");
    let archived = std::fs::read_to_string(&out).unwrap();
    assert!(archived.contains("blob:sha256:"), "frames lie beside the session");
    let open = OpenRequest {
        session: SessionChoice::At(SessionPlace::File(out)),
        ..OpenRequest::default()
    };
    let opened = agent.open(open).await.unwrap();
    let pictures = |message: &Message| match message {
        Message::CompactionSummary(summary) => {
            let blocks = summary.blocks.iter().flatten();
            blocks.filter(|block| matches!(block, Block::Image(_))).count()
        }
        _ => 0,
    };
    let live = opened.session.snapshot();
    assert_eq!(live.live.iter().map(|message| pictures(message)).sum::<usize>(), row.frames);
    opened.session.close().await.unwrap();
}

#[tokio::test]
async fn a_first_run_is_told_of_variables_and_sessions_but_of_no_value() {
    let desk = Desk::new();
    told_session(&desk, 1).await;
    let environment: Environment = [
        ("LONGHAND_HOME", desk.path("home").display().to_string()),
        ("HOME", desk.path("user").display().to_string()),
        ("OPENROUTER_API_KEY", "sk-secret".to_owned()),
    ]
    .into_iter()
    .collect();
    let agent = CodingAgent::new(Setup::new(environment, desk.path("project"))).unwrap();
    let first_run = agent.first_run();
    let set: Vec<_> = first_run.variables.iter().filter(|variable| variable.is_set).collect();
    assert_eq!(
        set.iter().map(|variable| variable.name.as_str()).collect::<Vec<_>>(),
        ["OPENROUTER_API_KEY"]
    );
    assert!(first_run.variables.len() > 5);
    assert_eq!(first_run.sessions_here, 1);
    assert!(!format!("{first_run:?}{:?}", agent.credentials()).contains("sk-secret"));
}

#[tokio::test]
async fn limits_that_cannot_work_are_told_when_a_session_opens() {
    let desk = Desk::new();
    for (assignments, expected) in [
        (&[][..], None),
        (&["compaction.methodOrder=poem"], Some("names no method that there is")),
        (&["compaction.methodOrder=poem", "compaction.enabled=false"], None),
        (&["compaction.thresholdTokens=200000"], Some("is not below the context window")),
        (&["compaction.thresholdTokens=100"], Some("it cannot help")),
    ] {
        let opened = desk.agent(assignments).open(with("demo/offline")).await.unwrap();
        match expected {
            None => assert_eq!(opened.notices, [""; 0], "{assignments:?}"),
            Some(words) => assert!(opened.notices.concat().contains(words), "{:?}", opened.notices),
        }
        opened.session.close().await.unwrap();
    }
}

#[tokio::test]
async fn the_approval_mode_of_the_settings_decides_about_calls() {
    let desk = Desk::new();
    for (assignments, expected) in [
        (&[][..], false),
        (&["tools.approvalMode=yolo"], true),
        (&["tools.approval.bash=allow"], true),
        (&["tools.approvalMode=yolo", "tools.approval.bash=deny"], false),
    ] {
        let opened = desk.agent(assignments).open(with("demo/offline")).await.unwrap();
        let answer = say(&opened, "run echo done > ran.txt").await;
        assert_eq!(desk.path("project/ran.txt").exists(), expected, "{assignments:?}: {answer}");
        let _ = std::fs::remove_file(desk.path("project/ran.txt"));
        opened.session.close().await.unwrap();
    }
}
