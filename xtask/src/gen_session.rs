//! Writes a session file of a given size, by repeating a session: for benches, and for trying a program on long work.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use longhand_session::time::Timestamp;
use serde_json::{Value, json};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Session to repeat; without one, a made-up conversation is repeated
    #[arg(long)]
    from: Option<PathBuf>,
    /// Least size of the file in bytes
    #[arg(long, default_value_t = 100_000_000)]
    bytes: u64,
    /// Entries that a compaction near the end keeps; 0 writes no compaction
    #[arg(long, default_value_t = 100)]
    kept: usize,
    /// File to write
    #[arg(long)]
    out: PathBuf,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let pattern = match &arguments.from {
        Some(path) => entries_of(path)?,
        None => conversation(),
    };
    let file = File::create(&arguments.out)
        .with_context(|| format!("cannot create {}", arguments.out.display()))?;
    let mut session = Writer { out: BufWriter::new(file), bytes: 0, ids: Vec::new(), second: 0 };
    session.line(&json!({
        "type": "session", "version": 3, "id": "01900000-0000-7000-8000-000000000000",
        "timestamp": time(0), "cwd": "/tmp/longhand-generated",
    }))?;
    for pattern_entry in pattern.iter().cycle() {
        if session.bytes >= arguments.bytes {
            break;
        }
        session.entry(pattern_entry)?;
    }
    if arguments.kept > 0 {
        let kept_from = session.ids.len().saturating_sub(arguments.kept);
        let first_kept = session.ids.get(kept_from).cloned().unwrap_or_default();
        session.entry(&json!({
            "type": "compaction", "summary": "## Goal\nKeep working.", "firstKeptEntryId": first_kept,
            "tokensBefore": 150_000, "tokensAfter": 24_000, "method": "soft",
        }))?;
    }
    session.out.flush()?;
    println!("{}: {} entries, {} bytes", arguments.out.display(), session.ids.len(), session.bytes);
    Ok(())
}

struct Writer {
    out: BufWriter<File>,
    bytes: u64,
    ids: Vec<String>,
    second: i64,
}

impl Writer {
    /// Writes an entry at the end of the chain, its links first, as writers of sessions do.
    fn entry(&mut self, entry: &Value) -> Result<()> {
        let id = format!("{:08x}", self.ids.len() + 1);
        self.second += 1;
        let mut line = json!({
            "type": entry["type"], "id": id, "parentId": self.ids.last(), "timestamp": time(self.second),
        });
        if let (Some(line), Some(members)) = (line.as_object_mut(), entry.as_object()) {
            for (key, value) in members {
                line.entry(key.clone()).or_insert_with(|| value.clone());
            }
        }
        self.ids.push(id);
        self.line(&line)
    }

    fn line(&mut self, value: &Value) -> Result<()> {
        let line = value.to_string();
        self.bytes += line.len() as u64 + 1;
        Ok(writeln!(self.out, "{line}")?)
    }
}

fn time(second: i64) -> String {
    Timestamp::from_millis(1_764_547_200_000 + second * 1_000).as_str().to_owned()
}

fn entries_of(path: &PathBuf) -> Result<Vec<Value>> {
    let text =
        fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let mut entries = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let value: Value = serde_json::from_str(line)
            .with_context(|| format!("{}:{} is not JSON", path.display(), number + 1))?;
        if !matches!(value["type"].as_str(), Some("session" | "title" | "compaction")) {
            entries.push(value);
        }
    }
    if entries.is_empty() {
        bail!("{} holds no entries", path.display());
    }
    Ok(entries)
}

/// A turn with a question, two calls with results of different sizes, and an answer.
fn conversation() -> Vec<Value> {
    let usage = json!({"input": 900, "output": 120, "cacheRead": 40_000, "cacheWrite": 500, "totalTokens": 41_520,
        "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0}});
    let assistant = |content: Value, stop: &str| {
        json!({"type": "message", "message": {"role": "assistant", "content": content, "api": "openai-completions",
            "provider": "local", "model": "generated", "usage": usage, "stopReason": stop, "timestamp": 1_764_547_200_000_i64}})
    };
    let result = |id: &str, tool: &str, text: String| {
        json!({"type": "message", "message": {"role": "toolResult", "toolCallId": id, "toolName": tool,
            "content": [{"type": "text", "text": text}], "isError": false, "timestamp": 1_764_547_200_000_i64}})
    };
    vec![
        json!({"type": "message", "message": {"role": "user", "timestamp": 1_764_547_200_000_i64,
            "content": "The parser drops the last line when it has no newline. Find out why, and fix it. Größe: 你好."}}),
        assistant(
            json!([{"type": "text", "text": "I will read the parser."},
                {"type": "toolCall", "id": "call_read", "name": "read", "arguments": {"path": "src/parser.rs"}}]),
            "toolUse",
        ),
        result(
            "call_read",
            "read",
            "    let line = reader.next_line()?; // keeps \"quotes\" and\ttabs\n".repeat(110),
        ),
        assistant(
            json!([{"type": "toolCall", "id": "call_bash", "name": "bash", "arguments": {"command": "cargo test parser"}}]),
            "toolUse",
        ),
        result("call_bash", "bash", "test parser::tests::reads_lines ... ok\n".repeat(60)),
        assistant(
            json!([{"type": "text", "text": "The loop stops at the last newline. It now takes what is left. ".repeat(20)}]),
            "stop",
        ),
    ]
}
