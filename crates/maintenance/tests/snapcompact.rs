//! Passes over a running session with the method `snapcompact` before `soft`: which runs when, and what is said of it.

use std::sync::Arc;

use async_trait::async_trait;
use longhand_agent::client::{Models, ModelsError, Role};
use longhand_agent::maintenance::{MaintenanceError, ManualRequest};
use longhand_agent::testing::{Reply, ScriptedClient, SharedStore, TestConfig, TestSession, usage};
use longhand_agent::{CompactionMethod, ModelClient, SessionEvent, UserInput};
use longhand_compaction::{Options, Preparer, SnapcompactMethod, SoftMethod};
use longhand_maintenance::{Maintainer, Wiring};
use longhand_prompts::Prompts;
use longhand_session::archive::Archive;
use longhand_session::entry::CompactionEntry;
use longhand_session::model::InputKind;
use longhand_session::time::SystemClock;
use longhand_session::{
    Api, ByteEstimate, Header, MemoryStore, MethodId, Model, ModelRef, SessionId,
};
use longhand_snapcompact::Renderer;
use tokio::sync::watch;

/// No model but that of the conversation.
struct OneModel;

#[async_trait]
impl Models for OneModel {
    async fn resolve(&self, _: &str) -> Result<Arc<dyn ModelClient>, ModelsError> {
        Err(ModelsError::None)
    }

    async fn for_role(&self, _: Role) -> Result<Option<Arc<dyn ModelClient>>, ModelsError> {
        Ok(None)
    }

    async fn list(&self) -> Vec<Arc<Model>> {
        Vec::new()
    }
}

/// Frames of 23,520 characters, as many as have room; the newest 20 tokens are kept.
fn options() -> Options {
    let mut options = Options::default();
    options.method_order = ["snapcompact", "soft"].map(MethodId::from).to_vec();
    options.keep_recent_tokens = 20;
    options.snapcompact.shape = "8x13-bw".parse().expect("a shape has that name");
    options.snapcompact.image_budgets.images.insert("test".into(), 80);
    options
}

struct Played {
    test: TestSession,
    options: watch::Sender<Arc<Options>>,
}

impl Played {
    /// A session with a window of 100,000 tokens (threshold 83,616), and with a model that sees or does not.
    async fn new(sight: InputKind, replies: Vec<Reply>) -> Self {
        let (sender, options) = watch::channel(Arc::new(options()));
        let prompts = Arc::<Prompts>::default();
        let snapcompact =
            SnapcompactMethod::new(options.clone(), prompts.clone(), Renderer::default(), None);
        let soft = SoftMethod::new(options.clone(), prompts.clone());
        let maintainer = Maintainer::new(Wiring {
            methods: vec![Arc::new(snapcompact) as Arc<dyn CompactionMethod>, Arc::new(soft)],
            prepare: Arc::new(Preparer::new(options.clone(), Arc::new(ByteEstimate))),
            models: Arc::new(OneModel),
            options,
            prompts,
            clock: Arc::new(SystemClock),
            frames: None,
        });
        let mut model =
            Model::new(ModelRef::new("test", "scripted"), Api::Demo, "http://localhost");
        model.context_window = Some(100_000);
        model.max_output_tokens = Some(8_000);
        model.input = vec![InputKind::Text, sight];
        let client = Arc::new(ScriptedClient::with_model(model, replies));
        let header = Header { id: SessionId::from("test"), version: Some(3), ..Header::default() };
        let store = SharedStore::new(MemoryStore::new(header));
        let test = TestConfig::with(client, store).maintenance(Arc::new(maintainer)).start().await;
        Self { test, options: sender }
    }

    async fn say(&self, words: &str) {
        self.test.session.prompt(UserInput::text(words)).await.expect("the session takes prompts");
    }

    async fn compact(
        &self,
        method: Option<&str>,
        focus: Option<&str>,
    ) -> Result<(), MaintenanceError> {
        let request =
            ManualRequest { method: method.map(Into::into), focus: focus.map(Into::into) };
        self.test.session.compact(request).await.map(drop)
    }

    /// What maintenance said so far, one line an event, and each notice with its first words.
    fn said(&mut self) -> Vec<String> {
        std::iter::from_fn(|| self.test.events.try_next())
            .filter_map(|event| match event.event {
                SessionEvent::AutoCompactionStart { action, .. } => Some(format!("start {action}")),
                SessionEvent::AutoCompactionEnd { action, result, skipped, fallback, .. } => {
                    let outcome = match result {
                        Some(_) => "done",
                        None if fallback => "next",
                        None if skipped => "skipped",
                        None => "failed",
                    };
                    Some(format!("end {action}: {outcome}"))
                }
                SessionEvent::Notice { code: Some(code), .. } => Some(code),
                _ => None,
            })
            .collect()
    }

