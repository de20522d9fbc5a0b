//! Long pastes: kept aside and shown as one token, which expands when the text is sent.

/// A paste of more lines than this becomes a token.
const MAX_LINES: usize = 10;

/// So does one of more characters than this.
const MAX_CHARS: usize = 1_000;

/// A long paste.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Paste {
    text: String,
    label: String,
}

impl Paste {
    /// The paste, if it is long enough to be shown as a token.
    pub(super) fn long(text: &str, number: usize) -> Option<Self> {
        let lines = text.lines().count();
        let chars = text.chars().count();
        let size = if lines > MAX_LINES {
            format!("+{lines} lines")
        } else if chars > MAX_CHARS {
            format!("{chars} chars")
        } else {
            return None;
        };
        Some(Self { text: text.to_owned(), label: format!("[Paste #{number}, {size}]") })
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    pub(super) fn label(&self) -> &str {
        &self.label
    }
}
