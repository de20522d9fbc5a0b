//! Token counts and estimates.
#![expect(clippy::unwrap_used, reason = "a case that does not parse fails its test")]

use std::sync::Arc;

use longhand_session::counter::{ByteBound, ByteEstimate, Fragment, TokenCounter};
use longhand_session::tiktoken::O200k;
use longhand_session::tokens::{
    self, Anchor, BudgetCheck, EncryptedReasoning, EstimateOptions, MessageCounts,
};
use longhand_session::{Entry, Message, Usage};
use serde_json::{Value, json};

fn text(case: &Value) -> String {
    match &case["text_repeat"] {
        Value::Null => case["text"].as_str().unwrap().to_owned(),
        repeat => {
            let times = repeat["count"].as_u64().unwrap() as usize;
            repeat["char"].as_str().unwrap().repeat(times)
        }
    }
}

fn estimates() -> Value {
    serde_json::from_str(include_str!("data/compaction/token-estimates.json")).unwrap()
}

fn usages() -> Value {
    serde_json::from_str(include_str!("data/compaction/usage.json")).unwrap()
}

#[test]
fn each_role_costs_what_it_says() {
    for case in estimates()["messages"].as_array().unwrap() {
        let message: Message = serde_json::from_value(case["message"].clone()).unwrap();
        let expected = |key: &str| {
            let required = case.get("tokens_required").unwrap_or(&case[key]);
            required.as_u64().unwrap()
        };
        for (reasoning, expected) in [
            (EncryptedReasoning::Counted, expected("tokens")),
            (EncryptedReasoning::Excluded, expected("tokens_floor")),
        ] {
            let actual = tokens::count_message(&ByteEstimate, &message, reasoning);
            assert_eq!(actual, expected, "{} {reasoning:?}", case["name"]);
        }
    }
}

#[test]
fn bytes_estimate_and_bound_a_text() {
    for case in estimates()["texts"].as_array().unwrap() {
        let text = text(case);
        let count = |counter: &dyn TokenCounter| counter.count(Fragment::Text(&text));
        assert_eq!(count(&ByteEstimate), case["approximate"].as_u64().unwrap(), "{case}");
        assert_eq!(count(&ByteBound), case["upperbound"].as_u64().unwrap(), "{case}");
    }
}

#[test]
fn a_budget_is_checked_by_counting_only_where_bytes_do_not_decide() {
    for case in estimates()["budget_probe"].as_array().unwrap() {
        let budget = case["budget"].as_u64().unwrap();
        let BudgetCheck { fits, tokens, is_exact } =
            tokens::check_budget(&text(case), budget, &O200k);
        assert_eq!((fits, is_exact), (case["fits"] == true, case["exact"] == true), "{case}");
        if let Some(bytes) = case["tokens_when_not_exact"].as_u64() {
            assert_eq!(tokens, bytes, "{case}");
        }
    }
}

#[test]
fn usage_says_how_large_the_context_was() {
    for case in usages()["usage"].as_array().unwrap() {
        let usage: Usage = serde_json::from_value(case["usage"].clone()).unwrap();
        let actual = json!([usage.context(), usage.prompt(), usage.has_context()]);
        let expected =
            json!([case["context_tokens"], case["prompt_tokens"], case["has_context_usage"]]);
        assert_eq!(actual, expected, "{}", case["usage"]);
    }
}

#[test]
fn the_newest_measured_reply_anchors_the_estimate() {
    for case in usages()["anchors"].as_array().unwrap() {
        let messages: Vec<Arc<Message>> = serde_json::from_value(case["messages"].clone()).unwrap();
        let index = |key: &str| case["options"][key].as_u64().unwrap_or(0) as usize;
        let options = EstimateOptions {
            anchor_from_index: index("anchorFromIndex"),
            count_from_index: index("countFromIndex"),
            reasoning: match case["options"]["excludeEncryptedReasoning"].as_bool() {
                Some(true) => EncryptedReasoning::Excluded,
                _ => EncryptedReasoning::Counted,
            },
        };
        let expected = case["anchor"].as_object().map(|anchor| Anchor {
            index: anchor["index"].as_u64().unwrap() as usize,
            tokens: anchor["tokens"].as_u64().unwrap(),
        });
        let actual = tokens::estimate_transcript(&ByteEstimate, &messages, options);
        assert_eq!(actual.anchor, expected, "{}", case["name"]);
        assert_eq!(actual.tokens, case["estimate"].as_u64().unwrap(), "{}", case["name"]);
    }
}

#[test]
fn stored_tokens_are_a_floor_under_what_the_provider_measured() {
    for case in usages()["compaction_context_tokens"].as_array().unwrap() {
        // A count below zero cannot be written in our types; it would have been read as zero.
        let tokens = |key: &str| u64::try_from(case[key].as_i64().unwrap()).unwrap_or(0);
        let actual = tokens::compaction_context_tokens(tokens("provider"), tokens("stored"));
        assert_eq!(actual, case["result"].as_u64().unwrap(), "{case}");
    }
}

#[test]
fn the_last_usage_is_that_of_a_reply_that_finished() {
    let entry = |id: &str, stop: &str, usage: Value| -> Arc<Entry> {
        let message =
            json!({"role": "assistant", "content": [], "stopReason": stop, "usage": usage});
        serde_json::from_value(json!({"type": "message", "id": id, "message": message})).unwrap()
    };
    let entries = [
        entry("a", "stop", json!({"input": 7})),
        entry("b", "stop", json!({"input": 0})),
        entry("c", "error", json!({"input": 9})),
    ];
    let input = |entries| tokens::last_assistant_usage(entries).map(|usage| usage.input);
    assert_eq!(input(&entries), Some(0));
    assert_eq!(input(&entries[..1]), Some(7));
    assert_eq!(input(&entries[2..]), None);
}

#[test]
fn a_counted_message_is_not_counted_again() {
    struct Counting(std::sync::atomic::AtomicU64);
    impl TokenCounter for Counting {
        fn count(&self, _: Fragment<'_>) -> u64 {
            self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed) + 1
        }
    }
    let mut counts = MessageCounts::new(Arc::new(Counting(0.into())));
    let message = Arc::new(Message::user("x", 0));
    assert_eq!(counts.count(&message, EncryptedReasoning::Counted), 1);
    assert_eq!(counts.count(&message, EncryptedReasoning::Counted), 1);
    assert_eq!(counts.count(&message, EncryptedReasoning::Excluded), 2);
    let rewritten = Arc::new(Message::user("y", 0));
    assert_eq!(counts.count(&rewritten, EncryptedReasoning::Counted), 3);
}

#[test]
fn o200k_counts_are_exact() {
    let vocabulary = tiktoken_rs::o200k_base().unwrap();
    let source = include_str!("tokens.rs");
    for text in ["", "hello world", "日本語 🙂", "<|endoftext|>", "\n\n\n  \t x", source] {
        let expected = vocabulary.encode_ordinary(text).len() as u64;
        assert_eq!(O200k.count(Fragment::Text(text)), expected, "{text}");
    }
    assert_eq!(O200k.count(Fragment::Text("hello world")), 2);
}

#[test]
fn runs_without_a_break_are_counted_in_full() {
    for unit in ["a", " ", "\n", "-", "é", "🙂", "\u{3000}", "1", "aB", "=\n", "\r"] {
        let text = unit.repeat(1_000_000 / unit.len());
        let tokens = O200k.count(Fragment::Text(&text));
        let bound = tokens > 500 && tokens <= text.len() as u64;
        assert!(bound, "{unit:?}: {tokens} tokens");
    }
}
