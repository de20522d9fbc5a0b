//! What messages cost: the fragments of each role, and estimates of a whole conversation.
//!
//! Counts are of what a message says; wrappers that conversion adds, call ids and facts for the view cost nothing. A measured
//! usage beats counting: see [`estimate_transcript`].

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use serde_json::Value;

use crate::counter::{Fragment, TokenCounter};
use crate::entry::{Entry, EntryKind};
use crate::image_bill::PictureSize;
use crate::json::{Extra, Json};
use crate::message::{
    AssistantMessage, Block, CompactionSummaryMessage, Content, Message, ThinkingBlock, ToolCall,
};
use crate::usage::Usage;

/// Whether signatures, encrypted reasoning and provider-side tools are counted. What they are billed has little to do with
/// their size, so that a floor under a provider's number leaves them out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EncryptedReasoning {
    /// They cost what they say.
    Counted,
    /// They cost nothing.
    Excluded,
}

/// Tokens of one message. Linear in its size.
pub fn count_message(
    counter: &dyn TokenCounter,
    message: &Message,
    reasoning: EncryptedReasoning,
) -> u64 {
    let mut sum = Sum { counter, reasoning, tokens: 0 };
    sum.message(message);
    sum.tokens
}

/// Tokens of all messages.
pub fn count_messages(
    counter: &dyn TokenCounter,
    messages: &[Arc<Message>],
    reasoning: EncryptedReasoning,
) -> u64 {
    messages.iter().map(|message| count_message(counter, message, reasoning)).sum()
}

/// What the pictures of a message are.
#[derive(Clone, Copy)]
enum Pictures {
    Plain,
    /// Printed history.
    Frames,
}

struct Sum<'a> {
    counter: &'a dyn TokenCounter,
    reasoning: EncryptedReasoning,
    tokens: u64,
}

impl Sum<'_> {
    fn add(&mut self, fragment: Fragment<'_>) {
        self.tokens = self.tokens.saturating_add(self.counter.count(fragment));
    }

    fn text(&mut self, text: &str) {
        if !text.is_empty() {
            self.add(Fragment::Text(text));
        }
    }

    fn opaque(&mut self, text: &str) {
        if !text.is_empty() && self.reasoning == EncryptedReasoning::Counted {
            self.add(Fragment::Opaque(text));
        }
    }

    fn message(&mut self, message: &Message) {
        match message {
            Message::User(m) | Message::Developer(m) => self.content(&m.content),
            Message::Custom(m) | Message::HookMessage(m) => self.content(&m.content),
            Message::ToolResult(m) => {
                self.blocks(&m.content, Pictures::Plain);
                self.text(stored_text(&m.extra).unwrap_or_default());
            }
            Message::Assistant(m) => self.assistant(m),
            Message::BashExecution(m) => {
                self.text(&m.command);
                self.text(&m.output);
                self.blocks(m.images.as_deref().unwrap_or_default(), Pictures::Plain);
            }
            Message::PythonExecution(m) => {
                self.text(&m.code);
                self.text(&m.output);
            }
            Message::FileMention(m) => {
                for file in &m.files {
                    self.text(&file.content);
                    self.blocks(file.image.as_slice(), Pictures::Plain);
                }
            }
            Message::BranchSummary(m) => self.text(&m.summary),
            Message::CompactionSummary(m) => self.compaction_summary(m),
            Message::Unknown(_) => {}
        }
    }

    fn content(&mut self, content: &Content) {
        match content {
            Content::Text(text) => self.text(text),
            Content::Blocks(blocks) => self.blocks(blocks, Pictures::Plain),
        }
    }

    fn blocks(&mut self, blocks: &[Block], pictures: Pictures) {
        for block in blocks {
            match block {
                Block::Text(block) => self.text(&block.text),
                Block::Image(image) => self.add(match pictures {
                    Pictures::Plain => Fragment::Image,
                    Pictures::Frames => Fragment::Frame(PictureSize::of_png(&image.data)),
                }),
                _ => {}
            }
        }
    }

    fn assistant(&mut self, message: &AssistantMessage) {
        for block in &message.content {
            match block {
                Block::Text(block) => self.text(&block.text),
                Block::Thinking(block) => self.thinking(block),
                Block::RedactedThinking(block) => self.opaque(&block.data),
                Block::ToolCall(call) => self.tool_call(call),
                Block::ServerTool(block) => self.opaque(&block.block.compact()),
                Block::Image(_) | Block::Unknown(_) => {}
            }
        }
    }

    fn thinking(&mut self, block: &ThinkingBlock) {
        if !block.thinking.is_empty() {
            self.add(Fragment::Thinking(&block.thinking));
        }
        self.opaque(block.thinking_signature.as_deref().unwrap_or_default());
    }

    fn tool_call(&mut self, call: &ToolCall) {
        self.add(Fragment::ToolName(&call.name));
        self.add(Fragment::ToolArguments(&call.arguments.compact()));
    }

    fn compaction_summary(&mut self, message: &CompactionSummaryMessage) {
        self.text(&message.summary);
        let blocks = message.blocks.as_ref().or(message.images.as_ref());
        self.blocks(blocks.map_or(&[], Vec::as_slice), Pictures::Frames);
    }
}

/// Content that an old writer stored as plain text where blocks belong.
pub(crate) fn stored_text(extra: &Extra) -> Option<&str> {
    extra.get("content").map(Json::value).and_then(Value::as_str)
}

