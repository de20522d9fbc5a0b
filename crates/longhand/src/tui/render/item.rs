//! One item of the transcript as rows.

use crate::tui::look::{Look, MARGIN};
use crate::tui::theme::Role;
use crate::tui::view_state::item::{Body, Thinking};
use crate::tui::wrap::{self, Indent, Row};
use crate::tui::{divider, markdown, sanitize, tokens, tool_card};

/// The rows of an item, margins included; none for one that has nothing to show. `growing` keeps what is laid out for good of a text
/// that grows, and belongs to this item alone.
pub(super) fn rows(body: &Body, growing: &mut markdown::Layout, look: &Look<'_>) -> Vec<Row> {
    match body {
        Body::User(message) => user_rows(message, look),
        Body::Text(block) if block.text().trim().is_empty() => Vec::new(),
        Body::Text(block) if block.is_growing() => {
            growing.update(block.text(), look.inner_columns(), look.theme);
            let mut rows = with_margin(growing.rows().to_vec());
            if let Some(last) = rows.last_mut() {
                last.spans.push(look.piece(look.theme.symbols.caret, Role::Accent));
            }
            rows
        }
        Body::Text(block) => {
            with_margin(markdown::rows(block.text(), look.inner_columns(), look.theme))
        }
        Body::Thinking(thinking) => thinking_rows(thinking, look),
        Body::Calls(calls) => with_margin(tool_card::rows(calls, look)),
        Body::Shell(run) => run
            .execution()
            .map_or_else(Vec::new, |run| with_margin(tool_card::shell_rows(run, look))),
        Body::Divider(divider) => divider::rows(divider, look),
        Body::Remark(text) => said(look.theme.symbols.dot, text, Role::Dim, look),
        Body::Error(text) => said(look.theme.symbols.failure, text, Role::Error, look),
        Body::Custom { kind, text } => said(&format!("{kind}:"), text, Role::CustomMessage, look),
    }
}

fn user_rows(message: &longhand_session::Message, look: &Look<'_>) -> Vec<Row> {
    let longhand_session::Message::User(user) = message else { return Vec::new() };
    let mut text = sanitize::text(&user.content.text()).into_owned();
    let pictures = user.content.to_blocks();
    let pictures =
        pictures.iter().filter(|b| matches!(b, longhand_session::Block::Image(_))).count();
    if pictures > 0 {
        text.push_str(&format!("\n[{}]", tokens::counted(pictures as u64, "image")));
    }
    let indent = Indent::mark(format!("{} ", look.theme.symbols.user), look.style(Role::Accent));
    let style = look.style(Role::UserMessage);
    with_margin(wrap::wrap_text(text.trim_end(), style, look.inner_columns(), &indent))
}

fn thinking_rows(thinking: &Thinking, look: &Look<'_>) -> Vec<Row> {
    let text = thinking.block.text();
    if text.trim().is_empty() {
        return Vec::new();
    }
    if !thinking.is_growing() && !look.is_expanded() {
        let took = match thinking.took {
            Some(took) => format!("Thought for {}", tokens::seconds(took)),
            None => "Thought".to_owned(),
        };
        let dot = look.theme.symbols.dot;
        return with_margin(vec![Row::from(vec![
            look.piece(format!("{took} {dot} ctrl+t"), Role::Thinking),
        ])]);
    }
    let text = sanitize::text(text.trim());
    let style = look.style(Role::Thinking);
    with_margin(wrap::wrap_text(&text, style, look.inner_columns(), &Indent::default()))
}

fn said(mark: &str, text: &str, role: Role, look: &Look<'_>) -> Vec<Row> {
    let mark = sanitize::one_line(mark);
    let indent = Indent::mark(format!("{mark} "), look.style(role));
    let text = sanitize::text(text.trim());
    with_margin(wrap::wrap_text(&text, look.style(role), look.inner_columns(), &indent))
}

fn with_margin(mut rows: Vec<Row>) -> Vec<Row> {
    for row in &mut rows {
        if !row.spans.is_empty() {
            row.spans.insert(0, " ".repeat(MARGIN).into());
        }
    }
    rows
}
