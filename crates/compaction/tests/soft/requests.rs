//! Every request that a summary sends, and what becomes of the replies.

use std::sync::{Arc, LazyLock};

use longhand_agent::compaction::{FileOperations, MethodError, Preparation, Thinking};
use longhand_agent::{ModelError, Request};
use longhand_compaction::Options;
use longhand_prompts::{Prompt, Prompts};
use longhand_session::message::{StopReason, ThinkingBlock};
use longhand_session::model::Effort;
use longhand_session::tiktoken::O200k;
use longhand_session::{Block, ByteEstimate, Json, Message, Model, TokenCounter};
use regex::{Captures, Regex};
use serde_json::{Value, json};

use crate::scripted::{self, Answer, Scripted};
use crate::vectors;

/// Cases that are not run, and why.
const LEFT_OUT: &[(&str, &str)] = &[
    ("remote: ", "the summarizer endpoint has no client yet"),
    ("split turn: history and prefix", "the prefix takes context and focus too: see `failures.rs`"),
    ("short summary failure", "a short summary is worth no failure: see `failures.rs`"),
    ("empty summary text", "an empty reply is no summary: see `failures.rs`"),
    ("truncated summary", "a reply that was cut off is no summary: see `failures.rs`"),
    ("aborted summary", "a reply that was stopped is no summary: see `failures.rs`"),
    ("first kept id missing", "checked before any request: see `failures.rs`"),
    ("provider overflow halves", "windows are planned with the model's counter: see `failures.rs`"),
    (
        "overflow that never clears",
        "windows are planned with the model's counter: see `failures.rs`",
    ),
];

/// Answers of the cases in which they are not `REPLY n`.
fn answers(case: &str) -> Vec<Answer> {
    let failure = |status, text: &str| {
        Answer::Failure(ModelError { kinds: vec![], status, hint: None, text: text.into() })
    };
    match case {
        "summary call ends in error" => vec![failure(Some(529), "overloaded_error: busy")],
        "summary call ends in error without message" => {
            vec![Answer::blocks(vec![], StopReason::Error)]
        }
        "turn prefix call fails" => vec![Answer::Silence, failure(Some(500), "boom")],
        "text blocks joined with LF, thinking ignored" => (0..2).map(|_| in_pieces()).collect(),
        "files block in model reply is replaced" => {
            let text = "Body\n\n<files>\nfake (Read)\n</files>";
            vec![Answer::text(text), Answer::text(text)]
        }
        _ => vec![],
    }
}

fn in_pieces() -> Answer {
    let thinking = ThinkingBlock { thinking: "hm".into(), ..ThinkingBlock::default() };
    let blocks = vec![Block::text("one"), Block::Thinking(thinking), Block::text("two")];
    Answer::blocks(blocks, StopReason::Stop)
}

#[tokio::test(start_paused = true)]
async fn requests_and_results_are_those_of_the_table() {
    let mut run = 0;
    for case in vectors::cases("summary-requests", "cases") {
        let name = case["name"].as_str().unwrap();
        if LEFT_OUT.iter().any(|(start, _)| name.starts_with(start)) {
            continue;
        }
        check(name, &case).await;
        run += 1;
    }
    assert_eq!(run, 37, "cases that were run");
}

async fn check(name: &str, case: &Value) {
    let input = &case["input"];
    let counter: Arc<dyn TokenCounter> = match case.get("requires_exact_tokenizer") {
        Some(_) => Arc::new(O200k),
        None => Arc::new(ByteEstimate),
    };
    let client = Scripted::counting(model(&input["model"]), counter, answers(name));
    let mut job = scripted::job(preparation(&input["preparation"]), vec![client.clone()]);
    job.focus = input["custom_instructions"].as_str().map(Arc::from);
    job.extra_context = lines(&input["options"]["extraContext"]).into();
    job.thinking = thinking(&input["options"]["thinkingLevel"]);
    let prompts = prompts(&input["options"]["promptOverride"]);
    let method = scripted::soft(options(&input["preparation"]["settings"]), prompts.clone());

    let outcome = scripted::run_with(&method, &job).await;

    let sent: Vec<Value> = client.requests().iter().map(told).collect();
    let expected: Vec<Value> = case["calls"]
        .as_array()
        .unwrap()
        .iter()
        .map(|call| expected_call(call, &prompts))
        .collect();
    for (at, (sent, expected)) in sent.iter().zip(&expected).enumerate() {
        assert_eq!(shortened(sent), shortened(expected), "request {at} of: {name}");
    }
    assert_eq!(sent.len(), expected.len(), "number of requests of: {name}");
    match outcome {
        Ok(result) => {
            let actual = json!({
                "summary": result.summary,
                "short_summary": result.short_summary,
                "first_kept_entry_id": result.first_kept_entry_id,
                "tokens_before": result.tokens_before,
                "details": result.details,
                "preserve_data": result.preserve_data,
            });
            assert_eq!(actual, case["result"], "result of: {name}");
        }
        Err(error) => {
            assert_eq!(error.to_string(), case["error"]["message"], "error of: {name}");
            let MethodError::Failed { source, .. } = error else { panic!("{name}: {error:?}") };
            assert_eq!(json!(source.status), case["error"]["status"], "status of: {name}");
        }
    }
}

