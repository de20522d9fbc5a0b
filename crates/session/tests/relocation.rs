//! Sessions that move: what comes along, what stays, and what is taken back when a step fails.
#![expect(clippy::unwrap_used, reason = "a test fails where a value is missing")]

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use longhand_session::jsonl::{Disk, Relocated, Relocation};
use longhand_session::time::Timestamp;
use longhand_session::{Entry, Header, JsonlStore, SessionStore, StoreError};
use tempfile::TempDir;

fn entry(id: &str) -> Arc<Entry> {
    let line = format!(r#"{{"type":"custom","id":"{id}","parentId":null,"customType":"x"}}"#);
    Arc::new(serde_json::from_str(&line).unwrap())
}

struct Moving {
    folder: TempDir,
    from: PathBuf,
    to: PathBuf,
}

impl Moving {
    /// A session with an artifact, and a place for it that is free.
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let from = folder.path().join("here/s.jsonl");
        let header = Header::new("s".into(), Timestamp::from_millis(0), "/old");
        JsonlStore::create(&from, header).append(&[entry("a"), entry("b")]).unwrap();
        fs::create_dir(folder.path().join("here/s")).unwrap();
        fs::write(folder.path().join("here/s/0.bash.log"), "output").unwrap();
        let to = folder.path().join("there/s.jsonl");
        Self { folder, from, to }
    }

    fn relocation(&self) -> Relocation {
        Relocation::new(&self.from, &self.to, "/new")
    }

    /// All files and what is in them, locks apart.
    fn files(&self) -> BTreeMap<String, Vec<u8>> {
        let mut files = BTreeMap::new();
        collect(self.folder.path(), self.folder.path(), &mut files);
        files
    }

    fn names(&self) -> Vec<String> {
        self.files().into_keys().collect()
    }
}

fn collect(root: &Path, folder: &Path, files: &mut BTreeMap<String, Vec<u8>>) {
    for item in fs::read_dir(folder).unwrap() {
        let path = item.unwrap().path();
        if path.is_dir() {
            collect(root, &path, files);
        } else if !path.display().to_string().contains(".lock") {
            let name = path.strip_prefix(root).unwrap().display().to_string();
            files.insert(name, fs::read(&path).unwrap());
        }
    }
}

#[test]
fn a_session_moves_with_what_tools_left_behind_and_tells_where_it_lay() {
    let moving = Moving::new();
    assert_eq!(moving.relocation().run().unwrap(), Relocated::default());
    assert_eq!(moving.names(), ["there/s.jsonl", "there/s/0.bash.log"]);
    let opened = JsonlStore::resume(&moving.to).open().unwrap();
    assert_eq!(opened.header.cwd.as_deref(), Some("/new"));
    assert_eq!(opened.header.id.as_str(), "s");
    assert_eq!(opened.header.previous_session_files, Some(vec![moving.from.display().to_string()]));
    assert_eq!(opened.rows.len(), 2);
}

#[test]
fn a_session_that_only_gets_another_directory_stays_where_it_is() {
    let moving = Moving::new();
    Relocation::new(&moving.from, &moving.from, "/new").run().unwrap();
    assert_eq!(moving.names(), ["here/s.jsonl", "here/s/0.bash.log"]);
    let header = JsonlStore::resume(&moving.from).open().unwrap().header;
    assert_eq!((header.cwd.as_deref(), header.previous_session_files), (Some("/new"), None));
}

#[test]
fn what_has_a_name_or_a_number_that_is_taken_stays_behind() {
    let moving = Moving::new();
    let at = |name: &str| moving.folder.path().join(name);
    fs::write(at("here/s/1.read.log"), "mine").unwrap();
    fs::write(at("here/s/draft.txt"), "my draft").unwrap();
    fs::create_dir_all(at("there/s")).unwrap();
    fs::write(at("there/s/0.other.log"), "theirs").unwrap();
    fs::write(at("there/s/draft.txt"), "their draft").unwrap();

    let mut moved = moving.relocation().run().unwrap();

    moved.left_behind.sort();
    assert_eq!(moved.left_behind, [at("here/s/0.bash.log"), at("here/s/draft.txt")]);
    assert_eq!(
        moving.names(),
        [
            "here/s/0.bash.log",
            "here/s/draft.txt",
            "there/s.jsonl",
            "there/s/0.other.log",
            "there/s/1.read.log",
            "there/s/draft.txt",
        ]
    );
    assert_eq!(fs::read(at("there/s/draft.txt")).unwrap(), b"their draft");
}

