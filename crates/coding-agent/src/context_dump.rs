//! The context of a session as the model would get it, for people and for programs. The same session and model give the same bytes.

use std::collections::HashMap;
use std::fmt::Write;
use std::sync::Arc;

use longhand_prompts::Prompts;
use longhand_session::context::SessionContext;
use longhand_session::store::{IndexRow, StoreError};
use longhand_session::tokens::{EncryptedReasoning, count_message};
use longhand_session::{Block, Content, Entry, EntryId, Message, TokenCounter, digits, llm};
use serde::Serialize;

use crate::session_file::SessionFile;

/// The context of a branch, before and after conversion to the roles that providers take.
pub struct ContextDump {
    /// What was rebuilt.
    pub context: SessionContext,
    /// The messages of the request.
    pub request: Vec<Arc<Message>>,
    entries: EntryIds,
}

/// The JSON form: the rebuilt messages, each with its entry and size.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ContextDocument {
    /// Id of the session.
    pub session: String,
    /// How many messages were rebuilt.
    pub message_count: usize,
    /// How many messages the request has.
    pub request_message_count: usize,
    /// Local count of all messages.
    pub tokens: u64,
    /// Models by role, as the branch has them.
    pub models: std::collections::BTreeMap<String, String>,
    /// Effort of thinking, as the branch has it.
    pub thinking_level: String,
    /// The messages.
    pub messages: Vec<MessageDocument>,
}

/// One rebuilt message.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MessageDocument {
    /// The entry that it comes from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entry: Option<EntryId>,
    /// Local count.
    pub tokens: u64,
    /// The message.
    pub message: Arc<Message>,
}

impl ContextDump {
    /// Rebuilds the context of the branch that ends at `at`, or at the leaf.
    ///
    /// # Errors
    /// The session cannot be read, or `at` is not in it.
    pub fn of(
        file: &SessionFile,
        at: Option<&EntryId>,
        prompts: &Prompts,
    ) -> Result<Self, StoreError> {
        let path = file.path(at)?;
        let context = file.context(&path)?;
        let request = llm::request_messages(&context.messages, prompts);
        Ok(Self { entries: EntryIds::of(file, &path)?, context, request })
    }

    /// One block a message of the request, and a line of totals.
    pub fn text(&self, counter: &dyn TokenCounter) -> String {
        let mut out = String::new();
        let mut total = 0;
        for (at, message) in self.request.iter().enumerate() {
            let tokens = count_message(counter, message, EncryptedReasoning::Counted);
            total += tokens;
            let entry =
                self.entries.find(message).map(|id| format!(" · entry {id}")).unwrap_or_default();
            let _ = writeln!(
                out,
                "=== {} {} · {} tok{entry} ===",
                at + 1,
                title(message),
                digits::grouped(tokens)
            );
            write_content(&mut out, message, counter);
            out.push('\n');
        }
        let _ = writeln!(
            out,
            "=== {} messages · {} tok ===",
            self.request.len(),
            digits::grouped(total)
        );
        out
    }

    /// The rebuilt messages with their sizes.
    pub fn document(self, session: &str, counter: &dyn TokenCounter) -> ContextDocument {
        let count =
            |message: &Message| count_message(counter, message, EncryptedReasoning::Counted);
        let messages: Vec<MessageDocument> = self
            .context
            .messages
            .iter()
            .map(|message| MessageDocument {
                entry: self.entries.find(message).cloned(),
                tokens: count(message),
                message: message.clone(),
            })
            .collect();
        ContextDocument {
            session: session.to_owned(),
            message_count: messages.len(),
            request_message_count: self.request.len(),
            tokens: messages.iter().map(|message| message.tokens).sum(),
            models: self.context.models,
            thinking_level: self.context.thinking_level,
            messages,
        }
    }
}

/// Finds the entry that a message comes from: by identity where the message is the stored one, else by its time.
struct EntryIds {
    by_identity: HashMap<*const Message, EntryId>,
    by_time: HashMap<i64, EntryId>,
}

impl EntryIds {
    fn of(file: &SessionFile, path: &[IndexRow]) -> Result<Self, StoreError> {
        let (mut by_identity, mut by_time) = (HashMap::new(), HashMap::new());
        for entry in file.read(file.working_path(path)?)? {
            if let Some(message) = entry.message() {
                by_identity.insert(Arc::as_ptr(message), entry.id.clone());
            }
            if let Some(time) = time_of(&entry) {
                by_time.entry(time).or_insert_with(|| entry.id.clone());
            }
        }
        Ok(Self { by_identity, by_time })
    }

    fn find(&self, message: &Arc<Message>) -> Option<&EntryId> {
        self.by_identity
            .get(&Arc::as_ptr(message))
            .or_else(|| self.by_time.get(&message.timestamp()))
    }
}

/// The time that messages made from an entry carry.
fn time_of(entry: &Entry) -> Option<i64> {
    entry.message().map(|message| message.timestamp()).or_else(|| entry.timestamp.millis())
}

fn title(message: &Message) -> String {
    match message {
        Message::ToolResult(result) if result.is_error => {
            format!("toolResult {} (error)", result.tool_name)
        }
        Message::ToolResult(result) => format!("toolResult {}", result.tool_name),
        other => other.role().to_owned(),
    }
}

fn write_content(out: &mut String, message: &Message, counter: &dyn TokenCounter) {
    match message {
        Message::User(m) | Message::Developer(m) => match &m.content {
            Content::Text(text) => write_text(out, text),
            Content::Blocks(blocks) => write_blocks(out, blocks, counter),
        },
        Message::Assistant(m) => write_blocks(out, &m.content, counter),
        Message::ToolResult(m) => write_blocks(out, &m.content, counter),
        other => write_text(out, &serde_json::to_string(other).unwrap_or_default()),
    }
}

fn write_blocks(out: &mut String, blocks: &[Block], counter: &dyn TokenCounter) {
    for block in blocks {
        match block {
            Block::Text(block) => write_text(out, &block.text),
            Block::Thinking(block) => write_text(out, &format!("[thinking]\n{}", block.thinking)),
            Block::RedactedThinking(_) => {
                write_text(out, "[thinking that only its provider can read]");
            }
            Block::Image(image) => write_text(out, &picture(image, counter)),
            Block::ToolCall(call) => {
                write_text(out, &format!("[call {}] {}", call.name, call.arguments.compact()));
            }
            Block::ServerTool(block) => write_text(out, &block.block.compact()),
            Block::Unknown(json) => write_text(out, &json.compact()),
        }
    }
}

fn write_text(out: &mut String, text: &str) {
    out.push_str(text);
    if !text.ends_with('\n') {
        out.push('\n');
    }
}

/// A picture by its size, where its data can be read that far.
fn picture(image: &longhand_session::message::ImageBlock, counter: &dyn TokenCounter) -> String {
    use base64::Engine;
    let tokens = digits::grouped(counter.count(longhand_session::Fragment::Image));
    let bytes = base64::engine::general_purpose::STANDARD.decode(&image.data).ok();
    let size = bytes.and_then(|bytes| {
        image::ImageReader::new(std::io::Cursor::new(bytes))
            .with_guessed_format()
            .ok()?
            .into_dimensions()
            .ok()
    });
    match size {
        Some((width, height)) => format!("[image {width}×{height}, {tokens} tok]"),
        None => format!("[image {}, {tokens} tok]", image.mime_type),
    }
}