fn told(request: &Request) -> Value {
    assert!(request.tools.is_empty() && request.options.tool_choice.is_none());
    json!({
        "system": request.system,
        "prompt": scripted::prompt(request),
        "max_tokens": request.options.max_output_tokens,
        "reasoning": request.options.effort,
    })
}

/// A request with its runs of one letter told by their length, so that a difference can be read.
fn shortened(request: &Value) -> Value {
    static RUN: LazyLock<Regex> = LazyLock::new(|| Regex::new("x{50,}").unwrap());
    let prompt = request["prompt"].as_str().unwrap();
    let prompt =
        RUN.replace_all(prompt, |run: &Captures<'_>| format!("{{{{x*{}}}}}", run[0].len()));
    let mut request = request.clone();
    request["prompt"] = prompt.into();
    request
}

/// Caps below 256 tokens are raised to it.
fn expected_call(call: &Value, prompts: &Prompts) -> Value {
    json!({
        "system": lines(&call["system"]).iter().map(|text| expanded(text, prompts)).collect::<Vec<_>>(),
        "prompt": expanded(call["prompt"].as_str().unwrap(), prompts),
        "max_tokens": call["max_tokens"].as_u64().unwrap().max(256),
        "reasoning": call["reasoning"],
    })
}

/// Text with its `{{…}}` written out.
fn expanded(text: &str, prompts: &Prompts) -> String {
    static NAMES: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"\{\{(\w+)(?:\*(\d+)|, (\d+) chars| ([\w-]+))\}\}").unwrap());
    let text = NAMES.replace_all(text, |found: &Captures<'_>| {
        let number = |group| found.get(group).map(|n| n.as_str().parse::<usize>().unwrap());
        match (&found[1], number(2), number(3)) {
            ("words", Some(count), _) => words(count),
            ("words", _, Some(chars)) => words(chars)[..chars].to_owned(),
            (letter, Some(count), _) => letter.repeat(count),
            ("LABEL", ..) => archive_label(prompts),
            _ => {
                let name = &found[4];
                let prompt = Prompt::ALL.iter().find(|prompt| prompt.name() == name);
                prompts.text(*prompt.unwrap_or_else(|| panic!("{name}"))).to_owned()
            }
        }
    });
    text.into_owned()
}

fn words(count: usize) -> String {
    (0..count).map(|at| format!("w{}", at % 97)).collect::<Vec<_>>().join(" ")
}

/// The words that stand before the text of an archive.
fn archive_label(prompts: &Prompts) -> String {
    let whole = prompts.render(Prompt::SnapcompactArchiveContext, &[("archiveText", "")]);
    whole.trim_end().to_owned()
}

fn expand_in(value: &Value, prompts: &Prompts) -> Value {
    match value {
        Value::String(text) => expanded(text, prompts).into(),
        Value::Array(items) => items.iter().map(|item| expand_in(item, prompts)).collect(),
        Value::Object(members) => members
            .iter()
            .map(|(key, member)| (key.clone(), expand_in(member, prompts)))
            .collect::<serde_json::Map<_, _>>()
            .into(),
        other => other.clone(),
    }
}

fn preparation(described: &Value) -> Preparation {
    let messages = |key: &str| -> Vec<Arc<Message>> {
        serde_json::from_value(expand_in(&described[key], &Prompts::default())).unwrap()
    };
    let files = |key: &str| lines(&described["fileOps"][key]).into_iter().collect();
    let text = |key: &str| described[key].as_str().map(str::to_owned);
    Preparation {
        first_kept_entry_id: text("firstKeptEntryId").unwrap_or_default().into(),
        messages_to_summarize: messages("messagesToSummarize"),
        turn_prefix_messages: messages("turnPrefixMessages"),
        recent_messages: messages("recentMessages"),
        is_split_turn: described["isSplitTurn"].as_bool().unwrap(),
        tokens_before: described["tokensBefore"].as_u64().unwrap(),
        previous_summary: text("previousSummary"),
        previous_preserve_data: described.get("previousPreserveData").cloned().map(Json::from),
        file_operations: FileOperations {
            read: files("read"),
            written: files("written"),
            edited: files("edited"),
        },
    }
}

fn model(described: &Value) -> Model {
    let mut model = scripted::model();
    model.context_window = described["contextWindow"].as_u64();
    model.max_output_tokens = described["maxTokens"].as_u64();
    if described["reasoning"] == true {
        let efforts = described["thinking"]["efforts"].clone();
        model.efforts = serde_json::from_value(efforts).unwrap_or_default();
    }
    model
}

fn options(settings: &Value) -> Options {
    let mut options = Options::default();
    options.reserve_tokens = settings["reserveTokens"].as_u64();
    options
}

/// A prompt of one's own takes the place of both that ask for history.
fn prompts(replacement: &Value) -> Prompts {
    let mut prompts = Prompts::default();
    if let Some(text) = replacement.as_str() {
        prompts.replace("compaction-summary", text).unwrap();
        prompts.replace("compaction-update-summary", text).unwrap();
    }
    prompts
}

fn thinking(level: &Value) -> Thinking {
    match level.as_str() {
        None | Some("inherit") => Thinking::Inherit,
        Some("off") => Thinking::Off,
        Some(_) => Thinking::Level(serde_json::from_value::<Effort>(level.clone()).unwrap()),
    }
}

fn lines(value: &Value) -> Vec<String> {
    serde_json::from_value(value.clone()).unwrap_or_default()
}
