//! What an append costs: in the kernel's hands, and safe on the device.

use std::sync::Arc;

use longhand_session::time::Timestamp;
use longhand_session::{Entry, Header, JsonlStore, SessionStore};
use serde_json::json;

fn main() {
    divan::main();
}

/// An empty session in a file of a temporary folder, and entries of a kilobyte to append to it.
struct Appending {
    store: JsonlStore,
    appended: u32,
    _folder: tempfile::TempDir,
}

impl Appending {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let header = Header::new("s".into(), Timestamp::from_millis(0), "/work");
        let store = JsonlStore::create(folder.path().join("session.jsonl"), header);
        let mut appending = Self { store, appended: 0, _folder: folder };
        // The first one writes the file.
        appending.append();
        appending
    }

    fn append(&mut self) {
        self.appended += 1;
        let text = "word ".repeat(200);
        let entry = json!({"type": "message", "id": format!("{:08}", self.appended),
            "parentId": format!("{:08}", self.appended - 1),
            "message": {"role": "user", "content": text, "timestamp": 0}});
        let entry: Entry = serde_json::from_value(entry).expect("an entry of the known form");
        self.store.append(&[Arc::new(entry)]).expect("the disk has room");
    }
}

#[divan::bench]
fn append(bencher: divan::Bencher<'_, '_>) {
    let mut appending = Appending::new();
    bencher.bench_local(|| appending.append());
}

#[divan::bench]
fn append_and_sync(bencher: divan::Bencher<'_, '_>) {
    let mut appending = Appending::new();
    bencher.bench_local(|| {
        appending.append();
        appending.store.sync().expect("the device confirms");
    });
}