    /// The compactions of the branch, oldest first.
    fn compactions(&self) -> Vec<CompactionEntry> {
        let branch = self.test.session.snapshot();
        branch.entries.iter().filter_map(|entry| entry.compaction().cloned()).collect()
    }

    /// Their methods.
    fn methods(&self) -> Vec<String> {
        self.compactions().into_iter().filter_map(|made| made.method).collect()
    }

    fn requests(&self) -> usize {
        self.test.client.requests().len()
    }
}

/// Text of that many characters, in numbered lines.
fn lines(chars: usize) -> String {
    let line = |at: usize| format!("line {at}: {}\n", "words of it ".repeat(4));
    (0..=chars / 50).map(line).collect::<String>().chars().take(chars).collect()
}

fn frames(compaction: &CompactionEntry) -> usize {
    let archive = compaction.preserve_data.as_ref().and_then(Archive::read);
    archive.map_or(0, |archive| archive.frames.len())
}

fn over_the_threshold() -> Reply {
    Reply::text("word ".repeat(100)).usage(usage(90_000, 100))
}

/// Replies, and after them the answers of a model that writes a summary.
fn with_notes(replies: impl IntoIterator<Item = Reply>) -> Vec<Reply> {
    let notes = (0..3).map(|_| Reply::text("NOTES"));
    replies.into_iter().chain(notes).collect()
}

/// A long and a short turn; the second reply is measured over the threshold.
async fn crossing(sight: InputKind) -> Played {
    let replies = with_notes([Reply::text("seen"), over_the_threshold()]);
    let played = Played::new(sight, replies).await;
    played.say(&lines(100_000)).await;
    played.say("go on").await;
    played
}

#[tokio::test]
async fn a_model_with_eyes_reads_frames_and_no_model_is_asked() {
    let mut played = crossing(InputKind::Image).await;
    assert_eq!(played.said(), ["start snapcompact", "end snapcompact: done"]);
    assert_eq!((played.methods(), played.requests()), (vec!["snapcompact".to_owned()], 2));
    let compactions = played.compactions();
    let [made] = compactions.as_slice() else { panic!("one compaction: {compactions:?}") };
    assert_eq!(frames(made), 3);
    assert!(made.tokens_after.is_some_and(|tokens| tokens < 25_000), "{:?}", made.tokens_after);
}

#[tokio::test]
async fn a_model_without_eyes_gets_a_summary_and_no_word_of_it() {
    let mut played = crossing(InputKind::Text).await;
    assert_eq!(played.said(), ["start context-full", "end context-full: done"]);
    assert_eq!(played.methods(), ["soft"]);
    assert!(played.requests() > 2, "a model wrote it");
}

/// A session with too little history for an archive to help.
async fn small(sight: InputKind) -> Played {
    let replies = with_notes([Reply::text("small"), over_the_threshold()]);
    let played = Played::new(sight, replies).await;
    played.say("one").await;
    played
}

#[tokio::test]
async fn an_archive_that_would_not_help_gives_way_to_a_summary() {
    let mut played = small(InputKind::Image).await;
    played.say("two").await;
    assert_eq!(
        played.said(),
        [
            "start snapcompact",
            "compaction.snapcompact_blocked",
            "end snapcompact: next",
            "start context-full",
            "end context-full: done"
        ]
    );
    assert_eq!(played.methods(), ["soft"]);
}

#[tokio::test]
async fn by_hand_the_next_method_follows_after_two_notices() {
    let mut played = small(InputKind::Image).await;
    played.options.send_modify(|options| Arc::make_mut(options).threshold_tokens = 95_000.0);
    played.say("two").await;
    played.compact(None, None).await.expect("the summary follows");
    assert_eq!(played.said(), ["compaction.snapcompact_blocked", "compaction.method_failed"]);
    assert_eq!(played.methods(), ["soft"]);
}

#[tokio::test]
async fn a_focus_asks_for_a_summary() {
    let played = Played::new(InputKind::Image, with_notes([Reply::text("seen")])).await;
    played.say(&lines(100_000)).await;
    played.compact(None, Some("the parser")).await.expect("the summary is made");
    assert_eq!(played.methods(), ["soft"]);
}

