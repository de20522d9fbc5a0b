//! What keys do in each state.

use std::time::Duration;

use longhand_agent::SessionEvent;
use longhand_agent::UserInput;
use longhand_agent::compaction::CompactionResult;
use longhand_agent::maintenance::ManualRequest;
use longhand_agent::tool::{ApprovalAnswer, ApprovalQuestion, Tier};

use longhand_session::EntryKind;
use longhand_session::entry::CompactionEntry;

use super::fixture::Told;
use crate::tui::app::{Effect, Reply};
use crate::tui::commands::compact;
use crate::tui::viewer::Opening;
use crate::tui::viewer::source::Which;

/// Effects as a person would tell them.
fn told_effects(effects: &[Effect]) -> Vec<String> {
    let one = |effect: &Effect| match effect {
        Effect::Steer(input) => format!("steer {}", input.text),
        Effect::FollowUp(input) => format!("follow up {}", input.text),
        Effect::Compact(request) => format!("compact {:?} {:?}", request.method, request.focus),
        Effect::Answer(id, answer) => format!("answer {id} {answer:?}"),
        other => format!("{other:?}"),
    };
    effects.iter().map(one).collect()
}

fn type_and(told: &mut Told, text: &str, key: &str) -> Vec<String> {
    told.type_text(text);
    told_effects(&told.key(key))
}

fn busy() -> Told {
    let mut told = Told::new();
    told.event(SessionEvent::AgentStart);
    told
}

fn compacting() -> Told {
    let mut told = Told::new();
    type_and(&mut told, "/compact", "enter");
    told
}

#[test]
fn keys_of_a_divider_open_its_archive_while_it_is_in_focus_and_nobody_writes() {
    let mut told = Told::new();
    let archived = CompactionEntry { method: Some("snapcompact".into()), ..Default::default() };
    told.entry("c1", EntryKind::Compaction(Box::new(archived)));
    let is_opened = |effects: &[Effect], wanted: Opening| matches!(effects, [Effect::Frames(Which::At(1_795_874_592_000), opening)] if *opening == wanted);
    assert!(told.key("f").is_empty(), "a letter: nothing is in focus");
    told.key("backspace");
    told.key("alt+k");
    assert!(told.key("f").is_empty(), "a letter: the divider is closed");
    told.key("backspace");
    told.key("ctrl+o");
    for (key, opening) in [("f", Opening::List), ("t", Opening::Text), ("o", Opening::File)] {
        let effects = told.key(key);
        assert!(is_opened(&effects, opening), "{key}: {effects:?}");
    }
    told.type_text("x");
    assert!(told.key("f").is_empty(), "a letter: somebody writes");
}

#[test]
fn enter_sends_what_is_written_at_once_and_alt_enter_after_the_turn() {
    let mut told = busy();
    assert_eq!(type_and(&mut told, "left", "enter"), ["steer left"]);
    assert_eq!(type_and(&mut told, "then right", "alt+enter"), ["follow up then right"]);
    assert_eq!(told.app.editor.text(), "");
}

#[test]
fn what_is_sent_during_a_compaction_is_queued() {
    let mut told = compacting();
    assert_eq!(type_and(&mut told, "one", "enter"), ["steer one"]);
    assert_eq!(type_and(&mut told, "two", "alt+enter"), ["follow up two"]);
}

#[test]
fn compact_takes_a_method_and_a_focus() {
    for (arguments, method, focus) in [
        ("", None, None),
        ("soft", Some("soft"), None),
        ("soft the tests", Some("soft"), Some("the tests")),
        ("the tests", None, Some("the tests")),
        ("softly", None, Some("softly")),
    ] {
        let expected =
            ManualRequest { method: method.map(Into::into), focus: focus.map(str::to_owned) };
        assert_eq!(compact::request(arguments), expected, "{arguments}");
    }
}

#[test]
fn compact_while_busy_asks_before_it_stops_the_turn() {
    let mut told = busy();
    assert!(type_and(&mut told, "/compact", "enter").is_empty());
    assert!(told.screen(60, 20).contains("Stop the running turn and compact?"));
    assert!(told.key("esc").is_empty());
    type_and(&mut told, "/compact", "enter");
    assert_eq!(told_effects(&told.key("y")), ["compact None None"]);
}

#[test]
fn a_compaction_ends_with_one_line_of_what_it_did() {
    let mut told = super::screens::compacted();
    type_and(&mut told, "/compact", "enter");
    told.app.reply(Reply::Compacted(Ok(CompactionResult::default())), told.now);
    assert_eq!(
        told.app.view().notices.last().unwrap().text,
        "Compacted with soft: 178,204 → 43,118 tokens (−135,086) in 12 s"
    );
}

