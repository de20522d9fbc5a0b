use std::fs::File;
use std::time::{Duration, SystemTime};

use longhand_agent::tool::Tier;
use serde_json::json;

use crate::desk::{Desk, details, text};

/// Makes files, each a minute older than the one before.
fn put_by_age(desk: &Desk, names: &[&str]) {
    let start = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
    for (n, name) in (0..).zip(names) {
        desk.put(name, "");
        let file = File::options().write(true).open(desk.path(name)).unwrap();
        file.set_modified(start - Duration::from_secs(60 * n)).unwrap();
    }
}

#[tokio::test]
async fn files_are_found_by_pattern_newest_first() {
    let desk = Desk::new();
    put_by_age(
        &desk,
        &["src/new.rs", "b.rs", "src/deep/old.rs", ".hidden.rs", "ignored.rs", "a.md"],
    );
    desk.put(".gitignore", "ignored.rs\n");
    let inside = desk.path("").canonicalize().unwrap();
    for (arguments, expected) in [
        (json!({"path": "**/*.rs"}), "src/new.rs\nb.rs\nsrc/deep/old.rs\n.hidden.rs"),
        (
            json!({"path": "**/*.rs", "hidden": false, "limit": 9}),
            "src/new.rs\nb.rs\nsrc/deep/old.rs",
        ),
        (json!({"path": "*.rs", "gitignore": false}), "b.rs\n.hidden.rs\nignored.rs"),
        (json!({"path": "src/*.rs"}), "src/new.rs"),
        (json!({"path": "src"}), "src/new.rs\nsrc/deep/old.rs"),
        (json!({"path": "*.md; src/**/old.{rs,md}"}), "src/deep/old.rs\na.md"),
        (json!({"path": format!("{}/s*/n*", inside.display())}), "src/new.rs"),
        (json!({"path": "b.rs"}), "b.rs"),
    ] {
        assert_eq!(desk.ok("glob", arguments.clone()).await, expected, "{arguments}");
    }
}

#[tokio::test]
async fn more_than_the_limit_is_said() {
    let desk = Desk::new();
    put_by_age(&desk, &["a", "b", "c"]);
    let output = desk.call("glob", json!({"path": "*", "limit": 2})).await;
    assert_eq!(text(&output), "a\nb\n\n[Showing the 2 newest of 3 files]");
    assert_eq!(details(&output), &json!({"count": 3, "truncated": true}));
}

#[tokio::test]
async fn nothing_found_is_useless() {
    let desk = Desk::new();
    let output = desk.call("glob", json!({"path": "nowhere/**"})).await;
    assert_eq!(text(&output), "No files found matching pattern");
    assert!(output.is_useless);
    assert!(desk.fails("glob", json!({"path": "a[b"})).await.starts_with("`a[b` is no pattern: "));
}

#[test]
fn a_pattern_that_leaves_the_workspace_raises_the_tier() {
    let desk = Desk::new();
    for (path, expected) in [
        ("**/*.rs", Tier::Read),
        ("/etc/*", Tier::Exec),
        ("*.rs;../*", Tier::Exec),
        ("a*/../../x", Tier::Exec),
    ] {
        assert_eq!(desk.tier("glob", &json!({"path": path})), expected, "{path}");
    }
}
