//! Whole screens, as text.

use std::time::Duration;

use longhand_agent::SessionEvent;
use longhand_agent::compaction::{ProgressStep, Trigger};
use longhand_agent::event::NoticeLevel;
use longhand_agent::tool::{ApprovalQuestion, Tier};
use longhand_session::entry::{CompactionEntry, CustomEntry};
use longhand_session::{EntryKind, Json};
use serde_json::json;

use super::fixture::Told;
use crate::tui::theme::{Palette, SymbolSet, Theme};

const SIZES: [(u16, u16); 4] = [(100, 30), (60, 20), (40, 12), (200, 60)];

/// One snapshot a size.
fn assert_screens(name: &str, told: &mut Told) {
    for (columns, rows) in SIZES {
        let screen = told.screen(columns, rows);
        insta::assert_snapshot!(format!("{name}_{columns}x{rows}"), screen);
    }
}

const DIFF: &str = "--- a/src/lib.rs\n+++ b/src/lib.rs\n@@ -1,3 +1,4 @@\n pub fn add(a: i32, b: i32) -> i32 {\n-    a + b\n+    a.checked_add(b)\n+        .unwrap_or(i32::MAX)\n }\n";

fn with_cards() -> Told {
    let mut told = Told::new();
    told.user("toolplay please");
    let read = told.call("I will look at the file.", "read", json!({"path": "src/lib.rs:1-40"}));
    told.result(
        &read,
        "read",
        "1:pub fn add(a: i32, b: i32) -> i32 {\n2:    a + b\n3:}",
        json!({}),
    );
    let bash = told.call("", "bash", json!({"command": "ls -la && seq 1 60"}));
    let output: String = (1..=60).map(|n| format!("{n}\n")).collect();
    told.result(
        &bash,
        "bash",
        &format!("{output}Wall time: 0.10 seconds"),
        json!({"exitCode": 0, "wallMs": 100, "lines": 60}),
    );
    let edit = told.call("", "edit", json!({"path": "src/lib.rs"}));
    told.result(&edit, "edit", "ok", json!({"diff": DIFF, "added": 2, "removed": 1}));
    told.answer("The sum **saturates** now; `cargo test` passes.");
    told
}

#[test]
fn a_conversation_with_cards() {
    assert_screens("cards", &mut with_cards());
}

#[test]
fn cards_expanded() {
    let mut told = with_cards();
    told.key("ctrl+o");
    insta::assert_snapshot!("cards_expanded", told.screen(100, 60));
}

#[test]
fn reads_in_a_row_are_one_card() {
    let mut told = Told::new();
    told.user("look around");
    for path in ["src/lib.rs", "src/main.rs", "Cargo.toml"] {
        let id = told.call("", "read", json!({ "path": path }));
        told.result(&id, "read", "1:x", json!({}));
    }
    insta::assert_snapshot!("reads", told.screen(60, 12));
}

#[test]
fn cards_of_every_tool() {
    let mut told = Told::new();
    let write =
        told.call("", "write", json!({"path": "a.txt", "content": "1\n2\n3\n4\n5\n6\n7\n8\n"}));
    told.result(&write, "write", "ok", json!({"created": true}));
    let grep = told.call("", "grep", json!({"pattern": "fn \\w+", "path": "src"}));
    told.result(
        &grep,
        "grep",
        "# src/\n## lib.rs\n*1:pub fn add\n*9:fn sub\n## main.rs\n*3:fn main",
        json!({"matches": 3, "files": 2}),
    );
    let glob = told.call("", "glob", json!({"path": "**/*.rs"}));
    told.result(&glob, "glob", "src/lib.rs\nsrc/main.rs", json!({"count": 2}));
    let todo = told.call("", "todo", json!({"op": "start"}));
    let phases = json!({"phases": [{"name": "Build", "tasks": [
        {"content": "write it", "status": "completed"},
        {"content": "test it", "status": "in_progress"},
        {"content": "ship it", "status": "pending"}]}]});
    told.result(&todo, "todo", "ok", phases);
    let other = told.call("", "weather", json!({"place": "Oslo", "days": 3}));
    told.ended(&other, "weather", "no such place: `Oslo`", json!({}), true);
    let running = told.call("", "bash", json!({"command": "make\nmake install"}));
    told.started(&running, "bash");
    insta::assert_snapshot!("every_tool", told.screen(80, 44));
}

