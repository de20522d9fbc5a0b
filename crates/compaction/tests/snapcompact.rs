//! The method `snapcompact`: what it makes of a history, and each reason for which it makes nothing.

#![expect(clippy::unwrap_used, reason = "a case that does not parse fails its test")]

use std::sync::Arc;

use longhand_agent::Branch;
use longhand_agent::compaction::{
    CompactionMethod, CompactionResult, Job, MethodError, Outcome, Preparation, Progress,
    ProgressStep, Skip, Thinking, Trigger,
};
use longhand_agent::live::Frames;
use longhand_agent::shared_list::SharedList;
use longhand_compaction::{Options, SnapcompactMethod};
use longhand_session::archive::{self, Archive, FrameBudget, FrameSource};
use longhand_session::image_bill::Family;
use longhand_session::message::CompactionSummaryMessage;
use longhand_session::model::InputKind;
use longhand_session::{
    BilledFrames, ByteEstimate, Entry, Epoch, Fragment, Generation, Json, Message, Model, ModelRef,
    SessionId, TokenCounter,
};
use longhand_snapcompact::Renderer;
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

struct Silent;

impl Progress for Silent {
    fn report(&self, _: ProgressStep) {}
}

fn method(options: Options) -> SnapcompactMethod {
    let (_, options) = watch::channel(Arc::new(options));
    SnapcompactMethod::new(options, Arc::default(), Renderer::default(), None)
}

/// Frames of 23,520 characters, and as many of them as there is room for.
fn options() -> Options {
    let mut options = Options::default();
    options.snapcompact.shape = "8x13-bw".parse().unwrap();
    options.snapcompact.image_budgets.images.insert("test".into(), 80);
    options
}

fn model(id: &str) -> Model {
    let api = serde_json::from_value(json!("anthropic-messages")).unwrap();
    let mut model = Model::new(ModelRef::new("test", id), api, "");
    model.context_window = Some(200_000);
    model.input = vec![InputKind::Text, InputKind::Image];
    model
}

fn user(text: &str) -> Arc<Message> {
    message(&json!({"role": "user", "content": text, "timestamp": 1}))
}

fn message(value: &Value) -> Arc<Message> {
    Arc::new(serde_json::from_value(value.clone()).unwrap())
}

/// Text of that many characters, in numbered lines.
fn lines(chars: usize) -> String {
    let text: String =
        (0..=chars / 50).map(|at| format!("line {at}: {}\n", "words of it ".repeat(4))).collect();
    text.chars().take(chars).collect()
}

fn cut(messages: Vec<Arc<Message>>) -> Preparation {
    Preparation {
        first_kept_entry_id: "kept".into(),
        messages_to_summarize: messages,
        tokens_before: 50_000,
        ..Preparation::default()
    }
}

fn job(model: Model, preparation: Preparation) -> Job {
    let family = Family::of_api(model.api.as_str());
    Job {
        branch: Arc::new(branch(Vec::new())),
        preparation: Some(Arc::new(preparation)),
        system: Arc::from([]),
        tools: Arc::from([]),
        model: Arc::new(model),
        counter: Arc::new(BilledFrames::new(Arc::new(ByteEstimate), family)),
        candidates: Vec::new(),
        trigger: Trigger::Threshold,
        focus: None,
        non_message_tokens: 0,
        extra_context: Arc::from([]),
        thinking: Thinking::Inherit,
    }
}

fn branch(entries: Vec<Arc<Entry>>) -> Branch {
    Branch {
        session: SessionId::from("s1"),
        leaf: None,
        epoch: Epoch(0),
        generation: Generation(0),
        entries: entries.into_iter().collect(),
        live: SharedList::default(),
    }
}

async fn run(options: Options, job: &Job) -> Result<CompactionResult, MethodError> {
    match method(options).run(job, &Silent, &CancellationToken::new()).await? {
        Outcome::Entry(result) => Ok(result),
        Outcome::Patch(_) => panic!("an archive is an entry"),
    }
}

async fn blocked(options: Options, job: &Job) -> String {
    match run(options, job).await {
        Err(MethodError::Blocked(why)) => why,
        other => panic!("not blocked: {other:?}"),
    }
}

