//! The `<files>` block at the end of a summary: touched files as a tree, each with how it was touched.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt::Write;
use std::sync::LazyLock;

use regex::Regex;

use super::{FileLists, is_url, utf16_order};

/// Most files of one block. The stored lists keep every path.
const MOST_FILES: usize = 20;

static BLOCKS: LazyLock<Regex> = LazyLock::new(|| {
    let tags = ["files", "read-files", "modified-files"];
    let patterns = tags.map(|tag| format!(r"<{tag}>.*?</{tag}>\s*"));
    Regex::new(&format!("(?s){}", patterns.join("|"))).expect("a fixed pattern")
});

/// The block; empty without files. `read` tells changed files that were also read from those that were not.
pub fn block(lists: &FileLists, read: &BTreeSet<String>) -> String {
    let tree = tree(lists, read);
    if tree.is_empty() { tree } else { format!("<files>\n{tree}\n</files>") }
}

/// What stands inside the block: the first files in order, as a tree, and how many more there are.
pub fn tree(lists: &FileLists, read: &BTreeSet<String>) -> String {
    let modified: HashSet<&str> = lists.modified_files.iter().map(String::as_str).collect();
    let mut paths: Vec<&str> = lists.read_files.iter().map(String::as_str).collect();
    paths.extend(&modified);
    // A path that could break out of the block is left out of it.
    paths.retain(|path| !path.contains('\n') && !path.contains("</files>"));
    paths.sort_by(|a, b| utf16_order(a, b));
    paths.dedup();
    let shown = &paths[..paths.len().min(MOST_FILES)];
    let mut text = render(shown, |path| match (modified.contains(path), read.contains(path)) {
        (false, _) => " (Read)",
        (true, true) => " (RW)",
        (true, false) => " (Write)",
    });
    if paths.len() > MOST_FILES {
        let _ = write!(text, "\n[…{} files elided…]", paths.len() - MOST_FILES);
    }
    text
}

/// Paths as a tree of headings: the files of a directory first, then its directories, chains of single directories folded.
pub fn grouped_paths(paths: &[&str]) -> String {
    render(paths, |_| "")
}

/// Puts `block` at the end of a summary, in place of every such block that it holds. Without a block, only takes them out.
pub fn upsert(summary: &str, block: &str) -> String {
    let stripped = BLOCKS.replace_all(summary, "");
    let text = stripped.trim_end();
    match (text.is_empty(), block.is_empty()) {
        (_, true) => text.to_owned(),
        (true, false) => block.to_owned(),
        (false, false) => format!("{text}\n\n{block}"),
    }
}

/// Directories by number, the root first. Flat, so that a path of very many parts costs no stack.
struct Tree<'a> {
    directories: Vec<Directory<'a>>,
    by_name: HashMap<(usize, &'a str), usize>,
}

#[derive(Default)]
struct Directory<'a> {
    name: &'a str,
    /// Name and path as it was given.
    files: Vec<(&'a str, &'a str)>,
    directories: Vec<usize>,
}

impl<'a> Tree<'a> {
    fn directory(&mut self, parent: usize, name: &'a str) -> usize {
        if let Some(known) = self.by_name.get(&(parent, name)) {
            return *known;
        }
        let new = self.directories.len();
        self.directories.push(Directory { name, ..Directory::default() });
        self.directories[parent].directories.push(new);
        self.by_name.insert((parent, name), new);
        new
    }

    fn add(&mut self, normal: &'a str, given: &'a str) {
        if is_url(normal) {
            self.directories[0].files.push((normal, given));
            return;
        }
        let directory = normal.strip_suffix('/');
        if directory.is_some_and(str::is_empty) {
            return;
        }
        let mut at = 0;
        let mut parts = directory.unwrap_or(normal).split('/').peekable();
        while let Some(part) = parts.next() {
            if parts.peek().is_some() || directory.is_some() {
                at = self.directory(at, part);
            } else if !self.directories[at].files.iter().any(|(name, _)| *name == part) {
                self.directories[at].files.push((part, given));
            }
        }
    }

    fn write(
        &self,
        at: usize,
        depth: usize,
        marker: &dyn Fn(&str) -> &'static str,
        out: &mut String,
    ) {
        for (name, given) in &self.directories[at].files {
            let _ = writeln!(out, "{name}{}", marker(given));
        }
        for child in &self.directories[at].directories {
            let mut last = *child;
            let mut name = self.directories[last].name.to_owned();
            while let ([], [only]) =
                (&self.directories[last].files[..], &self.directories[last].directories[..])
            {
                last = *only;
                name.push('/');
                name.push_str(self.directories[last].name);
            }
            let _ = writeln!(out, "{} {name}/", "#".repeat(depth + 1));
            self.write(last, depth + 1, marker, out);
        }
    }
}

fn render(paths: &[&str], marker: impl Fn(&str) -> &'static str) -> String {
    let normal: Vec<String> = paths.iter().map(|path| path.replace('\\', "/")).collect();
    let mut tree = Tree { directories: vec![Directory::default()], by_name: HashMap::new() };
    let mut seen = HashSet::new();
    for (normal, given) in normal.iter().zip(paths) {
        if seen.insert(normal) {
            tree.add(normal, given);
        }
    }
    let mut text = String::new();
    tree.write(0, 0, &marker, &mut text);
    text.truncate(text.trim_end_matches('\n').len());
    text
}