#[test]
fn escape_does_one_thing_a_press() {
    let mut told = busy();
    told.type_text("/he");
    assert!(told.key("esc").is_empty(), "the menu closes first");
    assert_eq!(told_effects(&told.key("esc")), ["TakeQueue", "Abort"]);
    assert_eq!(told.app.editor.text(), "/he", "a draft is never lost");
    let mut told = compacting();
    assert_eq!(told_effects(&told.key("esc")), ["Abort"]);
    let mut told = Told::new();
    assert!(type_and(&mut told, "draft", "esc").is_empty());
    assert_eq!(told.app.editor.text(), "draft");
}

#[test]
fn what_was_queued_comes_back_before_the_draft() {
    let mut told = busy();
    told.type_text("draft");
    let queue = vec![UserInput::text("one"), UserInput::text("two")];
    told.app.reply(Reply::Queue(queue), told.now);
    assert_eq!(told.app.editor.text(), "one\n\ntwo\n\ndraft");
}

#[test]
fn enter_without_text_delivers_the_queue_now() {
    let mut told = busy();
    assert!(told.key("enter").is_empty());
    told.event(SessionEvent::QueueChanged { steering: vec!["x".into()], follow_up: Vec::new() });
    assert_eq!(told_effects(&told.key("enter")), ["Abort"]);
    let end = SessionEvent::AgentEnd { messages: Vec::new(), is_terminal: true };
    assert_eq!(told_effects(&told.event(end)), ["DeliverQueue"]);
}

#[test]
fn ctrl_c_clears_and_quits_only_when_pressed_twice_at_once() {
    let mut told = Told::new();
    assert!(type_and(&mut told, "draft", "ctrl+c").is_empty());
    assert_eq!(told.app.editor.text(), "");
    told.wait(Duration::from_secs(1));
    assert!(told.key("ctrl+c").is_empty());
    told.wait(Duration::from_millis(200));
    assert_eq!(told_effects(&told.key("ctrl+c")), ["Quit"]);
}

#[test]
fn ctrl_d_quits_only_an_empty_editor() {
    let mut told = Told::new();
    assert!(type_and(&mut told, "x", "ctrl+d").is_empty());
    told.key("backspace");
    assert_eq!(told_effects(&told.key("ctrl+d")), ["Quit"]);
}

#[test]
fn a_whole_name_or_alias_runs_whatever_the_menu_shows() {
    let mut told = Told::new();
    told.type_text("/q");
    told.key("down");
    assert_eq!(told_effects(&told.key("enter")), ["Quit"]);
}

#[test]
fn enter_runs_the_chosen_command_and_tab_only_completes_it() {
    let mut told = Told::new();
    told.type_text("/com");
    assert!(told.key("tab").is_empty());
    assert_eq!(told.app.editor.text(), "/compact ");
    told.key("ctrl+u");
    assert_eq!(type_and(&mut told, "/com", "enter"), ["compact None None"]);
}

#[test]
fn an_unknown_command_is_sent_as_text_only_when_entered_again() {
    let mut told = Told::new();
    assert!(type_and(&mut told, "/frobnicate now", "enter").is_empty());
    assert!(
        told.screen(80, 20).contains("unknown command /frobnicate — enter again to send as text")
    );
    assert_eq!(told_effects(&told.key("enter")), ["steer /frobnicate now"]);
}

#[test]
fn a_question_is_answered_by_its_keys() {
    let question = |remember: Option<&str>| ApprovalQuestion {
        title: "Run?".into(),
        body: "$ ls".into(),
        tool_name: "bash".into(),
        tier: Tier::Exec,
        remember: remember.map(str::to_owned),
    };
    let answered = |keys: &[&str], remember: Option<&str>| {
        let mut told = busy();
        told.event(SessionEvent::ApprovalRequest {
            tool_call_id: "t1".into(),
            question: question(remember),
        });
        keys.iter().flat_map(|key| told.key(key)).collect::<Vec<_>>()
    };
    for (keys, remember, expected) in [
        (&["y"][..], None, Some(ApprovalAnswer::Yes)),
        (&["enter"], None, Some(ApprovalAnswer::Yes)),
        (&["a"], Some("ls"), Some(ApprovalAnswer::Always)),
        (&["a"], None, None),
        (&["down", "enter", "enter"], None, Some(ApprovalAnswer::No { reason: None })),
        (&["n", "n", "o", "enter"], None, Some(ApprovalAnswer::No { reason: Some("no".into()) })),
        (&["n", "esc", "y"], None, Some(ApprovalAnswer::Yes)),
        (&["esc"], None, Some(ApprovalAnswer::Stop)),
    ] {
        let effects = answered(keys, remember);
        let expected: Vec<String> =
            expected.iter().map(|answer| format!("answer t1 {answer:?}")).collect();
        assert_eq!(told_effects(&effects), expected, "{keys:?}");
    }
}

#[test]
fn shift_enter_ctrl_j_and_a_backslash_begin_a_new_line() {
    let mut told = Told::new();
    type_and(&mut told, "a", "shift+enter");
    type_and(&mut told, "b", "ctrl+j");
    assert!(type_and(&mut told, "c\\", "enter").is_empty());
    told.type_text("d");
    assert_eq!(told.app.editor.text(), "a\nb\nc\nd");
}
