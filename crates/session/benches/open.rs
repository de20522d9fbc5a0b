//! How long a session file takes to open, and how fast its entries are read.
//!
//! `LONGHAND_BENCH_SESSION` names a file to open instead of the generated one of 100 MB.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use divan::counter::BytesCount;
use longhand_session::{EntryId, EntryReader, JsonlStore, SessionStore, Tree};
use serde_json::json;

fn main() {
    divan::main();
}

struct Sample {
    path: PathBuf,
    /// Removes the generated file.
    _folder: Option<tempfile::TempDir>,
}

impl Sample {
    fn new() -> Self {
        if let Some(path) = std::env::var_os("LONGHAND_BENCH_SESSION") {
            return Self { path: path.into(), _folder: None };
        }
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("s.jsonl");
        generate(&path, 41_000, 2_300).expect("room for 100 MB");
        Self { path, _folder: Some(folder) }
    }

    fn bytes(&self) -> u64 {
        std::fs::metadata(&self.path).map_or(0, |metadata| metadata.len())
    }
}

fn generate(path: &Path, entries: usize, text_bytes: usize) -> std::io::Result<()> {
    let mut file = BufWriter::new(std::fs::File::create(path)?);
    let header = json!({"type": "session", "version": 3, "id": "s", "timestamp": "t", "cwd": "/w"});
    writeln!(file, "{header}")?;
    let unit = "fn rank(piece: &[u8]) -> Option<u32> {\n\tranks.get(\"piece\").copied()\n}\n";
    let text = unit.repeat(text_bytes.div_ceil(unit.len()));
    for n in 0..entries {
        let parent = n.checked_sub(1).map(|before| format!("{before:08x}"));
        let entry = json!({
            "type": "message", "id": format!("{n:08x}"), "parentId": parent,
            "timestamp": "2026-03-01T10:00:00.000Z",
            "message": {"role": "user", "content": [{"type": "text", "text": text}], "timestamp": n},
        });
        writeln!(file, "{entry}")?;
    }
    file.flush()
}

#[divan::bench(sample_count = 20)]
fn open(bencher: divan::Bencher<'_, '_>) {
    let sample = Sample::new();
    bencher
        .counter(BytesCount::new(sample.bytes()))
        .bench_local(|| JsonlStore::resume(&sample.path).open().expect("a session"));
}

#[divan::bench(sample_count = 20)]
fn open_and_make_the_tree(bencher: divan::Bencher<'_, '_>) {
    let sample = Sample::new();
    bencher.counter(BytesCount::new(sample.bytes())).bench_local(|| {
        let opened = JsonlStore::resume(&sample.path).open().expect("a session");
        Tree::new(opened.rows)
    });
}

#[divan::bench(sample_count = 20, args = [100, 5_000])]
fn read_the_last(bencher: divan::Bencher<'_, '_>, entries: usize) {
    let sample = Sample::new();
    let mut store = JsonlStore::resume(&sample.path);
    let rows = store.open().expect("a session").rows;
    let ids: Vec<EntryId> =
        rows.iter().skip(rows.len().saturating_sub(entries)).map(|row| row.id.clone()).collect();
    bencher.bench_local(|| store.read(&ids).expect("entries"));
}
