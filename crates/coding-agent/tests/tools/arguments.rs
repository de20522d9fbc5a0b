use longhand_agent::tool::Tier;
use serde_json::json;

use crate::desk::Desk;

#[tokio::test]
async fn wrong_arguments_are_named_and_nothing_is_done() {
    let desk = Desk::new();
    for (tool, arguments, expected) in [
        (
            "read",
            json!({"path": "a", "offset": 3}),
            "`read`: unknown argument `offset`; known are `path`, `i`",
        ),
        ("read", json!({}), "`read`: argument `path` is missing"),
        ("read", json!({"path": null}), "`read`: argument `path` is missing"),
        ("read", json!({"path": ""}), "`read`: argument `path` must not be empty"),
        ("read", json!(["a"]), "`read` takes an object of arguments"),
        (
            "write",
            json!({"path": "a", "content": 3}),
            "`write`: argument `content` must be a string, not 3",
        ),
        ("ls", json!({"depth": 4}), "`ls`: argument `depth` must be at most 3, not 4"),
        ("ls", json!({"depth": "deep"}), "`ls`: argument `depth` must be an integer, not \"deep\""),
        (
            "bash",
            json!({"command": "true", "env": {"A": 1}}),
            "`bash`: argument `env.A` must be a string, not 1",
        ),
    ] {
        assert_eq!(desk.fails(tool, arguments).await, expected);
    }
    assert!(!desk.path("a").exists());
}

#[tokio::test]
async fn numbers_and_booleans_may_come_as_strings_and_an_intent_with_every_call() {
    let desk = Desk::new();
    desk.put("a/b/c", "");
    let listed = desk.ok("ls", json!({"depth": "1", "i": "look around"})).await;
    assert_eq!(listed, "./\n  a/");
    desk.ok("bash", json!({"command": "true", "timeout": "5", "background": "false"})).await;
}

#[test]
fn schemas_are_closed_and_small() {
    let desk = Desk::new();
    let mut bytes = 0;
    for tool in desk.tools() {
        let spec = tool.spec();
        assert_eq!(spec.parameters["additionalProperties"], false, "{}", spec.name);
        assert_eq!(spec.parameters["properties"]["i"], json!({"type": "string"}), "{}", spec.name);
        bytes += serde_json::to_string(spec).unwrap().len();
    }
    // 3,500 tokens at no less than 3 bytes each.
    assert!(bytes < 10_500, "{bytes} bytes");
}

#[test]
fn a_path_that_leads_out_or_says_what_runs_raises_the_tier() {
    let desk = Desk::new();
    std::os::unix::fs::symlink(desk.outside(), desk.path("out")).unwrap();
    std::os::unix::fs::symlink(desk.outside().join("nowhere"), desk.path("dangling")).unwrap();
    for (tool, path, expected) in [
        ("read", "a.rs", Tier::Read),
        ("read", "a.rs:1-3", Tier::Read),
        ("read", "artifact://0", Tier::Read),
        ("read", "/etc/passwd", Tier::Exec),
        ("read", "file:///etc/passwd", Tier::Exec),
        ("read", "~/notes", Tier::Exec),
        ("write", "new/folder/a.rs", Tier::Write),
        ("write", "../a.rs", Tier::Exec),
        ("write", "missing/../../a.rs", Tier::Exec),
        ("write", "out/a.rs", Tier::Exec),
        ("write", "dangling", Tier::Exec),
        ("write", "missing/../dangling", Tier::Exec),
        ("read", ".git/config", Tier::Read),
        ("write", ".git/hooks/pre-commit", Tier::Exec),
        ("write", "sub/.GIT/config", Tier::Exec),
        ("write", ".longhand/config.toml", Tier::Exec),
        ("write", ".gitignore", Tier::Write),
    ] {
        let arguments = json!({"path": path, "content": ""});
        let arguments = if tool == "read" { json!({"path": path}) } else { arguments };
        assert_eq!(desk.tier(tool, &arguments), expected, "{tool} {path}");
    }
    assert_eq!(desk.tier("bash", &json!({"command": "true"})), Tier::Exec);
    assert_eq!(desk.tier("write", &json!({"path": 3})), Tier::Write);
}
