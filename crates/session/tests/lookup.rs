//! Sessions are found again, and never the wrong one.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use longhand_session::Header;
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

    fn find(&self, wanted: &str) -> Result<PathBuf, LookupError> {
        lookup::find(wanted, &self.bucket("-here"), self.root())
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

    let found = lookup::newest(&sessions.bucket("-here"), &here).expect("a folder");
    assert_eq!(found.map(|session| session.path), Some(wanted));
    assert_eq!(lookup::newest(&sessions.bucket("-none"), &here).expect("no folder"), None);
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
        ("/some/where.jsonl", &PathBuf::from("/some/where.jsonl")),
    ] {
        assert_eq!(sessions.find(wanted).ok().as_ref(), Some(path), "{wanted}");
    }
    assert!(matches!(sessions.find("zz"), Err(LookupError::NotFound { .. })));
    assert!(matches!(sessions.find(""), Err(LookupError::NotFound { .. })));

    let ambiguous = sessions.find("0190").expect_err("two here").to_string();
    assert_eq!(
        ambiguous,
        "`0190` matches 2 sessions:\n  0190bb  Fix retry of uploads\n  0190aa  Fix retry"
    );
    let elsewhere = lookup::find("0190", &sessions.bucket("-none"), sessions.root());
    assert_eq!(elsewhere.ok(), Some(short), "a whole id wins over ids that start with it");
}

#[test]
fn a_header_longer_than_the_window_is_still_read() {
    let mut sessions = Sessions::new();
    let path = sessions.add("-here", "long", Path::new("/w"), None, SAID);
    let dirs = vec!["/some/directory"; 400];
    let header = serde_json::json!({"type": "session", "id": "long", "cwd": "/w", "additionalDirectories": dirs});
    fs::write(&path, format!("{header}\n{SAID}\n")).expect("a file");
    let session = lookup::glance(&path).expect("a file").expect("a session");
    assert_eq!((session.id.as_str(), session.is_empty), ("long", false));
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
