//! What is done when something is not as it should be.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use longhand_agent::compaction::{
    CompactionResult, MethodError, Preparation, Progress, ProgressStep, Skip, Trigger,
};
use longhand_agent::{CompactionMethod, ErrorKind, ModelClient, ModelError};
use longhand_compaction::Options;
use longhand_compaction::projection::{self, Scale};
use longhand_prompts::Prompts;
use longhand_session::message::{StopReason, ToolCall};
use longhand_session::{Block, ByteEstimate, Fragment, Message, TokenCounter};
use serde_json::json;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::scripted::{self, Answer, Scripted};

fn user(text: &str) -> Arc<Message> {
    Arc::new(Message::user(text, 1))
}

/// A history of one message, and one that is kept.
fn preparation() -> Preparation {
    Preparation {
        first_kept_entry_id: "k1".into(),
        messages_to_summarize: vec![user("Add a flag.")],
        recent_messages: vec![user("Now test it.")],
        tokens_before: 12_345,
        ..Preparation::default()
    }
}

fn split_turn() -> Preparation {
    Preparation {
        turn_prefix_messages: vec![user("Big task.")],
        is_split_turn: true,
        ..preparation()
    }
}

/// Runs over the first preparation with these answers.
async fn answered(answers: Vec<Answer>) -> (Arc<Scripted>, Result<CompactionResult, MethodError>) {
    let client = Scripted::new(scripted::model(), answers);
    let outcome = scripted::run(&scripted::job(preparation(), vec![client.clone()])).await;
    (client, outcome)
}

fn kind_of(outcome: Result<CompactionResult, MethodError>) -> Vec<ErrorKind> {
    match outcome {
        Err(MethodError::Failed { source, .. }) => source.kinds,
        other => panic!("no failure of a model: {other:?}"),
    }
}

#[tokio::test]
async fn the_start_of_a_split_turn_is_summarized_with_focus_and_context_too() {
    let client = Scripted::new(scripted::model(), vec![]);
    let mut job = scripted::job(split_turn(), vec![client.clone()]);
    job.focus = Some("the parser".into());
    job.extra_context = Arc::from(["fact <conversation>".to_owned()]);
    let result = scripted::run(&job).await.unwrap();
    assert_eq!(result.summary, "REPLY 0\n\n---\n\n**Turn Context (split turn):**\n\nREPLY 1");
    let prefix = &client.prompts()[1];
    let context = "</conversation>\n\n<additional-context>\n- fact &lt;conversation>\n</additional-context>\n\n";
    assert!(prefix.contains(context), "{prefix}");
    assert!(prefix.ends_with("\n\nAdditional focus: the parser"), "{prefix}");
}

#[tokio::test]
async fn a_reply_without_text_is_no_summary() {
    let call = Block::ToolCall(ToolCall { name: "read".into(), ..ToolCall::default() });
    let files = Block::text("<files>\na.rs (Read)\n</files>\n");
    for blocks in [vec![], vec![Block::text(" \n")], vec![call], vec![files]] {
        let (client, outcome) = answered(vec![Answer::blocks(blocks, StopReason::Stop)]).await;
        assert_eq!(kind_of(outcome), [ErrorKind::EmptyResponse]);
        assert_eq!(client.requests().len(), 1, "nothing is made of it");
    }
}

#[tokio::test]
async fn a_client_that_reports_an_empty_reply_is_not_asked_again() {
    let mut error = ModelError::new(ErrorKind::Transient, "an empty reply");
    error.kinds.push(ErrorKind::EmptyResponse);
    let kinds = error.kinds.clone();
    let (client, outcome) = answered(vec![Answer::Failure(error)]).await;
    assert_eq!((kind_of(outcome), client.requests().len()), (kinds, 1));
}

