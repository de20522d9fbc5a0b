//! The last row of the screen: model, folder, branch; size of the context, cost.
//!
//! Segments go one by one where the screen is narrow; model and context stay last.

use std::path::Path;

use longhand_agent::event::UsageSource;
use ratatui::text::Span;

use super::look::{Look, MARGIN};
use super::sanitize;
use super::theme::Role;
use super::tokens;
use super::view_state::{Gauge, ViewState};
use super::width;
use super::wrap::{self, Piece, Row};

/// The widest that the folder is drawn.
const PATH_COLUMNS: usize = 40;

/// What the status line says that no event tells.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Surroundings {
    /// Effort of thinking, such as `off` or `high`.
    pub thinking: String,
    /// The working folder, as a person writes it: `~/proj`.
    pub folder: String,
    /// The branch of the repository and what is not committed: `main ?2`.
    pub git: Option<String>,
    /// Approval mode where it is not the default.
    pub mode: Option<String>,
    /// Title of the session.
    pub session: Option<String>,
    /// Title, id and place of the session, for whoever asks.
    pub about: String,
    /// Whether the context is compacted by itself.
    pub is_compaction_automatic: bool,
}

/// A folder as a person writes it: under the home folder it begins with `~`.
pub(crate) fn folder_name(folder: &Path, home: Option<&Path>) -> String {
    match home.and_then(|home| folder.strip_prefix(home).ok()) {
        Some(rest) if rest.as_os_str().is_empty() => "~".to_owned(),
        Some(rest) => format!("~/{}", rest.display()),
        None => folder.display().to_string(),
    }
}

/// A segment, and how long it stays when the screen gets narrow: the lowest goes first.
struct Segment {
    pieces: Vec<Piece>,
    rank: u8,
    is_left: bool,
}

/// The status line.
pub(crate) fn row(view: &ViewState, around: &Surroundings, look: &Look<'_>) -> Row {
    let mut segments = segments(view, around, look);
    loop {
        let (left, right) = sides(&segments, look);
        let columns = wrap::columns(&left) + wrap::columns(&right);
        let first_to_go = segments.iter().enumerate().min_by_key(|(_, segment)| segment.rank);
        match first_to_go {
            Some((at, _)) if columns + 2 > look.inner_columns() && segments.len() > 2 => {
                segments.remove(at);
            }
            _ => {
                let mut row = wrap::justify(left, right, look.inner_columns());
                row.spans.insert(0, Span::raw(" ".repeat(MARGIN)));
                return row;
            }
        }
    }
}

fn segments(view: &ViewState, around: &Surroundings, look: &Look<'_>) -> Vec<Segment> {
    let segment = |rank, is_left, pieces| Segment { pieces, rank, is_left };
    let dim = |text: String| vec![look.piece(text, Role::Dim)];
    let model = if view.model.is_empty() { "no model" } else { &view.model };
    let mut segments = vec![segment(
        9,
        true,
        vec![look.piece(sanitize::one_line(model).into_owned(), Role::Muted)],
    )];
    if !around.thinking.is_empty() && !view.model.is_empty() {
        segments.push(segment(4, true, dim(format!("think {}", around.thinking))));
    }
    if let Some(mode) = &around.mode {
        segments.push(segment(6, true, vec![look.piece(mode.clone(), Role::Warning)]));
    }
    if !around.folder.is_empty() {
        let folder = sanitize::one_line(&around.folder);
        segments.push(segment(3, true, dim(width::fit_end(&folder, PATH_COLUMNS).into_owned())));
    }
    if let Some(git) = &around.git {
        let branch = look.theme.symbols.branch;
        segments.push(segment(2, true, dim(format!("{branch} {}", sanitize::one_line(git)))));
    }
    if !view.model.is_empty() {
        segments.push(segment(8, false, context(view.gauge, around, look)));
    }
    if view.cost_usd > 0.0 {
        segments.push(segment(5, false, dim(format!("${:.2}", view.cost_usd))));
    }
    if let Some(session) = &around.session {
        segments.push(segment(1, false, dim(sanitize::one_line(session).into_owned())));
    }
    segments
}

fn sides(segments: &[Segment], look: &Look<'_>) -> (Vec<Piece>, Vec<Piece>) {
    let dot = format!(" {} ", look.theme.symbols.dot);
    let (mut left, mut right) = (Vec::new(), Vec::new());
    for segment in segments {
        let (side, gap) =
            if segment.is_left { (&mut left, dot.as_str()) } else { (&mut right, "  ") };
        if !side.is_empty() {
            side.push(look.piece(gap, Role::Dim));
        }
        side.extend(segment.pieces.iter().cloned());
    }
    (left, right)
}

/// `◫ 41.3%/128K ⟲`.
fn context(gauge: Gauge, around: &Surroundings, look: &Look<'_>) -> Vec<Piece> {
    let about = if gauge.source == UsageSource::Estimated { "~" } else { "" };
    let text = match (gauge.tokens, gauge.window) {
        (Some(used), Some(window)) if window > 0 => {
            let percent = used as f64 / window as f64 * 100.0;
            // Beyond the window a fraction says nothing.
            let digits = usize::from(percent < 100.0);
            format!("{about}{percent:.digits$}%/{}", tokens::short(window))
        }
        (Some(used), _) => format!("{about}{}/?", tokens::short(used)),
        (None, Some(window)) => format!("?%/{}", tokens::short(window)),
        (None, None) => "?".to_owned(),
    };
    let mut pieces = vec![
        look.piece(format!("{} ", look.theme.symbols.gauge), Role::Dim),
        look.piece(text, fill_role(gauge)),
    ];
    if around.is_compaction_automatic {
        let sign = look.theme.symbols.automatic;
        pieces.push(look.piece(format!(" {sign}"), fill_role(gauge)));
    }
    pieces
}

/// How full the context is, as a colour: by share of the window or by tokens, whichever comes first.
fn fill_role(gauge: Gauge) -> Role {
    let Some(used) = gauge.tokens else { return Role::Dim };
    let reaches = |percent: u64, tokens: u64| {
        let share = gauge.window.map_or(u64::MAX, |window| window.saturating_mul(percent) / 100);
        used >= share.min(tokens)
    };
    if reaches(90, 500_000) {
        Role::Error
    } else if reaches(70, 270_000) {
        Role::High
    } else if reaches(50, 150_000) {
        Role::Warning
    } else {
        Role::Muted
    }
}
