//! The session as Markdown: a heading for each message, calls and results folded, branches that were left at the end.

use std::io::Write;

use longhand_session::entry::EntryKind;
use longhand_session::message::ToolCall;
use longhand_session::{Block, Content, Entry, Message};

use super::flow::{self, Step};
use super::{ExportError, Keys, LOT, Options, Totals};
use crate::session_file::SessionFile;
use crate::tree_rows::{one_line, tool_call};

pub(super) fn write(
    session: &SessionFile,
    options: &Options<'_>,
    out: &mut dyn Write,
) -> Result<(), ExportError> {
    front_matter(session, options.keys, out)?;
    let steps = flow::steps(&session.tree);
    let (main, branches) = parted(steps);
    let mut page = Page { keys: options.keys, out };
    page.entries(session, &main)?;
    for (nth, branch) in branches.iter().enumerate() {
        writeln!(page.out, "\n---\n\n# Branch {} that was left", nth + 1)?;
        page.entries(session, branch)?;
    }
    Ok(())
}

/// The steps of the active branch, and those of each other one. Branches of branches stand by themselves.
fn parted(steps: Vec<Step>) -> (Vec<Step>, Vec<Vec<Step>>) {
    let mut open: Vec<Vec<Step>> = vec![Vec::new()];
    let mut branches = Vec::new();
    for step in steps {
        match step {
            Step::Open { .. } => open.push(Vec::new()),
            Step::Close => branches.extend(open.pop()),
            entry @ Step::Entry(_) => {
                if let Some(current) = open.last_mut() {
                    current.push(entry);
                }
            }
        }
    }
    (open.into_iter().next().unwrap_or_default(), branches)
}

fn front_matter(session: &SessionFile, keys: Keys, out: &mut dyn Write) -> Result<(), ExportError> {
    let mut totals = Totals::default();
    for lot in session.rows.chunks(LOT) {
        session.read_once(lot)?.iter().for_each(|entry| totals.add(entry));
    }
    let header = &session.header;
    let quoted = |text: &str| serde_json::Value::from(keys.text(text)).to_string();
    writeln!(out, "---\nid: {}", quoted(header.id.as_str()))?;
    writeln!(out, "title: {}", quoted(header.title.as_deref().unwrap_or_default()))?;
    writeln!(out, "cwd: {}", quoted(header.cwd.as_deref().unwrap_or_default()))?;
    writeln!(out, "created: {}", quoted(header.timestamp.as_str()))?;
    if let Some(modified) = &session.modified {
        writeln!(out, "modified: {}", quoted(modified.as_str()))?;
    }
    let models: Vec<String> = totals.models.keys().map(|model| quoted(model)).collect();
    writeln!(out, "models: [{}]", models.join(", "))?;
    let all = &totals.all;
    let tokens = all.input + all.output + all.cache_read + all.cache_write;
    writeln!(out, "tokens: {tokens}\ncost: {:.4}\n---", all.cost)?;
    Ok(())
}

struct Page<'o> {
    keys: Keys,
    out: &'o mut dyn Write,
}

