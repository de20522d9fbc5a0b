//! Which key does what. Actions have stable names, by which they will be bound in settings.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::editor::Edit;

/// Something that a key can be bound to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Action {
    /// Stop, close, go back: one thing a press.
    Interrupt,
    /// Clear the draft; twice, quit.
    Clear,
    /// Quit where the editor is empty, else delete forward.
    Exit,
    /// Give the terminal back until the shell resumes the program.
    Suspend,
    /// Draw everything anew.
    Repaint,
    /// Expand or collapse.
    Expand,
    /// Show or hide reasoning.
    ToggleThinking,
    /// Send after the running turn.
    FollowUp,
    /// Take what is queued back into the editor.
    Dequeue,
    /// Focus the item above.
    FocusPrevious,
    /// Focus the item below.
    FocusNext,
    /// A screen up.
    PageUp,
    /// A screen down.
    PageDown,
    /// To the beginning of the transcript.
    ToStart,
    /// To its end.
    ToEnd,
    /// Send, run, choose.
    Submit,
    /// Complete.
    Tab,
    /// The next character is jumped to.
    Jump,
    /// An edit of the text.
    Edit(Edit),
}

/// One binding: the key as a person writes it, and what it does.
pub(crate) struct Binding {
    /// Key, as in the table of keys.
    pub(crate) key: &'static str,
    /// What it does, in a few words.
    pub(crate) about: &'static str,
}

/// The bindings that the help shows. Keys of the editor that every editor has are left out.
pub(crate) const BINDINGS: &[Binding] = &[
    binding("enter", "send"),
    binding("shift+enter, ctrl+j, \\ enter", "new line"),
    binding("escape", "close, cancel, interrupt"),
    binding("ctrl+c", "clear the draft; twice: quit"),
    binding("ctrl+d", "quit when the editor is empty"),
    binding("alt+enter, ctrl+enter, ctrl+q", "send after this turn"),
    binding("alt+up, shift+up", "take queued messages back"),
    binding("ctrl+o", "expand dividers and cards"),
    binding("ctrl+t", "show thinking"),
    binding("alt+k", "focus the item above"),
    binding("alt+j", "focus the item below"),
    binding("f, t, o", "frames, text, file of the open divider in focus"),
    binding("pgup, pgdn, ctrl+home, ctrl+end", "scroll"),
    binding("ctrl+l", "draw anew"),
    binding("ctrl+z", "suspend"),
    binding("ctrl+-, alt+shift+-", "undo, redo"),
    binding("ctrl+u, ctrl+k, ctrl+w, alt+d", "kill"),
    binding("ctrl+y, alt+y", "yank, yank an older kill"),
    binding("ctrl+]", "jump to a character"),
];

const fn binding(key: &'static str, about: &'static str) -> Binding {
    Binding { key, about }
}

/// The action of a key; `None` for a key that is bound to nothing.
pub(crate) fn action(key: KeyEvent) -> Option<Action> {
    use Action as A;
    let shift = key.modifiers.contains(KeyModifiers::SHIFT);
    let control = key.modifiers.contains(KeyModifiers::CONTROL);
    let alt = key.modifiers.contains(KeyModifiers::ALT);
    Some(match (key.code, control, alt) {
        (KeyCode::Enter, false, false) if shift => A::Edit(Edit::NewLine),
        (KeyCode::Enter, false, false) => A::Submit,
        (KeyCode::Enter, ..) => A::FollowUp,
        (KeyCode::Esc, ..) => A::Interrupt,
        (KeyCode::Tab, ..) => A::Tab,
        (KeyCode::PageUp, ..) => A::PageUp,
        (KeyCode::PageDown, ..) => A::PageDown,
        (KeyCode::Home, true, _) => A::ToStart,
        (KeyCode::End, true, _) => A::ToEnd,
        (KeyCode::Up, _, true) => A::Dequeue,
        (KeyCode::Up, false, false) if shift => A::Dequeue,
        (KeyCode::Char(c), true, false) => control_action(c)?,
        (KeyCode::Char(c), false, true) => alt_action(c)?,
        // Some layouts type signs with both.
        (KeyCode::Char(c), _, _) => A::Edit(Edit::Insert(c.to_string())),
        (code, _, _) => A::Edit(move_edit(code, control || alt)?),
    })
}

fn control_action(c: char) -> Option<Action> {
    use Action as A;
    Some(match c.to_ascii_lowercase() {
        'c' => A::Clear,
        'd' => A::Exit,
        'z' => A::Suspend,
        'l' => A::Repaint,
        'o' => A::Expand,
        't' => A::ToggleThinking,
        'q' => A::FollowUp,
        'i' => A::Tab,
        'm' => A::Submit,
        // A terminal without the newer protocol sends 0x1d and 0x1f as these digits.
        ']' | '5' => A::Jump,
        '-' | '_' | '7' => A::Edit(Edit::Undo),
        'j' => A::Edit(Edit::NewLine),
        'a' => A::Edit(Edit::LineStart),
        'e' => A::Edit(Edit::LineEnd),
        'b' => A::Edit(Edit::Left),
        'f' => A::Edit(Edit::Right),
        'p' => A::Edit(Edit::Up),
        'n' => A::Edit(Edit::Down),
        'h' => A::Edit(Edit::DeleteBack),
        'w' => A::Edit(Edit::KillWordBack),
        'u' => A::Edit(Edit::KillToStart),
        'k' => A::Edit(Edit::KillToEnd),
        'y' => A::Edit(Edit::Yank),
        _ => return None,
    })
}

fn alt_action(c: char) -> Option<Action> {
    use Action as A;
    Some(match c {
        'k' => A::FocusPrevious,
        'j' => A::FocusNext,
        'l' => A::Repaint,
        'b' => A::Edit(Edit::WordLeft),
        'f' => A::Edit(Edit::WordRight),
        'd' => A::Edit(Edit::KillWordForward),
        'y' => A::Edit(Edit::YankPop),
        '_' | '-' => A::Edit(Edit::Redo),
        _ => return None,
    })
}

fn move_edit(code: KeyCode, by_word: bool) -> Option<Edit> {
    Some(match (code, by_word) {
        (KeyCode::Left, false) => Edit::Left,
        (KeyCode::Right, false) => Edit::Right,
        (KeyCode::Left, true) => Edit::WordLeft,
        (KeyCode::Right, true) => Edit::WordRight,
        (KeyCode::Up, _) => Edit::Up,
        (KeyCode::Down, _) => Edit::Down,
        (KeyCode::Home, _) => Edit::LineStart,
        (KeyCode::End, _) => Edit::LineEnd,
        (KeyCode::Backspace, false) => Edit::DeleteBack,
        (KeyCode::Backspace, true) => Edit::KillWordBack,
        (KeyCode::Delete, false) => Edit::DeleteForward,
        (KeyCode::Delete, true) => Edit::KillWordForward,
        _ => return None,
    })
}
