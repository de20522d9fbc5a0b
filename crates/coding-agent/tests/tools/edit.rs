use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use proptest::prelude::*;
use serde_json::json;

use crate::desk::{Desk, details, text};

#[tokio::test]
async fn edits_refer_to_the_file_as_it_was() {
    let desk = Desk::new();
    desk.put("a", "one\ntwo\nthree\nfour\n");
    let edits = json!([{"old": "four", "new": "4"}, {"old": "one\n", "new": ""}, {"old": "two", "new": "one"}]);
    let output = desk.call("edit", json!({"path": "a", "edits": edits})).await;
    assert_eq!(desk.bytes("a"), b"one\nthree\n4\n");
    let diff = "--- a\n+++ a\n@@ -1,4 +1,3 @@\n one\n-two\n three\n-four\n+4\n";
    assert_eq!(
        text(&output),
        format!("Edited a: +1 -2, first changed line 2\n\n{}", diff.trim_end())
    );
    assert_eq!(
        details(&output),
        &json!({"path": "a", "diff": diff, "firstChangedLine": 2, "added": 1, "removed": 2})
    );
}

#[tokio::test]
async fn if_one_edit_fails_none_is_made() {
    let desk = Desk::new();
    let before = "fn one() {\n    first();\n}\nx x\n";
    desk.put("a", before);
    for (edits, expected) in [
        (
            json!([{"old": "one", "new": "two"}, {"old": "x", "new": "y"}]),
            "Edit 2: `old` occurs 2 times, at lines 4, 4. Add lines around it, or set `all`. No edit was made.",
        ),
        (
            json!([{"old": "one() {", "new": "two() {"}, {"old": "{\n    first", "new": "{"}]),
            "Edits 1 and 2 overlap at line 1; make them one edit. No edit was made.",
        ),
        (
            json!([{"old": "one", "new": "1"}, {"old": "   fist();\n}", "new": ""}]),
            "Edit 2: `old` does not occur in the file. No edit was made.\nClosest are lines 2-3 (88 % alike):\n2:    first();\n3:}",
        ),
        (json!([{"old": "one", "new": "one"}]), "Edit 1: `old` and `new` are the same."),
        (
            json!([{"old": "qqqq", "new": ""}]),
            "Edit 1: `old` does not occur in the file. No edit was made.",
        ),
    ] {
        let failed = desk.fails("edit", json!({"path": "a", "edits": edits})).await;
        assert_eq!(failed, expected);
        assert_eq!(desk.bytes("a"), before.as_bytes());
    }
    assert_eq!(
        desk.fails("edit", json!({"path": "b", "edits": [{"old": "x", "new": "y"}]})).await,
        "`b` does not exist; `write` creates files"
    );
}

#[tokio::test]
async fn all_replaces_every_occurrence() {
    let desk = Desk::new();
    desk.put("a", "x = x + 1\n");
    desk.ok("edit", json!({"path": "a", "edits": [{"old": "x", "new": "yy", "all": true}]})).await;
    assert_eq!(desk.bytes("a"), b"yy = yy + 1\n");
}

#[tokio::test]
async fn line_endings_and_blanks_stay_where_lines_are_left_alone() {
    let desk = Desk::new();
    for (before, old, new, after) in [
        ("a\r\nb\r\nc\r\n", "a\nb\nc", "a\nB\nc", "a\r\nB\r\nc\r\n"),
        ("a\r\nb\nc\r\n", "a\nb\nc\n", "a\nB\nc\n", "a\r\nB\nc\r\n"),
        ("a\r\nb\r\n", "b", "b\nc", "a\r\nb\r\nc\r\n"),
        ("a\nb\n", "b", "b\nc", "a\nb\nc\n"),
        ("a  \nb\n", "a\nb", "a\nB", "a  \nB\n"),
        ("a\r\nb", "a\nb", "a\nb\nc", "a\r\nb\r\nc"),
        ("a\r\nb\r\nc", "a\nb\n", "", "c"),
        ("\u{feff}a\r\nb\r\n", "a\nb\n", "a\nx\nb\n", "\u{feff}a\r\nx\r\nb\r\n"),
        (
            "say \u{201c}hi\u{201d}\nx\n",
            "say \"hi\"\nx",
            "say \"hi\"\ny",
            "say \u{201c}hi\u{201d}\ny\n",
        ),
        ("a\nb\nc\n", "b\n", "x", "a\nxc\n"),
    ] {
        desk.put("a", before);
        desk.ok("edit", json!({"path": "a", "edits": [{"old": old, "new": new}]})).await;
        assert_eq!(
            String::from_utf8_lossy(&desk.bytes("a")),
            after,
            "{before:?}: {old:?} -> {new:?}"
        );
    }
}

