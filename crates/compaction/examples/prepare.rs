//! What a compaction would cut of a session file, and what it would keep.
//!
//! ```text
//! cargo run -p longhand-compaction --example prepare -- SESSION.jsonl
//! ```

use longhand_compaction::Options;
use longhand_compaction::prepare::{Terms, prepare};
use longhand_session::store::SessionStore;
use longhand_session::tokens::{EncryptedReasoning, count_messages};
use longhand_session::tree::Tree;
use longhand_session::{ByteEstimate, EntryReader, JsonlStore};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args_os().nth(1).ok_or("name a session file")?;
    let mut store = JsonlStore::resume(path);
    let tree = Tree::new(store.open()?.rows);
    let branch = store.read(&tree.active_path())?;

    let options = Options::default();
    let counter = ByteEstimate;
    let terms = Terms { options: &options, model: None, non_message_tokens: 0, counter: &counter };
    let Some(preparation) = prepare(&branch, &terms) else {
        println!("there is nothing to compact");
        return Ok(());
    };
    let tokens = |messages| count_messages(&counter, messages, EncryptedReasoning::Counted);
    for (what, messages) in [
        ("summarized", &preparation.messages_to_summarize),
        ("start of a split turn", &preparation.turn_prefix_messages),
        ("kept", &preparation.recent_messages),
    ] {
        println!("{what}: {} messages, about {} tokens", messages.len(), tokens(messages));
    }
    println!("kept from entry {}", preparation.first_kept_entry_id);
    Ok(())
}
