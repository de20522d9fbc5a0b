//! The help: commands and keys, from the tables that make them work.

use super::commands;
use super::keys;
use super::look::Look;
use super::panel::Panel;
use super::theme::Role;
use super::width;
use super::wrap::{self, Indent, Row};

/// The help on a screen of `height` rows, beginning at its row `from`, which is moved back where it is beyond the end.
pub(crate) fn rows(from: &mut usize, height: usize, look: &Look<'_>) -> Vec<Row> {
    let mut panel = Panel::new("Help", look);
    let content = content(panel.inner_columns(), look);
    // Two edges, and the row of keys.
    let shown = height.saturating_sub(3).max(1);
    *from = (*from).min(content.len().saturating_sub(shown));
    let is_whole = content.len() <= shown;
    panel.extend(content.into_iter().skip(*from).take(shown));
    let dot = look.theme.symbols.dot;
    let hint =
        if is_whole { "esc close".to_owned() } else { format!("↑↓ scroll {dot} esc close") };
    panel.push(Row::from(vec![look.piece(hint, Role::Dim)]));
    panel.finish()
}

fn content(columns: usize, look: &Look<'_>) -> Vec<Row> {
    let heading = |text: &str| Row::from(vec![look.piece(text, Role::Heading)]);
    let mut rows = vec![heading("Commands")];
    for command in commands::TABLE {
        let name = format!("/{} {}", command.name, command.arguments);
        let about = match command.aliases {
            [] => command.about.to_owned(),
            aliases => format!("{} (also /{})", command.about, aliases.join(", /")),
        };
        rows.extend(entry(name.trim_end(), &about, columns, look));
    }
    rows.push(Row::default());
    rows.push(heading("Keys"));
    for binding in keys::BINDINGS {
        rows.extend(entry(binding.key, binding.about, columns, look));
    }
    rows
}

/// A name, and what it does beside it, or below it where that does not fit.
fn entry(name: &str, about: &str, columns: usize, look: &Look<'_>) -> Vec<Row> {
    let wide = 36.min(columns / 2);
    let name_piece = look.piece(format!("  {name}"), Role::Accent);
    if width::of(name) + 4 <= wide {
        let blank = wide - width::of(name) - 2;
        let row = vec![
            name_piece,
            look.piece(" ".repeat(blank), Role::Text),
            look.piece(about, Role::Text),
        ];
        return vec![wrap::fit(row, columns)];
    }
    let mut rows = vec![wrap::fit(vec![name_piece], columns)];
    rows.extend(wrap::wrap_text(about, look.style(Role::Text), columns, &Indent::blanks(6)));
    rows
}
