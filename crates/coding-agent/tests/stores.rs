//! Sessions in files and in the database are found, shown, gone on with and converted alike.

#![expect(clippy::unwrap_used, reason = "a set-up that fails is a test that fails")]

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use longhand_agent::maintenance::ManualRequest;
use longhand_agent::{SessionEvent, UserInput};
use longhand_coding_agent::agent::{FileCompaction, SessionChoice};
use longhand_coding_agent::conversion::{ConvertError, Original};
use longhand_coding_agent::demo::Pace;
use longhand_coding_agent::inspect::{self, Window};
use longhand_coding_agent::sessions::Scope;
use longhand_coding_agent::settings::StoreKind;
use longhand_coding_agent::{CodingAgent, Environment, OpenRequest, SessionFile, Setup};
use longhand_session::lookup::LookupError;
use longhand_session::place::SessionPlace;
use longhand_session::store::ChangeSet;
use longhand_session::time::Timestamp;
use longhand_session::{ByteEstimate, SessionStore};

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

    fn agent(&self, store: &str) -> CodingAgent {
        let environment: Environment = [
            ("LONGHAND_HOME", self.path("home").display().to_string()),
            ("HOME", self.path("user").display().to_string()),
        ]
        .into_iter()
        .collect();
        let assignments =
            vec![format!("sessions.store={store}"), "compaction.keepRecentTokens=500".into()];
        let setup = Setup {
            assignments,
            demo_pace: Pace::AtOnce,
            ..Setup::new(environment, self.path("project"))
        };
        CodingAgent::new(setup).unwrap()
    }
}

/// Says something in a session, and tells where it lies.
async fn say(agent: &CodingAgent, session: SessionChoice, text: &str) -> SessionPlace {
    let model = Some("demo/offline".into());
    let request = OpenRequest { session, model, ..OpenRequest::default() };
    let opened = agent.open(request).await.unwrap();
    opened.session.prompt(UserInput::text(text)).await.unwrap();
    opened.session.close().await.unwrap();
    opened.place.unwrap()
}

fn store(agent: &CodingAgent, place: &SessionPlace) -> Box<dyn SessionStore> {
    let mut store = agent.store_sources().resume(place);
    store.open().unwrap();
    store
}

fn lines(agent: &CodingAgent, place: &SessionPlace) -> Vec<String> {
    store(agent, place).lines().map(|line| line.unwrap()).collect()
}

fn id(place: &SessionPlace) -> String {
    match place {
        SessionPlace::Database { id, .. } => id.to_string(),
        SessionPlace::File(path) => path.file_stem().unwrap().to_string_lossy().into_owned(),
    }
}

#[tokio::test]
async fn a_setting_says_where_new_sessions_go_and_all_are_found() {
    let desk = Desk::new();
    let (files, database) = (desk.agent("jsonl"), desk.agent("sqlite"));
    let file = say(&files, SessionChoice::New, "list .").await;
    assert!(file.file().is_some() && !files.sessions().database().path.exists());
    let row = say(&database, SessionChoice::New, "list .").await;
    assert!(row.file().is_none());

    for agent in [&files, &database] {
        let listed = agent.sessions().list(Scope::Directory(agent.directory())).unwrap();
        let places: Vec<_> = listed.into_iter().map(|session| session.place).collect();
        assert_eq!(places, [row.clone(), file.clone()], "the last written first");
        for place in &places {
            let wanted = [id(place), place.to_string()];
            for wanted in wanted {
                let found = agent.sessions().find(&wanted, agent.directory()).unwrap();
                assert_eq!(found, *place, "{wanted}");
            }
        }
        let elsewhere = agent.sessions().list(Scope::Directory(Path::new("/"))).unwrap();
        assert_eq!(elsewhere, []);
    }
    let nothing = files.sessions().find("zzz", files.directory());
    assert!(matches!(nothing, Err(LookupError::NotFound { .. })));
}

