//! The first screen of someone without a model: what works at once, and what it takes to use one.
//!
//! Nothing here touches the network. A message that is typed meanwhile is kept and handed on with the choice.

use std::io;

use anyhow::{Context, Result};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::app::Press;
use super::editor::{Edit, Editor};
use super::input::Input;
use super::key_reader::KeyReader;
use super::keys::{self, Action};
use super::look::{Detail, Look};
use super::panel::Panel;
use super::render::Frame;
use super::terminal::Screen;
use super::theme::{Palette, Role, SymbolSet, Theme};
use super::wrap::{self, Indent, Row};
use crate::exit::Exit;
use crate::signals;

/// What the first screen is told.
pub(crate) struct FirstRunOptions {
    /// Colours.
    pub palette: Palette,
    /// Glyphs.
    pub symbols: SymbolSet,
    /// Version of the program.
    pub version: String,
    /// The working folder and branch, as the status line shows them.
    pub place: String,
    /// What stands in the editor at the start.
    pub draft: String,
    /// Looks for keys again.
    pub keys: Box<dyn Fn() -> Vec<KeyState> + Send + Sync>,
    /// Sessions that could be resumed in this folder.
    pub sessions: usize,
}

/// Whether the environment has a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KeyState {
    /// The environment variable.
    pub variable: String,
    /// Whether it is set.
    pub is_set: bool,
}

/// What was chosen, and the text that was typed meanwhile.
pub(crate) struct FirstRun {
    /// The choice.
    pub choice: Choice,
    /// The draft.
    pub draft: String,
    /// The keys. One stream reads them from first to last: a second one can miss what comes while the first ends.
    pub(crate) keys: KeyReader,
}

/// A choice of the first screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Choice {
    /// The built-in demo model.
    Demo,
    /// A key is in the environment.
    Key,
    /// A server at this URL.
    Server(String),
    /// Nothing: the program is left.
    Leave(Exit),
}

/// Shows the first screen until something is chosen.
///
/// # Errors
/// There is no terminal.
pub(crate) async fn first_run(options: FirstRunOptions) -> Result<FirstRun> {
    let mut state = State::new(options);
    let mut screen = Screen::take("longhand").context("the terminal cannot be used")?;
    let mut keys = KeyReader::default();
    let choice =
        work(&mut state, &mut screen, &mut keys).await.unwrap_or(Choice::Leave(Exit::Signal(1)));
    drop(screen);
    Ok(FirstRun { choice, draft: state.editor.text(), keys })
}

async fn work(state: &mut State, screen: &mut Screen, keys: &mut KeyReader) -> io::Result<Choice> {
    let ending = signals::ending();
    tokio::pin!(ending);
    loop {
        let area = screen.area()?;
        screen.show(state.frame(area))?;
        let event = tokio::select! {
            number = &mut ending => return Ok(Choice::Leave(Exit::Signal(number))),
            event = keys.next() => event,
        };
        let Some(event) = event else { return Ok(Choice::Leave(Exit::Signal(1))) };
        if let Input::Press(press) = Input::from(event?)
            && let Some(choice) = state.press(press)
        {
            return Ok(choice);
        }
    }
}

/// What the keys go to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Focus {
    /// The choices.
    Choices,
    /// A message.
    Draft,
    /// The URL of a server.
    Url,
}

/// The first screen.
pub(crate) struct State {
    options: FirstRunOptions,
    theme: Theme,
    keys: Vec<KeyState>,
    focus: Focus,
    editor: Editor,
    url: Editor,
    notice: Option<String>,
}

impl State {
    /// The screen as it is shown first.
    pub(crate) fn new(options: FirstRunOptions) -> Self {
        Self {
            theme: Theme::new(options.palette, options.symbols),
            keys: (options.keys)(),
            focus: Focus::Choices,
            editor: Editor::with_text(&options.draft),
            url: Editor::default(),
            notice: None,
            options,
        }
    }

    /// Takes what the user did. Returns the choice when one was made.
    pub(crate) fn press(&mut self, press: Press) -> Option<Choice> {
        match press {
            Press::Key(key) => self.act(keys::action(key)?),
            Press::Paste(text) => {
                self.written().paste(&text);
                None
            }
            Press::Wheel(_) => None,
        }
    }

