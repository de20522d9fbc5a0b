//! `longhand context`: the request that a model would get.

use anyhow::Result;
use longhand_agent::request::Request;
use longhand_coding_agent::agent::CodingAgent;
use longhand_coding_agent::context_dump::ContextDump;
use longhand_providers::{Http, OpenAiChat};
use longhand_session::{Api, ByteEstimate, EntryId, Model, ModelRef, TokenCounter};
use std::sync::Arc;

use super::named_session;
use crate::arguments::{Context, ContextFormat};
use crate::exit::Exit;
use crate::output;

pub(crate) async fn run(agent: &CodingAgent, arguments: &Context) -> Result<Exit> {
    let session = named_session::open(agent, arguments.session.as_deref())?;
    let at = arguments.at.as_deref().map(EntryId::from);
    let dump = ContextDump::of(&session.file, at.as_ref(), agent.prompts())?;
    let client =
        named_session::model(agent, &session.file, arguments.common.model.as_deref()).await?;
    let counter: Arc<dyn TokenCounter> = match &client {
        Some(client) => client.counter(),
        None => Arc::new(ByteEstimate),
    };
    let text = match arguments.format {
        ContextFormat::Text => dump.text(&*counter),
        ContextFormat::Json => {
            let document = dump.document(session.file.header.id.as_str(), &*counter);
            serde_json::to_string_pretty(&document)? + "\n"
        }
        ContextFormat::WireOpenaiChat => {
            let model = match &client {
                Some(client) => client.model().clone(),
                None => Arc::new(named_in(&dump)),
            };
            let request = Request { messages: dump.request, ..Request::default() };
            let wire = OpenAiChat::new(model, agent.credentials().clone(), Http::new())
                .with_counter(counter);
            serde_json::to_string_pretty(&wire.body(&request)?)? + "\n"
        }
    };
    output::write(&text)
}

/// The model that the session names, of which nothing but the name is known.
fn named_in(dump: &ContextDump) -> Model {
    let named = dump.context.models.get("default").and_then(|name| name.parse::<ModelRef>().ok());
    let name = named.unwrap_or_else(|| ModelRef::new("unknown", "unknown"));
    Model::new(name, Api::OpenaiCompletions, "")
}
