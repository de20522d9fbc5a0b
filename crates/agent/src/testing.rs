//! For tests: a scripted model, and sessions that play in memory with a clock and ids that never surprise.
//!
//! ```
//! # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
//! use longhand_agent::UserInput;
//! use longhand_agent::testing::{EchoTool, Reply, TestSession};
//! use serde_json::json;
//!
//! let test = TestSession::new([
//!     Reply::calls([("echo", json!({ "text": "hi" }))]),
//!     Reply::text("It said hi."),
//! ])
//! .tool(EchoTool::new("echo"))
//! .start()
//! .await;
//!
//! test.session.prompt(UserInput::text("Say hi")).await?;
//!
//! assert_eq!(test.client.requests().len(), 2);
//! let stored: Vec<_> = test.store.messages().iter().map(|m| m.role().to_owned()).collect();
//! assert_eq!(stored, ["user", "assistant", "toolResult", "assistant"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod echo_tool;
mod manual_clock;
mod scripted_client;
mod shared_store;
mod test_session;

pub use echo_tool::EchoTool;
pub use manual_clock::ManualClock;
pub use scripted_client::{Reply, ScriptedClient, usage};
pub use shared_store::SharedStore;
pub use test_session::{TestConfig, TestSession};
