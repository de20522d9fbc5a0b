//! The entries of a page, one after another.

use std::io::Write;

use longhand_session::archive::{self, Archive, FrameBudget};
use longhand_session::digits::grouped;
use longhand_session::entry::{CompactionEntry, EntryKind};
use longhand_session::message::{ImageBlock, ToolCall, ToolResult};
use longhand_session::{AssistantMessage, Block, Content, Entry, Message};

use super::markdown::rendered;
use super::survey::Survey;
use super::{anchor, escape, time};
use crate::export::{ExportError, Options};
use crate::tree_rows::{describe, one_line, tool_call};

/// Media types of pictures that browsers show, and that cannot hold a script.
const PICTURES: [&str; 5] = ["image/png", "image/jpeg", "image/gif", "image/webp", "image/bmp"];

pub(super) struct Body<'a, 'o> {
    pub(super) options: &'a Options<'a>,
    pub(super) survey: &'a Survey,
    pub(super) out: &'o mut dyn Write,
}

impl Body<'_, '_> {
    pub(super) fn open_branch(&mut self, entries: usize) -> Result<(), ExportError> {
        let noun = if entries == 1 { "entry" } else { "entries" };
        writeln!(
            self.out,
            "<details class=\"branch\"><summary>Branch that was left: {} {noun}</summary>",
            grouped(entries as u64)
        )?;
        Ok(())
    }

    pub(super) fn close_branch(&mut self) -> Result<(), ExportError> {
        Ok(writeln!(self.out, "</details>")?)
    }

    pub(super) fn entry(&mut self, entry: &Entry) -> Result<(), ExportError> {
        match &entry.kind {
            EntryKind::Message(stored) => self.message(entry, &stored.message),
            EntryKind::Compaction(compaction) => self.compaction(entry, compaction),
            EntryKind::BranchSummary(summary) if !summary.summary.is_empty() => {
                self.divider(entry, "Summary of a branch that was left", &summary.summary, "")
            }
            EntryKind::ResetBoundary(_) => self.divider(
                entry,
                "Context cleared: the model saw nothing of what is above",
                "",
                "",
            ),
            EntryKind::CustomMessage(custom) if custom.display => {
                let content: Content =
                    serde_json::from_str(custom.content.text()).unwrap_or_default();
                self.said(entry, "other", &one_line(&custom.custom_type, 60), &content)
            }
            _ => self.note(entry),
        }
    }

    fn message(&mut self, entry: &Entry, message: &Message) -> Result<(), ExportError> {
        match message {
            Message::User(said) => self.said(entry, "user", "User", &said.content),
            Message::Developer(said) => self.said(entry, "other", "Developer", &said.content),
            Message::Assistant(turn) => self.assistant(entry, turn),
            Message::ToolResult(result) => self.tool_result(entry, result),
            Message::BashExecution(run) => {
                let title = format!("$ {}", one_line(&run.command, 120));
                let failed = run.exit_code.is_some_and(|code| code != 0);
                self.folded(entry, &title, &run.output, &[], failed)
            }
            Message::PythonExecution(run) => {
                let text = format!("{}\n\n{}", run.code, run.output);
                let failed = run.exit_code.is_some_and(|code| code != 0);
                self.folded(entry, "Python", &text, &[], failed)
            }
            Message::FileMention(mention) => {
                let text: Vec<String> = mention
                    .files
                    .iter()
                    .map(|file| format!("{}\n{}", file.path, file.content))
                    .collect();
                let paths: Vec<&str> = mention.files.iter().map(|file| &*file.path).collect();
                let title = format!("Files: {}", paths.join(", "));
                self.folded(entry, &one_line(&title, 160), &text.join("\n\n"), &[], false)
            }
            Message::Custom(custom) | Message::HookMessage(custom) => {
                self.said(entry, "other", &one_line(&custom.custom_type, 60), &custom.content)
            }
            Message::BranchSummary(_) | Message::CompactionSummary(_) | Message::Unknown(_) => {
                self.note(entry)
            }
        }
    }