impl Page<'_> {
    fn entries(&mut self, session: &SessionFile, steps: &[Step]) -> Result<(), ExportError> {
        for lot in flow::rows(&session.tree, steps).chunks(LOT) {
            for entry in session.read_once(lot)? {
                self.entry(&entry)?;
            }
        }
        Ok(())
    }

    fn entry(&mut self, entry: &Entry) -> Result<(), ExportError> {
        match &entry.kind {
            EntryKind::Message(stored) => self.message(&stored.message)?,
            EntryKind::Compaction(compaction) => {
                let method = compaction.method.as_deref().unwrap_or("compaction");
                let title =
                    format!("Compacted ({method}), {} tokens before", compaction.tokens_before);
                self.divider(&title, &compaction.summary)?;
            }
            EntryKind::BranchSummary(summary) if !summary.summary.is_empty() => {
                self.divider("Summary of a branch that was left", &summary.summary)?;
            }
            EntryKind::ResetBoundary(_) => writeln!(self.out, "\n---\n\n*Context cleared*")?,
            EntryKind::CustomMessage(custom) if custom.display => {
                let content: Result<Content, _> = serde_json::from_str(custom.content.text());
                let text = content.map(|content| content.texts().collect::<Vec<_>>().join("\n"));
                write!(self.out, "\n## {}\n\n", one_line(&custom.custom_type, 80))?;
                self.paragraph(&text.unwrap_or_default())?;
            }
            _ => {}
        }
        Ok(())
    }

    fn message(&mut self, message: &Message) -> Result<(), ExportError> {
        match message {
            Message::User(said) => self.said("User", &said.content),
            Message::Developer(said) => self.said("Developer", &said.content),
            Message::Assistant(turn) => {
                write!(self.out, "\n## Assistant\n\n")?;
                for block in &turn.content {
                    self.block(block)?;
                }
                if let Some(error) = &turn.error_message {
                    self.paragraph(&format!("*{}*", one_line(error, 500)))?;
                }
                Ok(())
            }
            Message::ToolResult(result) => {
                let text: Vec<&str> = result.content.iter().filter_map(Block::as_text).collect();
                let error = if result.is_error { ", error" } else { "" };
                let name = one_line(&result.tool_name, 60);
                self.folded(&format!("Result of {name}{error}"), &text.join("\n"), "")
            }
            Message::BashExecution(run) => {
                self.folded(&format!("Ran `{}`", one_line(&run.command, 80)), &run.output, "")
            }
            Message::PythonExecution(run) => {
                self.folded("Ran Python", &format!("{}\n\n{}", run.code, run.output), "")
            }
            Message::FileMention(mention) => {
                let paths: Vec<&str> = mention.files.iter().map(|file| &*file.path).collect();
                self.paragraph(&format!("Files: {}", paths.join(", ")))
            }
            Message::Custom(custom) | Message::HookMessage(custom) => {
                self.said(&one_line(&custom.custom_type, 80), &custom.content)
            }
            Message::BranchSummary(_) | Message::CompactionSummary(_) | Message::Unknown(_) => {
                Ok(())
            }
        }
    }

    fn said(&mut self, who: &str, content: &Content) -> Result<(), ExportError> {
        write!(self.out, "\n## {who}\n\n")?;
        match content {
            Content::Text(text) => self.paragraph(text),
            Content::Blocks(blocks) => blocks.iter().try_for_each(|block| self.block(block)),
        }
    }

    fn block(&mut self, block: &Block) -> Result<(), ExportError> {
        match block {
            Block::Text(block) => self.paragraph(&block.text),
            Block::Thinking(block) => self.folded("Thinking", &block.thinking, ""),
            Block::RedactedThinking(_) => {
                self.paragraph("*(reasoning that only its provider can read)*")
            }
            Block::Image(image) => {
                let kind = one_line(&image.mime_type, 40);
                self.paragraph(&format!(
                    "*(picture, {kind}, {} bytes of base64)*",
                    image.data.len()
                ))
            }
            Block::ToolCall(call) => self.call(call),
            Block::ServerTool(_) | Block::Unknown(_) => Ok(()),
        }
    }

    fn call(&mut self, call: &ToolCall) -> Result<(), ExportError> {
        let arguments = serde_json::to_string_pretty(call.arguments.value())
            .unwrap_or_else(|_| call.arguments.compact());
        self.folded(&one_line(&tool_call(call), 100), &self.keys.json(&arguments), "json")
    }

    fn paragraph(&mut self, text: &str) -> Result<(), ExportError> {
        if !text.trim().is_empty() {
            writeln!(self.out, "{}\n", self.keys.text(text).trim_end())?;
        }
        Ok(())
    }

    fn divider(&mut self, title: &str, summary: &str) -> Result<(), ExportError> {
        write!(self.out, "\n---\n\n<details><summary>{}</summary>\n\n", inert(title))?;
        self.paragraph(summary)?;
        Ok(writeln!(self.out, "</details>")?)
    }

    fn folded(&mut self, title: &str, text: &str, language: &str) -> Result<(), ExportError> {
        let text = self.keys.text(text);
        let fence = fence(&text);
        let title = inert(&self.keys.text(title));
        writeln!(self.out, "<details><summary>{title}</summary>\n\n{fence}{language}")?;
        Ok(write!(self.out, "{}\n{fence}\n\n</details>\n\n", text.trim_end_matches('\n'))?)
    }
}

/// A fence that no run of backticks in the text closes.
fn fence(text: &str) -> String {
    let mut longest = 0;
    let mut run = 0;
    for char in text.chars() {
        run = if char == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    "`".repeat((longest + 1).max(3))
}

/// Text within an HTML element of Markdown.
fn inert(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
