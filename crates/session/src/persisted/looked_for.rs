//! Whether a line holds anything that is written otherwise than it is: a few searches of its bytes.

use memchr::memmem;

use super::Persistence;
use crate::archive::BLOB_PREFIX;

/// Longest text of a line, in UTF-16 code units. A line with fewer bytes has no longer one.
pub(super) const MAX_TEXT_UNITS: usize = 500_000;

/// Shortest base64 text of a picture that becomes a blob.
pub(super) const MIN_PICTURE_CHARS: usize = 1_024;

pub(super) fn may_change(line: &str, persistence: &Persistence) -> bool {
    let has = |mark: &str| memmem::find(line.as_bytes(), mark.as_bytes()).is_some();
    let may_have_picture = || {
        has("data:image/")
            || (line.len() > MIN_PICTURE_CHARS
                && ["\"mimeType\"", "\"image\"", "\"image_generation_call\""]
                    .iter()
                    .any(|mark| has(mark)))
    };
    line.len() > MAX_TEXT_UNITS
        || (persistence.blobs.is_some() && may_have_picture())
        || has("\"jsonlEvents\"")
        || (has("\"openaiResponsesHistory\"") && has("\"thinkingSignature\""))
        || (has("\"structuredContent\"") && has("\"mcpToolName\""))
}

pub(super) fn has_references(line: &str) -> bool {
    memmem::find(line.as_bytes(), BLOB_PREFIX.as_bytes()).is_some()
}