fn archive(result: &CompactionResult) -> Archive {
    Archive::read(result.preserve_data.as_ref().unwrap()).unwrap()
}

#[tokio::test]
async fn long_history_becomes_frames_between_two_edges_of_text() {
    let job = job(model("any"), cut(vec![user(&lines(100_000))]));
    let result = run(options(), &job).await.unwrap();
    let archive = archive(&result);
    assert_eq!(archive.frames.len(), 3);
    assert_eq!(archive.truncated_chars, 0);
    let edges = [archive.text_head, archive.text_tail].map(|text| text.unwrap().chars().count());
    assert_eq!(edges, [23_520, 23_520]);
    assert_eq!((&*result.first_kept_entry_id.to_string(), result.tokens_before), ("kept", 50_000));
    assert_eq!(result.spent, [], "no model was asked");
}

#[tokio::test]
async fn what_is_planned_is_what_is_made() {
    let job = job(model("any"), cut(vec![user(&lines(100_000))]));
    let plan = method(options()).plan(&job).await.unwrap();
    let result = run(options(), &job).await.unwrap();
    assert_eq!(plan.frames, archive(&result).frames.len());
    assert!(plan.is_exact);
    assert!(plan.tokens_after.is_some_and(|tokens| tokens < 25_000), "{plan:?}");
}

#[test]
fn a_model_without_eyes_is_passed_over_and_named() {
    let mut blind = model("blind");
    blind.input = vec![InputKind::Text];
    let skip = method(options()).usable(&job(blind, cut(Vec::new()))).unwrap_err();
    assert_eq!(skip, Skip::NeedsVision("test/blind".into()));
}

#[tokio::test]
async fn each_reason_against_an_archive_is_named() {
    // Characters that no font has.
    let unseen = format!("{}{}", lines(1_000), "\u{10A00}".repeat(100));
    let unreadable = job(model("any"), cut(vec![user(&unseen)]));
    let why = blocked(options(), &unreadable).await;
    assert!(why.contains(" % of the history are characters that no font has"), "{why}");

    // What is kept fills the window.
    let kept = Preparation {
        recent_messages: vec![user(&lines(720_000))],
        ..cut(vec![user(&lines(100_000))])
    };
    let why = blocked(options(), &job(model("any"), kept)).await;
    assert!(why.starts_with("what is kept takes 180,0"), "{why}");

    // No request of the provider carries even one frame.
    let mut few_bytes = options();
    few_bytes.snapcompact.image_budgets.bytes.insert("test".into(), 1_000);
    let long = job(model("any"), cut(vec![user(&lines(100_000))]));
    let why = blocked(few_bytes, &long).await;
    assert!(why.contains("more than the 1,000 that it may carry"), "{why}");

    // Or it carries no images at all.
    let mut no_images = options();
    no_images.snapcompact.image_budgets.images.insert("test".into(), 0);
    assert_eq!(blocked(no_images, &long).await, "requests to `test` carry no images");

    // The guide alone is longer than so little history.
    let short = job(model("any"), cut(vec![user("hello")]));
    let why = blocked(options(), &short).await;
    assert!(why.starts_with("the archive would not make the context smaller"), "{why}");
}

#[tokio::test]
async fn unreadable_history_is_told_of_before_a_lack_of_room() {
    let preparation = Preparation {
        recent_messages: vec![user(&lines(720_000))],
        ..cut(vec![user(&"\u{10A00}".repeat(1_000))])
    };
    let why = blocked(options(), &job(model("any"), preparation)).await;
    assert!(why.starts_with("99.4 % of the history"), "{why}");
}

#[tokio::test]
async fn over_the_bytes_of_a_request_there_are_fewer_frames() {
    let job = job(model("any"), cut(vec![user(&lines(150_000))]));
    let whole = archive(&run(options(), &job).await.unwrap());
    let bytes: usize = whole.frames.iter().map(|frame| frame.data.len()).sum();
    let mut tight = options();
    // Less than the frames take, and more than they are estimated at: only drawing them tells.
    tight.snapcompact.image_budgets.bytes.insert("test".into(), bytes as u64 - 1);
    let fewer = archive(&run(tight, &job).await.unwrap());
    assert!(!fewer.frames.is_empty() && fewer.frames.len() < whole.frames.len());
    assert!(fewer.truncated_chars > 0, "what found no place is counted");
}