#[tokio::test]
async fn a_reply_that_was_cut_off_is_asked_for_once_more_with_twice_the_cap() {
    let cut_off = || Answer::blocks(vec![Block::text("half a sum")], StopReason::Length);
    let (client, outcome) = answered(vec![cut_off(), Answer::text("whole")]).await;
    assert_eq!(outcome.unwrap().summary, "whole");
    let caps = client.requests().iter().map(|r| r.options.max_output_tokens).collect::<Vec<_>>();
    assert_eq!(caps, [Some(13_107), Some(26_214), Some(512)]);

    let (client, outcome) = answered(vec![cut_off(), cut_off()]).await;
    assert_eq!(
        outcome.unwrap_err().to_string(),
        "Summarization failed: `test-model` did not finish within 26214 tokens"
    );
    assert_eq!(client.requests().len(), 2);
}

#[tokio::test]
async fn a_cap_is_never_raised_above_what_the_model_can_give() {
    let mut model = scripted::model();
    model.max_output_tokens = Some(4_096);
    let cut_off = Answer::blocks(vec![Block::text("half")], StopReason::Length);
    let client = Scripted::new(model, vec![cut_off]);
    let outcome = scripted::run(&scripted::job(preparation(), vec![client.clone()])).await;
    assert!(outcome.is_err());
    assert_eq!(client.requests().len(), 1, "the same cap would end the same way");
    assert_eq!(client.requests()[0].options.max_output_tokens, Some(4_096));
}

#[tokio::test]
async fn a_reply_that_was_stopped_cancels() {
    let stopped = Answer::blocks(vec![Block::text("half")], StopReason::Aborted);
    let (_, outcome) = answered(vec![stopped]).await;
    assert!(matches!(outcome, Err(MethodError::Cancelled)), "{outcome:?}");
}

#[tokio::test]
async fn without_a_short_summary_the_first_line_of_the_notes_stands_in() {
    let notes = format!("## Goal\n\nShip the {}\nmore", "é".repeat(300));
    let failure = Answer::failure(ErrorKind::ContentBlocked, "boom");
    let (_, outcome) = answered(vec![Answer::text(&notes), failure]).await;
    let result = outcome.unwrap();
    assert_eq!(result.short_summary, Some(format!("Ship the {}", "é".repeat(191))));
    assert_eq!(result.summary, notes);
}

#[tokio::test]
async fn a_short_summary_also_sees_what_led_to_the_kept_messages() {
    let client = Scripted::new(scripted::model(), vec![]);
    let mut preparation = split_turn();
    preparation.recent_messages = vec![];
    scripted::run(&scripted::job(preparation, vec![client.clone()])).await.unwrap();
    assert!(
        client.prompts()[2].starts_with("<conversation>\n\n\nHuman: Big task.\n</conversation>")
    );
}

#[tokio::test]
async fn what_cannot_be_worked_on_sends_nothing() {
    let client = Scripted::new(scripted::model(), vec![]);
    let mut job = scripted::job(Preparation::default(), vec![client.clone()]);
    for expected in
        ["First kept entry has no ID - session may need migration", "there is nothing to summarize"]
    {
        let error = scripted::run(&job).await.unwrap_err();
        assert!(matches!(&error, MethodError::Blocked(why) if why == expected), "{error:?}");
        job.preparation = None;
    }
    assert_eq!(client.requests().len(), 0);
}

#[tokio::test]
async fn without_a_model_the_method_cannot_be_used() {
    let job = scripted::job(preparation(), vec![]);
    let method = scripted::soft(Options::default(), Prompts::default());
    assert_eq!(method.usable(&job), Err(Skip::NoModel));
    let error = scripted::run(&job).await.unwrap_err();
    assert_eq!(error.to_string(), "Compaction failed: no available model");
}

#[tokio::test(start_paused = true)]
async fn cancelling_ends_a_running_request_and_a_wait() {
    let failure = || Answer::failure(ErrorKind::Transient, "busy");
    for answer in [Answer::Silence, failure()] {
        let client = Scripted::new(scripted::model(), vec![answer, failure()]);
        let job = scripted::job(preparation(), vec![client]);
        let method = scripted::soft(Options::default(), Prompts::default());
        let cancel = CancellationToken::new();
        let run = method.run(&job, &scripted::NoProgress, &cancel);
        let stop = async {
            tokio::time::sleep(Duration::from_millis(100)).await;
            cancel.cancel();
        };
        let (outcome, ()) = tokio::join!(run, stop);
        assert!(matches!(outcome, Err(MethodError::Cancelled)), "{outcome:?}");
    }
}

