//! What a list shows of a session file, from its first bytes and its last.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use memchr::memmem;
use serde_json::value::RawValue;

use super::{SessionRow, Status, spoken, status_after};
use crate::entry::{Entry, EntryKind};
use crate::ids::SessionId;
use crate::json::typed;
use crate::jsonl::pick;
use crate::message::Message;
use crate::place::SessionPlace;
use crate::time::Timestamp;
use crate::title_slot::TitleSlot;

/// Bytes read at the start of a file: title slot, header and the first entries.
const HEAD_BYTES: u64 = 4_096;

/// Bytes read at the end of a file: how the session was left.
const TAIL_BYTES: u64 = 32_768;

/// Bytes read at the start of a file whose header, or what follows it, is longer than usual.
const LONG_HEAD_BYTES: u64 = 65_536;

/// Bytes read at once in search of an answer.
const CHUNK_BYTES: usize = 256 << 10;

const MESSAGE_MARK: &[u8] = br#""type":"message""#;
const ASSISTANT_MARK: &[u8] = br#""role":"assistant""#;

/// Looks at a file. One without a header gives a row that says so.
///
/// Reads at most 100 kB; a longer file that shows no answer at either end is searched for one.
///
/// # Errors
/// It cannot be read.
pub fn glance(path: &Path) -> io::Result<SessionRow> {
    let file = File::open(path)?;
    let metadata = file.metadata()?;
    let (bytes, modified) = (metadata.len(), metadata.modified()?);
    let mut head = part(&file, 0, bytes.min(HEAD_BYTES))?;
    let says_something = memmem::find(&head, MESSAGE_MARK).is_some();
    if bytes > HEAD_BYTES && !(says_something && has_header(&head)) {
        head = part(&file, 0, bytes.min(LONG_HEAD_BYTES))?;
    }
    let Some(opening) = Opening::read(&head) else { return Ok(damaged(path, modified, bytes)) };
    let tail_start = bytes.saturating_sub(TAIL_BYTES);
    let tail = part(&file, tail_start, bytes - tail_start)?;
    let mut assistant_turns = opening.assistant_turns;
    if assistant_turns == 0 && has_answer(&file, &tail, head.len() as u64, tail_start)? {
        assistant_turns = 1;
    }
    let markers = memmem::find_iter(&head, MESSAGE_MARK).count() as u64;
    let messages = opening.messages.max(markers);
    let title = opening.title();
    let first_message = opening.first_of_user.or(opening.first_of_anybody);
    Ok(SessionRow {
        place: SessionPlace::File(path.to_owned()),
        id: opening.header.id,
        cwd: opening.header.cwd,
        title,
        parent: opening.header.parent,
        created: opening.header.created,
        modified,
        bytes,
        messages,
        assistant_turns,
        first_message,
        all_text: opening.all_text,
        status: status(&tail),
    })
}

/// The row of a file that cannot be read as a session.
pub(super) fn damaged(path: &Path, modified: SystemTime, bytes: u64) -> SessionRow {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    SessionRow {
        place: SessionPlace::File(path.to_owned()),
        // The name of a file ends with the id of its session.
        id: SessionId::from(stem.rsplit('_').next().unwrap_or_default()),
        cwd: None,
        title: None,
        parent: None,
        created: Timestamp::default(),
        modified,
        bytes,
        messages: 0,
        assistant_turns: 0,
        first_message: None,
        all_text: String::new(),
        status: Status::Damaged,
    }
}

