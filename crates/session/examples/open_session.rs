//! Opens a session file for reading, and prints what a model would see of it.
//!
//! ```text
//! cargo run -p longhand-session --example open_session -- SESSION.jsonl
//! ```

use longhand_prompts::Prompts;
use longhand_session::context::{self, RebuildOptions};
use longhand_session::store::IndexRow;
use longhand_session::tokens::{EncryptedReasoning, count_messages};
use longhand_session::tree::Tree;
use longhand_session::{ByteEstimate, JsonlStore, SessionStore, llm};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args_os().nth(1).ok_or("name a session file")?;
    let mut store = JsonlStore::resume(path);
    let opened = store.open()?;
    println!("{} entries, {} damaged lines", opened.rows.len(), opened.damage.lines.len());

    let tree = Tree::new(opened.rows);
    let branch: Vec<IndexRow> =
        tree.active_path().iter().filter_map(|id| tree.row(id)).cloned().collect();
    let context = context::build(&branch, &store, &RebuildOptions::default())?;
    let tokens = count_messages(&ByteEstimate, &context.messages, EncryptedReasoning::Counted);
    println!("{} messages, about {tokens} tokens", context.messages.len());

    for message in llm::request_messages(&context.messages, &Prompts::default()) {
        let line = serde_json::to_string(&*message)?;
        println!("{}: {}", message.role(), line.chars().take(100).collect::<String>());
    }
    Ok(())
}
