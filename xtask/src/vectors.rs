//! Copies golden vectors into the crates whose tests read them: cases only, without the notes of whoever made them.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use regex::Regex;
use serde_json::Value;

/// Folders of vectors, the files taken from each (`*` takes all), and the crate that tests them.
const COPIED: &[(&str, &[&str], &str)] = &[
    ("context", &["*"], "session"),
    (
        "session",
        &[
            "import-claude.json",
            "import-codex.json",
            "listing-status.json",
            "loader.json",
            "migration.json",
            "pairing.json",
            "persistence.json",
            "title-slot.json",
        ],
        "session",
    ),
    (
        "snapcompact",
        &["history_blocks.json", "preserved_archive.json", "truncate_dataurl.json"],
        "session",
    ),
    ("snapcompact", &["glyph_tables.json", "glyph_art.json"], "fonts"),
    (
        "snapcompact",
        &[
            "cells.json",
            "dim_stopwords.json",
            "frames_count.json",
            "normalize.json",
            "paginate.json",
            "pixels.json",
            "plan.json",
            "inline_plan.json",
            "recompact.json",
            "resolve_auto.json",
            "resolve_forced.json",
            "serialize.json",
            "shape_for_text.json",
            "shapes.json",
            "strip_thinking.json",
            "truncate_dataurl.json",
            "wrap.json",
        ],
        "snapcompact",
    ),
    ("compaction", &["token-estimates.json", "usage.json", "file-operations.json"], "session"),
    (
        "compaction",
        &[
            "thresholds.json",
            "cut-points.json",
            "prepare-compaction.json",
            "prepare-real-sessions.json",
            "serialize-conversation.json",
            "summary-requests.json",
        ],
        "compaction",
    ),
    (
        "providers",
        &["requests-openai-completions.json", "streams.json", "errors.json"],
        "providers",
    ),
];

/// Members that tell how a vector was made, not what must hold.
const NOTES: &[&str] = &[
    "about",
    "note",
    "measured",
    "basis",
    "description",
    "doc",
    "conventions",
    "comment",
    "inputMacros",
];

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Folder with the vectors
    #[arg(long)]
    from: PathBuf,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    for (folder, files, crate_name) in COPIED {
        let target = home_of(crate_name).join("tests/data").join(folder);
        fs::create_dir_all(&target)
            .with_context(|| format!("cannot create {}", target.display()))?;
        for source in sources(&arguments.from.join(folder), files)? {
            copy(&source, &target)?;
        }
    }
    Ok(())
}

/// Most crates are in `crates/`; those that are data lie beside it.
fn home_of(crate_name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let among_crates = root.join("crates").join(crate_name);
    if among_crates.exists() { among_crates } else { root.join(crate_name) }
}

fn sources(folder: &Path, files: &[&str]) -> Result<Vec<PathBuf>> {
    if files != ["*"] {
        return Ok(files.iter().map(|name| folder.join(name)).collect());
    }
    let mut found = Vec::new();
    for item in fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))? {
        let path = item?.path();
        if path.extension().is_some_and(|ending| ending == "json") {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

fn copy(source: &Path, target: &Path) -> Result<()> {
    let text =
        fs::read_to_string(source).with_context(|| format!("cannot read {}", source.display()))?;
    let mut value: Value =
        serde_json::from_str(&text).with_context(|| format!("{} is not JSON", source.display()))?;
    strip_notes(&mut value, Place::Case);
    let name = source.file_name().context("a vector file has a name")?;
    let path = target.join(name);
    let mut lines = serde_json::to_string_pretty(&value)?;
    lines.push('\n');
    fs::write(&path, lines).with_context(|| format!("cannot write {}", path.display()))
}

/// Whether a value is a case of a vector, or a message, an entry or a tool inside one, whose members are data.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    Case,
    Data,
}

fn strip_notes(value: &mut Value, place: Place) {
    match value {
        Value::Object(members) => {
            let is_data = place == Place::Data
                || ["role", "type", "parameters"].iter().any(|key| members.contains_key(*key));
            if !is_data {
                members.retain(|key, _| {
                    !NOTES.contains(&key.as_str())
                        && !key.starts_with("reference")
                        && !key.ends_with("_reference")
                        && !key.ends_with("_informative")
                });
            }
            for (key, member) in members.iter_mut() {
                if is_data {
                    strip_notes(member, Place::Data);
                } else if key == "deviation" {
                    *member = Value::Bool(true);
                } else if let ("name", Value::String(name)) = (key.as_str(), &*member) {
                    *member = without_other_programs(name).into();
                } else {
                    strip_notes(member, Place::Case);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| strip_notes(item, place)),
        _ => {}
    }
}

/// A case's name without what another program does, and without version numbers.
fn without_other_programs(name: &str) -> String {
    let tail = Regex::new(r"[:;,(]?\s*\(?(the )?reference\b.*$|\s*\(\d+\.\d+\.\d+\)")
        .expect("a fixed pattern");
    tail.replace_all(name, "").trim_end().to_owned()
}