#[tokio::test]
async fn a_match_that_overlooks_something_is_reported() {
    let desk = Desk::new();
    desk.put("a", "a\r\nb\r\n");
    let said = desk.ok("edit", json!({"path": "a", "edits": [{"old": "a\nb", "new": "c"}]})).await;
    assert!(said.contains("\nEdit 1 matched only with line endings, "), "{said}");
}

#[tokio::test]
async fn bytes_that_are_no_text_survive() {
    let desk = Desk::new();
    desk.put("a", b"\xff\0x\n\xfe");
    desk.ok("edit", json!({"path": "a", "edits": [{"old": "x", "new": "y"}]})).await;
    assert_eq!(desk.bytes("a"), b"\xff\0y\n\xfe");
}

#[tokio::test]
async fn mode_and_link_stay() {
    let desk = Desk::new();
    desk.put("real", "x\n");
    fs::set_permissions(desk.path("real"), fs::Permissions::from_mode(0o751)).unwrap();
    symlink("real", desk.path("link")).unwrap();
    desk.ok("edit", json!({"path": "link", "edits": [{"old": "x", "new": "y"}]})).await;
    assert!(desk.path("link").is_symlink());
    assert_eq!(desk.bytes("real"), b"y\n");
    assert_eq!(fs::metadata(desk.path("real")).unwrap().permissions().mode() & 0o777, 0o751);
}

#[tokio::test]
async fn an_edit_of_a_file_that_changed_unseen_does_not_count_as_reading_it() {
    let desk = Desk::new();
    desk.put("a", "x\n");
    desk.ok("read", json!({"path": "a"})).await;
    desk.ok("edit", json!({"path": "a", "edits": [{"old": "x", "new": "y"}]})).await;
    desk.ok("write", json!({"path": "a", "content": "x\n"})).await;
    desk.put("a", "x\nunseen\n");
    desk.ok("edit", json!({"path": "a", "edits": [{"old": "x", "new": "y"}]})).await;
    desk.fails("write", json!({"path": "a", "content": "z\n"})).await;
}

proptest! {
    #[test]
    fn bytes_outside_of_an_edit_are_untouched(
        before in prop::collection::vec(("[a-c “”\\t]{0,6}", prop::sample::select(vec!["\n", "\r\n"])), 0..8),
        after in prop::collection::vec(("[a-c “”\\t]{0,6}", prop::sample::select(vec!["\n", "\r\n"])), 0..8),
        new in "[x-z\n]{0,8}",
    ) {
        let joined = |lines: Vec<(String, &str)>| lines.into_iter().map(|(body, end)| body + end).collect::<String>();
        let (before, after) = (joined(before), joined(after));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let desk = Desk::new();
        desk.put("a", format!("{before}MARK\r\nline{after}"));
        runtime.block_on(desk.ok("edit", json!({"path": "a", "edits": [{"old": "MARK\nline", "new": new}]})));
        let edited = String::from_utf8(desk.bytes("a")).unwrap();
        prop_assert!(edited.starts_with(&before));
        prop_assert!(edited.ends_with(&after));
        prop_assert_eq!(&edited[before.len()..edited.len() - after.len()], new.replace('\n', "\r\n"));
    }
}