/// Counts a token for 8 bytes, so that text is cheap beside frames.
struct Cheap;

impl TokenCounter for Cheap {
    fn count(&self, fragment: Fragment<'_>) -> u64 {
        ByteEstimate.count(fragment) / 2
    }
}

#[tokio::test]
async fn pages_that_cost_less_as_text_stay_text() {
    // These frames are billed at a token for 4.2 characters.
    let mut options = options();
    options.snapcompact.shape = "11on16-bw".parse().unwrap();
    // The tool's output is what an archive saves here.
    let output = lines(40_000);
    let call = json!({"role": "assistant", "content": [
        {"type": "toolCall", "id": "c", "name": "bash", "arguments": {}}], "timestamp": 1});
    let result = json!({"role": "toolResult", "toolCallId": "c", "toolName": "bash", "isError": false,
        "content": [{"type": "text", "text": output}], "timestamp": 1});
    let history = vec![message(&call), message(&result), user(&lines(60_000))];
    let with_frames = job(model("any"), cut(history.clone()));
    assert!(!archive(&run(options.clone(), &with_frames).await.unwrap()).frames.is_empty());
    let as_text = Job {
        counter: Arc::new(BilledFrames::new(Arc::new(Cheap), Family::Anthropic)),
        ..with_frames
    };
    let archive = archive(&run(options, &as_text).await.unwrap());
    assert_eq!(archive.frames, []);
    assert!(archive.text_head.unwrap().contains("line 1000:"), "all of it is text");
}

#[tokio::test]
async fn reasoning_is_not_archived_for_claude_and_not_mentioned() {
    let thoughts = json!({"role": "assistant", "content": [
        {"type": "thinking", "thinking": "a secret thought"}, {"type": "text", "text": "said aloud"}], "timestamp": 1});
    let history = || cut(vec![message(&thoughts), user(&lines(100_000))]);
    for (id, has_thoughts) in [("claude-opus-4-1", false), ("gpt-5", true)] {
        let result = run(options(), &job(model(id), history())).await.unwrap();
        let text = archive(&result).text.unwrap();
        assert!(text.contains("said aloud"), "{id}");
        assert_eq!(text.contains("a secret thought"), has_thoughts, "{id}");
        assert_eq!(result.summary.contains("think"), has_thoughts, "{id}: {}", result.summary);
    }
}

/// A branch whose newest compaction is that result.
fn compacted(result: &CompactionResult, method: &str) -> Branch {
    let entry = json!({
        "type": "compaction", "id": "c1", "summary": result.summary, "method": method,
        "firstKeptEntryId": result.first_kept_entry_id, "tokensBefore": result.tokens_before,
        "details": result.details, "preserveData": result.preserve_data,
    });
    branch(vec![Arc::new(serde_json::from_value(entry).unwrap())])
}

#[tokio::test]
async fn an_archive_that_left_no_room_is_made_again_with_fewer_frames() {
    let mut preparation = cut(vec![user(&lines(170_000))]);
    preparation.file_operations.read.insert("src/lib.rs".into());
    let made = run(options(), &job(model("any"), preparation)).await.unwrap();
    assert_eq!(archive(&made).frames.len(), 6);
    let left = |method: &str| Job {
        branch: Arc::new(compacted(&made, method)),
        preparation: None,
        ..job(model("any"), Preparation::default())
    };
    let shrunk = method(options()).shrink(&left("snapcompact"), 23_000).await.unwrap().unwrap();
    assert_eq!(archive(&shrunk).frames.len(), 2);
    assert_eq!(shrunk.first_kept_entry_id, made.first_kept_entry_id);
    assert_eq!(shrunk.tokens_before, made.tokens_before);
    assert_eq!(shrunk.details, made.details, "the lists of files stay");

    for (of, room_tokens, why) in [
        ("soft", 23_000, "another method made it"),
        ("snapcompact", 15_000, "no frame has room"),
        ("snapcompact", 90_000, "it would not have fewer"),
    ] {
        let kept = method(options()).shrink(&left(of), room_tokens).await.unwrap();
        assert!(kept.is_none(), "{why}");
    }
}