    fn act(&mut self, action: Action) -> Option<Choice> {
        self.notice = None;
        match (self.focus, action) {
            (_, Action::Clear) => return Some(Choice::Leave(Exit::Success)),
            (_, Action::Exit) if self.written().is_empty() => {
                return Some(Choice::Leave(Exit::Success));
            }
            (Focus::Choices, Action::Edit(Edit::Insert(typed))) => return self.choose(&typed),
            (Focus::Choices, Action::Interrupt) => self.focus = Focus::Draft,
            (Focus::Url | Focus::Draft, Action::Interrupt) => self.focus = Focus::Choices,
            (Focus::Url, Action::Submit) => return self.submit_url(),
            (Focus::Draft, Action::Submit) => return self.submit_draft(),
            (Focus::Url | Focus::Draft, Action::Edit(edit)) => self.written().apply(&edit),
            _ => {}
        }
        None
    }

    fn choose(&mut self, typed: &str) -> Option<Choice> {
        match typed {
            "1" => return Some(Choice::Demo),
            "2" | "r" => {
                self.keys = (self.options.keys)();
                if self.keys.iter().any(|key| key.is_set) {
                    return Some(Choice::Key);
                }
                self.notice = Some("no key is set in the environment of this terminal".into());
            }
            "3" => self.focus = Focus::Url,
            "4" => {
                self.notice = Some(
                    "leave with ctrl+c, then: longhand --resume picks a session of this folder"
                        .into(),
                );
            }
            _ => {}
        }
        None
    }

    fn submit_url(&mut self) -> Option<Choice> {
        let url = self.url.text().trim().to_owned();
        let host = url.strip_prefix("http://").or_else(|| url.strip_prefix("https://"));
        if host.is_some_and(|host| !host.is_empty() && !host.contains(char::is_whitespace)) {
            return Some(Choice::Server(url));
        }
        self.notice = Some("a URL begins with http:// or https://".into());
        None
    }

    fn submit_draft(&mut self) -> Option<Choice> {
        if let "/quit" | "/exit" | "/q" = self.editor.text().trim() {
            return Some(Choice::Leave(Exit::Success));
        }
        if !self.editor.is_empty() {
            self.notice = Some("no model answers yet; esc, then 1 sends this to the demo".into());
        }
        None
    }

    fn written(&mut self) -> &mut Editor {
        match self.focus {
            Focus::Url => &mut self.url,
            Focus::Choices | Focus::Draft => &mut self.editor,
        }
    }

    /// Draws the screen.
    pub(crate) fn frame(&mut self, area: Rect) -> Frame {
        let theme = self.theme;
        let look = Look {
            theme: &theme,
            columns: usize::from(area.width),
            detail: Detail::Collapsed,
            phase: 0,
        };
        let height = usize::from(area.height);
        let mut buffer = Buffer::empty(area);
        let mut draw = |at: usize, row: &Row| wrap::draw(&mut buffer, 0, at as u16, row);
        for (i, row) in self.top(&look, height.saturating_sub(4)).iter().enumerate() {
            draw(i, row);
        }
        let bottom = height.saturating_sub(3);
        if let Some(notice) = &self.notice {
            let mark = format!(" {} ", theme.symbols.dot);
            let row = vec![look.piece(mark + notice, Role::Warning)];
            draw(bottom.saturating_sub(1), &wrap::fit(row, look.columns));
        }
        let rule = theme.symbols.rule.repeat(look.columns);
        draw(bottom, &Row::from(vec![look.piece(rule, Role::Border)]));
        let prompt = theme.symbols.prompt;
        let url_prompt = format!("URL {prompt}");
        let prompt = if self.focus == Focus::Url { &url_prompt } else { prompt };
        let (rows, (x, _)) = self.written().view(prompt, 1, &look);
        for row in &rows {
            draw(bottom + 1, row);
        }
        draw(bottom + 2, &self.status(&look));
        let cursor = (self.focus != Focus::Choices)
            .then(|| ((x as u16).min(area.width.saturating_sub(1)), (bottom + 1) as u16));
        Frame { buffer, cursor }
    }

