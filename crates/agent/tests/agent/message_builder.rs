//! A message as far as it has come.

use longhand_agent::message_builder::{MessageBuilder, parsed_arguments};
use longhand_agent::testing::ScriptedClient;
use longhand_agent::{ModelClient, StreamEvent};
use longhand_session::Block;
use longhand_session::message::StopReason;
use serde_json::json;

fn folded(events: &[StreamEvent]) -> MessageBuilder {
    let mut builder = MessageBuilder::new(ScriptedClient::new([]).model(), 1);
    for event in events {
        builder.fold(event);
    }
    builder
}

#[test]
fn pieces_become_blocks_in_the_order_of_their_beginning() {
    let builder = folded(&[
        StreamEvent::ThinkingStart { index: 4 },
        StreamEvent::TextStart { index: 7 },
        StreamEvent::TextDelta { index: 7, delta: "one ".into() },
        StreamEvent::ThinkingDelta { index: 4, delta: "hm".into() },
        StreamEvent::TextDelta { index: 7, delta: "two".into() },
        StreamEvent::ToolCallStart { index: 8, name: "read".into() },
        StreamEvent::ToolCallDelta { index: 8, delta: "{\"path\":".into() },
        StreamEvent::ToolCallDelta { index: 8, delta: "\"a\"}".into() },
        StreamEvent::BlockEnd { index: 8 },
    ]);
    let [Block::Thinking(thinking), Block::Text(text), Block::ToolCall(call)] =
        builder.message().content.as_slice()
    else {
        panic!("{:?}", builder.message().content)
    };
    assert_eq!(thinking.thinking, "hm");
    assert_eq!(text.text, "one two");
    assert_eq!(*call.arguments.value(), json!({ "path": "a" }));
}

#[test]
fn a_delta_without_a_beginning_begins_its_block_and_one_of_another_kind_is_left_out() {
    let builder = folded(&[
        StreamEvent::TextDelta { index: 0, delta: "text".into() },
        StreamEvent::ThinkingDelta { index: 0, delta: "thought".into() },
        StreamEvent::BlockEnd { index: 9 },
    ]);
    assert_eq!(builder.message().content, [Block::text("text")]);
}

#[test]
fn a_call_that_was_still_arriving_is_not_kept() {
    let builder = folded(&[
        StreamEvent::TextDelta { index: 0, delta: "I call".into() },
        StreamEvent::ToolCallStart { index: 1, name: "read".into() },
        StreamEvent::ThinkingStart { index: 2 },
    ]);
    let message = builder.into_unfinished(StopReason::Aborted);
    assert_eq!(message.content, [Block::text("I call")]);
    assert_eq!(message.stop_reason, StopReason::Aborted);
}

#[test]
fn arguments_that_are_no_object_say_so_with_the_start_of_their_text() {
    for (text, expected) in [
        ("", json!({})),
        ("{\"a\":1}", json!({ "a": 1 })),
        ("[1]", json!({ "__parseError": "the arguments are not an object", "__rawJson": "[1]" })),
    ] {
        assert_eq!(*parsed_arguments(text).value(), expected, "{text}");
    }
    let long = format!("{{\"a\": \"{}", "ä".repeat(600));
    let cut = parsed_arguments(&long);
    assert!(cut.get("__parseError").is_some());
    let raw = cut.get("__rawJson").unwrap().as_str().unwrap();
    assert!(raw.len() <= 512 && long.starts_with(raw), "{} bytes", raw.len());
}