#[tokio::test]
async fn a_session_in_the_database_goes_on() {
    let desk = Desk::new();
    let agent = desk.agent("sqlite");
    let place = say(&agent, SessionChoice::New, "list .").await;
    let before = lines(&agent, &place);
    for choice in [
        SessionChoice::Continue,
        SessionChoice::Resume(id(&place)),
        SessionChoice::At(place.clone()),
    ] {
        assert_eq!(say(&desk.agent("jsonl"), choice, "list .").await, place);
    }
    let after = lines(&agent, &place);
    assert_eq!(after[..before.len()], before);
    assert!(after.len() > before.len() + 9);
}

#[tokio::test]
async fn a_session_in_the_database_is_inspected_and_compacted() {
    let desk = Desk::new();
    let agent = desk.agent("sqlite");
    let mut place = None;
    for turn in 0..6 {
        let text = format!("write file-{turn}.txt: {}", "word ".repeat(400));
        let choice = place.map_or(SessionChoice::New, SessionChoice::At);
        place = Some(say(&agent, choice, &text).await);
    }
    let place = place.unwrap();
    let session = SessionFile::open(agent.store_sources().resume(&place)).unwrap();
    let facts = inspect::inspect(&session, None, Window::default(), &ByteEstimate).unwrap().session;
    assert_eq!(facts.file, place.to_string());
    assert!(facts.bytes > 1_000 && !facts.modified.is_empty());

    let before = lines(&agent, &place);
    let out = desk.path("out.jsonl");
    let compact = |out: Option<PathBuf>| FileCompaction {
        session: place.clone(),
        out,
        request: ManualRequest::default(),
        model: None,
    };
    let compacted = agent.compact_file(compact(Some(out.clone()))).await.unwrap();
    assert_eq!(lines(&agent, &place), before, "the original stays as it was");
    assert_eq!(compacted.session, SessionPlace::File(out.clone()));
    assert!(lines(&agent, &compacted.session).len() > before.len());
    assert_eq!(agent.compact_file(compact(None)).await.unwrap().session, place);
    assert!(lines(&agent, &place).len() > before.len());
}

#[tokio::test]
async fn two_agents_on_one_session_of_the_database_keep_their_branches() {
    let desk = Desk::new();
    let agent = desk.agent("sqlite");
    let place = say(&agent, SessionChoice::New, "list .").await;
    let open = async || {
        let model = Some("demo/offline".into());
        let session = SessionChoice::At(place.clone());
        agent.open(OpenRequest { session, model, ..OpenRequest::default() }).await.unwrap()
    };
    let (one, two) = (open().await, open().await);
    let mut events = one.session.subscribe().await.unwrap();
    for (opened, text) in [(&two, "list two"), (&one, "list one"), (&one, "help")] {
        opened.session.prompt(UserInput::text(text)).await.unwrap();
    }
    one.session.close().await.unwrap();
    two.session.close().await.unwrap();
    let mut told = 0;
    while let Some(event) = events.next().await {
        if let SessionEvent::Notice { code: Some(code), .. } = &event.event {
            told += usize::from(code == "session.shared");
        }
    }
    assert_eq!(told, 1, "each hears of the other once");
    let all = lines(&agent, &place);
    let said = |text: &str| all.iter().filter(|line| line.contains(text)).count();
    assert!(said("list two") > 0 && said("list one") > 0);
}

#[tokio::test]
async fn each_session_of_the_database_has_a_folder_of_its_own() {
    let desk = Desk::new();
    let agent = desk.agent("sqlite");
    std::fs::write(desk.path("project/long.txt"), "a long line of text\n".repeat(20_000)).unwrap();
    let one = say(&agent, SessionChoice::New, "run cat long.txt").await;
    let two = say(&agent, SessionChoice::New, "run cat long.txt").await;
    let folders = [one.artifact_folder(), two.artifact_folder()];
    assert_ne!(folders[0], folders[1]);
    assert!(folders.iter().all(|folder| folder.starts_with(desk.path("home/sessions"))));
}

