//! Imports a transcript of Claude Code or Codex into a session file, and tells what came over.
//!
//! `cargo run -p longhand-session --example import_transcript -- claude TRANSCRIPT NEW_FILE`

use std::path::PathBuf;

use longhand_session::import::{Making, Origin, Replay, Transcript};
use longhand_session::time::{Clock, SystemClock, Timestamp};
use longhand_session::{Header, IdSource, JsonlStore, SystemIds};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [program, source, target] = &words[..] else {
        return Err("usage: import_transcript claude|codex TRANSCRIPT NEW_FILE".into());
    };
    let origin = if program == "codex" { Origin::Codex } else { Origin::Claude };
    let transcript = Transcript::open(origin, &PathBuf::from(source))?;

    let ids = SystemIds::default();
    let now = Timestamp::from_millis(SystemClock.now_millis());
    let cwd = transcript.facts().cwd.clone().unwrap_or_default();
    let header = transcript.header(Header::new(ids.session_id(), now, cwd));
    let mut store = JsonlStore::create(target, header);
    let making = Making { ids: &ids, clock: &SystemClock, replay: Replay::Impossible };
    let tally = transcript.fill(&mut store, making)?;
    println!("{} messages came over; left out: {:?}", tally.messages(), tally.skipped);
    Ok(())
}
