use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use serde_json::json;

use crate::desk::{Desk, details, text};

#[tokio::test]
async fn a_new_file_is_written_as_given_with_its_folders() {
    let desk = Desk::new();
    let output = desk.call("write", json!({"path": "a/b/c.txt", "content": "x\r\ny\n"})).await;
    assert_eq!(text(&output), "Created a/b/c.txt: 5 bytes");
    assert_eq!(details(&output), &json!({"path": "a/b/c.txt", "bytes": 5, "created": true}));
    assert_eq!(desk.bytes("a/b/c.txt"), b"x\r\ny\n");
    let mode = fs::metadata(desk.path("a/b/c.txt")).unwrap().permissions().mode();
    assert_eq!(mode & 0o600, 0o600);
    assert_eq!(mode & 0o111, 0);
    assert_eq!(fs::read_dir(desk.path("a/b")).unwrap().count(), 1, "no scratch file stays");
}

#[tokio::test]
async fn an_overwritten_file_keeps_its_style() {
    let desk = Desk::new();
    for (before, content, after) in [
        ("\u{feff}a\r\nb\r\n", "x\ny\r\nz", "\u{feff}x\r\ny\r\nz"),
        ("a\r\nb\nc\n", "x\r\ny\n", "x\ny\n"),
        ("no line ends", "x\r\ny\n", "x\r\ny\n"),
        ("a\n", "\u{feff}x\n", "x\n"),
        ("", "x\r\n", "x\r\n"),
    ] {
        desk.put("a", before);
        desk.ok("read", json!({"path": "a"})).await;
        assert!(
            desk.ok("write", json!({"path": "a", "content": content}))
                .await
                .starts_with("Overwrote a: ")
        );
        assert_eq!(desk.bytes("a"), after.as_bytes(), "{before:?} <- {content:?}");
    }
}

#[tokio::test]
async fn the_mode_stays_and_a_link_is_written_through() {
    let desk = Desk::new();
    desk.put("real", "old\n");
    fs::set_permissions(desk.path("real"), fs::Permissions::from_mode(0o640)).unwrap();
    symlink("real", desk.path("link")).unwrap();
    symlink("made", desk.path("dangling")).unwrap();
    desk.ok("write", json!({"path": "link", "content": "new\n"})).await;
    desk.ok("write", json!({"path": "dangling", "content": "x"})).await;
    assert_eq!(desk.bytes("real"), b"new\n");
    assert_eq!(fs::metadata(desk.path("real")).unwrap().permissions().mode() & 0o777, 0o640);
    assert!(desk.path("link").is_symlink() && desk.path("dangling").is_symlink());
    assert_eq!(desk.bytes("made"), b"x");
}

#[tokio::test]
async fn a_file_that_changed_since_it_was_read_is_not_overwritten() {
    let desk = Desk::new();
    desk.put("a", "seen\n");
    desk.ok("read", json!({"path": "a"})).await;
    desk.put("a", "changed\n");
    let refused = desk.fails("write", json!({"path": "a", "content": "mine\n"})).await;
    assert_eq!(
        refused,
        "`a` has changed since it was last read. Read it again before overwriting it."
    );
    assert_eq!(desk.bytes("a"), b"changed\n");
    desk.ok("read", json!({"path": "a"})).await;
    desk.ok("write", json!({"path": "a", "content": "mine\n"})).await;
    desk.ok("write", json!({"path": "a", "content": "mine again\n"})).await;
    assert_eq!(desk.bytes("a"), b"mine again\n");
}

#[tokio::test]
async fn a_new_script_may_be_run() {
    let desk = Desk::new();
    let said = desk.ok("write", json!({"path": "run", "content": "#!/bin/sh\n"})).await;
    assert_eq!(said, "Created run: 10 bytes\n\n[Notice: Made executable via chmod +x]");
    assert_ne!(fs::metadata(desk.path("run")).unwrap().permissions().mode() & 0o100, 0);
    fs::set_permissions(desk.path("run"), fs::Permissions::from_mode(0o600)).unwrap();
    desk.ok("write", json!({"path": "run", "content": "#!/bin/sh\n"})).await;
    assert_eq!(fs::metadata(desk.path("run")).unwrap().permissions().mode() & 0o777, 0o600);
}

#[tokio::test]
async fn what_cannot_be_written_is_said() {
    let desk = Desk::new();
    desk.put("file", "");
    fs::create_dir(desk.path("folder")).unwrap();
    assert!(
        desk.fails("write", json!({"path": "folder", "content": ""}))
            .await
            .ends_with("is a directory")
    );
    assert!(
        desk.fails("write", json!({"path": "file/x", "content": ""})).await.starts_with("cannot ")
    );
    let huge = "x".repeat(10 * 1024 * 1024 + 1);
    assert!(
        desk.fails("write", json!({"path": "huge", "content": huge})).await.contains("at most")
    );
}

#[tokio::test]
async fn a_pipe_is_neither_waited_for_nor_replaced() {
    let desk = Desk::new();
    desk.pipe("pipe");
    for (tool, arguments) in [
        ("read", json!({"path": "pipe"})),
        ("write", json!({"path": "pipe", "content": "x"})),
        ("edit", json!({"path": "pipe", "edits": [{"old": "a", "new": "b"}]})),
    ] {
        let said = desk.fails(tool, arguments).await;
        assert_eq!(said, "`pipe` is neither a file nor a directory", "{tool}");
    }
}
