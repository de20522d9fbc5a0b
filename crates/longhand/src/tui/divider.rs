//! Dividers: a rule across the transcript, and below it on demand what the pass did.
//!
//! Everything above a divider stays as it was; the rule is one more row.

use longhand_agent::compaction::Trigger;
use longhand_session::time::Timestamp;

use super::look::{Look, MARGIN};
use super::panel::Panel;
use super::sanitize;
use super::theme::Role;
use super::tokens;
use super::view_state::divider::{Compaction, Divider, DividerKind};
use super::width;
use super::wrap::{self, Indent, Piece, Row};
use super::{markdown, symbols};

/// With fewer columns of rule than this the label stands alone.
const MIN_RULE: usize = 4;

/// The rows of a divider.
pub(crate) fn rows(divider: &Divider, look: &Look<'_>) -> Vec<Row> {
    let mut rows = vec![rule(&label(divider, look), look)];
    if look.is_expanded() && divider.kind != DividerKind::Cleared {
        rows.push(Row::default());
        rows.extend(detail(divider, look));
    }
    rows
}

/// A label in the middle of a rule.
fn rule(label: &str, look: &Look<'_>) -> Row {
    let label_columns = width::of(label) + 2;
    let Some(rest) = look.columns.checked_sub(label_columns).filter(|rest| *rest >= MIN_RULE)
    else {
        return wrap::fit(vec![look.piece(label, Role::Muted)], look.columns);
    };
    let side = |columns: usize| look.piece(look.theme.symbols.rule.repeat(columns), Role::Border);
    let left = rest / 2;
    Row::from(vec![side(left), look.piece(format!(" {label} "), Role::Muted), side(rest - left)])
}

/// What happened, in a few words.
fn label(divider: &Divider, look: &Look<'_>) -> String {
    let symbols = &look.theme.symbols;
    let mut parts = vec![match &divider.kind {
        DividerKind::Compaction(compaction) => {
            format!("{} {}", symbols.compacted, compacted(compaction))
        }
        DividerKind::Reduced => format!("{} shaken", symbols.compacted),
        DividerKind::Branch { .. } => format!("{} branch", symbols.branch),
        DividerKind::Cleared => return format!("{} context cleared", symbols.cleared),
    }];
    if let Some((before, after)) = divider.tokens() {
        parts.push(format!("{}{}{}", tokens::short(before), symbols.arrow, tokens::short(after)));
    }
    if divider.compaction().is_some_and(|compaction| compaction.warning.is_some())
        && let Some(last) = parts.last_mut()
    {
        *last = format!("{last} {}", symbols.warning);
    }
    parts.push("ctrl+o".to_owned());
    parts.join(&format!(" {} ", symbols.dot))
}

fn compacted(compaction: &Compaction) -> &'static str {
    match compaction.method.as_deref() {
        Some("soft") => "soft-compacted",
        Some("remote") => "remote-compacted",
        Some("handoff") => "handed-off",
        Some("snapcompact") => "snap-compacted",
        Some("shake") => "shaken",
        _ => "compacted",
    }
}

/// What the pass did, in a box.
fn detail(divider: &Divider, look: &Look<'_>) -> Vec<Row> {
    let mut panel = Panel::new(title(divider, look), look);
    let columns = panel.inner_columns();
    panel.extend(facts(divider, columns, look));
    match &divider.kind {
        DividerKind::Compaction(compaction) => {
            panel.rule();
            panel.extend(summary(&compaction.summary, columns, look));
            panel.extend(files(compaction, columns, look));
        }
        DividerKind::Branch { summary: text } => panel.extend(summary(text, columns, look)),
        DividerKind::Reduced | DividerKind::Cleared => {}
    }
    panel.rule();
    panel.extend(keys(divider, columns, look));
    panel.finish()
}

/// What can be done with the divider. Its own keys work while it is in focus: elsewhere they are letters of a prompt.
fn keys(divider: &Divider, columns: usize, look: &Look<'_>) -> Vec<Row> {
    let mut keys = vec!["ctrl+o close"];
    if divider.has_archive() {
        keys.splice(0..0, ["alt+k, then f frames", "t source text", "o open newest"]);
    }
    let keys = keys.join(&format!(" {} ", look.theme.symbols.dot));
    wrap::wrap_text(&keys, look.style(Role::Dim), columns, &Indent::default())
}

