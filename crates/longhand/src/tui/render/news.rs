//! What stands between transcript and editor: notices, what is queued, and what runs.

use longhand_agent::event::NoticeLevel;

use crate::tui::app::App;
use crate::tui::look::Look;
use crate::tui::moment::Moment;
use crate::tui::sanitize;
use crate::tui::theme::Role;
use crate::tui::tokens;
use crate::tui::view_state::pass::Pass;
use crate::tui::view_state::{Notice, Run};
use crate::tui::wrap::{self, Indent, Row};

/// Bytes of a token: good enough for a rate.
const BYTES_PER_TOKEN: f64 = 4.0;

/// Columns of a bar.
const BAR_COLUMNS: usize = 18;

/// Rows of one notice.
const NOTICE_ROWS: usize = 3;

/// The news, in at most `max_rows`. What runs stays, then what is queued; older notices go first.
pub(super) fn rows(app: &App, max_rows: usize, now: Moment, look: &Look<'_>) -> Vec<Row> {
    let mut rows: Vec<Row> =
        app.view.notices.iter().flat_map(|notice| notice_rows(notice, look)).collect();
    rows.extend(queue_rows(app, look));
    match (&app.view.pass, &app.view.run) {
        (Some(pass), _) => rows.extend(pass_rows(pass, now, look)),
        (None, Some(run)) => rows.push(run_row(run, now, look)),
        (None, None) => {}
    }
    let cut = rows.len().saturating_sub(max_rows);
    rows.drain(..cut);
    rows
}

fn notice_rows(notice: &Notice, look: &Look<'_>) -> Vec<Row> {
    let symbols = &look.theme.symbols;
    let (mark, role) = match notice.level {
        NoticeLevel::Info => (symbols.dot, Role::Muted),
        NoticeLevel::Warning => (symbols.warning, Role::Warning),
        NoticeLevel::Error => (symbols.failure, Role::Error),
    };
    let text = sanitize::one_line(&notice.text);
    let indent = Indent::mark(format!(" {mark} "), look.style(role));
    let mut rows = wrap::wrap_text(&text, look.style(role), look.columns - 1, &indent);
    rows.truncate(NOTICE_ROWS);
    rows
}

fn queue_rows(app: &App, look: &Look<'_>) -> Vec<Row> {
    let queue = &app.view.queue;
    let soon = if app.view.pass.is_some() { "After compaction" } else { "Steering" };
    let mut rows = Vec::new();
    for (title, texts) in [(soon, &queue.steering), ("After this turn", &queue.follow_up)] {
        if texts.is_empty() {
            continue;
        }
        let dot = look.theme.symbols.dot;
        let title = format!(" {title} {dot} {}", texts.len());
        rows.push(wrap::fit(vec![look.piece(title, Role::Muted)], look.columns));
        rows.extend(texts.iter().enumerate().map(|(i, text)| {
            let text = sanitize::one_line(text.trim());
            wrap::fit(vec![look.piece(format!("   {}. {text}", i + 1), Role::Text)], look.columns)
        }));
    }
    if let Some(last) = rows.last_mut() {
        let dot = look.theme.symbols.dot;
        let keys = look.piece(format!("alt+↑ edit {dot} esc take back "), Role::Dim);
        *last = wrap::justify(std::mem::take(&mut last.spans), vec![keys], look.columns);
    }
    rows
}

/// ` ⠴ Working… 2 s · ↓ 61 tok/s · esc interrupt`.
fn run_row(run: &Run, now: Moment, look: &Look<'_>) -> Row {
    let dot = look.theme.symbols.dot;
    let what = if run.is_stopping { "Stopping" } else { "Working" };
    let mut text = format!(" {what}… {} s", now.since(run.since).as_secs());
    if let Some(first) = run.first_piece {
        let seconds = now.since(first).as_secs_f64();
        // The first moments of a message say nothing about its pace.
        if seconds >= 0.5 {
            let rate = run.received_bytes as f64 / BYTES_PER_TOKEN / seconds;
            text.push_str(&format!(" {dot} {} {rate:.0} tok/s", look.theme.symbols.down));
        }
    }
    let spinner = look.piece(format!(" {}", look.spinner()), Role::Accent);
    let keys = look.piece(format!(" {dot} esc interrupt"), Role::Dim);
    wrap::fit(vec![spinner, look.piece(text, Role::Muted), keys], look.columns)
}

fn pass_rows(pass: &Pass, now: Moment, look: &Look<'_>) -> Vec<Row> {
    let symbols = &look.theme.symbols;
    let dot = symbols.dot;
    let mut left = vec![
        look.piece(format!(" {} ", look.spinner()), Role::Accent),
        look.piece(pass.title(), Role::Text),
    ];
    for (i, method) in pass.methods.iter().enumerate() {
        let before = if i == 0 { format!(" {dot} ") } else { format!(" {} ", symbols.arrow) };
        let is_current = i + 1 == pass.methods.len();
        left.push(look.piece(before, Role::Dim));
        left.push(look.piece(method.as_str(), if is_current { Role::ToolName } else { Role::Dim }));
    }
    let elapsed = now.since(pass.since).as_secs();
    let right = vec![look.piece(format!("{elapsed} s {dot} esc cancel "), Role::Dim)];
    let mut rows = vec![wrap::justify(left, right, look.columns)];
    let inside = inside(pass, look);
    if !inside.is_empty() {
        let row = vec![look.piece(format!("   {inside}"), Role::Dim)];
        rows.push(wrap::fit(row, look.columns));
    }
    rows
}

/// What happens inside a pass: methods that were passed over, and how far the one that runs has come.
fn inside(pass: &Pass, look: &Look<'_>) -> String {
    let mut parts: Vec<String> = pass
        .skipped
        .iter()
        .map(|(method, reason)| format!("{method}: {}", sanitize::one_line(reason)))
        .collect();
    if let (Some(step), Some(method)) = (&pass.step, pass.methods.last()) {
        let mut text = format!("{method}: {}", sanitize::one_line(&step.phase));
        match (step.done, step.total) {
            (Some(done), Some(total)) if total > 0 => {
                let [full, empty] = look.theme.symbols.bar;
                let filled = (done.min(total) as usize * BAR_COLUMNS) / total as usize;
                let bar = full.repeat(filled) + &empty.repeat(BAR_COLUMNS - filled);
                text.push_str(&format!(" {done} of {total}  {bar}"));
            }
            (Some(done), _) if done > 0 => text.push_str(&format!(" {}", tokens::grouped(done))),
            (Some(_) | None, _) => {}
        }
        if !step.detail.is_empty() {
            text.push_str(&format!(" ({})", sanitize::one_line(&step.detail)));
        }
        parts.push(text);
    }
    parts.join(&format!(" {} ", look.theme.symbols.dot))
}
