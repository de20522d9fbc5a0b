//! Commands and code that the user ran, as text that the model reads.

use std::sync::Arc;

use super::output_notice;
use crate::message::{
    Attribution, BashExecution, Block, Content, Message, PythonExecution, UserMessage,
};

pub(super) fn bash(run: &BashExecution) -> Option<Arc<Message>> {
    if run.exclude_from_context == Some(true) {
        return None;
    }
    let output = match run.output.as_str() {
        "" => "(no output)".to_owned(),
        output => fenced("", output),
    };
    let end = match run.exit_code {
        _ if run.cancelled => "\n\n(command cancelled)".to_owned(),
        Some(code) if code != 0 => format!("\n\nCommand exited with code {code}"),
        _ => String::new(),
    };
    let notice = output_notice::render(run.meta.as_ref());
    let text = format!("Ran `{}`\n{output}{end}{notice}", run.command);
    let images = run.images.as_deref().unwrap_or_default();
    Some(said(text, images, run.timestamp))
}

pub(super) fn python(run: &PythonExecution) -> Option<Arc<Message>> {
    if run.exclude_from_context == Some(true) {
        return None;
    }
    let output = match run.output.as_str() {
        "" => "(no output)".to_owned(),
        output => format!("Output:\n{}", fenced("", output)),
    };
    let end = match run.exit_code {
        _ if run.cancelled => "\n\n(execution cancelled)".to_owned(),
        Some(code) if code != 0 => format!("\n\nExecution failed with code {code}"),
        _ => String::new(),
    };
    let code = fenced("python", &run.code);
    let notice = output_notice::render(run.meta.as_ref());
    Some(said(format!("Ran Python:\n{code}\n{output}{end}{notice}"), &[], run.timestamp))
}

/// The text between fences that it cannot close itself.
fn fenced(language: &str, text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(3.max(longest + 1));
    format!("{fence}{language}\n{text}\n{fence}")
}

fn said(text: String, images: &[Block], timestamp: i64) -> Arc<Message> {
    let content = std::iter::once(Block::text(text)).chain(images.iter().cloned()).collect();
    Arc::new(Message::User(UserMessage {
        content: Content::Blocks(content),
        attribution: Some(Attribution::User),
        timestamp,
        ..UserMessage::default()
    }))
}
