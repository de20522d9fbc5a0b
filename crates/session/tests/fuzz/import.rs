//! Imports: whatever a transcript is, what comes out is a session, and not much longer.

use std::collections::HashMap;
use std::fs;
use std::sync::Arc;

use longhand_session::import::{Making, Origin, Replay, Survey, Transcript};
use longhand_session::jsonl::{Disk, JsonlStore};
use longhand_session::time::{SystemClock, Timestamp};
use longhand_session::{Entry, EntryId, Header, SessionStore, SystemIds};
use proptest::prelude::*;

use crate::config;
use crate::strategies::{any_lines, claude, codex, damaged, noise};

/// How many bytes of entries one byte of a transcript may become. The shortest call of a tool is one of 24, and its entry has 500.
const MAX_GROWTH: usize = 64;

/// Bytes that every session has, such as its title.
const CONSTANT_BYTES: usize = 4_096;

/// Needs no device: what is not synced here is lost with the power, which stays on.
#[derive(Debug)]
pub(crate) struct Unsynced;

impl Disk for Unsynced {
    fn sync(&self, _file: &fs::File) -> std::io::Result<()> {
        Ok(())
    }
}

fn import(origin: Origin, transcript: &[u8], replay: Replay) -> Vec<Entry> {
    let survey = Survey::read(origin, transcript).unwrap();
    let making = Making { ids: &SystemIds::default(), clock: &SystemClock, replay };
    survey.entries(transcript, making).collect::<Result<_, _>>().unwrap()
}

fn is_a_session(origin: Origin, transcript: &[u8]) -> Result<(), TestCaseError> {
    for replay in [Replay::Possible, Replay::Impossible] {
        let entries = import(origin, transcript, replay);
        is_a_tree(&entries)?;
        let mut bytes = 0;
        for entry in &entries {
            let line = entry.to_line();
            prop_assert_eq!(&serde_json::from_str::<Entry>(&line).unwrap(), entry);
            bytes += line.len();
        }
        let most = transcript.len() * MAX_GROWTH + CONSTANT_BYTES;
        prop_assert!(bytes <= most, "{} bytes of {}", bytes, transcript.len());
    }
    Ok(())
}

/// Every id once, every parent there, and from every entry a way to a root.
fn is_a_tree(entries: &[Entry]) -> Result<(), TestCaseError> {
    let parents: HashMap<&EntryId, Option<&EntryId>> =
        entries.iter().map(|entry| (&entry.id, entry.parent_id.as_ref())).collect();
    prop_assert_eq!(parents.len(), entries.len(), "an id twice");
    for entry in entries {
        let mut at = &entry.id;
        let mut steps = 0;
        while let Some(parent) = parents.get(at).copied().flatten() {
            prop_assert!(parents.contains_key(parent), "{} is missing", parent);
            steps += 1;
            prop_assert!(steps <= entries.len(), "a circle at {}", at);
            at = parent;
        }
    }
    Ok(())
}

/// The file of the new session opens undamaged, and has all entries.
fn reopens(origin: Origin, bytes: &[u8]) -> Result<(), TestCaseError> {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("source.jsonl");
    fs::write(&source, bytes).unwrap();
    let path = folder.path().join("s.jsonl");
    let Ok(transcript) = Transcript::open(origin, &source) else { return Ok(()) };
    let header = transcript.header(Header::new("s".into(), Timestamp::from_millis(0), "/w"));
    let mut store = JsonlStore::create(&path, header).with_disk(Arc::new(Unsynced));
    let making =
        Making { ids: &SystemIds::default(), clock: &SystemClock, replay: Replay::Impossible };
    let Ok(tally) = transcript.fill(&mut store, making) else {
        prop_assert!(!path.exists());
        return Ok(());
    };
    let opened = JsonlStore::resume(&path).open().unwrap();
    prop_assert!(opened.damage.is_none() && !opened.needs_rewrite, "{:?}", opened.damage);
    prop_assert_eq!(opened.rows.len() as u64, tally.all_entries() + 1);
    prop_assert_eq!(fs::read(&source).unwrap(), bytes, "the source is as it was");
    Ok(())
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn noise_becomes_a_session(bytes in noise()) {
        is_a_session(Origin::Claude, &bytes.0)?;
        is_a_session(Origin::Codex, &bytes.0)?;
    }

    #[test]
    fn any_json_becomes_a_session(bytes in any_lines()) {
        is_a_session(Origin::Claude, &bytes.0)?;
        is_a_session(Origin::Codex, &bytes.0)?;
    }

    #[test]
    fn a_damaged_transcript_of_claude_code_becomes_a_session(bytes in damaged(claude())) {
        is_a_session(Origin::Claude, &bytes.0)?;
        reopens(Origin::Claude, &bytes.0)?;
    }

    #[test]
    fn a_damaged_transcript_of_codex_becomes_a_session(bytes in damaged(codex())) {
        is_a_session(Origin::Codex, &bytes.0)?;
        reopens(Origin::Codex, &bytes.0)?;
    }
}