#[test]
fn a_streaming_answer_with_a_queue_and_a_draft() {
    let mut told = Told::new();
    told.event(SessionEvent::AgentStart);
    told.user("crawl answer one");
    told.stream(&[
        "word0 word1 word2 word3 word4 ",
        "word5 word6 word7 word8 word9 word10 word11 word12",
    ]);
    told.event(SessionEvent::QueueChanged {
        steering: vec!["use checked_add instead".into()],
        follow_up: vec!["then run the tests".into()],
    });
    told.wait(Duration::from_secs(2));
    told.type_text("a draft that Esc must not destroy");
    assert_screens("streaming", &mut told);
}

/// A session in which everything before the last message was compacted.
pub(super) fn compacted() -> Told {
    let mut told = Told::new();
    told.user("Oh wait, these errors look like API mismatches.");
    told.entry(
        "c1",
        EntryKind::Compaction(Box::new(CompactionEntry {
            summary:
                "## Goal\nBuild the TUI package.\n\n- read `footer.ts`\n- **next**: run the build"
                    .into(),
            first_kept_entry_id: "m1".into(),
            tokens_before: 170_000,
            tokens_after: Some(40_000),
            method: Some("soft".into()),
            details: Some(Json::from(
                json!({"readFiles": ["src/footer.ts"], "modifiedFiles": ["src/a.ts", "src/b.ts"]}),
            )),
            ..CompactionEntry::default()
        })),
    );
    told.entry(
        "r1",
        EntryKind::Custom(CustomEntry {
            custom_type: "maintenance_record".into(),
            data: Some(Json::from(json!({
                "kind": "compaction", "entryId": "c1", "trigger": "manual", "method": "soft",
                "attempts": [{"method": "remote", "skip": "not available for this model"}],
                "tokensBefore": 178_204, "tokensAfter": 43_118, "durationMs": 12_400,
                "model": "demo/offline"
            }))),
            ..CustomEntry::default()
        }),
    );
    told.user("continue with the TUI package");
    told
}

#[test]
fn a_divider_collapsed() {
    assert_screens("divider", &mut compacted());
}

#[test]
fn a_divider_expanded() {
    let mut told = compacted();
    told.key("ctrl+o");
    told.wait(Duration::from_secs(10));
    told.app.view.expire_notices(told.now);
    assert_screens("divider_expanded", &mut told);
}

#[test]
fn a_divider_over_an_archive_expanded() {
    let mut told = Told::new();
    told.entry(
        "c1",
        EntryKind::Compaction(Box::new(CompactionEntry {
            summary: "History is in the frames.".into(),
            tokens_before: 178_204,
            tokens_after: Some(43_118),
            method: Some("snapcompact".into()),
            preserve_data: Some(Json::from(json!({ "snapcompact": { "frames": [{}, {}] } }))),
            ..CompactionEntry::default()
        })),
    );
    for key in ["alt+k", "ctrl+o"] {
        told.key(key);
    }
    assert_screens("divider_frames", &mut told);
}

#[test]
fn an_archive_and_the_smaller_one_that_replaced_it_are_one_divider() {
    let mut told = Told::new();
    for (id, tokens_before, tokens_after) in
        [("c1", 90_000, 80_000), ("c2", 90_000, 60_000), ("c3", 70_000, 50_000)]
    {
        told.entry(
            id,
            EntryKind::Compaction(Box::new(CompactionEntry {
                method: Some("snapcompact".into()),
                tokens_before,
                tokens_after: Some(tokens_after),
                ..CompactionEntry::default()
            })),
        );
    }
    let screen = told.screen(100, 30);
    let shown = |tokens: &str| screen.contains(tokens);
    assert_eq!(["80K", "60K", "50K"].map(shown), [false, true, true], "{screen}");
}

#[test]
fn dividers_of_every_method() {
    let mut told = Told::new();
    for (i, (method, warning)) in [
        (None, None),
        (Some("soft"), None),
        (Some("remote"), None),
        (Some("handoff"), None),
        (Some("snapcompact"), None),
        (Some("shake"), None),
        (Some("snapcompact"), Some("freed too little")),
    ]
    .into_iter()
    .enumerate()
    {
        told.entry(
            &format!("c{i}"),
            EntryKind::Compaction(Box::new(CompactionEntry {
                method: method.map(str::to_owned),
                tokens_before: 178_204,
                tokens_after: method.map(|_| 43_118),
                warning: warning.map(str::to_owned),
                ..CompactionEntry::default()
            })),
        );
    }
    told.entry("x", EntryKind::ResetBoundary(longhand_session::entry::PlainEntry::default()));
    insta::assert_snapshot!("dividers", told.screen(100, 14));
}

