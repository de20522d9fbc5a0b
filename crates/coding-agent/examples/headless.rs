//! The whole agent without a terminal: the demo model calls a real tool, and what it says is printed.
//!
//! ```text
//! cargo run -p longhand-coding-agent --example headless
//! ```

use longhand_agent::{SessionEvent, UserInput};
use longhand_coding_agent::Environment;
use longhand_coding_agent::agent::{CodingAgent, OpenRequest, SessionChoice, Setup};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Settings and sessions of the user are found through these; a program of your own may choose other places.
    let environment: Environment = std::env::vars()
        .filter(|(name, _)| ["HOME", "LONGHAND_HOME"].contains(&name.as_str()))
        .collect();
    let agent = CodingAgent::new(Setup::new(environment, std::env::current_dir()?))?;
    let opened = agent
        .open(OpenRequest {
            session: SessionChoice::InMemory,
            model: Some("demo/offline".into()),
            ..OpenRequest::default()
        })
        .await?;
    let mut events = opened.session.subscribe().await.ok_or("the session is closed")?;
    opened.session.prompt(UserInput::text("list .")).await?;
    opened.session.close().await?;
    while let Some(event) = events.next().await {
        match event.event {
            SessionEvent::ToolExecutionStart { tool_name, args, .. } => {
                println!("{tool_name} {}", args.compact());
            }
            SessionEvent::MessageEnd { message, .. } => {
                if let Some(answer) = message.as_assistant() {
                    println!("{}", answer.text("\n"));
                }
            }
            _ => {}
        }
    }
    Ok(())
}
