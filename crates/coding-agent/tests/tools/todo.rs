use std::sync::Arc;

use longhand_coding_agent::tools::TodoList;
use longhand_session::Json;
use serde_json::{Value, json};

use crate::desk::{Desk, details, text};

fn start() -> Value {
    json!({"op": "init", "list": [
        {"phase": "Build", "items": ["parse", "print"]},
        {"phase": "Ship", "items": ["release"]},
    ]})
}

#[tokio::test]
async fn exactly_one_task_is_in_progress_after_each_change() {
    let desk = Desk::new();
    let first = desk.call("todo", start()).await;
    assert_eq!(text(&first), "Build\n- [>] parse\n- [ ] print\nShip\n- [ ] release");
    assert_eq!(
        details(&first),
        &json!({"op": "init", "phases": [
            {"name": "Build", "tasks": [
                {"content": "parse", "status": "in_progress"},
                {"content": "print", "status": "pending"},
            ]},
            {"name": "Ship", "tasks": [{"content": "release", "status": "pending"}]},
        ]})
    );
    for (arguments, expected) in [
        (
            json!({"op": "done", "task": "parse"}),
            "Build\n- [x] parse\n- [>] print\nShip\n- [ ] release",
        ),
        (
            json!({"op": "start", "task": "release"}),
            "Build\n- [x] parse\n- [ ] print\nShip\n- [>] release",
        ),
        (
            json!({"op": "block", "task": "release", "reason": "no key"}),
            "Build\n- [x] parse\n- [>] print\nShip\n- [!] release (blocked: no key)",
        ),
        (
            json!({"op": "drop", "phase": "Build"}),
            "Build\n- [-] parse\n- [-] print\nShip\n- [!] release (blocked: no key)",
        ),
        (
            json!({"op": "unblock", "task": "release"}),
            "Build\n- [-] parse\n- [-] print\nShip\n- [>] release",
        ),
        (
            json!({"op": "append", "phase": "After", "items": ["rest"]}),
            "Build\n- [-] parse\n- [-] print\nShip\n- [>] release\nAfter\n- [ ] rest",
        ),
        (json!({"op": "rm", "phase": "Build"}), "Ship\n- [>] release\nAfter\n- [ ] rest"),
        (json!({"op": "rm", "task": "release"}), "After\n- [>] rest"),
        (json!({"op": "rm", "task": "rest"}), "The task list is empty."),
    ] {
        assert_eq!(desk.ok("todo", arguments.clone()).await, expected, "{arguments}");
    }
}

#[tokio::test]
async fn a_wrong_call_leaves_the_list_alone() {
    let desk = Desk::new();
    let before = desk.ok("todo", start()).await;
    for (arguments, expected) in [
        (json!({"op": "done"}), "`todo`: argument `task` is missing for this `op`"),
        (
            json!({"op": "block", "task": "parse"}),
            "`todo`: argument `reason` is missing for this `op`",
        ),
        (
            json!({"op": "done", "task": "parsing"}),
            "there is no task `parsing`; there are `parse`, `print`, `release`",
        ),
        (json!({"op": "unblock", "task": "parse"}), "the task `parse` is not blocked"),
        (
            json!({"op": "append", "phase": "Ship", "items": ["new", "parse"]}),
            "there is a task `parse` already",
        ),
        (
            json!({"op": "init", "list": [{"phase": "P", "items": []}]}),
            "`todo`: argument `list[0].items` must not be empty",
        ),
        (
            json!({"op": "finish"}),
            "`todo`: argument `op` must be one of init, start, done, rm, drop, block, unblock, append, view, not \"finish\"",
        ),
    ] {
        assert_eq!(desk.fails("todo", arguments).await, expected);
    }
    assert_eq!(desk.ok("todo", json!({"op": "view"})).await, before);
}

#[tokio::test]
async fn the_list_comes_back_from_the_details_of_a_result() {
    let list = Arc::new(TodoList::default());
    let shared = Arc::clone(&list);
    let desk = Desk::with(|context| context.todo = shared);
    let old = desk.call("todo", start()).await;
    desk.ok("todo", json!({"op": "done", "task": "parse"})).await;
    list.restore(old.details.as_ref());
    let view = desk.call("todo", json!({"op": "view"})).await;
    assert_eq!(text(&view), text(&old));
    assert!(!view.is_useless, "the model has not seen the restored list");
    assert!(desk.call("todo", json!({"op": "view"})).await.is_useless);
    list.restore(Some(&Json::from(json!({"phases": "damaged"}))));
    assert_eq!(desk.ok("todo", json!({"op": "view"})).await, "The task list is empty.");
}