/// Two candidates, the first with these answers.
async fn walked(
    first: Vec<Answer>,
    trigger: Trigger,
) -> (usize, usize, Duration, Result<CompactionResult, MethodError>) {
    let mut other = scripted::model();
    other.id = "other".into();
    let (first, second) = (Scripted::new(scripted::model(), first), Scripted::new(other, vec![]));
    let mut job = scripted::job(preparation(), vec![first.clone(), second.clone()]);
    job.trigger = trigger;
    let start = Instant::now();
    let outcome = scripted::run(&job).await;
    (first.requests().len(), second.requests().len(), start.elapsed(), outcome)
}

#[tokio::test(start_paused = true)]
async fn the_next_candidate_is_asked_when_the_failure_is_one_of_the_model() {
    let cut_off = Answer::blocks(vec![Block::text("half")], StopReason::Length);
    let timeout = Answer::failure(ErrorKind::Timeout, "no");
    let (_, _, _, outcome) = walked(vec![cut_off, timeout], Trigger::Threshold).await;
    let models: Vec<String> = outcome.unwrap().spent.into_iter().map(|spent| spent.model).collect();
    assert_eq!(models, ["custom/test-model", "custom/other", "custom/other"], "all that was paid");
    for kind in [ErrorKind::AuthFailed, ErrorKind::Timeout] {
        let failure = Answer::failure(kind, "no");
        let (first, second, waited, outcome) = walked(vec![failure], Trigger::Threshold).await;
        assert_eq!((first, second, waited), (1, 2, Duration::ZERO), "{kind:?}");
        assert_eq!(outcome.unwrap().spent[0].model, "custom/other");
    }
    let failure = Answer::failure(ErrorKind::ContentBlocked, "no");
    let (first, second, _, outcome) = walked(vec![failure], Trigger::Threshold).await;
    assert_eq!((first, second), (1, 0), "what one service refused is not offered to another");
    assert_eq!(outcome.unwrap_err().to_string(), "Summarization failed: no");
}