/// What the model sees of a compaction.
fn seen(result: &CompactionResult) -> Arc<Message> {
    let blocks = archive::history_blocks(&archive(result), FrameBudget::Unlimited, None);
    let summary = result.summary.clone();
    Arc::new(Message::CompactionSummary(Box::new(CompactionSummaryMessage {
        summary,
        blocks: Some(blocks),
        ..CompactionSummaryMessage::default()
    })))
}

#[tokio::test]
async fn an_archive_that_grows_keeps_the_frames_that_it_has() {
    let first = run(options(), &job(model("any"), cut(vec![user(&lines(100_000))]))).await.unwrap();
    let more = Preparation {
        previous_preserve_data: first.preserve_data.clone(),
        ..cut(vec![user(&lines(30_000))])
    };
    let mut branch = branch(Vec::new());
    branch.live = [seen(&first), user(&lines(30_000))].into_iter().collect();
    let job = Job { branch: Arc::new(branch), ..job(model("any"), more) };
    let grown = run(options(), &job).await.unwrap();
    let [first, grown] = [&first, &grown].map(archive);
    assert_eq!(grown.frames[..2], first.frames[..2], "only the last page is another");
    assert_eq!(grown.frames.len(), 4);
}

/// A store in which nothing lies.
struct Empty;

impl FrameSource for Empty {
    fn encoded_bytes(&self, _: &str) -> Option<u64> {
        None
    }

    fn read(&self, _: &str) -> Option<String> {
        None
    }
}

#[tokio::test]
async fn frames_that_are_gone_are_drawn_again_from_their_text() {
    let first = run(options(), &job(model("any"), cut(vec![user(&lines(100_000))]))).await.unwrap();
    let mut lost = archive(&first);
    lost.frames.iter_mut().for_each(|frame| frame.data = format!("blob:sha256:{:064x}", 1));
    let more = Preparation {
        previous_preserve_data: Some(lost.write(first.preserve_data.as_ref())),
        ..cut(vec![user(&lines(30_000))])
    };
    let mut branch = branch(Vec::new());
    branch.live = [seen(&first), user(&lines(30_000))].into_iter().collect();
    let job = Job { branch: Arc::new(branch), ..job(model("any"), more) };
    let (_, options) = watch::channel(Arc::new(options()));
    let frames: Frames = Arc::new(Empty);
    let method = SnapcompactMethod::new(options, Arc::default(), Renderer::default(), Some(frames));
    let outcome = method.run(&job, &Silent, &CancellationToken::new()).await.unwrap();
    let Outcome::Entry(grown) = outcome else { panic!("{outcome:?}") };
    assert_eq!(archive(&grown).frames[..2], archive(&first).frames[..2]);
}

#[tokio::test]
async fn lines_of_extensions_are_archived_too() {
    let job = Job {
        extra_context: Arc::from(["the staging server is down".to_owned()]),
        ..job(model("any"), cut(vec![user(&lines(100_000))]))
    };
    let text = archive(&run(options(), &job).await.unwrap()).text.unwrap();
    assert!(text.contains("the staging server is down"));
}

#[tokio::test]
async fn slots_of_others_are_carried_on() {
    let slots = json!({"mine": {"n": 1}, "openaiRemoteCompaction": {"items": []}});
    let preparation = Preparation {
        previous_preserve_data: Some(Json::from(slots)),
        ..cut(vec![user(&lines(100_000))])
    };
    let kept =
        run(options(), &job(model("any"), preparation)).await.unwrap().preserve_data.unwrap();
    assert_eq!(kept.get("mine"), Some(&json!({"n": 1})));
    assert_eq!(
        kept.get("openaiRemoteCompaction"),
        None,
        "a provider's own history does not fit beside an archive"
    );
}

#[tokio::test]
async fn a_stopped_pass_makes_nothing() {
    let cancel = CancellationToken::new();
    cancel.cancel();
    let job = job(model("any"), cut(vec![user(&lines(100_000))]));
    let stopped = method(options()).run(&job, &Silent, &cancel).await;
    assert!(matches!(stopped, Err(MethodError::Cancelled)), "{stopped:?}");
}
