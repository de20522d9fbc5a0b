//! A session that compacts itself when its context grows over the threshold. The model is scripted; put a real client in its
//! place.
//!
//! ```text
//! cargo run -p longhand-maintenance --example maintained
//! ```

use std::sync::Arc;

use async_trait::async_trait;
use longhand_agent::client::{ModelClient, Models, ModelsError, Role};
use longhand_agent::testing::{Reply, TestSession, usage};
use longhand_agent::{SessionEvent, UserInput};
use longhand_compaction::methods::SoftMethod;
use longhand_compaction::{Options, Preparer};
use longhand_maintenance::{Maintainer, Wiring};
use longhand_prompts::Prompts;
use longhand_session::time::SystemClock;
use longhand_session::{ByteEstimate, Model};
use tokio::sync::watch;

/// Summaries are written by the model of the conversation.
struct OnlyTheConversation;

#[async_trait]
impl Models for OnlyTheConversation {
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

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut options = Options::default();
    options.keep_recent_tokens = 50;
    // Keep the sender where settings can change: each pass reads the options once, at its start.
    let (_settings, options) = watch::channel(Arc::new(options));
    let prompts = Arc::new(Prompts::default());
    let maintainer = Maintainer::new(Wiring {
        methods: vec![Arc::new(SoftMethod::new(options.clone(), prompts.clone()))],
        prepare: Arc::new(Preparer::new(options.clone(), Arc::new(ByteEstimate))),
        models: Arc::new(OnlyTheConversation),
        options,
        prompts,
        clock: Arc::new(SystemClock),
        frames: None,
    });

    let replies = [
        Reply::text("A first answer. ".repeat(40)).usage(usage(1_000, 160)),
        Reply::text("A second answer. ".repeat(40)).usage(usage(95_000, 160)),
        Reply::text("## Goal\nAnswer questions."),
        Reply::text("## Original Request\nA second question."),
        Reply::text("I answered two questions."),
    ];
    let mut session = TestSession::new(replies).maintenance(Arc::new(maintainer)).start().await;
    for question in ["One?", "Two?"] {
        session.session.prompt(UserInput::text(question)).await?;
    }
    while let Some(event) = session.events.try_next() {
        if let SessionEvent::EntryAppended { entry } = event.event
            && let Some(compaction) = entry.compaction()
        {
            println!("{} -> {:?} tokens", compaction.tokens_before, compaction.tokens_after);
            println!("{}", compaction.summary);
        }
    }
    Ok(())
}
