//! A session with a scripted model and a tool, all in memory: the seams that a program of your own plugs into.
//!
//! ```text
//! cargo run -p longhand-agent --features testing --example scripted
//! ```

use longhand_agent::UserInput;
use longhand_agent::testing::{EchoTool, Reply, TestSession};
use serde_json::json;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let replies =
        [Reply::calls([("echo", json!({"text": "hello"}))]), Reply::text("The tool said hello.")];
    let session = TestSession::new(replies).tool(EchoTool::new("echo")).start().await;
    session.session.prompt(UserInput::text("Use the tool.")).await?;
    session.session.close().await?;
    for line in session.transcript() {
        println!("{line}");
    }
    Ok(())
}
