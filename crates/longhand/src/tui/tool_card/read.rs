//! The `read` tool: a path, its lines, and what they cost. Reads in a row are one card.

use longhand_session::{ByteEstimate, Fragment, TokenCounter};

use super::{Card, bullet, error_body, lay_out, lines, text};
use crate::tui::look::Look;
use crate::tui::sanitize;
use crate::tui::theme::Role;
use crate::tui::tokens;
use crate::tui::view_state::item::{Call, Phase};
use crate::tui::wrap::Row;

pub(super) fn card(call: &Call, look: &Look<'_>) -> Card {
    let summary = sanitize::one_line(call.argument("path").unwrap_or_default()).into_owned();
    if call.is_error() {
        return Card { summary, facts: Vec::new(), body: error_body(call, look) };
    }
    let content = call.text();
    let mut facts = Vec::new();
    if !content.is_empty() {
        facts.push(lines(&content));
        facts.push(cost(&content));
    }
    let body =
        if look.is_expanded() { text::wrapped(&content, Role::Muted, look) } else { Vec::new() };
    Card { summary, facts, body }
}

/// `● read 4 files`.
pub(super) fn group_rows(calls: &[Call], look: &Look<'_>) -> Vec<Row> {
    let running = calls.iter().find(|call| call.phase != Phase::Done);
    let failed = calls.iter().find(|call| call.is_error());
    let Some(shown) = running.or(failed).or(calls.first()) else { return Vec::new() };
    let texts: String = calls.iter().map(Call::text).collect();
    let names: Vec<&str> = calls.iter().filter_map(|call| call.argument("path")).collect();
    let card = Card {
        summary: format!("{} files", calls.len()),
        facts: vec![cost(&texts)],
        body: vec![text::line_row(
            &sanitize::one_line(&names.join(&format!(" {} ", look.theme.symbols.dot))),
            Role::Dim,
            look,
        )],
    };
    lay_out("read", bullet(shown, look), card, look)
}

fn cost(text: &str) -> String {
    format!("{} tok", tokens::grouped(ByteEstimate.count(Fragment::Text(text))))
}
