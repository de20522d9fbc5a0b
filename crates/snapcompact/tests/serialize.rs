//! Messages as archive text, against tables.

use std::sync::Arc;

use longhand_session::Message;
use longhand_snapcompact::reasoning;
use longhand_snapcompact::serialize::{Reasoning, SerializeOptions, clip, serialize};
use serde_json::Value;

fn cases(table: &str, key: &str) -> Vec<Value> {
    let table: Value = serde_json::from_str(table).expect("JSON");
    table[key].as_array().expect("a table of cases").clone()
}

fn text<'a>(case: &'a Value, key: &str) -> &'a str {
    case[key].as_str().unwrap_or_else(|| panic!("{key} of {case}"))
}

fn options(case: &Value) -> SerializeOptions {
    let mut options = SerializeOptions::default();
    let cap = |key: &str, default: Option<usize>| match &case["options"][key] {
        Value::Null => default,
        Value::Number(number) => number.as_u64().map(|most| most as usize),
        _ => None,
    };
    options.tool_result_max_chars = cap("toolResultMaxChars", options.tool_result_max_chars);
    options.tool_arg_max_chars = cap("toolArgMaxChars", options.tool_arg_max_chars);
    options.tool_call_max_chars = cap("toolCallMaxChars", options.tool_call_max_chars);
    if let Some(ratio) = case["options"]["truncateHeadRatio"].as_f64() {
        options.truncate_head_ratio = ratio;
    }
    options.dim_tool_results = case["options"]["dimToolResults"] != false;
    if case["options"]["includeThinking"] == false {
        options.reasoning = Reasoning::Excluded;
    }
    options
}

#[test]
fn messages_become_the_text_of_the_table() {
    for case in cases(include_str!("data/snapcompact/serialize.json"), "cases") {
        let messages: Vec<Arc<Message>> = serde_json::from_value(case["messages"].clone())
            .unwrap_or_else(|error| panic!("{}: {error}", case["name"]));
        assert_eq!(serialize(&messages, &options(&case)), text(&case, "out"), "{}", case["name"]);
    }
}

#[test]
fn long_text_is_cut_as_the_table_says() {
    for case in cases(include_str!("data/snapcompact/truncate_dataurl.json"), "truncate") {
        let most = case["max"].as_u64().expect("a length") as usize;
        let ratio = case["ratio"].as_f64().expect("a part");
        let Some(unit) = case["text_repeat"][0].as_str() else {
            assert_eq!(clip(text(&case, "text"), most, ratio), text(&case, "out"), "{case}");
            continue;
        };
        let times = case["text_repeat"][1].as_u64().expect("a count") as usize;
        let cut = clip(&unit.repeat(times), most, ratio);
        assert_eq!(Some(cut.chars().count() as u64), case["out_len"].as_u64(), "{case}");
    }
}

#[test]
fn sections_of_reasoning_go() {
    for case in cases(include_str!("data/snapcompact/strip_thinking.json"), "cases") {
        assert_eq!(reasoning::strip(text(&case, "text")), text(&case, "out"), "{case}");
    }
}

#[test]
fn all_lines_of_a_section_of_reasoning_go() {
    for (archive, left) in [
        ("¶user:a█¶think:line1█line2█¶ai:ok", "¶user:a█¶ai:ok"),
        ("¶think:a█b█c", ""),
        ("¶user:x\n\n¶think:y█z\n\n¶call:f()█<out>█r█</out>", "¶user:x█¶call:f()█<out>█r█</out>"),
    ] {
        assert_eq!(reasoning::strip(archive), left);
    }
}