#[tokio::test]
async fn a_session_goes_into_the_database_and_back_with_what_tools_left() {
    let desk = Desk::new();
    let agent = desk.agent("jsonl");
    let file = say(&agent, SessionChoice::New, "list .").await;
    let folder = file.artifact_folder();
    std::fs::create_dir_all(folder.join("deeper")).unwrap();
    std::fs::write(folder.join("0.bash.log"), "output").unwrap();
    std::fs::write(folder.join("deeper/1.bash.log"), "more").unwrap();
    let before = lines(&agent, &file);

    let there = agent.convert(&file, StoreKind::Sqlite, Original::Stays).unwrap();
    assert_eq!(there.trash, None);
    assert_eq!(lines(&agent, &there.to), before);
    let left = there.to.artifact_folder().join("deeper/1.bash.log");
    assert_eq!(std::fs::read_to_string(left).unwrap(), "more");
    let listed = agent.sessions().list(Scope::Directory(agent.directory())).unwrap();
    assert_eq!(listed.len(), 1, "one session, in two places");
    assert_eq!(listed[0].place, there.to);
    let written = std::fs::metadata(file.file().unwrap()).unwrap().modified().unwrap();
    let younger = listed[0].modified.duration_since(written).unwrap();
    assert!(younger.as_millis() <= 1, "the copy keeps the time: {younger:?}");

    let again = agent.convert(&file, StoreKind::Sqlite, Original::GoesToTrash);
    assert!(matches!(again, Err(ConvertError::Copy(_))), "{again:?}");
    let same = agent.convert(&file, StoreKind::Jsonl, Original::GoesToTrash);
    assert!(matches!(same, Err(ConvertError::AlreadyThere(_))), "{same:?}");
    assert_eq!(lines(&agent, &file), before);

    std::fs::remove_file(file.file().unwrap()).unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    let back = agent.convert(&there.to, StoreKind::Jsonl, Original::GoesToTrash).unwrap();
    assert_eq!((&back.to, lines(&agent, &back.to)), (&file, before.clone()));
    assert_eq!(std::fs::read_to_string(folder.join("0.bash.log")).unwrap(), "output");
    let trash = SessionPlace::File(back.trash.unwrap());
    assert_eq!(lines(&agent, &trash), before);
    assert!(trash.artifact_folder().join("0.bash.log").exists());
    assert!(!there.to.artifact_folder().exists());
    let gone = agent.sessions().find(&there.to.to_string(), agent.directory()).unwrap();
    assert!(agent.store_sources().resume(&gone).open().is_err());
}

#[tokio::test]
async fn a_session_of_the_database_in_which_nothing_was_said_is_cleaned_up() {
    let desk = Desk::new();
    let agent = desk.agent("sqlite");
    let said = say(&agent, SessionChoice::New, "list .").await;
    let header = longhand_session::Header::new("empty".into(), Timestamp::from_millis(0), "/w");
    let place = agent.sessions().new_place(StoreKind::Sqlite, agent.directory(), &header);
    let mut store = agent.store_sources().create(&place, header);
    store.rewrite(&ChangeSet::default()).unwrap();
    let later = SystemTime::now() + Duration::from_hours(48);
    let cleanup = agent.sessions().leftovers(later).unwrap();
    let paths: Vec<_> = cleanup.leftovers.iter().map(|one| one.path.clone()).collect();
    assert_eq!(paths, [PathBuf::from(place.to_string())]);
    cleanup.remove().unwrap();
    let left: Vec<_> = agent.sessions().list(Scope::Everywhere).unwrap();
    assert_eq!(left.into_iter().map(|row| row.place).collect::<Vec<_>>(), [said]);
}

#[tokio::test]
async fn a_session_with_a_foreign_id_stays_in_its_folder() {
    let desk = Desk::new();
    let agent = desk.agent("jsonl");
    let path = desk.path("odd.jsonl");
    let header =
        r#"{"type":"session","version":3,"id":"../../odd","timestamp":"../..","cwd":"/w"}"#;
    std::fs::write(&path, format!("{header}\n")).unwrap();
    let there =
        agent.convert(&SessionPlace::File(path), StoreKind::Sqlite, Original::GoesToTrash).unwrap();
    let back = agent.convert(&there.to, StoreKind::Jsonl, Original::GoesToTrash).unwrap();
    for file in [back.to.file().unwrap(), &back.trash.unwrap()] {
        let canonical = file.canonicalize().unwrap();
        assert!(canonical.starts_with(desk.path("home")), "{}", canonical.display());
    }
}
