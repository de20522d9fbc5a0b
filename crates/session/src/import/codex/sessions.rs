//! Where Codex keeps its sessions, and what of them can be told at a glance.
//!
//! Its database, where there is one, tells most without opening a transcript; the folders have what it does not know.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use crate::import::Origin;
use crate::import::fields::{members, pick, text, words};
use crate::import::foreign::{ForeignSession, Windows, items, shown, small_file};
use crate::import::survey::clean_title;
use crate::json::Members;

/// Folders of transcripts.
const FOLDERS: [&str; 3] = ["sessions", ".sessions", "archived_sessions"];

/// Transcripts lie below a folder for year, month and day; deeper ones are not looked for.
const MAX_DEPTH: usize = 6;

/// Bytes that are read at the start of a transcript; more where standing instructions fill them.
const HEAD_BYTES: [u64; 2] = [64 << 10, 512 << 10];

/// Longest list of names that is looked through.
const MAX_INDEX_BYTES: u64 = 64 << 20;

/// The sessions below the folder of Codex, in no order.
pub(in crate::import) fn sessions(root: &Path) -> Vec<ForeignSession> {
    let mut sessions = threads(root);
    let known: HashSet<PathBuf> = sessions.iter().map(|session| session.path.clone()).collect();
    // The database may name a file by another path to it.
    let known_ids: HashSet<String> = sessions.iter().map(|session| session.id.clone()).collect();
    let names = names(&root.join("session_index.jsonl"));
    let mut files = Vec::new();
    for folder in FOLDERS {
        find_transcripts(&root.join(folder), MAX_DEPTH, &mut files);
    }
    let others = files.into_iter().filter(|file| !known.contains(file));
    let others = others.filter_map(|file| glance(&file));
    sessions.extend(others.filter(|session| !known_ids.contains(&session.id)));
    for session in &mut sessions {
        let name = names.get(&session.id).cloned();
        session.title = name.or(session.title.take());
    }
    sessions
}

#[cfg(feature = "sqlite")]
fn threads(root: &Path) -> Vec<ForeignSession> {
    super::threads::read(root)
}

/// Without a reader of databases the folders tell.
#[cfg(not(feature = "sqlite"))]
fn threads(_root: &Path) -> Vec<ForeignSession> {
    Vec::new()
}

fn find_transcripts(folder: &Path, depth: usize, files: &mut Vec<PathBuf>) {
    for item in items(folder) {
        let Ok(kind) = item.file_type() else { continue };
        let path = item.path();
        if kind.is_dir() && depth > 0 {
            find_transcripts(&path, depth - 1, files);
        } else if kind.is_file() && is_transcript(&path) {
            files.push(path);
        }
    }
}

fn is_transcript(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.starts_with("rollout-") && name.ends_with(".jsonl")
}

/// Looks at a file; `None` where it is no session, or one in which nobody said anything.
fn glance(path: &Path) -> Option<ForeignSession> {
    let windows = Windows::open(path)?;
    let [some, more] = HEAD_BYTES;
    let mut told = told(&windows.head(some));
    if told.first_prompt.is_none() && windows.bytes > some {
        told = self::told(&windows.head(more));
    }
    if told.first_prompt.is_none() && windows.bytes <= more {
        return None;
    }
    let id = told.id.or_else(|| id_in_name(path))?;
    Some(ForeignSession {
        origin: Origin::Codex,
        id,
        path: path.to_owned(),
        cwd: told.cwd.map(PathBuf::from),
        title: told.title,
        first_prompt: told.first_prompt,
        prompts: None,
        modified: windows.modified,
        bytes: windows.bytes,
    })
}

/// The id at the end of `rollout-<time>-<uuid>`.
fn id_in_name(path: &Path) -> Option<String> {
    let name = path.file_stem()?.to_str()?;
    let id = name.get(name.len().checked_sub(36)?..)?;
    uuid::Uuid::parse_str(id).is_ok().then(|| id.to_owned())
}

/// What the start of a transcript tells.
#[derive(Default)]
struct Told {
    id: Option<String>,
    cwd: Option<String>,
    title: Option<String>,
    first_prompt: Option<String>,
}

fn told(head: &str) -> Told {
    let mut told = Told::default();
    let mut item_prompt = None;
    for line in head.lines() {
        let [kind] = pick(line, ["type"]);
        let kind = text(kind).unwrap_or_default();
        // The value of a line that is cut off cannot be had, but its first members can.
        let payload = line.split_once("\"payload\":").map_or(line, |(_, payload)| payload);
        let [id, cwd, inner, role, message, content, name] =
            pick(payload, ["id", "cwd", "type", "role", "message", "content", "thread_name"]);
        let inner = text(inner).unwrap_or_default();
        match (kind.as_str(), inner.as_str()) {
            ("session_meta", _) => {
                told.id = told.id.or_else(|| words(id));
                told.cwd = told.cwd.or_else(|| words(cwd));
            }
            ("event_msg", "user_message") if told.first_prompt.is_none() => {
                told.first_prompt = words(message).as_deref().and_then(shown);
            }
            ("event_msg", "thread_name_updated") => {
                told.title = words(name).as_deref().and_then(clean_title);
            }
            ("response_item" | "message", "message")
                if item_prompt.is_none() && text(role).as_deref() == Some("user") =>
            {
                item_prompt = crate::import::fields::items(content)
                    .into_iter()
                    .find_map(|block| words(members(Some(block), ["text"])[0]))
                    .filter(|said| !is_of_the_program(said))
                    .as_deref()
                    .and_then(shown);
            }
            ("", _) => told.id = told.id.or_else(|| words(id)),
            _ => {}
        }
    }
    told.first_prompt = told.first_prompt.or(item_prompt);
    told
}

/// Whether a text is what the program itself says in the user's stead.
fn is_of_the_program(said: &str) -> bool {
    said.starts_with('<') || said.starts_with("# AGENTS.md")
}

/// Names of sessions by their ids; the last name counts.
fn names(index: &Path) -> HashMap<String, String> {
    let lines = small_file(index, MAX_INDEX_BYTES).unwrap_or_default();
    let named = lines.lines().filter_map(|line| {
        let members: Members = serde_json::from_str(line).ok()?;
        Some((members.tag("id")?, clean_title(&members.tag("thread_name")?)?))
    });
    named.collect()
}
