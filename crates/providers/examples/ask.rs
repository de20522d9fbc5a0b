//! Asks any OpenAI-compatible server one question and prints the reply as it comes.
//!
//! ```sh
//! cargo run -p longhand-providers --example ask -- http://127.0.0.1:8080 "What is a context window?"
//! ```
//!
//! Takes the base URL, the question and, where the server has several models, a name. A key is read from `OPENAI_API_KEY`.

use std::io::Write;
use std::process::ExitCode;
use std::sync::Arc;

use async_trait::async_trait;
use futures::StreamExt;
use longhand_agent::{Credentials, Models, Request, StreamEvent};
use longhand_providers::{Catalogue, ProviderConfig};
use longhand_session::{Message, ModelRef};
use tokio_util::sync::CancellationToken;

struct FromEnvironment;

#[async_trait]
impl Credentials for FromEnvironment {
    async fn key(&self, _: &ModelRef) -> Option<String> {
        std::env::var("OPENAI_API_KEY").ok()
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let (Some(base_url), Some(question)) = (arguments.next(), arguments.next()) else {
        eprintln!("usage: ask BASE_URL QUESTION [MODEL]");
        return ExitCode::from(2);
    };
    match ask(base_url, question, arguments.next()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

async fn ask(
    base_url: String,
    question: String,
    model: Option<String>,
) -> Result<(), Box<dyn std::error::Error>> {
    let catalogue =
        Catalogue::new(vec![ProviderConfig::new("server", base_url)], Arc::new(FromEnvironment));
    let client = catalogue.resolve(model.as_deref().unwrap_or("server/")).await?;
    let known = client.model();
    let window = known.context_window.map_or("unknown".to_owned(), |tokens| tokens.to_string());
    eprintln!("{}: context window {window}", known.reference());
    let request =
        Request { messages: vec![Arc::new(Message::user(question, 0))], ..Request::default() };
    let mut stdout = std::io::stdout();
    let mut reply = client.stream(request, CancellationToken::new());
    while let Some(event) = reply.next().await {
        match event {
            StreamEvent::TextDelta { delta, .. } => {
                write!(stdout, "{delta}")?;
                stdout.flush()?;
            }
            StreamEvent::Done(message) => {
                writeln!(stdout)?;
                if let Some(usage) = &message.usage {
                    eprintln!(
                        "{} tokens in, {} out, as the server counts",
                        usage.billed_prompt(),
                        usage.output
                    );
                }
            }
            StreamEvent::Failed { error, .. } => return Err(error.into()),
            _ => {}
        }
    }
    Ok(())
}