fn compacting() -> Told {
    let mut told = Told::new();
    told.user("go on");
    told.answer("Oh wait, these errors look like API mismatches.");
    told.event(SessionEvent::AutoCompactionStart {
        reason: Trigger::Threshold,
        action: "snapcompact".into(),
    });
    told.event(SessionEvent::MaintenanceMethodSkipped {
        method: "remote".into(),
        reason: "not available for this model".into(),
    });
    told.event(SessionEvent::MaintenanceProgress {
        method: "snapcompact".into(),
        step: ProgressStep {
            phase: "rendering frame".into(),
            done: Some(7),
            total: Some(19),
            detail: String::new(),
        },
    });
    told.wait(Duration::from_secs(14));
    told.event(SessionEvent::QueueChanged {
        steering: vec!["continue with the TUI package".into()],
        follow_up: Vec::new(),
    });
    told
}

#[test]
fn a_compaction_that_runs() {
    assert_screens("compacting", &mut compacting());
}

#[test]
fn a_question_about_a_call() {
    let mut told = Told::new();
    told.event(SessionEvent::AgentStart);
    told.user("clean the build");
    let id = told.call(
        "I will remove the output directory.",
        "bash",
        json!({"command": "rm -rf target/ && cargo build"}),
    );
    told.event(SessionEvent::ApprovalRequest {
        tool_call_id: id,
        question: ApprovalQuestion {
            title: "Run this command?".into(),
            body: "$ rm -rf target/ && cargo build\n  in ~/proj · timeout 300 s".into(),
            tool_name: "bash".into(),
            tier: Tier::Exec,
            remember: Some("`cargo build`".into()),
        },
    });
    assert_screens("approval", &mut told);
    told.key("n");
    told.type_text("too dangerous");
    insta::assert_snapshot!("approval_reason", told.screen(60, 20));
}

#[test]
fn wide_characters() {
    let mut told = Told::new();
    told.user("把这个函数改成饱和加法，然后运行测试");
    told.answer(
        "好的。**加法**现在会饱和；`cargo test` 通过了。日本語の文章も、ちゃんと折り返されるはずです。한국어도 마찬가지입니다. 👩‍👩‍👧‍👦 🇳🇴 1️⃣ é\n\n| 名前 | 値 |\n|---|---:|\n| 加法 | 一二三 |\n| b | 2 |",
    );
    told.type_text("下書き abc");
    assert_screens("wide", &mut told);
    assert_eq!(told.cursor(40, 12), Some((2 + 6 + 4, 10)));
}

#[test]
fn the_menu_of_commands() {
    let mut told = Told::new();
    told.user("hello there");
    told.type_text("/com");
    assert_screens("menu", &mut told);
}

#[test]
fn news_and_errors() {
    let mut told = Told::new();
    told.user("hello");
    let mut failed =
        super::fixture::answer(Vec::new(), longhand_session::message::StopReason::Error);
    failed.error_message = Some("overloaded".into());
    told.message(longhand_session::Message::Assistant(failed.into()));
    for (level, message) in [
        (NoticeLevel::Info, "Nothing to shake."),
        (NoticeLevel::Warning, "the key of `x` is unknown"),
        (NoticeLevel::Error, "Auto-compaction failed: overloaded"),
    ] {
        told.event(SessionEvent::Notice {
            level,
            message: message.into(),
            source: "test".into(),
            code: None,
        });
    }
    insta::assert_snapshot!("news", told.screen(60, 16));
}

#[test]
fn the_help() {
    let mut told = Told::new();
    told.type_text("/help");
    told.key("enter");
    assert_screens("help", &mut told);
}

#[test]
fn a_long_paste_is_one_token() {
    let mut told = Told::new();
    let long: String = (0..10_000).map(|n| format!("line {n}\n")).collect();
    told.paste(&long);
    told.type_text(" explain");
    assert_screens("paste", &mut told);
}

#[test]
fn ascii_and_no_colour() {
    let mut told = Told::with_theme(&Theme::new(Palette::Mono, SymbolSet::Ascii));
    told.user("hello");
    told.answer("- one\n- two\n\n> quoted\n\n| a | b |\n|---|---|\n| 1 | 2 |");
    told.entry(
        "c1",
        EntryKind::Compaction(Box::new(CompactionEntry {
            method: Some("soft".into()),
            tokens_before: 120_000,
            tokens_after: Some(24_000),
            ..CompactionEntry::default()
        })),
    );
    insta::assert_snapshot!("ascii", told.screen(60, 20));
}

#[test]
fn a_screen_that_is_too_small_says_so() {
    let mut told = Told::new();
    assert!(told.screen(19, 5).starts_with("terminal too smal"));
}
