//! What a session costs in a file and in a database: appending, opening, finding words, room on disk.
//!
//! The size factor is printed first: bytes on disk by bytes in files, for sessions of the mix that tools make.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use longhand_session::sqlite::SqliteLibrary;
use longhand_session::store::ChangeSet;
use longhand_session::time::Timestamp;
use longhand_session::{Entry, EntryId, Header, JsonlStore, SessionStore, SqliteStore};
use serde_json::json;
use tempfile::TempDir;

fn main() {
    print_size_factor();
    divan::main();
}

/// Words as in code and in talk about it: few common ones, many rare ones.
struct Words(u64);

impl Words {
    fn text(&mut self, words: usize) -> String {
        let mut text = String::with_capacity(words * 8);
        for _ in 0..words {
            // A linear congruential generator: the same words at each run.
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let draw = self.0 >> 33;
            let rank = (draw % 20_000) * (draw / 20_000 % 20_000) / 20_000;
            text.push_str(&format!("w{rank:x} "));
        }
        text
    }
}

/// Entries as in a session of tools: a request, an answer with a call, a long result.
fn entries(count: usize, words: &mut Words) -> Vec<Arc<Entry>> {
    let mut entries = Vec::with_capacity(count);
    for n in 0..count {
        let message = match n % 3 {
            0 => json!({"role": "user", "content": words.text(40), "timestamp": n}),
            1 => json!({"role": "assistant", "timestamp": n, "stopReason": "toolUse", "content": [
                {"type": "thinking", "thinking": words.text(80)},
                {"type": "text", "text": words.text(60)},
                {"type": "toolCall", "id": format!("c{n}"), "name": "read", "arguments": {"path": "a"}}]}),
            _ => {
                json!({"role": "toolResult", "toolCallId": format!("c{}", n - 1), "toolName": "read",
                "timestamp": n, "isError": false, "content": [{"type": "text", "text": words.text(900)}]})
            }
        };
        let parent = n.checked_sub(1).map(|before| format!("{before:08x}"));
        let entry = json!({"type": "message", "id": format!("{n:08x}"), "parentId": parent,
            "timestamp": "2026-03-01T10:00:00.000Z", "message": message});
        entries.push(Arc::new(serde_json::from_value(entry).expect("an entry")));
    }
    entries
}

fn header(id: &str) -> Header {
    Header::new(id.into(), Timestamp::from_millis(0), "/w")
}

fn write(store: &mut dyn SessionStore, entries: &[Arc<Entry>]) {
    let changes = ChangeSet { append: entries.to_vec(), ..ChangeSet::default() };
    store.rewrite(&changes).expect("room");
}

fn file(folder: &TempDir) -> PathBuf {
    folder.path().join("s.jsonl")
}

fn database(folder: &TempDir) -> PathBuf {
    folder.path().join("sessions.db")
}

fn size(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |metadata| metadata.len())
}

fn print_size_factor() {
    let folder = tempfile::tempdir().expect("a folder");
    let (file, database) = (file(&folder), database(&folder));
    let mut words = Words(1);
    let mut in_files = 0;
    for n in 0..50 {
        let entries = entries(300, &mut words);
        write(&mut JsonlStore::create(&file, header("s")), &entries);
        in_files += size(&file);
        fs::remove_file(&file).expect("the file");
        write(&mut SqliteStore::create(&database, header(&format!("s{n}"))), &entries);
    }
    let in_database = size(&database);
    println!(
        "size: {in_files} bytes in files, {in_database} in a database, factor {:.2}",
        in_database as f64 / in_files as f64
    );
}

const LONG: usize = 41_000;

/// What a session is kept in.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Jsonl,
    Sqlite,
}

const KINDS: [Kind; 2] = [Kind::Jsonl, Kind::Sqlite];

impl Kind {
    fn create(self, folder: &TempDir) -> Box<dyn SessionStore> {
        match self {
            Self::Jsonl => Box::new(JsonlStore::create(file(folder), header("s"))),
            Self::Sqlite => Box::new(SqliteStore::create(database(folder), header("s"))),
        }
    }

    fn resume(self, folder: &TempDir) -> Box<dyn SessionStore> {
        match self {
            Self::Jsonl => Box::new(JsonlStore::resume(file(folder))),
            Self::Sqlite => Box::new(SqliteStore::resume(database(folder), "s".into())),
        }
    }

    fn long_session(self) -> TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        write(&mut *self.create(&folder), &entries(LONG, &mut Words(1)));
        folder
    }
}

#[divan::bench(sample_count = 10, args = KINDS)]
fn open_41000_entries(bencher: divan::Bencher<'_, '_>, kind: Kind) {
    let folder = kind.long_session();
    bencher.bench_local(|| kind.resume(&folder).open().expect("a session"));
}

#[divan::bench(sample_count = 10, args = KINDS)]
fn read_the_last_5000(bencher: divan::Bencher<'_, '_>, kind: Kind) {
    let folder = kind.long_session();
    let mut store = kind.resume(&folder);
    let rows = store.open().expect("a session").rows;
    let ids: Vec<EntryId> = rows[LONG - 5_000..].iter().map(|row| row.id.clone()).collect();
    bencher.bench_local(|| store.read(&ids).expect("entries"));
}

#[divan::bench(sample_count = 300, sample_size = 1, args = KINDS)]
fn append_one_entry(bencher: divan::Bencher<'_, '_>, kind: Kind) {
    let folder = tempfile::tempdir().expect("a folder");
    let mut store = kind.create(&folder);
    write(&mut *store, &entries(3, &mut Words(1)));
    let sample = entries(30, &mut Words(7));
    let mut n = 0_u64;
    bencher
        .with_inputs(|| {
            n += 1;
            let mut entry = Entry::clone(&sample[n as usize % sample.len()]);
            entry.id = format!("n{n}").into();
            [Arc::new(entry)]
        })
        .bench_local_values(|entry| store.append(&entry).expect("room"));
}

fn library(folder: &TempDir, sessions: usize, entries_each: usize) -> SqliteLibrary {
    let mut words = Words(1);
    for n in 0..sessions {
        let mut store = SqliteStore::create(database(folder), header(&format!("s{n}")));
        write(&mut store, &entries(entries_each, &mut words));
    }
    SqliteLibrary::open(&database(folder)).expect("a database").expect("a database")
}

/// A rare word, a common one, three that meet, and the start of hundreds of words, in nearly every message.
#[divan::bench(sample_count = 10, args = ["w4d2", "w1", "w1 w2 w3", "w12"])]
fn find_in_2000_sessions(bencher: divan::Bencher<'_, '_>, query: &str) {
    let folder = tempfile::tempdir().expect("a folder");
    let library = library(&folder, 2_000, 60);
    bencher.bench_local(|| library.search(query, 0, 50).expect("a query"));
}

#[divan::bench(sample_count = 10)]
fn list_2000_sessions(bencher: divan::Bencher<'_, '_>) {
    let folder = tempfile::tempdir().expect("a folder");
    let library = library(&folder, 2_000, 3);
    bencher.bench_local(|| library.list().expect("sessions"));
}
