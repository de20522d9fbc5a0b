//! A model that gives prepared answers and remembers what it was asked.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use futures::stream;
use longhand_agent::compaction::{
    CompactionResult, Job, MethodError, Outcome, Preparation, Progress, ProgressStep, Thinking,
    Trigger,
};
use longhand_agent::request::EventStream;
use longhand_agent::shared_list::SharedList;
use longhand_agent::{
    Branch, CompactionMethod, ErrorKind, ModelClient, ModelError, Request, StreamEvent,
};
use longhand_compaction::{Options, SoftMethod};
use longhand_prompts::Prompts;
use longhand_session::message::StopReason;
use longhand_session::{
    Api, AssistantMessage, Block, ByteEstimate, Epoch, Generation, Message, Model, ModelRef,
    SessionId, TokenCounter, Usage,
};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// One prepared answer.
pub(crate) enum Answer {
    Reply(Box<AssistantMessage>),
    Failure(ModelError),
    /// None, ever.
    Silence,
}

impl Answer {
    pub(crate) fn text(text: &str) -> Self {
        Self::blocks(vec![Block::text(text)], StopReason::Stop)
    }

    pub(crate) fn blocks(content: Vec<Block>, stop_reason: StopReason) -> Self {
        let usage = Some(Usage { input: 10, output: 1, ..Usage::default() });
        let model = "test-model".to_owned();
        Self::Reply(Box::new(AssistantMessage {
            content,
            stop_reason,
            model,
            usage,
            ..AssistantMessage::default()
        }))
    }

    pub(crate) fn failure(kind: ErrorKind, text: &str) -> Self {
        Self::Failure(ModelError::new(kind, text))
    }
}

/// A model that gives prepared answers, and after the last one the texts `REPLY 0`, `REPLY 1`, … by the number of the request.
pub(crate) struct Scripted {
    model: Arc<Model>,
    counter: Arc<dyn TokenCounter>,
    answers: Mutex<VecDeque<Answer>>,
    requests: Mutex<Vec<Request>>,
}

impl Scripted {
    pub(crate) fn new(model: Model, answers: Vec<Answer>) -> Arc<Self> {
        Self::counting(model, Arc::new(ByteEstimate), answers)
    }

    pub(crate) fn counting(
        model: Model,
        counter: Arc<dyn TokenCounter>,
        answers: Vec<Answer>,
    ) -> Arc<Self> {
        Arc::new(Self {
            model: Arc::new(model),
            counter,
            answers: Mutex::new(answers.into()),
            requests: Mutex::default(),
        })
    }

    pub(crate) fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }

    /// The texts that were sent, in order.
    pub(crate) fn prompts(&self) -> Vec<String> {
        self.requests().iter().map(prompt).collect()
    }
}

/// The one text of a summary request.
pub(crate) fn prompt(request: &Request) -> String {
    let [message] = request.messages.as_slice() else { panic!("one message: {request:?}") };
    let Message::User(message) = &**message else { panic!("of the user: {message:?}") };
    message.content.text()
}

#[async_trait::async_trait]
impl ModelClient for Scripted {
    fn model(&self) -> &Arc<Model> {
        &self.model
    }

    fn counter(&self) -> Arc<dyn TokenCounter> {
        self.counter.clone()
    }

    fn stream(&self, request: Request, _: CancellationToken) -> EventStream {
        let number = {
            let mut requests = self.requests.lock().unwrap();
            requests.push(request);
            requests.len() - 1
        };
        let answer = self.answers.lock().unwrap().pop_front();
        let event = match answer.unwrap_or_else(|| Answer::text(&format!("REPLY {number}"))) {
            Answer::Reply(message) => StreamEvent::Done(message),
            Answer::Failure(error) => StreamEvent::Failed { message: Box::default(), error },
            Answer::Silence => return Box::pin(stream::pending()),
        };
        Box::pin(stream::iter([event]))
    }
}

/// A model as most tests need it.
pub(crate) fn model() -> Model {
    let mut model = Model::new(ModelRef::new("custom", "test-model"), Api::default(), "");
    model.context_window = Some(200_000);
    model.max_output_tokens = Some(64_000);
    model
}

pub(crate) fn job(preparation: Preparation, candidates: Vec<Arc<dyn ModelClient>>) -> Job {
    let branch = Branch {
        session: SessionId::from("s1"),
        leaf: None,
        epoch: Epoch(0),
        generation: Generation(0),
        entries: SharedList::default(),
        live: SharedList::default(),
    };
    Job {
        branch: Arc::new(branch),
        preparation: Some(Arc::new(preparation)),
        system: Arc::from([]),
        tools: Arc::from([]),
        model: Arc::new(model()),
        counter: Arc::new(ByteEstimate),
        candidates,
        trigger: Trigger::Threshold,
        focus: None,
        non_message_tokens: 0,
        extra_context: Arc::from([]),
        thinking: Thinking::Inherit,
    }
}

pub(crate) fn soft(options: Options, prompts: Prompts) -> SoftMethod {
    let (_, options) = watch::channel(Arc::new(options));
    SoftMethod::new(options, Arc::new(prompts))
}

pub(crate) struct NoProgress;

impl Progress for NoProgress {
    fn report(&self, _: ProgressStep) {}
}

/// Runs the method with default options to its end.
pub(crate) async fn run(job: &Job) -> Result<CompactionResult, MethodError> {
    run_with(&soft(Options::default(), Prompts::default()), job).await
}

pub(crate) async fn run_with(
    method: &SoftMethod,
    job: &Job,
) -> Result<CompactionResult, MethodError> {
    match method.run(job, &NoProgress, &CancellationToken::new()).await? {
        Outcome::Entry(result) => Ok(result),
        Outcome::Patch(patch) => panic!("no patch: {patch:?}"),
    }
}
