//! The fold: which events make which items.

use std::sync::Arc;
use std::time::Duration;

use longhand_agent::compaction::Trigger;
use longhand_agent::event::{AssistantMessageEvent, NoticeLevel, UsageSource};
use longhand_agent::{SessionEvent, ToolOutput};
use longhand_session::context::SessionContext;
use longhand_session::entry::MessageEntry;
use longhand_session::message::{CompactionSummaryMessage, StopReason, ToolResult};
use longhand_session::time::Timestamp;
use longhand_session::{Block, Entry, EntryKind, Message};
use serde_json::json;

use super::fixture::{Told, answer, answered, thinking};
use crate::tui::app::{Effect, Reply};
use crate::tui::view_state::item::{Body, Phase};
use crate::tui::view_state::{Gauge, ViewState};

/// The items by kind, in order.
fn kinds(view: &ViewState) -> Vec<&'static str> {
    let kind = |body: &Body| match body {
        Body::User(_) => "user",
        Body::Text(_) => "text",
        Body::Thinking(_) => "thinking",
        Body::Calls(_) => "calls",
        Body::Shell(_) => "shell",
        Body::Divider(_) => "divider",
        Body::Remark(_) => "remark",
        Body::Error(_) => "error",
        Body::Custom { .. } => "custom",
    };
    view.items().iter().map(|item| kind(&item.body)).collect()
}

fn phases(view: &ViewState) -> Vec<Phase> {
    let calls = view.items().iter().filter_map(|item| match &item.body {
        Body::Calls(calls) => Some(calls),
        _ => None,
    });
    calls.flatten().map(|call| call.phase).collect()
}

#[test]
fn a_call_and_its_result_are_one_card() {
    let mut told = Told::new();
    let id = told.call("look", "bash", json!({"command": "ls"}));
    assert_eq!(phases(told.app.view()), [Phase::Waiting]);
    told.started(&id, "bash");
    assert_eq!(phases(told.app.view()), [Phase::Running]);
    told.event(SessionEvent::ToolExecutionUpdate {
        tool_call_id: id.clone(),
        tool_name: "bash".into(),
        partial_result: ToolOutput::text("a"),
    });
    told.ended(&id, "bash", "a\nb", json!({}), false);
    assert_eq!(kinds(told.app.view()), ["text", "calls"]);
    assert_eq!(phases(told.app.view()), [Phase::Done]);
    let Body::Calls(calls) = &told.app.view().items()[1].body else { panic!() };
    assert_eq!(calls[0].text(), "a\nb");
}

#[test]
fn a_result_that_was_pruned_shows_what_took_its_place() {
    let mut told = Told::new();
    let id = told.call("", "bash", json!({"command": "ls"}));
    told.result(&id, "bash", "a\nb", json!({}));
    let effects = told.event(SessionEvent::EntriesRewritten { ids: vec!["e1".into()] });
    assert!(matches!(&effects[..], [Effect::ReadEntries(_)]));
    let pruned = Message::ToolResult(ToolResult {
        tool_call_id: id,
        content: vec![Block::text("[pruned]")],
        pruned_at: Some(1),
        ..ToolResult::default()
    });
    let kind =
        EntryKind::Message(MessageEntry { message: Arc::new(pruned), ..MessageEntry::default() });
    let entry = Entry { id: "e1".into(), parent_id: None, timestamp: Timestamp::new(""), kind };
    told.app.reply(Reply::Entries(vec![Arc::new(entry)]), told.now);
    let screen = told.screen(60, 20);
    assert!(screen.contains("○ bash ls") && screen.contains("[pruned]"), "{screen}");
}

#[test]
fn a_growing_message_keeps_its_items_when_it_is_whole() {
    let mut told = Told::new();
    told.stream(&["Hel", "lo"]);
    assert_eq!(kinds(told.app.view()), ["text"]);
    let message = Arc::new(answered(vec![Block::text("Hello")], StopReason::Stop));
    told.event(SessionEvent::MessageEnd { message, entry_id: None });
    assert_eq!(kinds(told.app.view()), ["text"]);
    assert_eq!(told.app.view().last_text(), "Hello");
}

#[test]
fn an_update_that_took_the_place_of_others_shows_all_blocks() {
    let mut told = Told::new();
    told.event(SessionEvent::MessageStart {
        message: Arc::new(answered(Vec::new(), StopReason::Stop)),
    });
    let partial = Arc::new(answer(vec![thinking("hm"), Block::text("so")], StopReason::Stop));
    told.event(SessionEvent::MessageUpdate {
        assistant_message_event: AssistantMessageEvent::TextDelta {
            content_index: 1,
            delta: "so".into(),
        },
        partial,
    });
    assert_eq!(kinds(told.app.view()), ["thinking", "text"]);
}