    fn open(
        &mut self,
        entry: &Entry,
        class: &str,
        who: &str,
        facts: &str,
    ) -> Result<(), ExportError> {
        let id = anchor(entry.id.as_str());
        let label = self.survey.labels.of(&entry.id).map(|label| {
            format!(" <span class=\"label\">{}</span>", escape(&self.options.keys.text(label)))
        });
        writeln!(
            self.out,
            "<article id=\"{id}\" class=\"{class}\"><div class=\"meta\"><b>{}</b>{}<span class=\"facts\">{}</span>\
             <a class=\"time\" href=\"#{id}\">{}</a></div>",
            escape(who),
            label.unwrap_or_default(),
            escape(facts),
            escape(&time(entry.timestamp.as_str())),
        )?;
        Ok(())
    }

    fn close(&mut self) -> Result<(), ExportError> {
        Ok(writeln!(self.out, "</article>")?)
    }

    fn said(
        &mut self,
        entry: &Entry,
        class: &str,
        who: &str,
        content: &Content,
    ) -> Result<(), ExportError> {
        self.open(entry, class, who, "")?;
        match content {
            Content::Text(text) => self.markdown(text)?,
            Content::Blocks(blocks) => self.blocks(blocks)?,
        }
        self.close()
    }

    fn assistant(&mut self, entry: &Entry, turn: &AssistantMessage) -> Result<(), ExportError> {
        let used = turn.usage.as_ref().filter(|usage| usage.total_tokens + usage.output > 0);
        let facts = used.map_or_else(String::new, |usage| {
            let cost = usage.cost.as_ref().map_or(0.0, |cost| cost.total.0);
            let sent = usage.input + usage.cache_read + usage.cache_write;
            let cost = if cost > 0.0 { format!(" · ${cost:.4}") } else { String::new() };
            format!("{} in · {} out{cost}", grouped(sent), grouped(usage.output))
        });
        let facts = format!("{} · {facts}", turn.model);
        self.open(entry, "assistant", "Assistant", facts.trim_end_matches(" · "))?;
        self.blocks(&turn.content)?;
        if let Some(error) = &turn.error_message {
            let error = escape(&self.options.keys.text(error));
            writeln!(self.out, "<p class=\"error\">{error}</p>")?;
        }
        self.close()
    }

    fn blocks(&mut self, blocks: &[Block]) -> Result<(), ExportError> {
        for block in blocks {
            match block {
                Block::Text(block) => self.markdown(&block.text)?,
                Block::Thinking(block) if !block.thinking.trim().is_empty() => {
                    writeln!(self.out, "<details class=\"thinking\"><summary>Thinking</summary>")?;
                    self.markdown(&block.thinking)?;
                    writeln!(self.out, "</details>")?;
                }
                Block::Image(image) => self.picture(image)?,
                Block::ToolCall(call) => self.call(call)?,
                Block::Thinking(_)
                | Block::RedactedThinking(_)
                | Block::ServerTool(_)
                | Block::Unknown(_) => {}
            }
        }
        Ok(())
    }

    fn call(&mut self, call: &ToolCall) -> Result<(), ExportError> {
        let arguments = serde_json::to_string_pretty(call.arguments.value())
            .unwrap_or_else(|_| call.arguments.compact());
        let title = self.options.keys.text(&one_line(&tool_call(call), 140));
        writeln!(
            self.out,
            "<details class=\"call\"><summary>{}</summary><pre>{}</pre></details>",
            escape(&title),
            escape(&self.options.keys.json(&arguments))
        )?;
        Ok(())
    }

    fn tool_result(&mut self, entry: &Entry, result: &ToolResult) -> Result<(), ExportError> {
        let text: Vec<&str> = result.content.iter().filter_map(Block::as_text).collect();
        let text = text.join("\n");
        let pictures: Vec<&ImageBlock> = result
            .content
            .iter()
            .filter_map(|block| match block {
                Block::Image(image) => Some(image),
                _ => None,
            })
            .collect();
        let about = describe(entry, &self.survey.calls).text;
        let lines = text.lines().count();
        let pruned = if result.pruned_at.is_some() { ", shortened for the model" } else { "" };
        let about = about.trim_start_matches('[').trim_end_matches(']');
        let noun = if lines == 1 { "line" } else { "lines" };
        let title = format!("{about} → {lines} {noun}{pruned}");
        self.folded(entry, &title, &text, &pictures, result.is_error)
    }

