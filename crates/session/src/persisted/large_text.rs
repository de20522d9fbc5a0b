//! Texts that are too long for a line.

use super::Persistence;
use super::looked_for::MAX_TEXT_UNITS;

/// Stands at the end of a text that was cut. Other programs know it.
const NOTICE: &str = "\n\n[Session persistence truncated large content]";

/// The text as written, where it is too long.
///
/// With a place for texts the whole is kept there, and the cut text ends with its address. Where that fails, nothing is cut.
pub(super) fn cut(text: &str, persistence: &Persistence) -> Option<String> {
    // A text has at most as many units as bytes.
    if text.len() <= MAX_TEXT_UNITS || text.encode_utf16().count() <= MAX_TEXT_UNITS {
        return None;
    }
    let address = match &persistence.texts {
        None => String::new(),
        Some(texts) => match texts.keep(text) {
            Ok(id) => format!("\nartifact://{}", id.0),
            Err(error) => {
                tracing::warn!("a long text stays in its line: {error}");
                return None;
            }
        },
    };
    let room = MAX_TEXT_UNITS - NOTICE.len() - address.len();
    let mut units = 0;
    let end = text
        .char_indices()
        .find(|(_, char)| {
            units += char.len_utf16();
            units > room
        })
        .map_or(text.len(), |(at, _)| at);
    Some(format!("{}{NOTICE}{address}", &text[..end]))
}
