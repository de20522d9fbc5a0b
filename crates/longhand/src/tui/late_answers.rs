//! Answers of the terminal that come after nobody waits for them any more: the library reads them as keys, and they would be typed.
//!
//! Such an answer begins with a key that no one presses before a `G` or a `>`, and ends with another. Everything else passes; a key that
//! may begin one is held until the next.

use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};

/// An answer that is longer is none: the user is typing.
const MOST_KEYS: usize = 64;

/// Takes late answers out of what the terminal reports.
#[derive(Debug, Default)]
pub(crate) struct LateAnswers {
    /// The events of what may be an answer.
    held: Vec<Event>,
}

impl LateAnswers {
    /// Takes an event, and gives those that may pass.
    pub(crate) fn pass(&mut self, event: Event) -> Vec<Event> {
        let Some(key) = pressed(&event) else {
            if self.held.is_empty() {
                return vec![event];
            }
            self.held.push(event);
            return std::mem::take(&mut self.held);
        };
        let begins = match self.held.len() {
            0 => is_alt(key, '_') || is_alt(key, 'P'),
            1 => matches!(key.code, KeyCode::Char('G' | '>')),
            2..MOST_KEYS => {
                if is_alt(key, '\\') {
                    self.held.clear();
                    return Vec::new();
                }
                true
            }
            _ => false,
        };
        self.held.push(event);
        if begins { Vec::new() } else { std::mem::take(&mut self.held) }
    }
}

fn pressed(event: &Event) -> Option<KeyEvent> {
    if let Event::Key(key) = event { Some(*key) } else { None }
}

fn is_alt(key: KeyEvent, c: char) -> bool {
    key.code == KeyCode::Char(c) && key.modifiers.contains(KeyModifiers::ALT)
}