    fn folded(
        &mut self,
        entry: &Entry,
        title: &str,
        text: &str,
        pictures: &[&ImageBlock],
        failed: bool,
    ) -> Result<(), ExportError> {
        let class = if failed { "result failed" } else { "result" };
        writeln!(
            self.out,
            "<details id=\"{}\" class=\"{class}\"><summary>{}</summary><pre>{}</pre>",
            anchor(entry.id.as_str()),
            escape(&self.options.keys.text(title)),
            escape(&self.options.keys.text(text))
        )?;
        for picture in pictures {
            self.picture(picture)?;
        }
        Ok(writeln!(self.out, "</details>")?)
    }

    fn compaction(
        &mut self,
        entry: &Entry,
        compaction: &CompactionEntry,
    ) -> Result<(), ExportError> {
        let method = compaction.method.as_deref().unwrap_or("compaction");
        let after = compaction
            .tokens_after
            .map_or_else(String::new, |tokens| format!(" → {}", grouped(tokens)));
        let before = grouped(compaction.tokens_before);
        let title = format!("Compacted with {method}: {before}{after} tokens");
        let mut pictures = String::new();
        if let Some(archive) = compaction.preserve_data.as_ref().and_then(Archive::read) {
            let blocks =
                archive::history_blocks(&archive, FrameBudget::Unlimited, self.options.frames);
            for block in &blocks {
                match block {
                    Block::Image(image) => pictures.push_str(&picture_html(image)),
                    Block::Text(text) => {
                        let text = self.options.keys.text(&text.text);
                        pictures.push_str(&format!("<pre>{}</pre>\n", escape(&text)));
                    }
                    _ => {}
                }
            }
        }
        self.divider(entry, &title, &compaction.summary, &pictures)
    }

    /// A line across the page, with what it stands for folded in it.
    fn divider(
        &mut self,
        entry: &Entry,
        title: &str,
        summary: &str,
        pictures: &str,
    ) -> Result<(), ExportError> {
        let id = anchor(entry.id.as_str());
        let title = escape(&one_line(title, 160));
        if summary.trim().is_empty() && pictures.is_empty() {
            return Ok(writeln!(self.out, "<div id=\"{id}\" class=\"divider\">{title}</div>")?);
        }
        writeln!(self.out, "<details id=\"{id}\" class=\"divider\"><summary>{title}</summary>")?;
        self.markdown(summary)?;
        Ok(writeln!(self.out, "{pictures}</details>")?)
    }

    /// What the program wrote for itself: one small line.
    fn note(&mut self, entry: &Entry) -> Result<(), ExportError> {
        let text = describe(entry, &self.survey.calls).text;
        let text = escape(&self.options.keys.text(&text));
        Ok(writeln!(
            self.out,
            "<div id=\"{}\" class=\"note\">{text}</div>",
            anchor(entry.id.as_str())
        )?)
    }

    fn markdown(&mut self, text: &str) -> Result<(), ExportError> {
        if text.trim().is_empty() {
            return Ok(());
        }
        let text = rendered(&self.options.keys.text(text));
        Ok(writeln!(self.out, "<div class=\"md\">{text}</div>")?)
    }

    fn picture(&mut self, image: &ImageBlock) -> Result<(), ExportError> {
        let html = picture_html(image);
        Ok(self.out.write_all(html.as_bytes())?)
    }
}

/// A picture in the page itself.
fn picture_html(image: &ImageBlock) -> String {
    let is_base64 =
        image.data.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'='));
    let kind = PICTURES.iter().find(|kind| **kind == image.mime_type);
    match kind {
        Some(kind) if is_base64 && !image.data.is_empty() => {
            let data = &image.data;
            format!("<img alt=\"picture\" loading=\"lazy\" src=\"data:{kind};base64,{data}\">\n")
        }
        _ => "<p class=\"error\">[image unavailable]</p>\n".to_owned(),
    }
}
