use std::os::unix::fs::symlink;

use longhand_agent::tool::Tier;
use serde_json::json;

use crate::desk::{Desk, details, text};

#[tokio::test]
async fn matches_are_grouped_by_folder_and_file() {
    let desk = Desk::new();
    desk.put("src/a.rs", "fn one() {}\nfn two() {}\n");
    desk.put("src/b.rs", "x\r\nlet one = 1;\r\n");
    desk.put("one.md", "one\n");
    let output = desk.call("grep", json!({"pattern": "one"})).await;
    assert_eq!(
        text(&output),
        "# ./\n## one.md\n*1:one\n\n# src/\n## a.rs\n*1:fn one() {}\n## b.rs\n*2:let one = 1;\n\n[3 matches in 3 files]"
    );
    assert_eq!(details(&output), &json!({"matches": 3, "files": 3}));
}

#[tokio::test]
async fn options_narrow_and_widen_the_search() {
    let desk = Desk::new();
    desk.put("a.rs", "alpha\nbeta\ngamma\n");
    desk.put("sub/a.md", "ALPHA\n");
    desk.put(".hidden", "alpha\n");
    desk.put("ignored.rs", "alpha\n");
    desk.put(".gitignore", "ignored.rs\n");
    desk.put(".git/config", "alpha\n");
    desk.put("binary", b"alpha\0alpha");
    for (arguments, expected) in [
        (json!({"pattern": "alpha"}), "# ./\n## a.rs\n*1:alpha"),
        (json!({"pattern": "beta$", "context": 1}), "# ./\n## a.rs\n 1:alpha\n*2:beta\n 3:gamma"),
        (json!({"pattern": "alpha", "case": false, "glob": "*.md"}), "# sub/\n## a.md\n*1:ALPHA"),
        (json!({"pattern": "a.*b", "glob": "sub/*"}), "No matches found"),
        (json!({"pattern": "alpha\\nbeta", "multiline": true}), "# ./\n## a.rs\n*1:alpha\n*2:beta"),
        (json!({"pattern": "alpha", "hidden": true, "glob": ".h*"}), "# ./\n## .hidden\n*1:alpha"),
        (
            json!({"pattern": "alpha", "gitignore": false, "glob": "i*"}),
            "# ./\n## ignored.rs\n*1:alpha",
        ),
        (json!({"pattern": "gamma", "path": "a.rs"}), "# ./\n## a.rs\n*3:gamma"),
        (json!({"pattern": "alpha", "path": ".git"}), "# .git/\n## config\n*1:alpha"),
    ] {
        let found = desk.ok("grep", arguments.clone()).await;
        let rows = found.split("\n\n[").next().unwrap();
        assert_eq!(rows, expected, "{arguments}");
    }
}

#[tokio::test]
async fn nothing_found_is_useless() {
    let desk = Desk::new();
    let output = desk.call("grep", json!({"pattern": "x"})).await;
    assert_eq!(text(&output), "No matches found");
    assert!(output.is_useless);
}

#[tokio::test]
async fn files_come_in_pages_and_each_shows_twenty_matches() {
    let desk = Desk::new();
    for n in 10..35 {
        desk.put(&format!("{n}"), "x\n".repeat(25));
    }
    let first = desk.call("grep", json!({"pattern": "x"})).await;
    assert!(text(&first).ends_with(
        "… 5 more in this file\n\n[625 matches in 25 files. Showing files 1-20, skip=20 for more]"
    ));
    assert_eq!(text(&first).matches("*20:x").count(), 20);
    assert_eq!(details(&first), &json!({"matches": 625, "files": 25, "nextSkip": 20}));
    let second = desk.call("grep", json!({"pattern": "x", "skip": 20})).await;
    assert!(text(&second).starts_with("# ./\n## 30\n"));
    assert!(text(&second).ends_with("[625 matches in 25 files]"));
    let past = desk.call("grep", json!({"pattern": "x", "skip": 40})).await;
    assert!(past.is_useless);
    let one = desk.ok("grep", json!({"pattern": "x", "path": "10"})).await;
    assert!(one.contains("*25:x"));
}

#[tokio::test]
async fn a_file_named_by_the_call_is_searched_in_part_and_said_to_be() {
    let desk = Desk::new();
    desk.put("big", "needle\n".to_owned() + &"0123456789\n".repeat(400_000) + "needle\n");
    let found = desk.ok("grep", json!({"pattern": "needle", "path": "big"})).await;
    assert_eq!(
        found,
        "# ./\n## big\n*1:needle\n\n[1 match in 1 file. Only the first 4.0MB of this file were searched]"
    );
}

#[tokio::test]
async fn an_invalid_pattern_shows_where_and_what_would_work() {
    let desk = Desk::new();
    let failed = desk.fails("grep", json!({"pattern": "foo("})).await;
    assert!(failed.contains("unclosed group"), "{failed}");
    assert!(failed.ends_with("\nTo search for this very text: foo\\("));
    let failed = desk.fails("grep", json!({"pattern": "a\\nb"})).await;
    assert!(failed.ends_with("\nTo match across lines set `multiline`."), "{failed}");
    assert!(
        desk.fails("grep", json!({"pattern": "x", "path": "no"}))
            .await
            .starts_with("cannot search ")
    );
}

#[tokio::test]
async fn a_wide_line_is_cut() {
    let desk = Desk::new();
    desk.put("a", "x".repeat(100_000));
    assert!(desk.ok("grep", json!({"pattern": "x+"})).await.len() < 1000);
}

#[tokio::test]
async fn links_and_pipes_are_passed_over() {
    let desk = Desk::new();
    desk.put("a.rs", "alpha\n");
    std::fs::write(desk.outside().join("secret"), "alpha\n").unwrap();
    symlink(desk.outside().join("secret"), desk.path("b.rs")).unwrap();
    desk.pipe("c.rs");
    let output = desk.call("grep", json!({"pattern": "alpha"})).await;
    assert_eq!(text(&output), "# ./\n## a.rs\n*1:alpha\n\n[1 match in 1 file]");
    let named = json!({"pattern": "alpha", "path": "b.rs"});
    assert_eq!(desk.tier("grep", &named), Tier::Exec);
    assert_eq!(
        desk.ok("grep", named).await,
        "# ./\n## b.rs\n*1:alpha\n\n[1 match in 1 file]",
        "a link that is named is followed"
    );
}
