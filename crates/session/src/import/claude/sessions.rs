//! Where Claude Code keeps its sessions, and what of them can be told at a glance.

use std::collections::HashMap;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use serde_json::value::RawValue;
use uuid::Uuid;

use crate::import::Origin;
use crate::import::fields::{is_true, items as array, members, pick, text, words};
use crate::import::foreign::{ForeignSession, Windows, items, shown, small_file};
use crate::import::records::Records;
use crate::import::survey::clean_title;
use crate::json::Members;

/// Bytes that are read at the start of a transcript, and at its end.
const HEAD_BYTES: u64 = 64 << 10;
const TAIL_BYTES: u64 = 32 << 10;

/// Longest file of settings that is looked through.
const MAX_SETTINGS_BYTES: u64 = 32 << 20;

/// The sessions below the folder of Claude Code, in no order.
pub(in crate::import) fn sessions(root: &Path) -> Vec<ForeignSession> {
    let prompts = Prompts::read(&root.join("history.jsonl"));
    let mut folders = None;
    let mut sessions = Vec::new();
    for project in ["projects", ".projects"].iter().flat_map(|name| items(&root.join(name))) {
        let name = project.file_name().to_string_lossy().into_owned();
        for file in items_of(&project.path()) {
            let Some(mut session) = glance(&file, &prompts) else { continue };
            if session.cwd.is_none() {
                let folders = folders.get_or_insert_with(|| project_folders(root));
                session.cwd = Some(folder_of(&name, folders));
            }
            sessions.push(session);
        }
    }
    sessions
}

fn items_of(project: &Path) -> Vec<PathBuf> {
    let files = if project.is_dir() { items(project) } else { Vec::new() };
    files.into_iter().map(|file| file.path()).collect()
}

/// Looks at a file; `None` where it is no session, or one in which nobody said anything.
fn glance(path: &Path, prompts: &Prompts) -> Option<ForeignSession> {
    // What agents said among themselves lies in files of other names.
    let is_jsonl = path.extension().is_some_and(|ending| ending == "jsonl");
    let id = path.file_stem()?.to_str().filter(|id| is_jsonl && Uuid::parse_str(id).is_ok())?;
    let windows = Windows::open(path)?;
    let mut session = ForeignSession {
        origin: Origin::Claude,
        id: id.to_owned(),
        path: path.to_owned(),
        cwd: None,
        title: None,
        first_prompt: None,
        prompts: None,
        modified: windows.modified,
        bytes: windows.bytes,
    };
    let head = windows.head(HEAD_BYTES);
    let tail = if windows.bytes > HEAD_BYTES { windows.tail(TAIL_BYTES) } else { String::new() };
    let mut titles = (None, None);
    for line in head.lines().chain(tail.lines()) {
        read_line(line, &mut session, &mut titles);
    }
    let (custom_title, ai_title) = titles;
    session.title = custom_title.or(ai_title);
    let is_whole = windows.bytes <= HEAD_BYTES + TAIL_BYTES;
    if let Some(known) = prompts.by_session.get(id) {
        session.cwd = known.project.clone().map(PathBuf::from).or(session.cwd);
        session.first_prompt = known.first.clone().or(session.first_prompt);
        session.prompts = Some(known.count);
    } else if is_whole && session.first_prompt.is_none() && session.title.is_none() {
        return None;
    }
    Some(session)
}

/// Takes what a line tells; a line that is cut off tells what comes before the cut.
fn read_line(
    line: &str,
    session: &mut ForeignSession,
    titles: &mut (Option<String>, Option<String>),
) {
    let [kind, cwd, is_sidechain, is_meta, message, custom_title, ai_title] =
        pick(line, ["type", "cwd", "isSidechain", "isMeta", "message", "customTitle", "aiTitle"]);
    if session.cwd.is_none() {
        session.cwd = words(cwd).map(PathBuf::from);
    }
    match text(kind).as_deref() {
        Some("user")
            if session.first_prompt.is_none() && !is_true(is_sidechain) && !is_true(is_meta) =>
        {
            session.first_prompt = prompt(message);
        }
        Some("custom-title") => titles.0 = text(custom_title).as_deref().and_then(clean_title),
        Some("ai-title") => titles.1 = text(ai_title).as_deref().and_then(clean_title),
        _ => {}
    }
}

/// What the user typed. The program's own notes to the model begin with a tag.
fn prompt(message: Option<&RawValue>) -> Option<String> {
    let [content] = members(message, ["content"]);
    let said = text(content).or_else(|| {
        array(content).into_iter().find_map(|block| text(members(Some(block), ["text"])[0]))
    });
    said.filter(|said| !said.trim_start().starts_with('<')).as_deref().and_then(shown)
}

/// What the user typed in each session, as the program remembers it for its editor.
#[derive(Default)]
struct Prompts {
    by_session: HashMap<String, Typed>,
}

#[derive(Default)]
struct Typed {
    first: Option<String>,
    project: Option<String>,
    count: u64,
}

impl Prompts {
    /// Reads the list; an empty one where it cannot be read. Linear in its length, one line at a time.
    fn read(path: &Path) -> Self {
        let mut prompts = Self::default();
        let Ok(file) = File::open(path) else { return prompts };
        let mut records = Records::new(BufReader::new(file));
        while let Ok(Some(line)) = records.next() {
            for object in line.objects {
                prompts.add(object);
            }
        }
        prompts
    }

    fn add(&mut self, object: &RawValue) {
        let [id, id_too, display, said, project] =
            pick(object.get(), ["sessionId", "session_id", "display", "text", "project"]);
        let Some(id) = words(id).or_else(|| words(id_too)) else { return };
        let typed = self.by_session.entry(id).or_default();
        typed.count += 1;
        if typed.first.is_none() {
            typed.first = words(display).or_else(|| words(said)).as_deref().and_then(shown);
        }
        typed.project = typed.project.take().or_else(|| words(project));
    }
}

/// The folders that the program has worked in, from its settings in `root` or beside it.
fn project_folders(root: &Path) -> Vec<String> {
    let beside = root.parent().filter(|_| root.file_name().is_some_and(|name| name == ".claude"));
    let mut files = [Some(root), beside].into_iter().flatten().map(|dir| dir.join(".claude.json"));
    let settings = files.find_map(|file| small_file(&file, MAX_SETTINGS_BYTES));
    let [projects] = settings.as_deref().map_or([None], |settings| pick(settings, ["projects"]));
    let projects: Option<Members> = projects.and_then(|raw| serde_json::from_str(raw.get()).ok());
    projects.into_iter().flat_map(|projects| projects.0).map(|(folder, _)| folder).collect()
}

/// The working directory that a folder of transcripts is named for: one that is known, else the name with its dashes read as separators.
fn folder_of(name: &str, known: &[String]) -> PathBuf {
    let encoded = |path: &str| -> String {
        path.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect()
    };
    let found = known.iter().find(|path| encoded(path) == encoded(name));
    found.map_or_else(|| PathBuf::from(name.replace('-', "/")), PathBuf::from)
}
