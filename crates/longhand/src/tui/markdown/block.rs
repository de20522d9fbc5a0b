//! One walk over the events of a Markdown text, from which rows come out.

use std::ops::Range;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use ratatui::style::{Modifier, Style};
use ratatui::text::Span;

use super::table::Table;
use crate::tui::sanitize;
use crate::tui::theme::{Role, Theme};
use crate::tui::wrap::{self, Indent, Piece, Row};

/// Columns that code is set in by.
const CODE_INDENT: usize = 2;

/// A text, laid out.
pub(super) struct LaidOut {
    pub(super) rows: Vec<Row>,
    /// Where the last block begins that lies in whole lines; everything before it stays as it is, whatever follows. An unfinished line may
    /// yet turn out to belong to the block above it.
    pub(super) open_block: Option<BlockStart>,
}

/// Where a block begins.
#[derive(Debug, Clone, Copy)]
pub(super) struct BlockStart {
    /// Its first line, as a byte of the text.
    pub(super) start: usize,
    /// Its first row.
    pub(super) row: usize,
}

/// Lays out a text from its first block on.
pub(super) fn lay_out(text: &str, columns: usize, theme: &Theme) -> LaidOut {
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_FOOTNOTES;
    let mut writer = Writer::new(columns, theme);
    let mut depth = 0_usize;
    let mut open_block = None;
    let unfinished_line = text.rfind('\n').map_or(0, |at| at + 1);
    for (event, range) in Parser::new_ext(text, options).into_offset_iter() {
        if depth == 0 {
            writer.open_block();
            let start = line_start(text, &range);
            if start < unfinished_line {
                open_block = Some(BlockStart { start, row: writer.rows.len() });
            }
        }
        match &event {
            Event::Start(_) => depth += 1,
            Event::End(_) => depth = depth.saturating_sub(1),
            _ => {}
        }
        writer.take(event);
    }
    writer.flush();
    LaidOut { rows: writer.rows, open_block }
}

/// The start of the line on which a block begins: the indent of a block belongs to it.
fn line_start(text: &str, range: &Range<usize>) -> usize {
    text[..range.start].rfind('\n').map_or(0, |at| at + 1)
}

/// What surrounds a block.
enum Container {
    Quote,
    List {
        next: Option<u64>,
    },
    /// The mark is drawn once, before the item's first row.
    Item {
        mark: String,
        is_drawn: bool,
    },
}

struct Writer<'t> {
    theme: &'t Theme,
    columns: usize,
    rows: Vec<Row>,
    inline: Vec<Piece>,
    styles: Vec<Style>,
    containers: Vec<Container>,
    /// The text of the code block that is open.
    code: Option<String>,
    table: Option<Table>,
    /// Targets of the links that are open, and where in `inline` their text began.
    links: Vec<(String, usize)>,
    /// Whether the next block is parted from what is above it by an empty row.
    wants_gap: bool,
}