    /// The choices, in a box where it fits, else one row each.
    fn top(&self, look: &Look<'_>, max_rows: usize) -> Vec<Row> {
        let mut panel = Panel::new(format!("longhand {}", self.options.version), look);
        let columns = panel.inner_columns();
        panel.push(Row::default());
        panel.extend(wrap::wrap_text(
            "No model is configured — nothing is broken: everything below works offline.",
            look.style(Role::Text),
            columns,
            &Indent::default(),
        ));
        panel.push(Row::default());
        for (i, (name, about)) in self.choices().iter().enumerate() {
            panel.extend(choice_rows(i + 1, name, about, columns, look));
            if i == 1 {
                panel.extend(self.key_rows(columns, look));
            }
        }
        panel.push(Row::default());
        panel.extend(wrap::wrap_text(
            "Keys are read from the environment only. They are never written to a session or an export.",
            look.style(Role::Dim),
            columns,
            &Indent::default(),
        ));
        let rows = panel.finish();
        if rows.len() <= max_rows {
            return rows;
        }
        let mut rows = vec![Row::from(vec![look.piece(" No model is configured.", Role::Text)])];
        rows.extend(self.choices().iter().enumerate().map(|(i, (name, _))| {
            let number = look.piece(format!("  {}  ", i + 1), Role::Accent);
            wrap::fit(vec![number, look.piece(*name, Role::Text)], look.columns)
        }));
        rows
    }

    fn choices(&self) -> [(&'static str, String); 4] {
        let sessions = match self.options.sessions {
            0 => "none in this folder yet".to_owned(),
            1 => "1 in this folder".to_owned(),
            count => format!("{count} in this folder"),
        };
        [
            (
                "Try the built-in demo model",
                "scripted replies, real tools, real compaction".to_owned(),
            ),
            (
                "Use an API key from the environment",
                "set one of these, then press r to re-check:".to_owned(),
            ),
            ("Use a local server", "OpenAI-compatible URL: llama.cpp, vLLM, Ollama …".to_owned()),
            ("Open an existing session", sessions),
        ]
    }

    /// The variables, two on a row where there is room.
    fn key_rows(&self, columns: usize, look: &Look<'_>) -> Vec<Row> {
        let per_row = if columns >= 86 { 2 } else { 1 };
        let rows = self.keys.chunks(per_row).map(|keys| {
            let mut row = vec![look.piece("       ", Role::Text)];
            for key in keys {
                let (state, role) =
                    if key.is_set { ("set", Role::Success) } else { ("not set", Role::Dim) };
                row.push(look.piece(format!("{:22} ", key.variable), Role::Text));
                row.push(look.piece(format!("{state:14}"), role));
            }
            wrap::fit(row, columns)
        });
        rows.collect()
    }

    fn status(&self, look: &Look<'_>) -> Row {
        let dot = look.theme.symbols.dot;
        let left = format!(" no model {dot} {}", self.options.place);
        let keys = match self.focus {
            Focus::Choices => format!("1–4 choose {dot} r re-check {dot} esc write "),
            Focus::Draft => format!("esc choices {dot} ctrl+c leave "),
            Focus::Url => format!("enter use it {dot} esc back "),
        };
        wrap::justify(
            vec![look.piece(left, Role::Dim)],
            vec![look.piece(keys, Role::Dim)],
            look.columns,
        )
    }
}

/// A choice and what it is, beside it where there is room.
fn choice_rows(
    number: usize,
    name: &str,
    about: &str,
    columns: usize,
    look: &Look<'_>,
) -> Vec<Row> {
    let number = look.piece(format!("  {number}  "), Role::Accent);
    if columns < 86 {
        let mut rows = vec![wrap::fit(vec![number, look.piece(name, Role::Text)], columns)];
        let indent = Indent::blanks(7);
        rows.extend(wrap::wrap_text(about, look.style(Role::Dim), columns, &indent));
        return rows;
    }
    let name = look.piece(format!("{name:37}"), Role::Text);
    vec![wrap::fit(vec![number, name, look.piece(about, Role::Dim)], columns)]
}
