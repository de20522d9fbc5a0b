//! The provider `demo`: scripted replies that make the whole program usable without a network, a key or a model.
//!
//! It calls real tools, streams, counts its tokens honestly, overflows its window, stops at its output limit and can be
//! cancelled. The same request always gives the same reply. It understands a few plain requests and nothing else, and it says
//! so: it never pretends to be a model.

mod digest;
mod plain_request;
mod playback;
mod reply;
mod transcript;

use std::sync::Arc;
use std::time::Duration;

use longhand_agent::request::EventStream;
use longhand_agent::{ModelClient, Request};
use longhand_session::image_bill::Family;
use longhand_session::model::{InputKind, Price};
use longhand_session::time::{Clock, SystemClock};
use longhand_session::{Api, BilledFrames, ByteEstimate, Model, ModelRef, TokenCounter};
use tokio_util::sync::CancellationToken;

pub use reply::{Part, Script, reply};

/// Name of the provider.
pub const PROVIDER: &str = "demo";

/// How fast replies arrive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Pace {
    /// As a fast model writes.
    #[default]
    SixtyTokensASecond,
    /// All at once, for tests and for runs that nobody watches.
    AtOnce,
}

impl Pace {
    fn wait(self, tokens: u64) -> Duration {
        match self {
            Self::SixtyTokensASecond => Duration::from_secs(tokens) / 60,
            Self::AtOnce => Duration::ZERO,
        }
    }
}

/// A model of the demo provider.
pub struct DemoClient {
    model: Arc<Model>,
    pace: Pace,
    clock: Arc<dyn Clock>,
}

impl DemoClient {
    /// A client of one of [`models`].
    pub fn new(model: Arc<Model>, pace: Pace) -> Self {
        Self { model, pace, clock: Arc::new(SystemClock) }
    }

    /// The same client with another clock for the times of its messages.
    #[must_use]
    pub fn with_clock(self, clock: Arc<dyn Clock>) -> Self {
        Self { clock, ..self }
    }
}

/// The models: one with a common window, and one that is full after a few turns.
pub fn models() -> Vec<Arc<Model>> {
    let offline = model("offline", 128_000, 8_000, vec![InputKind::Text, InputKind::Image]);
    let small = model("offline-small", 8_192, 1_024, vec![InputKind::Text]);
    vec![Arc::new(offline), Arc::new(small)]
}

fn model(id: &str, window: u64, output: u64, input: Vec<InputKind>) -> Model {
    Model {
        name: format!("Demo ({id})"),
        context_window: Some(window),
        max_output_tokens: Some(output),
        input,
        price: Some(Price::default()),
        is_local: true,
        ..Model::new(ModelRef::new(PROVIDER, id), Api::Demo, "")
    }
}

impl ModelClient for DemoClient {
    fn model(&self) -> &Arc<Model> {
        &self.model
    }

    fn counter(&self) -> Arc<dyn TokenCounter> {
        let family = Family::of_api(self.model.api.as_str());
        Arc::new(BilledFrames::new(Arc::new(ByteEstimate), family))
    }

    fn stream(&self, request: Request, cancel: CancellationToken) -> EventStream {
        let started = self.clock.now_millis();
        let playback = playback::Playback::new(&self.model, self.counter(), &request, started);
        playback.into_stream(self.pace, cancel)
    }
}