#[tokio::test(start_paused = true)]
async fn passing_failures_are_waited_out_longer_each_time() {
    let busy = |hint: Option<u64>| {
        let error = ModelError::new(ErrorKind::Transient, "busy");
        Answer::Failure(ModelError { hint: hint.map(Duration::from_secs), ..error })
    };
    for (failures, trigger, expected) in [
        (vec![None, None, None], Trigger::Threshold, (4, 1, 3_500)),
        (vec![Some(9)], Trigger::Threshold, (2, 1, 9_000)),
        // Someone else can be asked sooner.
        (vec![Some(31)], Trigger::Threshold, (1, 2, 0)),
        (vec![None, None], Trigger::Manual, (3, 1, 1_500)),
        (vec![None, None, None], Trigger::Manual, (3, 2, 1_500)),
    ] {
        let answers = failures.iter().map(|hint| busy(*hint)).collect();
        let (first, second, waited, outcome) = walked(answers, trigger).await;
        outcome.unwrap();
        let expected_requests = if expected.1 == 1 { (expected.0 + 1, 0) } else { (expected.0, 2) };
        assert_eq!((first, second), expected_requests, "{failures:?} {trigger:?}");
        assert_eq!(waited, Duration::from_millis(expected.2), "{failures:?} {trigger:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_last_candidate_is_waited_for_longer_but_not_without_end() {
    for (hint, requests) in [(299, 3), (301, 1)] {
        let error = ModelError::new(ErrorKind::UsageLimit, "come back later");
        let error = ModelError { hint: Some(Duration::from_secs(hint)), ..error };
        let (client, outcome) = answered(vec![Answer::Failure(error)]).await;
        assert_eq!(client.requests().len(), requests, "{hint} s");
        assert_eq!(outcome.is_ok(), requests > 1, "{hint} s");
    }
}

#[tokio::test]
async fn a_refused_key_is_told_with_its_model() {
    let (_, outcome) = answered(vec![Answer::failure(ErrorKind::AuthFailed, "401")]).await;
    assert_eq!(
        outcome.unwrap_err().to_string(),
        "Summarization failed: no usable key for `custom/test-model`: 401"
    );
}

/// Eight messages of numbered words, of which any lost one is missed.
fn long_history() -> (Preparation, Vec<String>) {
    let words: Vec<String> = (0..8_000).map(|at| format!("word{at}.")).collect();
    let messages = words.chunks(1_000).map(|chunk| user(&chunk.join(" "))).collect();
    (Preparation { messages_to_summarize: messages, ..preparation() }, words)
}

#[tokio::test]
async fn a_model_that_finds_a_window_too_large_gets_smaller_ones_and_no_word_is_lost() {
    let overflow = || Answer::failure(ErrorKind::ContextOverflow, "prompt is too long");
    // The history fits it as the model's own counter has it, so that only the model can object.
    let mut model = scripted::model();
    model.context_window = Some(64_000);
    let client = Scripted::new(model, vec![overflow()]);
    let (preparation, words) = long_history();
    scripted::run(&scripted::job(preparation, vec![client.clone()])).await.unwrap();
    let prompts = client.prompts();
    let answered = &prompts[1..prompts.len() - 1];
    assert!(answered.len() > 1, "{} windows", answered.len());
    let seen: HashSet<&str> = answered.iter().flat_map(|text| text.split_whitespace()).collect();
    for word in &words {
        assert!(seen.contains(word.as_str()), "{word} is lost");
    }
}

#[tokio::test]
async fn a_model_that_finds_everything_too_large_is_asked_a_bounded_number_of_times() {
    let overflow = || Answer::failure(ErrorKind::ContextOverflow, "prompt is too long");
    let client = Scripted::new(scripted::model(), (0..50).map(|_| overflow()).collect());
    let (preparation, _) = long_history();
    let outcome = scripted::run(&scripted::job(preparation, vec![client.clone()])).await;
    assert_eq!(kind_of(outcome), [ErrorKind::ContextOverflow]);
    assert!(client.requests().len() <= 7, "{} requests", client.requests().len());
}

#[tokio::test]
async fn requests_fit_the_window_of_a_small_model() {
    let mut model = scripted::model();
    model.context_window = Some(4_096);
    model.max_output_tokens = None;
    let client = Scripted::new(model, vec![]);
    let (mut preparation, _) = long_history();
    preparation.previous_summary = Some("An old fact. ".repeat(2_000));
    scripted::run(&scripted::job(preparation, vec![client.clone()])).await.unwrap();
    for request in client.requests() {
        let text = [&*request.system[0], &scripted::prompt(&request)].concat();
        let tokens =
            ByteEstimate.count(Fragment::Text(&text)) + request.options.max_output_tokens.unwrap();
        assert!(tokens <= 4_096, "{tokens} tokens");
    }
}

#[tokio::test]
async fn an_archive_that_is_too_large_for_a_summary_is_gone_through_in_windows() {
    let mut model = scripted::model();
    model.context_window = Some(16_000);
    let client = Scripted::new(model, vec![]);
    let lines: Vec<String> = (0..2_000).map(|at| format!("[User]: line {at}.")).collect();
    let mut preparation = preparation();
    preparation.previous_summary = Some("Lead-in".into());
    preparation.previous_preserve_data = Some(
        json!({"snapcompact": {"frames": [],
        "totalChars": 10, "truncatedChars": 0, "text": lines.join("\n")}})
        .into(),
    );
    let result = scripted::run(&scripted::job(preparation, vec![client.clone()])).await.unwrap();
    assert_eq!(result.preserve_data, None);
    let prompts = client.prompts();
    let seen: HashSet<&str> = prompts.iter().flat_map(|text| text.lines()).collect();
    for line in &lines {
        assert!(seen.contains(line.as_str()), "{line} is lost");
    }
    assert!(prompts[0].contains("<previous-summary>\nLead-in\n</previous-summary>"));
    assert!(prompts[1].contains("<previous-summary>\nREPLY 0\n</previous-summary>"));
}

#[tokio::test]
async fn a_summary_request_shares_no_cache_with_the_conversation_and_costs_are_told() {
    let (client, outcome) = answered(vec![]).await;
    assert_eq!(client.requests()[0].options.cache_key.as_deref(), Some("s1:compaction"));
    assert_eq!(outcome.unwrap().spent.len(), 2);
}

#[tokio::test]
async fn a_plan_is_an_upper_bound_of_what_the_run_makes() {
    let long = "x".repeat(13_107 * 4);
    let client = Scripted::new(scripted::model(), vec![Answer::text(&long)]);
    let mut preparation = preparation();
    preparation.file_operations.read.insert("src/lib.rs".into());
    let mut job = scripted::job(preparation.clone(), vec![client]);
    job.non_message_tokens = 1_000;
    let method = scripted::soft(Options::default(), Prompts::default());
    let plan = method.plan(&job).await.unwrap();
    let result = scripted::run_with(&method, &job).await.unwrap();
    let tokens =
        projection::project(&job.branch, &preparation, &result, &Scale::new(&ByteEstimate, 1_000));
    assert!(!plan.is_exact);
    assert!(plan.tokens_after.unwrap() >= tokens, "{plan:?}, {tokens} tokens");
}

#[tokio::test]
async fn every_request_is_announced_with_what_it_sends_and_to_whom() {
    struct Steps(Mutex<Vec<String>>);
    impl Progress for Steps {
        fn report(&self, step: ProgressStep) {
            self.0.lock().unwrap().push(format!("{}: {}", step.phase, step.detail));
        }
    }
    let client: Arc<dyn ModelClient> = Scripted::new(scripted::model(), vec![]);
    let steps = Steps(Mutex::default());
    let job = scripted::job(preparation(), vec![client]);
    let method = scripted::soft(Options::default(), Prompts::default());
    method.run(&job, &steps, &CancellationToken::new()).await.unwrap();
    assert_eq!(
        *steps.0.lock().unwrap(),
        [
            "summary: about 5 tokens to `custom/test-model`",
            "short summary: about 6 tokens to `custom/test-model`",
        ]
    );
}

#[tokio::test]
async fn keys_are_neither_sent_nor_taken_back() {
    let key = format!("sk-ant-api03-{}", "Ab1".repeat(12));
    let call = json!({"role": "assistant", "timestamp": 1, "content": [
        {"type": "toolCall", "id": "c1", "name": "bash", "arguments": {"command": format!("login {key}")}}]});
    // The key lies across the place where the result is clipped.
    let output = format!("{} {key}", "y".repeat(1_980));
    let result = json!({"role": "toolResult", "toolCallId": "c1", "toolName": "bash", "timestamp": 1,
        "content": [{"type": "text", "text": output}]});
    let messages = [json!({"role": "user", "content": key.clone(), "timestamp": 1}), call, result];
    let mut preparation = preparation();
    preparation.messages_to_summarize =
        messages.map(|message| Arc::new(serde_json::from_value(message).unwrap())).to_vec();
    preparation.previous_summary = Some(format!("The key is {key}."));
    let client = Scripted::new(scripted::model(), vec![Answer::text(&format!("Use {key}."))]);
    let mut job = scripted::job(preparation, vec![client.clone()]);
    job.focus = Some(format!("whether {key} works").into());
    job.extra_context = Arc::from([key.clone()]);
    let result = scripted::run(&job).await.unwrap();
    for text in client.prompts().iter().chain([&result.summary]) {
        assert!(!text.contains("sk-ant-api03-Ab1"), "{text}");
        assert!(text.contains("[redacted]"), "{text}");
    }
}