fn title(divider: &Divider, look: &Look<'_>) -> String {
    let dot = format!(" {} ", look.theme.symbols.dot);
    let mut parts = vec![match &divider.kind {
        DividerKind::Branch { .. } => "branch summary".to_owned(),
        _ => divider.method().unwrap_or("compaction").to_owned(),
    }];
    if divider.at_millis > 0 {
        // Minutes are enough: `2026-11-28 14:03`.
        let time = Timestamp::from_millis(divider.at_millis).to_string();
        parts.push(time.chars().take(16).map(|c| if c == 'T' { ' ' } else { c }).collect());
    }
    if let Some(record) = &divider.record {
        parts.push(trigger(record.trigger).to_owned());
    }
    parts.join(&dot)
}

fn trigger(trigger: Trigger) -> &'static str {
    match trigger {
        Trigger::Manual => "manual",
        Trigger::Threshold => "threshold",
        Trigger::Overflow => "overflow",
        Trigger::Incomplete => "incomplete",
        Trigger::Idle => "idle",
    }
}

/// Numbers, duration, model, methods that were tried, and the warning.
fn facts(divider: &Divider, columns: usize, look: &Look<'_>) -> Vec<Row> {
    let symbols::Symbols { arrow, dot, warning: sign, .. } = look.theme.symbols;
    let mut rows = Vec::new();
    let mut say = |text: String, role: Role| {
        rows.extend(wrap::wrap(&[look.piece(text, role)], columns, &Indent::default()));
    };
    let mut numbers = Vec::new();
    if let Some((before, after)) = divider.tokens() {
        let (was, is) = (tokens::grouped(before), tokens::grouped(after));
        numbers.push(format!("Before {was} {arrow} after {is} tokens{}", share(before, after)));
    } else if let Some(compaction) = divider.compaction() {
        numbers.push(format!("Before {} tokens", tokens::grouped(compaction.before_tokens)));
    }
    if let Some(record) = &divider.record {
        let taken = std::time::Duration::from_millis(record.duration_ms);
        numbers.push(tokens::seconds(taken));
        numbers.extend(record.model.clone());
        if let Some(cost) = record.usage.as_ref().and_then(|usage| usage.cost.as_ref()) {
            numbers.push(format!("${:.2}", cost.total.0));
        }
    }
    if !numbers.is_empty() {
        say(numbers.join(&format!(" {dot} ")), Role::Text);
    }
    for attempt in divider.record.iter().flat_map(|record| &record.attempts) {
        let why = attempt.skip.as_deref().or(attempt.error.as_deref()).unwrap_or("not used");
        say(format!("{}: {}", attempt.method, sanitize::one_line(why)), Role::Muted);
    }
    if let Some(compaction) = divider.compaction() {
        if compaction.frames > 0 {
            say(format!("{} snapcompact frames attached", compaction.frames), Role::Muted);
        }
        if let Some(warning) = &compaction.warning {
            say(format!("{sign} {}", sanitize::one_line(warning)), Role::Warning);
        }
    }
    rows
}

/// ` (−76%)`, or nothing where there was nothing before.
fn share(before: u64, after: u64) -> String {
    if before == 0 {
        return String::new();
    }
    let percent = (after as f64 - before as f64) / before as f64 * 100.0;
    let sign = if percent > 0.0 { "+" } else { "−" };
    format!(" ({sign}{:.0}%)", percent.abs())
}

fn summary(text: &str, columns: usize, look: &Look<'_>) -> Vec<Row> {
    if text.trim().is_empty() {
        return vec![Row::from(vec![look.piece("no summary was kept", Role::Dim)])];
    }
    markdown::rows(text, columns, look.theme)
}

fn files(compaction: &Compaction, columns: usize, look: &Look<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    for (title, names) in ["Files read", "Files changed"].iter().zip(&compaction.files) {
        if names.is_empty() {
            continue;
        }
        rows.push(Row::default());
        rows.push(Row::from(vec![look.piece(*title, Role::Heading)]));
        let names: Vec<Piece> = names
            .iter()
            .map(|name| look.piece(format!("{}  ", sanitize::one_line(name)), Role::Text))
            .collect();
        rows.extend(wrap::wrap(&names, columns, &Indent::blanks(2 * MARGIN)));
    }
    rows
}
