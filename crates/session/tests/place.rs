//! Each session has a folder of its own for what tools leave behind, whatever it is called.

use std::path::{Path, PathBuf};

use longhand_session::place::SessionPlace;

fn in_database(id: &str) -> PathBuf {
    SessionPlace::Database { path: "/d/sessions.db".into(), id: id.into() }.artifact_folder()
}

#[test]
fn artifacts_lie_beside_the_file_or_the_database_of_their_session() {
    let file = SessionPlace::File("/d/bucket/s.jsonl".into());
    assert_eq!(file.artifact_folder(), Path::new("/d/bucket/s"));
    assert_eq!(in_database("0190-ab"), Path::new("/d/sessions.artifacts/0190-ab"));
}

#[test]
fn no_id_leads_out_of_the_folder_of_all_artifacts() {
    for id in ["", "..", ".hidden", "../../etc", "/etc", "a/b", "ü", &"x".repeat(300)] {
        let folder = in_database(id);
        assert_eq!(folder.parent(), Some(Path::new("/d/sessions.artifacts")), "{id}");
        let name = folder.file_name().expect("a name").to_string_lossy().into_owned();
        assert_eq!(name.len(), 64, "{id}");
        assert!(name.bytes().all(|byte| byte.is_ascii_hexdigit()), "{id}");
    }
}

#[test]
fn a_place_is_read_as_it_is_written() {
    let places = [
        (SessionPlace::File("/d/s.jsonl".into()), "/d/s.jsonl"),
        (SessionPlace::File("a#b".into()), "a#b"),
        (SessionPlace::Database { path: "d/x.db".into(), id: "0190#c".into() }, "d/x.db#0190#c"),
    ];
    for (place, text) in places {
        assert_eq!((place.to_string(), SessionPlace::named(text)), (text.to_owned(), place));
    }
    assert_eq!(SessionPlace::named("x.db#"), SessionPlace::File("x.db#".into()));
}