#[test]
fn calls_that_never_ran_are_abandoned_when_the_run_ends() {
    let mut told = Told::new();
    told.event(SessionEvent::AgentStart);
    told.user("go");
    told.call("", "bash", json!({"command": "ls"}));
    told.event(SessionEvent::AgentEnd { messages: Vec::new(), is_terminal: true });
    assert_eq!(phases(told.app.view()), [Phase::Abandoned]);
}

#[test]
fn an_answer_that_failed_or_was_stopped_says_so() {
    let mut told = Told::new();
    told.message(answered(vec![Block::text("half")], StopReason::Aborted));
    told.message(answered(Vec::new(), StopReason::Error));
    told.message(answered(vec![Block::text("cut")], StopReason::Length));
    assert_eq!(kinds(told.app.view()), ["text", "remark", "error", "text", "remark"]);
}

#[test]
fn a_divider_takes_its_numbers_from_the_record_of_the_pass() {
    let told = super::screens::compacted();
    let divider = told.app.view().newest_divider().unwrap();
    assert_eq!(divider.tokens(), Some((178_204, 43_118)));
    assert_eq!(kinds(told.app.view()), ["user", "divider", "user"]);
}

#[test]
fn a_compaction_leaves_the_items_above_it_untouched() {
    let mut told = Told::new();
    told.user("one");
    told.answer("two");
    let above: Vec<u64> = told.app.view().items().iter().map(|item| item.revision).collect();
    told.entry("c1", longhand_session::EntryKind::Compaction(Box::default()));
    let items = told.app.view().items();
    assert_eq!(items[..2].iter().map(|item| item.revision).collect::<Vec<_>>(), above);
    assert_eq!(kinds(told.app.view()), ["user", "text", "divider"]);
}

#[test]
fn a_resumed_session_shows_what_a_live_one_showed() {
    let call = longhand_session::message::ToolCall {
        id: "t1".into(),
        name: "bash".into(),
        ..longhand_session::message::ToolCall::default()
    };
    let messages = vec![
        Message::user("hi", 1),
        answered(vec![thinking("hm"), Block::ToolCall(call)], StopReason::ToolUse),
        Message::ToolResult(ToolResult { tool_call_id: "t1".into(), ..ToolResult::default() }),
        Message::CompactionSummary(Box::new(CompactionSummaryMessage {
            tokens_before: 10,
            ..CompactionSummaryMessage::default()
        })),
        answered(vec![Block::text("done")], StopReason::Stop),
    ];
    let context = SessionContext {
        messages: messages.into_iter().map(Arc::new).collect(),
        ..SessionContext::default()
    };
    let view = ViewState::from_transcript(&context);
    assert_eq!(kinds(&view), ["user", "thinking", "calls", "divider", "text"]);
    assert_eq!(phases(&view), [Phase::Done]);
}

#[test]
fn a_pass_that_goes_on_with_another_method_is_one_pass() {
    let mut told = Told::new();
    let start = |action: &str| SessionEvent::AutoCompactionStart {
        reason: Trigger::Overflow,
        action: action.into(),
    };
    let end = |fallback: bool, error: Option<&str>| SessionEvent::AutoCompactionEnd {
        action: "remote".into(),
        result: None,
        aborted: false,
        will_retry: false,
        error_message: error.map(str::to_owned),
        skipped: false,
        fallback,
    };
    told.event(start("remote"));
    told.wait(Duration::from_secs(3));
    told.event(end(true, Some("no")));
    assert!(told.app.view().pass.is_some());
    told.event(start("context-full"));
    let pass = told.app.view().pass.clone().unwrap();
    assert_eq!(
        (pass.since, pass.action.as_str()),
        (crate::tui::moment::Moment::default(), "context-full")
    );
    told.event(end(false, Some("overloaded")));
    assert_eq!(told.app.view().pass, None);
    let notice = told.app.view().notices.last().unwrap();
    assert_eq!(notice.text, "Context overflow recovery failed: overloaded");
    assert_eq!(notice.level, NoticeLevel::Error);
}

#[test]
fn news_that_asks_for_nothing_goes_after_four_seconds() {
    let mut told = Told::new();
    told.app.view.notify(NoticeLevel::Info, "hello", told.now);
    told.wait(Duration::from_secs(3));
    assert!(!told.app.view.expire_notices(told.now));
    told.wait(Duration::from_secs(1));
    assert!(told.app.view.expire_notices(told.now));
    assert!(told.app.view().notices.is_empty());
}

#[test]
fn the_gauge_shows_the_newest_number_only() {
    let mut told = Told::new();
    told.event(SessionEvent::ContextUsage {
        tokens: None,
        window: Some(8_192),
        source: UsageSource::Unknown,
    });
    let expected = Gauge { tokens: None, window: Some(8_192), source: UsageSource::Unknown };
    assert_eq!(told.app.view().gauge, expected);
    assert!(told.screen(100, 30).contains("?%/8K"));
}
