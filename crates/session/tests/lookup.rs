//! Sessions are found again, and never the wrong one.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use longhand_session::Header;
use longhand_session::listing::{self, Seen, SessionRow};
use longhand_session::lookup::{self, LookupError};
use longhand_session::place::{self, Landmarks};
use longhand_session::time::Timestamp;

const SAID: &str = r#"{"type":"message","id":"a","parentId":null,"timestamp":"t","message":{"role":"user","content":"hi"}}"#;

/// Sessions below one root; each gets newer than the one before.
struct Sessions {
    folder: tempfile::TempDir,
    count: u64,
}

impl Sessions {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("a folder"), count: 0 }
    }

    fn root(&self) -> &Path {
        self.folder.path()
    }

    fn bucket(&self, name: &str) -> PathBuf {
        self.root().join(name)
    }

    fn add(
        &mut self,
        bucket: &str,
        id: &str,
        cwd: &Path,
        title: Option<&str>,
        rest: &str,
    ) -> PathBuf {
        let mut header = Header::new(
            id.into(),
            Timestamp::new("2026-12-01T03:22:05.551Z"),
            cwd.to_string_lossy(),
        );
        header.title = title.map(str::to_owned);
        let folder = self.bucket(bucket);
        fs::create_dir_all(&folder).expect("a folder");
        let path = folder.join(place::file_name(&header));
        fs::write(&path, format!("{}\n{rest}\n", header.to_line())).expect("a file");
        self.count += 1;
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000 + self.count);
        fs::File::options()
            .write(true)
            .open(&path)
            .and_then(|f| f.set_modified(time))
            .expect("set");
        path
    }

    fn rows(&self, bucket: &str) -> Vec<SessionRow> {
        listing::list(&self.bucket(bucket), &mut Seen::default()).expect("a folder")
    }

    /// First here, then everywhere, as somebody at a terminal looks.
    fn find(&self, here: &str, wanted: &str) -> Result<Option<PathBuf>, LookupError> {
        let all = listing::list_all(self.root(), &mut Seen::default()).expect("a folder");
        let here = self.rows(here);
        let found = match lookup::find(wanted, &here)? {
            Some(row) => Some(row.clone()),
            None => lookup::find(wanted, &all)?.cloned(),
        };
        Ok(found.and_then(|row| row.place.file().map(Path::to_path_buf)))
    }
}

#[test]
fn the_newest_session_of_a_directory_is_one_where_something_was_said() {
    let mut sessions = Sessions::new();
    let here = sessions.root().join("work");
    fs::create_dir(&here).expect("a folder");
    sessions.add("-here", "old", &here, None, SAID);
    let wanted = sessions.add("-here", "newer", &here, None, SAID);
    sessions.add("-here", "elsewhere", Path::new("/a/b"), None, SAID);
    sessions.add("-here", "empty", &here, None, "");
    fs::write(sessions.bucket("-here").join("junk.jsonl"), "junk\n").expect("a file");

    let rows = sessions.rows("-here");
    let found = lookup::newest(&rows, &here).and_then(|row| row.place.file());
    assert_eq!(found, Some(&*wanted));
    assert_eq!(lookup::newest(&sessions.rows("-none"), &here), None);
}

#[test]
fn a_word_means_an_id_then_a_title_and_here_before_elsewhere() {
    let mut sessions = Sessions::new();
    let cwd = Path::new("/w");
    let first = sessions.add("-here", "0190aa", cwd, Some("Fix retry"), SAID);
    let second = sessions.add("-here", "0190bb", cwd, Some("Fix retry of uploads"), SAID);
    let far = sessions.add("-far", "0190cc", cwd, Some("0190"), SAID);
    let short = sessions.add("-far", "0190", cwd, None, SAID);

    for (wanted, path) in [
        ("0190AA", &first),
        ("2026-12-01T03-22-05-551Z_0190bb", &second),
        ("Fix retry", &first),
        ("fix retry of", &second),
        ("0190cc", &far),
    ] {
        let found = sessions.find("-here", wanted).expect("one");
        assert_eq!(found.as_ref(), Some(path), "{wanted}");
    }
    for unknown in ["zz", ""] {
        assert_eq!(sessions.find("-here", unknown).expect("none"), None);
    }
    assert_eq!(lookup::as_path("/some/where"), Some(Path::new("/some/where")));
    assert_eq!(lookup::as_path("where.jsonl"), Some(Path::new("where.jsonl")));
    assert_eq!(lookup::as_path("0190"), None);

    let ambiguous = sessions.find("-here", "0190").expect_err("two here").to_string();
    assert_eq!(
        ambiguous,
        "`0190` matches 2 sessions:\n  0190bb  Fix retry of uploads\n  0190aa  Fix retry"
    );
    let elsewhere = sessions.find("-none", "0190").expect("one");
    assert_eq!(elsewhere, Some(short), "a whole id wins over ids that start with it");
}

#[test]
fn a_header_longer_than_the_window_is_still_read() {
    let mut sessions = Sessions::new();
    let path = sessions.add("-here", "long", Path::new("/w"), None, SAID);
    let dirs = vec!["/some/directory"; 400];
    let header = serde_json::json!({"type": "session", "id": "long", "cwd": "/w", "additionalDirectories": dirs});
    fs::write(&path, format!("{header}\n{SAID}\n")).expect("a file");
    let session = listing::glance(&path).expect("a file");
    assert_eq!((session.id.as_str(), session.is_empty()), ("long", false));
}

#[test]
fn a_bucket_is_named_for_its_directory() {
    let places = Landmarks::new(Path::new("/no/home/me"), Path::new("/no/temp"));
    for (cwd, bucket) in [
        ("/no/home/me", "-"),
        ("/no/home/me/a/b", "-a-b"),
        ("/no/home/mew", "--no-home-mew--"),
        ("/no/temp", "-tmp"),
        ("/no/temp/a/b", "-tmp-a-b"),
        ("/no/opt/x y", "--no-opt-x y--"),
        ("/no/c:d\\e", "--no-c-d-e--"),
    ] {
        assert_eq!(places.bucket(Path::new(cwd)), bucket, "{cwd}");
    }
    let header = Header::new("id".into(), Timestamp::new("2026-12-01T03:22:05.551Z"), "/w");
    assert_eq!(
        places.new_session(Path::new("/s"), Path::new("/no/home/me/a"), &header),
        Path::new("/s/-a/2026-12-01T03-22-05-551Z_id.jsonl")
    );
}

#[test]
fn artifacts_lie_beside_their_session() {
    assert_eq!(place::artifact_folder(Path::new("/s/a.jsonl")), Path::new("/s/a"));
    assert_eq!(place::artifact_folder(Path::new("/s/a.txt")), Path::new("/s/a.txt.d"));
}