impl<'t> Writer<'t> {
    fn new(columns: usize, theme: &'t Theme) -> Self {
        Self {
            theme,
            columns,
            rows: Vec::new(),
            inline: Vec::new(),
            styles: vec![theme.style(Role::Text)],
            containers: Vec::new(),
            code: None,
            table: None,
            links: Vec::new(),
            wants_gap: false,
        }
    }

    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) | Event::InlineMath(text) | Event::DisplayMath(text) => {
                self.text(&text);
            }
            Event::Code(code) => self.push(&code, self.style().patch(self.theme.style(Role::Code))),
            Event::Html(html) | Event::InlineHtml(html) => {
                self.push(&html, self.theme.style(Role::Dim));
            }
            Event::FootnoteReference(label) => {
                self.push(&format!("[^{label}]"), self.theme.style(Role::Dim));
            }
            Event::SoftBreak => self.push(" ", self.style()),
            Event::HardBreak => self.push("\n", self.style()),
            Event::Rule => self.rule(),
            Event::TaskListMarker(is_done) => {
                let mark = self.theme.symbols.tasks[usize::from(is_done)];
                self.push(&format!("{mark} "), self.theme.style(Role::Accent));
            }
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Heading { .. } => {
                self.open_block();
                self.styles.push(self.theme.style(Role::Heading));
            }
            Tag::BlockQuote(_) => {
                self.open_block();
                self.containers.push(Container::Quote);
                self.styles.push(self.style().patch(self.theme.style(Role::Quote)));
            }
            Tag::CodeBlock(_) => {
                self.open_block();
                self.code = Some(String::new());
                self.styles.push(self.theme.style(Role::Code));
            }
            Tag::List(first) => {
                self.flush();
                if !matches!(self.containers.last(), Some(Container::Item { .. })) {
                    self.open_block();
                }
                self.containers.push(Container::List { next: first });
                self.wants_gap = false;
            }
            Tag::Item => self.start_item(),
            Tag::FootnoteDefinition(label) => {
                self.open_block();
                self.containers
                    .push(Container::Item { mark: format!("[^{label}] "), is_drawn: false });
            }
            Tag::Table(alignments) => {
                self.open_block();
                self.table = Some(Table::new(alignments));
            }
            Tag::TableHead | Tag::TableRow => {
                if let Some(table) = &mut self.table {
                    table.start_row();
                }
            }
            Tag::TableCell => self.inline.clear(),
            Tag::Emphasis => self.push_modifier(Modifier::ITALIC),
            Tag::Strong => self.push_modifier(Modifier::BOLD),
            Tag::Strikethrough => self.push_modifier(Modifier::CROSSED_OUT),
            Tag::Link { dest_url, .. } => {
                self.links.push((dest_url.into_string(), self.inline.len()));
                self.styles.push(self.style().patch(self.theme.style(Role::Link)));
            }
            Tag::Image { dest_url, .. } => {
                self.links.push((dest_url.into_string(), self.inline.len()));
                self.push("[image] ", self.theme.style(Role::Dim));
                self.styles.push(self.style());
            }
            Tag::Paragraph
            | Tag::HtmlBlock
            | Tag::DefinitionList
            | Tag::DefinitionListTitle
            | Tag::DefinitionListDefinition => self.open_block(),
            Tag::Superscript | Tag::Subscript => self.push_modifier(Modifier::empty()),
            Tag::MetadataBlock(_) => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph
            | TagEnd::HtmlBlock
            | TagEnd::DefinitionList
            | TagEnd::DefinitionListTitle
            | TagEnd::DefinitionListDefinition => self.close_block(),
            TagEnd::Heading(_) => {
                self.close_block();
                self.styles.pop();
            }
            TagEnd::BlockQuote(_) => {
                self.close_block();
                self.containers.pop();
                self.styles.pop();
            }
            TagEnd::CodeBlock => self.end_code(),
            TagEnd::List(_) => {
                self.containers.pop();
                self.wants_gap = true;
            }
            TagEnd::Item => {
                self.flush_item();
                self.containers.pop();
                self.wants_gap = false;
            }
            TagEnd::FootnoteDefinition => {
                self.flush_item();
                self.containers.pop();
                self.wants_gap = true;
            }
            TagEnd::Table => self.end_table(),
            TagEnd::TableHead | TagEnd::TableRow | TagEnd::MetadataBlock(_) => {}
            TagEnd::TableCell => {
                let cell = std::mem::take(&mut self.inline);
                if let Some(table) = &mut self.table {
                    table.push_cell(cell);
                }
            }
            TagEnd::Emphasis
            | TagEnd::Strong
            | TagEnd::Strikethrough
            | TagEnd::Superscript
            | TagEnd::Subscript => {
                self.styles.pop();
            }
            TagEnd::Link | TagEnd::Image => self.end_link(),
        }
    }

    /// Draws the empty row that parts a block from the one above it.
    fn open_block(&mut self) {
        self.flush();
        if std::mem::take(&mut self.wants_gap) {
            let rows = wrap::wrap(&[], self.columns, &self.drawn_indent());
            self.rows.extend(rows);
        }
    }

    fn close_block(&mut self) {
        self.flush();
        self.wants_gap = true;
    }

    fn start_item(&mut self) {
        self.flush();
        self.wants_gap = false;
        let depth = self.containers.iter().filter(|c| matches!(c, Container::List { .. })).count();
        let mark = if let Some(Container::List { next: Some(number) }) = self.containers.last_mut()
        {
            let mark = format!("{number}. ");
            *number += 1;
            mark
        } else {
            let bullets = self.theme.symbols.bullets;
            format!("{} ", bullets[depth.saturating_sub(1).min(bullets.len() - 1)])
        };
        self.containers.push(Container::Item { mark, is_drawn: false });
    }

    /// Draws an item's text; an item without any still shows its mark.
    fn flush_item(&mut self) {
        if matches!(self.containers.last(), Some(Container::Item { is_drawn: false, .. })) {
            let inline = std::mem::take(&mut self.inline);
            self.emit(&inline);
        } else {
            self.flush();
        }
    }

    fn end_code(&mut self) {
        let style = self.styles.pop().unwrap_or_default();
        let code = self.code.take().unwrap_or_default();
        let indent = self.indent();
        let code_indent = Indent::blanks(CODE_INDENT);
        let mut indent = code_indent.inside(&indent);
        for line in sanitize::text(code.strip_suffix('\n').unwrap_or(&code)).split('\n') {
            self.rows.extend(wrap::wrap_text(line, style, self.columns, &indent));
            indent = indent.continued();
        }
        self.wants_gap = true;
    }

    fn end_table(&mut self) {
        let Some(table) = self.table.take() else { return };
        let indent = self.indent();
        let room = self.columns.saturating_sub(wrap::columns(&indent.rest));
        for (i, mut row) in table.rows(room, self.theme).into_iter().enumerate() {
            let before = if i == 0 { &indent.first } else { &indent.rest };
            row.spans.splice(0..0, before.iter().cloned());
            self.rows.push(row);
        }
        self.wants_gap = true;
    }

    fn end_link(&mut self) {
        self.styles.pop();
        let Some((target, from)) = self.links.pop() else { return };
        let text: String =
            self.inline.iter().skip(from).map(|piece| piece.content.as_ref()).collect();
        let is_said = target.strip_prefix("mailto:").unwrap_or(&target) == text;
        if !is_said && !target.is_empty() {
            self.push(&format!(" ({target})"), self.theme.style(Role::Dim));
        }
    }

    fn rule(&mut self) {
        self.open_block();
        let indent = self.indent();
        let room = self.columns.saturating_sub(wrap::columns(&indent.first));
        let mut row = indent.first;
        row.push(Span::styled(
            self.theme.symbols.rule.repeat(room),
            self.theme.style(Role::Border),
        ));
        self.rows.push(Row::from(row));
        self.wants_gap = true;
    }

    fn text(&mut self, text: &str) {
        match &mut self.code {
            Some(code) => code.push_str(text),
            None => self.push(text, self.style()),
        }
    }

    fn push(&mut self, text: &str, style: Style) {
        self.inline.push(Span::styled(sanitize::text(text).into_owned(), style));
    }

    fn push_modifier(&mut self, modifier: Modifier) {
        self.styles.push(self.style().add_modifier(modifier));
    }

    fn style(&self) -> Style {
        self.styles.last().copied().unwrap_or_default()
    }

    /// Draws the text that was collected.
    fn flush(&mut self) {
        if self.table.is_none() && !self.inline.is_empty() {
            let inline = std::mem::take(&mut self.inline);
            self.emit(&inline);
        }
    }

    fn emit(&mut self, inline: &[Piece]) {
        let indent = self.indent();
        self.rows.extend(wrap::wrap(inline, self.columns, &indent));
    }

    /// What stands before the next row, marks of items included, which are drawn by that.
    fn indent(&mut self) -> Indent {
        let mut indent = Indent::default();
        let quote =
            Span::styled(format!("{} ", self.theme.symbols.quote), self.theme.style(Role::Border));
        let mark_style = self.theme.style(Role::Accent);
        for container in &mut self.containers {
            let part = match container {
                Container::Quote => {
                    Indent { first: vec![quote.clone()], rest: vec![quote.clone()] }
                }
                Container::List { .. } => continue,
                Container::Item { mark, is_drawn } => {
                    let part = Indent::mark(mark.as_str(), mark_style);
                    if std::mem::replace(is_drawn, true) { part.continued() } else { part }
                }
            };
            indent = part.inside(&indent);
        }
        // Deep nesting on a narrow screen: text matters more than marks.
        if wrap::columns(&indent.rest) * 2 > self.columns {
            return Indent::default();
        }
        indent
    }

    /// What stands before an empty row: no mark.
    fn drawn_indent(&self) -> Indent {
        let quote =
            Span::styled(format!("{} ", self.theme.symbols.quote), self.theme.style(Role::Border));
        let quotes = self.containers.iter().filter(|c| matches!(c, Container::Quote)).count();
        let before = vec![quote; quotes];
        if wrap::columns(&before) * 2 > self.columns {
            return Indent::default();
        }
        Indent { first: before.clone(), rest: before }
    }
}
