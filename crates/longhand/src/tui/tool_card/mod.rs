//! Calls of tools as cards: one row that says what was called and what came of it, and below it as much of the result as tells more.
//!
//! One file a tool; a tool without a file is drawn by [`generic`].

mod bash;
mod edit;
mod generic;
mod glob;
mod grep;
mod read;
mod text;
mod todo;
mod write;

use longhand_session::message::BashExecution;

use super::look::Look;
use super::sanitize;
use super::theme::Role;
use super::tokens;
use super::view_state::item::{Call, Phase};
use super::wrap::{self, Indent, Piece, Row};

/// Columns that the body of a card is set in by.
const BODY_INDENT: usize = 3;

/// A card before it is laid out.
#[derive(Default)]
struct Card {
    /// After the tool's name: what it was called with.
    summary: String,
    /// At the right end: what came of it, most important first.
    facts: Vec<String>,
    /// Below.
    body: Vec<Row>,
}

/// The rows of one call, or of several reads in a row.
pub(crate) fn rows(calls: &[Call], look: &Look<'_>) -> Vec<Row> {
    match calls {
        [call] => card_rows(call, look),
        calls if look.is_expanded() => {
            let mut rows = Vec::new();
            for call in calls {
                if !rows.is_empty() {
                    rows.push(Row::default());
                }
                rows.extend(card_rows(call, look));
            }
            rows
        }
        calls => read::group_rows(calls, look),
    }
}

/// The rows of a command that the user ran.
pub(crate) fn shell_rows(run: &BashExecution, look: &Look<'_>) -> Vec<Row> {
    let mut facts = Vec::new();
    match run.exit_code {
        Some(code) => facts.push(format!("exit {code}")),
        None if run.cancelled => facts.push("stopped".to_owned()),
        None => {}
    }
    if run.exclude_from_context == Some(true) {
        facts.push("not in context".to_owned());
    }
    let body = text::tail(&run.output, bash::TAIL_ROWS, look);
    let summary = sanitize::one_line(&run.command).into_owned();
    let bullet = match run.exit_code {
        Some(0) => look.piece(look.theme.symbols.done, Role::Success),
        _ => look.piece(look.theme.symbols.done, Role::Error),
    };
    lay_out("!", bullet, Card { summary, facts, body }, look)
}

fn card_rows(call: &Call, look: &Look<'_>) -> Vec<Row> {
    let card = match call.tool.as_str() {
        "read" => read::card(call, look),
        "bash" => bash::card(call, look),
        "edit" => edit::card(call, look),
        "write" => write::card(call, look),
        "grep" => grep::card(call, look),
        "glob" | "ls" => glob::card(call, look),
        "todo" => todo::card(call, look),
        _ => generic::card(call, look),
    };
    lay_out(&call.tool, bullet(call, look), card, look)
}

/// The sign of how far a call has come.
fn bullet(call: &Call, look: &Look<'_>) -> Piece {
    let symbols = &look.theme.symbols;
    match call.phase {
        Phase::Arriving | Phase::Waiting => look.piece(symbols.pending, Role::Muted),
        Phase::Running => look.piece(look.spinner(), Role::Accent),
        Phase::Abandoned => look.piece(symbols.faded, Role::Dim),
        Phase::Done if call.is_error() => look.piece(symbols.done, Role::Error),
        Phase::Done if call.is_faded() => look.piece(symbols.faded, Role::Dim),
        Phase::Done => look.piece(symbols.done, Role::Success),
    }
}

fn lay_out(tool: &str, bullet: Piece, card: Card, look: &Look<'_>) -> Vec<Row> {
    let left = vec![
        bullet,
        look.piece(format!(" {}", sanitize::one_line(tool)), Role::ToolName),
        look.piece(format!(" {}", card.summary), Role::Text),
    ];
    let right = facts_row(card.facts, look);
    let mut rows = vec![wrap::justify(left, right, look.inner_columns())];
    rows.extend(card.body);
    rows
}

/// As many facts as fit half of the row, so that what was called stays readable.
fn facts_row(mut facts: Vec<String>, look: &Look<'_>) -> Vec<Piece> {
    let dot = format!(" {} ", look.theme.symbols.dot);
    while !facts.is_empty() {
        let row = vec![look.piece(facts.join(&dot), Role::Dim)];
        if wrap::columns(&row) <= look.inner_columns() / 2 {
            return row;
        }
        facts.pop();
    }
    Vec::new()
}

/// The text of an error, whole: it says what to do next.
fn error_body(call: &Call, look: &Look<'_>) -> Vec<Row> {
    text::wrapped(&call.text(), Role::Error, look)
}

fn body_indent() -> Indent {
    Indent::blanks(BODY_INDENT - 1)
}

/// How many lines a text has, in words.
fn lines(text: &str) -> String {
    tokens::counted(text.lines().count() as u64, "line")
}