/// A reply whose usage says how large the context was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Anchor {
    /// Its place among the messages.
    pub index: usize,
    /// Tokens of the context after it, system prompt and tool schemas included.
    pub tokens: u64,
}

/// The newest reply at `from_index` or later that finished and whose usage says something of the context.
pub fn anchor(messages: &[Arc<Message>], from_index: usize) -> Option<Anchor> {
    let recent = messages.get(from_index..)?;
    recent.iter().enumerate().rev().find_map(|(offset, message)| {
        let reply = message.as_assistant().filter(|reply| !reply.is_unfinished())?;
        let usage = reply.usage.as_ref().filter(|usage| usage.has_context())?;
        Some(Anchor { index: from_index + offset, tokens: usage.context() })
    })
}

/// How to estimate a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EstimateOptions {
    /// No reply before this one anchors: its usage is older than the newest compaction.
    pub anchor_from_index: usize,
    /// Without an anchor, the first message that is counted.
    pub count_from_index: usize,
    /// What of reasoning counts.
    pub reasoning: EncryptedReasoning,
}

impl Default for EstimateOptions {
    fn default() -> Self {
        Self { anchor_from_index: 0, count_from_index: 0, reasoning: EncryptedReasoning::Counted }
    }
}

/// Size of a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TranscriptEstimate {
    /// Tokens. With an anchor they include the system prompt and the tool schemas, without one they do not.
    pub tokens: u64,
    /// The reply that anchors the estimate.
    pub anchor: Option<Anchor>,
}

/// Size of a conversation: the newest measured usage and a count of what came after it, or a count of all.
pub fn estimate_transcript(
    counter: &dyn TokenCounter,
    messages: &[Arc<Message>],
    options: EstimateOptions,
) -> TranscriptEstimate {
    let anchor = anchor(messages, options.anchor_from_index);
    let (measured, counted_from) =
        anchor.map_or((0, options.count_from_index), |anchor| (anchor.tokens, anchor.index + 1));
    let rest = messages.get(counted_from..).unwrap_or_default();
    let rest_tokens = count_messages(counter, rest, options.reasoning);
    TranscriptEstimate { tokens: measured.saturating_add(rest_tokens), anchor }
}

/// The size to compare with a threshold: what the provider measured, but at least what is stored. Compression on the way to
/// the provider makes its number too small. `provider_tokens` is 0 when the reply is older than the newest compaction.
pub fn compaction_context_tokens(provider_tokens: u64, stored_tokens: u64) -> u64 {
    provider_tokens.max(stored_tokens)
}

/// Usage of the newest reply that finished, be it all zeros.
pub fn last_assistant_usage(entries: &[Arc<Entry>]) -> Option<&Usage> {
    entries.iter().rev().find_map(|entry| {
        let EntryKind::Message(entry) = &entry.kind else { return None };
        entry.message.as_assistant().filter(|reply| !reply.is_unfinished())?.usage.as_ref()
    })
}

/// Whether a text fits a budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BudgetCheck {
    /// Whether it fits.
    pub fits: bool,
    /// Its tokens, or an upper bound of them.
    pub tokens: u64,
    /// Whether `tokens` was counted rather than bounded.
    pub is_exact: bool,
}

/// Whether a text fits `budget` tokens. Counts only a text with more bytes than the budget has tokens: each token takes at
/// least one byte.
pub fn check_budget(text: &str, budget: u64, counter: &dyn TokenCounter) -> BudgetCheck {
    let bytes = text.len() as u64;
    if bytes <= budget {
        return BudgetCheck { fits: true, tokens: bytes, is_exact: false };
    }
    let tokens = counter.count(Fragment::Text(text));
    BudgetCheck { fits: tokens <= budget, tokens, is_exact: true }
}

/// Counts of messages by identity, for one counter. A message never changes, so that a count is never stale; counts of
/// messages that are gone are dropped now and then.
pub struct MessageCounts {
    counter: Arc<dyn TokenCounter>,
    /// By address; the weak reference keeps it from being used again.
    counts: HashMap<usize, (Weak<Message>, [Option<u64>; 2])>,
    /// How many counts make a sweep worth its while.
    sweep_at: usize,
}

impl MessageCounts {
    /// No counts yet.
    pub fn new(counter: Arc<dyn TokenCounter>) -> Self {
        Self { counter, counts: HashMap::new(), sweep_at: 1_024 }
    }

    /// Tokens of one message.
    pub fn count(&mut self, message: &Arc<Message>, reasoning: EncryptedReasoning) -> u64 {
        self.sweep();
        let slot = self
            .counts
            .entry(Arc::as_ptr(message).addr())
            .or_insert_with(|| (Arc::downgrade(message), [None; 2]));
        *slot.1[reasoning as usize]
            .get_or_insert_with(|| count_message(&*self.counter, message, reasoning))
    }

    /// Tokens of all messages.
    pub fn count_all<'a>(
        &mut self,
        messages: impl IntoIterator<Item = &'a Arc<Message>>,
        reasoning: EncryptedReasoning,
    ) -> u64 {
        messages.into_iter().map(|message| self.count(message, reasoning)).sum()
    }

    fn sweep(&mut self) {
        if self.counts.len() >= self.sweep_at {
            self.counts.retain(|_, (message, _)| message.strong_count() > 0);
            self.sweep_at = 2 * self.counts.len().max(512);
        }
    }
}
