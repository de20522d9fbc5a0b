//! How many columns text takes on the screen, and where it may be cut.
//!
//! Layout, cursor, truncation and tables all ask here, so they never disagree. Text is measured by extended grapheme cluster, and cut only
//! between clusters. Control characters have no width; foreign text goes through [`super::sanitize`] first.

use std::borrow::Cow;

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// Marks text that was cut.
const ELLIPSIS: &str = "…";

/// The clusters of a text, in order.
pub(crate) fn clusters(text: &str) -> impl DoubleEndedIterator<Item = &str> {
    text.graphemes(true)
}

/// Columns of one cluster: 2 for wide East Asian and emoji clusters, 0 for controls.
pub(crate) fn of_cluster(cluster: &str) -> usize {
    match cluster.as_bytes() {
        [byte] => usize::from(!byte.is_ascii_control()),
        _ if cluster.starts_with(char::is_control) => 0,
        // No terminal gives more than two cells to one cluster.
        _ => cluster.width().min(2),
    }
}

/// Columns of a text without line breaks.
pub(crate) fn of(text: &str) -> usize {
    if text.is_ascii() {
        return text.bytes().filter(|byte| !byte.is_ascii_control()).count();
    }
    clusters(text).map(of_cluster).sum()
}

/// The longest start of a text that takes at most `columns`.
pub(crate) fn cut(text: &str, columns: usize) -> &str {
    let mut used = 0;
    let mut end = 0;
    for cluster in clusters(text) {
        used += of_cluster(cluster);
        if used > columns {
            break;
        }
        end += cluster.len();
    }
    &text[..end]
}

/// The text, or as much of its start as fits before an ellipsis.
pub(crate) fn fit(text: &str, columns: usize) -> Cow<'_, str> {
    if of(text) <= columns {
        return Cow::Borrowed(text);
    }
    match columns {
        0 => Cow::Borrowed(""),
        _ => Cow::Owned(format!("{}{ELLIPSIS}", cut(text, columns - 1))),
    }
}

/// The text, or as much of its end as fits after an ellipsis: for paths, whose end tells more.
pub(crate) fn fit_end(text: &str, columns: usize) -> Cow<'_, str> {
    if of(text) <= columns {
        return Cow::Borrowed(text);
    }
    if columns == 0 {
        return Cow::Borrowed("");
    }
    let mut used = 1;
    let mut start = text.len();
    for cluster in clusters(text).rev() {
        used += of_cluster(cluster);
        if used > columns {
            break;
        }
        start -= cluster.len();
    }
    Cow::Owned(format!("{ELLIPSIS}{}", &text[start..]))
}