fn part(file: &File, offset: u64, bytes: u64) -> io::Result<Vec<u8>> {
    let mut part = vec![0; bytes as usize];
    let mut filled = 0;
    // A file that becomes shorter meanwhile has a shorter part.
    while filled < part.len() {
        match file.read_at(&mut part[filled..], offset + filled as u64) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    part.truncate(filled);
    Ok(part)
}

fn has_header(head: &[u8]) -> bool {
    String::from_utf8_lossy(head).lines().any(|line| HeaderFacts::read(line).is_some())
}

/// What the start of a file tells.
struct Opening {
    slot: Option<TitleSlot>,
    header: HeaderFacts,
    /// The newest name in the format of the ancestor.
    name: Option<String>,
    short_summary: Option<String>,
    messages: u64,
    assistant_turns: u64,
    first_of_user: Option<String>,
    first_of_anybody: Option<String>,
    all_text: String,
}

impl Opening {
    fn read(head: &[u8]) -> Option<Self> {
        let text = String::from_utf8_lossy(head);
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
        let slot = text.lines().next().and_then(|line| TitleSlot::from_line(line.as_bytes()));
        let header = text.lines().find_map(HeaderFacts::read)?;
        let mut opening = Self {
            slot,
            header,
            name: None,
            short_summary: None,
            messages: 0,
            assistant_turns: 0,
            first_of_user: None,
            first_of_anybody: None,
            all_text: String::new(),
        };
        for line in text.lines() {
            opening.add(line);
        }
        Some(opening)
    }

    fn add(&mut self, line: &str) {
        // Entries of the oldest files have no id, and are told by their type and message alone.
        let [kind, message] = pick(line, ["type", "message"]);
        if kind.and_then(typed::<String>).as_deref() == Some("message") {
            match message.and_then(|message| serde_json::from_str(message.get()).ok()) {
                Some(message) => self.add_message(&message),
                None => self.add_cut_message(line),
            }
            return;
        }
        match serde_json::from_str::<Entry>(line).map(|entry| entry.kind) {
            Ok(EntryKind::Compaction(compaction)) => {
                self.short_summary = compaction.short_summary.or(self.short_summary.take());
            }
            Ok(EntryKind::Other(other)) if other.type_name == "session_info" => {
                let name = other.members.extra.get("name").and_then(|name| name.value().as_str());
                self.name = name.map(str::to_owned);
            }
            _ => {}
        }
    }

    fn add_message(&mut self, message: &Message) {
        self.messages += 1;
        self.assistant_turns += u64::from(message.as_assistant().is_some());
        let Some(text) = spoken(message).filter(|text| !text.is_empty()) else { return };
        if !matches!(message, Message::Developer(_)) {
            let separator = if self.all_text.is_empty() { "" } else { " " };
            self.all_text.push_str(separator);
            self.all_text.push_str(&text);
        }
        self.add_first(text, matches!(message, Message::User(_)));
    }

    /// A message that the end of the window cut off: as much of its first text as is there.
    fn add_cut_message(&mut self, line: &str) {
        let is_of_user = line.contains(r#""role":"user""#);
        let is_of_model = line.contains(r#""role":"assistant""#);
        self.assistant_turns += u64::from(is_of_model);
        if let Some(text) = cut_text(line).filter(|_| is_of_user || is_of_model) {
            self.add_first(text, is_of_user);
        }
    }

    fn add_first(&mut self, text: String, is_of_user: bool) {
        if is_of_user && self.first_of_user.is_none() {
            self.first_of_user = Some(text.clone());
        }
        if self.first_of_anybody.is_none() {
            self.first_of_anybody = Some(text);
        }
    }

    fn title(&self) -> Option<String> {
        let title = match &self.slot {
            Some(slot) => Some(slot.title.clone()),
            None => self.header.title.clone(),
        };
        let titles = [title, self.name.clone(), self.short_summary.clone()];
        titles.into_iter().flatten().find(|title| !title.trim().is_empty())
    }
}

/// The first text of a message whose line is cut off.
fn cut_text(line: &str) -> Option<String> {
    let from = [r#""text":""#, r#""content":""#]
        .iter()
        .filter_map(|key| Some(line.find(key)? + key.len()))
        .min()?;
    let rest = &line[from..];
    let closing = rest.match_indices('"').find(|(at, _)| {
        let escapes = rest[..*at].bytes().rev().take_while(|byte| *byte == b'\\').count();
        escapes % 2 == 0
    });
    let raw = closing.map_or(rest, |(at, _)| &rest[..at]);
    // An escape at the cut may lack up to five of its characters.
    (0..=6)
        .filter_map(|lacking| raw.get(..raw.len().checked_sub(lacking)?))
        .find_map(|raw| serde_json::from_str(&format!("\"{raw}\"")).ok())
}

struct HeaderFacts {
    id: SessionId,
    cwd: Option<PathBuf>,
    title: Option<String>,
    parent: Option<String>,
    created: Timestamp,
}

impl HeaderFacts {
    /// Reads a header, even one that the end of the window cut off.
    fn read(line: &str) -> Option<Self> {
        let keys = ["type", "id", "cwd", "title", "timestamp", "parentSession"];
        let [kind, id, cwd, title, created, parent] =
            pick(line, keys).map(|raw: Option<&RawValue>| raw.and_then(typed::<String>));
        if kind? != "session" {
            return None;
        }
        Some(Self {
            id: id?.into(),
            cwd: cwd.map(PathBuf::from),
            title: title.filter(|title| !title.is_empty()),
            parent,
            created: Timestamp::new(created.unwrap_or_default()),
        })
    }
}

/// How the session is left, from the last message of the tail that can be read.
fn status(tail: &[u8]) -> Status {
    let message = tail.rsplit(|byte| *byte == b'\n').find_map(|line| {
        let line = std::str::from_utf8(line).ok()?;
        let [kind, message] = pick(line, ["type", "message"]);
        let is_message = kind.and_then(typed::<String>).as_deref() == Some("message");
        message
            .filter(|_| is_message)
            .and_then(|raw| serde_json::from_str::<Message>(raw.get()).ok())
    });
    message.as_ref().map_or(Status::Unknown, status_after)
}

/// Whether the model said something after the head: in the tail, or else anywhere between.
fn has_answer(file: &File, tail: &[u8], from: u64, to: u64) -> io::Result<bool> {
    if memmem::find(tail, ASSISTANT_MARK).is_some() {
        return Ok(true);
    }
    let mut chunk = vec![0; CHUNK_BYTES];
    let mut offset = from;
    while offset < to {
        let read = file.read_at(&mut chunk, offset)?;
        if memmem::find(&chunk[..read], ASSISTANT_MARK).is_some() {
            return Ok(true);
        }
        if read <= ASSISTANT_MARK.len() {
            return Ok(false);
        }
        // The mark may lie across two chunks.
        offset += (read - ASSISTANT_MARK.len()) as u64;
    }
    Ok(false)
}