#[tokio::test]
async fn an_archive_with_a_focus_is_refused_and_the_turn_goes_on() {
    let mut played = Played::new(InputKind::Image, vec![Reply::text("seen"), Reply::hang()]).await;
    played.say(&lines(100_000)).await;
    let session = played.test.session.clone();
    let turn = tokio::spawn(async move { session.prompt(UserInput::text("go on")).await });
    while played.requests() < 2 {
        tokio::task::yield_now().await;
    }
    let refused = played.compact(Some("snapcompact"), Some("the parser")).await;
    assert!(matches!(refused, Err(MaintenanceError::FocusRejected(_))), "{refused:?}");
    assert!(!turn.is_finished(), "the turn was not stopped");
    assert_eq!((played.methods(), played.said()), (Vec::new(), Vec::<String>::new()));
    turn.abort();
}

#[tokio::test]
async fn an_archive_that_is_asked_for_is_all_that_is_tried() {
    let played = Played::new(InputKind::Image, vec![Reply::text("seen")]).await;
    played.say(&lines(100_000)).await;
    played.compact(Some("snapcompact"), None).await.expect("history is archived");
    assert_eq!((played.methods(), played.requests()), (vec!["snapcompact".to_owned()], 1));

    let mut blind = Played::new(InputKind::Text, vec![Reply::text("seen")]).await;
    blind.say(&lines(100_000)).await;
    let refused = blind.compact(Some("snapcompact"), None).await.expect_err("it needs eyes");
    assert!(refused.to_string().contains("`test/scripted` does not read images"), "{refused}");
    assert_eq!(blind.said(), ["compaction.snapcompact_needs_vision"]);
    assert_eq!(blind.methods(), Vec::<String>::new());

    let mut small = small(InputKind::Image).await;
    small.options.send_modify(|options| Arc::make_mut(options).threshold_tokens = 95_000.0);
    small.say("two").await;
    let refused = small.compact(Some("snapcompact"), None).await;
    assert!(matches!(refused, Err(MaintenanceError::Failed(_))), "{refused:?}");
    assert_eq!(small.said(), ["compaction.snapcompact_blocked"]);
    assert_eq!(small.methods(), Vec::<String>::new(), "nothing follows it");
}

#[tokio::test]
async fn a_summary_after_an_archive_knows_what_was_archived() {
    let replies = with_notes([Reply::text("seen"), Reply::text("again"), Reply::text("more")]);
    let played = Played::new(InputKind::Image, replies).await;
    played.say(&lines(100_000)).await;
    played.compact(Some("snapcompact"), None).await.expect("history is archived");
    assert_eq!(played.compactions().iter().map(frames).collect::<Vec<_>>(), [3]);
    played.say(&lines(2_000)).await;
    played.say("go on with that").await;
    played.compact(Some("soft"), None).await.expect("history is summarized");

    let requests = played.test.client.requests();
    let asked: String =
        requests[3..].iter().map(|request| format!("{:?}", request.messages)).collect();
    assert!(asked.contains("line 900: words of it"), "the middle of the archive is sent as text");
    assert!(!asked.contains("Image("), "no frame is sent");
    let compactions = played.compactions();
    let summarized = compactions.last().expect("the summary is on the branch");
    assert_eq!(summarized.method.as_deref(), Some("soft"));
    let left = summarized.preserve_data.as_ref().and_then(|data| data.get("snapcompact"));
    assert_eq!(left, None, "the archive does not go on");
}

#[tokio::test]
async fn an_archive_that_fills_the_context_is_made_smaller_once() {
    let replies = vec![Reply::text("seen"), Reply::text("fine"), Reply::text("good")];
    let mut played = Played::new(InputKind::Image, replies).await;
    played.say(&lines(190_000)).await;
    played.compact(Some("snapcompact"), None).await.expect("history is archived");
    let _ = played.said();
    // From now on nothing can be cut, and the archive alone is over the threshold.
    played.options.send_modify(|options| {
        let options = Arc::make_mut(options);
        options.keep_recent_tokens = 20_000;
        options.threshold_tokens = 30_000.0;
    });
    played.say("go on").await;
    assert_eq!(played.said(), ["start snapcompact", "compaction.rescued", "end snapcompact: done"]);
    let compactions = played.compactions();
    let [before, after] = compactions.as_slice() else { panic!("a pair: {compactions:?}") };
    assert!(frames(before) > frames(after) && frames(after) > 0);
    assert_eq!(before.first_kept_entry_id, after.first_kept_entry_id);
    assert_eq!(before.tokens_before, after.tokens_before);
    assert!(after.tokens_after.is_some_and(|tokens| tokens <= 24_000), "{:?}", after.tokens_after);
    assert_eq!(after.warning, None);

    played.say("and on").await;
    assert_eq!(played.said(), Vec::<String>::new(), "there is room now");
}
