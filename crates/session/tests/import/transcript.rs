//! Transcripts as files: read in a stream, never written, all or nothing.

use std::path::{Path, PathBuf};

use longhand_session::import::{ImportError, Making, Origin, Replay, Tally, Transcript};
use longhand_session::{
    EntryKind, EntryReader, Header, JsonlStore, SequentialIds, SessionStore, Tree,
};
use serde_json::json;

use crate::play::{Now, lines, user};

const SESSION: &str = "11111111-2222-3333-4444-555555555555";

fn transcript(folder: &Path, bytes: &[u8]) -> PathBuf {
    let path = folder.join(format!("{SESSION}.jsonl"));
    std::fs::write(&path, bytes).unwrap();
    path
}

/// Imports a file into a session file, and opens that.
fn fill(source: &Path, target: &Path) -> Result<(Tally, JsonlStore), ImportError> {
    let transcript = Transcript::open(Origin::Claude, source)?;
    let header =
        Header::new("s".into(), longhand_session::time::Timestamp::from_millis(0), "/work");
    let mut store = JsonlStore::create(target, transcript.header(header));
    let ids = SequentialIds::default();
    let making = Making { ids: &ids, clock: &Now, replay: Replay::Impossible };
    let tally = transcript.fill(&mut store, making)?;
    assert_eq!(transcript.count(making)?, tally, "counting says what filling does");
    Ok((tally, JsonlStore::resume(target)))
}

#[test]
fn an_import_is_a_session_that_says_where_it_comes_from() {
    let folder = tempfile::tempdir().unwrap();
    let title = json!({"type": "custom-title", "customTitle": "Crates"});
    let mut bytes = lines(&[user("a", None, "one"), title]);
    bytes.extend(b"{\"torn\":");
    let source = transcript(folder.path(), &bytes);
    let (tally, mut store) = fill(&source, &folder.path().join("own/s.jsonl")).unwrap();
    assert_eq!(tally.damaged_lines, 1);
    let opened = store.open().unwrap();
    assert_eq!(opened.header.title.as_deref(), Some("Crates"));
    assert_eq!(
        opened.header.extra.get("importedFrom"),
        Some(&json!({"source": "claude", "sourceId": SESSION}).into())
    );
    let path = Tree::new(opened.rows).active_path();
    let entries = store.read(&path).unwrap();
    let kinds: Vec<&str> = entries.iter().map(|entry| entry.kind.type_name()).collect();
    assert_eq!(kinds, ["message", "title_change", "custom"]);
    let EntryKind::Custom(mark) = &entries[2].kind else { panic!("{:?}", entries[2]) };
    assert_eq!(mark.custom_type, "foreign_session_import");
    assert_eq!(
        mark.data,
        Some(json!({"source": "claude", "sourceId": SESSION, "sourcePath": source, "sourceCwd": null}).into())
    );
    assert_eq!(std::fs::read(&source).unwrap(), bytes, "the source is as it was");
}

#[test]
fn what_is_no_transcript_makes_no_session() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("s.jsonl");
    let damaged = transcript(folder.path(), b"\0\0\n[1]\ngarbage");
    assert!(matches!(fill(&damaged, &target), Err(ImportError::NothingReadable { .. })));
    for bytes in [&b""[..], b"{\"type\":\"summary\"}", b"{\"type\":\"session\",\"id\":\"x\"}\n"] {
        let path = transcript(folder.path(), bytes);
        let error = fill(&path, &target).map(|(tally, _)| tally).unwrap_err();
        assert!(matches!(error, ImportError::NoMessages { .. }), "{error:?}");
    }
    let missing = folder.path().join("missing.jsonl");
    assert!(matches!(fill(&missing, &target), Err(ImportError::Read { .. })));
    assert!(!target.exists());
}

#[test]
fn what_is_written_while_it_is_imported_is_no_part_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = transcript(folder.path(), &lines(&[user("a", None, "one")]));
    let transcript = Transcript::open(Origin::Claude, &path).unwrap();
    let grown = lines(&[user("a", None, "one"), user("b", Some("a"), "two")]);
    std::fs::write(&path, grown).unwrap();
    let ids = SequentialIds::default();
    let making = Making { ids: &ids, clock: &Now, replay: Replay::Impossible };
    assert_eq!(transcript.count(making).unwrap().messages(), 1);
}
