//! What the terminal reports, as the view takes it.

use crossterm::event::{Event, KeyEventKind, MouseEventKind};

use super::app::Press;

/// Rows of one notch of the wheel.
const WHEEL_ROWS: isize = 3;

/// Something that the terminal reported.
pub(crate) enum Input {
    /// The user did something.
    Press(Press),
    /// The size changed.
    Resize,
    /// Nothing that matters.
    Nothing,
}

impl From<Event> for Input {
    fn from(event: Event) -> Self {
        match event {
            Event::Key(key) if key.kind != KeyEventKind::Release => Self::Press(Press::Key(key)),
            Event::Paste(text) => Self::Press(Press::Paste(text)),
            Event::Resize(..) => Self::Resize,
            Event::Mouse(mouse) => match mouse.kind {
                MouseEventKind::ScrollUp => Self::Press(Press::Wheel(WHEEL_ROWS)),
                MouseEventKind::ScrollDown => Self::Press(Press::Wheel(-WHEEL_ROWS)),
                _ => Self::Nothing,
            },
            Event::Key(_) | Event::FocusGained | Event::FocusLost => Self::Nothing,
        }
    }
}
