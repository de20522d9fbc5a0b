//! How long a list of sessions takes: the first time, again when nothing has changed, and searched as one types.
//!
//! `LONGHAND_BENCH_SESSION` names a file that is listed instead of the generated ones, as often.

use std::fs;
use std::path::{Path, PathBuf};

use longhand_session::listing::{self, Seen};
use serde_json::{Value, json};

fn main() {
    divan::main();
}

/// Bytes of one answer; a file is long enough that neither window holds all of it.
const ANSWER_BYTES: usize = 2_000;

const MESSAGES: usize = 40;

/// Sessions in buckets of a hundred.
struct Sample {
    folder: tempfile::TempDir,
}

impl Sample {
    fn new(sessions: usize) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let given = std::env::var_os("LONGHAND_BENCH_SESSION").map(PathBuf::from);
        for n in 0..sessions {
            let bucket = folder.path().join(format!("-work-{}", n / 100));
            fs::create_dir_all(&bucket).expect("a folder");
            let path = bucket.join(format!("2026-03-01T10-00-00-000Z_{n:08}.jsonl"));
            match &given {
                Some(given) => drop(fs::copy(given, &path).expect("room for copies")),
                None => fs::write(&path, session(n)).expect("room for 80 kB a session"),
            }
        }
        Self { folder }
    }

    fn root(&self) -> &Path {
        self.folder.path()
    }
}

fn session(n: usize) -> String {
    let header = json!({"type": "session", "version": 3, "id": format!("{n:08}"),
        "timestamp": "2026-03-01T10:00:00.000Z", "cwd": "/w"});
    let mut lines = vec![header];
    lines.extend((0..MESSAGES).map(|at| message(n, at)));
    lines.iter().map(|line| format!("{line}\n")).collect()
}

fn message(session: usize, at: usize) -> Value {
    let id = format!("{at:08x}");
    let parent = at.checked_sub(1).map(|before| format!("{before:08x}"));
    let message = if at.is_multiple_of(2) {
        json!({"role": "user", "content": format!("step {at} of session {session}")})
    } else {
        let text = "moved the retry of uploads into its own module; ".repeat(ANSWER_BYTES / 48);
        json!({"role": "assistant", "content": [{"type": "text", "text": text}], "stopReason": "stop"})
    };
    json!({"type": "message", "id": id, "parentId": parent, "timestamp": "2026-03-01T10:00:00.000Z",
        "message": message})
}

/// What the first list of a program costs; the files are in the memory of the operating system.
#[divan::bench(sample_count = 20, args = [2_000, 5_000])]
fn list_for_the_first_time(bencher: divan::Bencher<'_, '_>, sessions: usize) {
    let sample = Sample::new(sessions);
    bencher
        .bench_local(|| listing::list_all(sample.root(), &mut Seen::default()).expect("a folder"));
}

#[divan::bench(sample_count = 20, args = [2_000, 5_000])]
fn list_again(bencher: divan::Bencher<'_, '_>, sessions: usize) {
    let sample = Sample::new(sessions);
    let mut seen = Seen::default();
    listing::list_all(sample.root(), &mut seen).expect("a folder");
    bencher.bench_local(|| listing::list_all(sample.root(), &mut seen).expect("a folder"));
}

/// One key press in a picker.
#[divan::bench(sample_count = 20, args = ["uploads", "step 0 of session 17", "nothing of it"])]
fn search_2000(bencher: divan::Bencher<'_, '_>, query: &str) {
    let sample = Sample::new(2_000);
    let rows = listing::list_all(sample.root(), &mut Seen::default()).expect("a folder");
    bencher.bench_local(|| listing::search(&rows, query));
}