#[test]
fn a_session_never_takes_the_place_of_another_file() {
    let moving = Moving::new();
    fs::create_dir(moving.folder.path().join("there")).unwrap();
    fs::write(&moving.to, "mine").unwrap();
    let before = moving.files();
    let refused = moving.relocation().run().unwrap_err();
    assert!(matches!(refused, StoreError::Exists { .. }), "{refused}");
    assert_eq!(moving.files(), before);
}

#[test]
fn only_a_session_moves() {
    let moving = Moving::new();
    fs::write(&moving.from, "notes").unwrap();
    assert!(matches!(moving.relocation().run(), Err(StoreError::NotASession { .. })));
    assert_eq!(moving.names(), ["here/s.jsonl", "here/s/0.bash.log"]);
    fs::remove_file(&moving.from).unwrap();
    assert!(matches!(moving.relocation().run(), Err(StoreError::Missing { .. })));
    assert_eq!(moving.names(), ["here/s/0.bash.log"]);
}

/// Two devices, perhaps, one of whose changes fails.
#[derive(Debug, Default)]
struct Wobbly {
    has_two_devices: bool,
    fails_at: Option<usize>,
    changes: AtomicUsize,
}

impl Wobbly {
    fn change(&self) -> io::Result<()> {
        let at = self.changes.fetch_add(1, Ordering::Relaxed);
        if self.fails_at == Some(at) { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
    }
}

impl Disk for Wobbly {
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.change()?;
        if self.has_two_devices && from.parent() != to.parent() {
            return Err(io::ErrorKind::CrossesDevices.into());
        }
        fs::rename(from, to)
    }

    fn write(&self, mut file: &File, bytes: &[u8]) -> io::Result<usize> {
        self.change()?;
        io::Write::write(&mut file, bytes)
    }

    fn sync(&self, file: &File) -> io::Result<()> {
        self.change()?;
        file.sync_data()
    }

    fn keep(&self, file: &Path, name: &Path) -> io::Result<()> {
        self.change()?;
        fs::hard_link(file, name)
    }
}

#[test]
fn a_session_moves_to_another_device() {
    let moving = Moving::new();
    fs::create_dir(moving.folder.path().join("here/s/deep")).unwrap();
    fs::write(moving.folder.path().join("here/s/deep/x"), "x").unwrap();
    let disk = Wobbly { has_two_devices: true, ..Wobbly::default() };
    moving.relocation().with_disk(Arc::new(disk)).run().unwrap();
    assert_eq!(moving.names(), ["there/s.jsonl", "there/s/0.bash.log", "there/s/deep/x"]);
    assert!(!moving.folder.path().join("here/s").exists());
    assert_eq!(JsonlStore::resume(&moving.to).open().unwrap().rows.len(), 2);
}

#[test]
fn a_move_that_fails_anywhere_is_taken_back() {
    for has_two_devices in [false, true] {
        let mut steps = 0;
        loop {
            let moving = Moving::new();
            let before = moving.files();
            let disk = Wobbly { has_two_devices, fails_at: Some(steps), ..Wobbly::default() };
            let moved = moving.relocation().with_disk(Arc::new(disk)).run();
            if moved.is_ok() {
                // What fails now is only told: the session is where it should be.
                assert_eq!(moving.names(), ["there/s.jsonl", "there/s/0.bash.log"]);
                break;
            }
            assert_eq!(moving.files(), before, "step {steps}, two devices: {has_two_devices}");
            steps += 1;
        }
        assert!(steps >= 4, "{steps} steps");
    }
}
