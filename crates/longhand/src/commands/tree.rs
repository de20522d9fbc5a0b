//! `longhand tree`: the tree of a session as text.

use anyhow::Result;
use longhand_coding_agent::agent::CodingAgent;
use longhand_coding_agent::tree_rows::{Filter, TreeRow, TreeRows, tree_rows};
use serde_json::{Value, json};
use unicode_width::UnicodeWidthStr;

use super::named_session;
use crate::arguments::export::{Tree, TreeFilter};
use crate::exit::Exit;
use crate::output;
use crate::table::cut;

/// Columns of a line where there is no terminal to ask.
const COLUMNS: usize = 100;

/// Columns of the connectors of one fork.
const FORK_COLUMNS: usize = 3;

pub(crate) fn run(agent: &CodingAgent, arguments: &Tree) -> Result<Exit> {
    let session = named_session::open(agent, arguments.session.as_deref())?;
    let filter = match arguments.filter {
        TreeFilter::Default => Filter::Default,
        TreeFilter::NoTools => Filter::NoTools,
        TreeFilter::UserOnly => Filter::UserOnly,
        TreeFilter::LabeledOnly => Filter::LabeledOnly,
        TreeFilter::All => Filter::All,
    };
    let tree = tree_rows(&session.file, filter)?;
    if arguments.json {
        return output::write(&format!("{:#}\n", json_of(&tree)));
    }
    let columns = crossterm::terminal::size().map_or(COLUMNS, |(columns, _)| usize::from(columns));
    let columns = if arguments.plain { COLUMNS } else { columns.max(20) };
    let mut text = String::new();
    for row in &tree.rows {
        let line = line(row, columns);
        let line = if arguments.plain { ascii(&line) } else { line };
        text.push_str(&line);
        text.push('\n');
    }
    if tree.rows.is_empty() {
        text.push_str(match (tree.entries, filter) {
            (0, _) => "the session has no entries\n",
            (_, Filter::LabeledOnly) => "no entry has a label; `--filter all` shows every entry\n",
            _ => "the filter leaves nothing; `--filter all` shows every entry\n",
        });
    }
    let noun = if tree.branches == 1 { "branch" } else { "branches" };
    text.push_str(&format!("{} {noun}, {} entries\n", tree.branches, tree.entries));
    output::write(&text)
}

fn line(row: &TreeRow, columns: usize) -> String {
    let connectors = shifted(&row.connectors, columns);
    let pointer = if row.is_leaf { "›" } else { " " };
    let dot = if row.is_active { "•" } else { " " };
    let label = row.label.as_ref().map_or_else(String::new, |label| format!("[{}] ", plain(label)));
    cut(&format!("{connectors}{pointer}{dot} {label}{}", row.text), columns)
}

/// Connectors that leave room for text: of a deep tree, the last forks.
fn shifted(connectors: &str, columns: usize) -> String {
    let for_text = 24.max(columns / 2) + 4;
    let most = columns.saturating_sub(for_text) / FORK_COLUMNS;
    let cells: Vec<char> = connectors.chars().collect();
    if connectors.width() <= most * FORK_COLUMNS {
        return connectors.to_owned();
    }
    let kept = (most * FORK_COLUMNS).saturating_sub(1);
    std::iter::once('…').chain(cells[cells.len() - kept..].iter().copied()).collect()
}

fn plain(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

fn ascii(line: &str) -> String {
    let mut ascii = String::with_capacity(line.len());
    for char in line.chars() {
        match char {
            '├' | '└' => ascii.push('+'),
            '─' => ascii.push('-'),
            '│' => ascii.push('|'),
            '•' => ascii.push('*'),
            '›' => ascii.push('>'),
            '…' => ascii.push_str("..."),
            '→' => ascii.push_str("->"),
            char if char.is_ascii() => ascii.push(char),
            _ => ascii.push('?'),
        }
    }
    ascii
}

fn json_of(tree: &TreeRows) -> Value {
    let rows: Vec<Value> = tree
        .rows
        .iter()
        .map(|row| {
            json!({
                "id": row.id,
                "parent": row.parent,
                "depth": row.depth,
                "kind": row.kind.as_str(),
                "text": row.text,
                "label": row.label,
                "active": row.is_active,
                "leaf": row.is_leaf,
            })
        })
        .collect();
    json!({ "branches": tree.branches, "entries": tree.entries, "rows": rows })
}
