use serde_json::json;

use crate::desk::{Desk, details};

#[tokio::test]
async fn a_directory_is_shown_two_levels_deep() {
    let desk = Desk::new();
    desk.put("src/deep/below", "");
    desk.put("README", "");
    std::os::unix::fs::symlink("README", desk.path("link")).unwrap();
    assert_eq!(desk.ok("ls", json!({})).await, "./\n  README\n  link -> README\n  src/\n    deep/");
    assert_eq!(desk.ok("read", json!({"path": "src"})).await, "src/\n  deep/\n    below");
}

#[tokio::test]
async fn below_the_first_level_a_directory_shows_twelve_entries() {
    let desk = Desk::new();
    for n in 10..35 {
        desk.put(&format!("many/{n}"), "");
        desk.put(&format!("top{n}"), "");
    }
    let output = desk.call("ls", json!({})).await;
    let text = crate::desk::text(&output);
    assert_eq!(text.matches("    ").count(), 13);
    assert!(text.contains("    21\n    … 13 more\n"));
    assert_eq!(text.matches("  top").count(), 25);
    assert_eq!(details(&output), &json!({"path": ".", "count": 38, "truncated": true}));
}

#[tokio::test]
async fn an_empty_directory_is_useless_and_a_missing_one_an_error() {
    let desk = Desk::new();
    let output = desk.call("ls", json!({})).await;
    assert!(output.is_useless && !output.is_error);
    assert!(desk.fails("ls", json!({"path": "nowhere"})).await.starts_with("cannot list "));
}
