//! Collects the output of a command in bounded memory: its start, its end, and the whole of it in the store once it is long.

use longhand_session::artifact_store::{ArtifactDraft, ArtifactStore};

use crate::tools::bash::plain_text::PlainText;
use crate::tools::shown::{self, Ends, Kept, Shown, ShownLimits};

/// What a live view is given of the output.
const LIVE_BYTES: usize = 4 * 1024;
const LIVE_LINES: usize = 20;

pub(super) struct Capture<'a> {
    limits: &'a ShownLimits,
    store: &'a dyn ArtifactStore,
    filter: PlainText,
    /// The start, up to the threshold of a long output.
    head: String,
    /// The end; what came before is dropped when twice as much has gathered as is needed.
    tail: String,
    total_bytes: u64,
    line_feeds: u64,
    spill: Spill,
}

/// The whole output on its way to the store.
enum Spill {
    /// The output is not long yet.
    Idle,
    Writing(Box<dyn ArtifactDraft>),
    /// The store has failed, or refused to begin.
    Failed,
    /// As much is kept as is ever kept.
    Full(Box<dyn ArtifactDraft>),
}

impl<'a> Capture<'a> {
    pub(super) fn new(limits: &'a ShownLimits, store: &'a dyn ArtifactStore) -> Self {
        Self {
            limits,
            store,
            filter: PlainText::default(),
            head: String::new(),
            tail: String::new(),
            total_bytes: 0,
            line_feeds: 0,
            spill: Spill::Idle,
        }
    }

    /// Takes what a command wrote, cut anywhere.
    pub(super) fn push(&mut self, piece: &[u8]) {
        let mut text = String::new();
        self.filter.push(piece, &mut text);
        self.take(&text);
    }

    /// The end of the output so far, for a live view.
    pub(super) fn live(&self) -> String {
        let end = shown::last_lines(&self.tail, LIVE_BYTES, LIVE_LINES);
        let held = self.filter.held();
        let held = &held[held.ceil_char_boundary(held.len().saturating_sub(LIVE_BYTES))..];
        format!("{end}{held}")
    }

    /// What is shown of the output, and how many lines it has.
    pub(super) fn finish(mut self) -> (Shown, u64) {
        let mut rest = String::new();
        self.filter.finish(&mut rest);
        self.take(&rest);
        let is_cut_off = !self.tail.is_empty() && !self.tail.ends_with('\n');
        let total_lines = self.line_feeds + u64::from(is_cut_off);
        let kept = match self.spill {
            Spill::Idle => None,
            Spill::Writing(draft) => Some(draft.finish().map_or(Kept::Lost, Kept::Whole)),
            Spill::Full(draft) => Some(draft.finish().map_or(Kept::Lost, Kept::Start)),
            Spill::Failed => Some(Kept::Lost),
        };
        let ends =
            Ends { head: &self.head, tail: &self.tail, total_bytes: self.total_bytes, total_lines };
        (shown::show(ends, kept, self.limits), total_lines)
    }

    fn take(&mut self, text: &str) {
        let before_bytes = self.total_bytes;
        self.total_bytes += text.len() as u64;
        self.line_feeds += text.bytes().filter(|byte| *byte == b'\n').count() as u64;
        self.spill(before_bytes, text);
        let room = self.limits.spill_bytes.max(self.limits.head_bytes) - self.head.len();
        if before_bytes == self.head.len() as u64 {
            self.head.push_str(&text[..text.floor_char_boundary(room)]);
        }
        self.tail.push_str(text);
        let keep = self.limits.tail_bytes.max(LIVE_BYTES) + 1;
        if self.tail.len() > 2 * keep {
            self.tail.drain(..self.tail.ceil_char_boundary(self.tail.len() - keep));
        }
    }

    /// Keeps `text` of an output that is long, with everything before it when it becomes long.
    fn spill(&mut self, before_bytes: u64, text: &str) {
        if self.total_bytes <= self.limits.spill_bytes as u64 {
            return;
        }
        let draft = match std::mem::replace(&mut self.spill, Spill::Failed) {
            // Until now the output was no longer than the threshold, so that its head is all of it.
            Spill::Idle => self.store.begin("bash").and_then(|mut draft| {
                draft.write_all(self.head.as_bytes())?;
                Ok(draft)
            }),
            Spill::Writing(draft) => Ok(draft),
            Spill::Failed => return,
            Spill::Full(draft) => {
                self.spill = Spill::Full(draft);
                return;
            }
        };
        let room = usize::try_from(self.limits.kept_bytes.saturating_sub(before_bytes));
        let text = &text[..text.floor_char_boundary(room.unwrap_or(usize::MAX))];
        let written = draft.and_then(|mut draft| draft.write_all(text.as_bytes()).map(|()| draft));
        self.spill = match written {
            Ok(draft) if self.total_bytes > self.limits.kept_bytes => Spill::Full(draft),
            Ok(draft) => Spill::Writing(draft),
            Err(error) => {
                tracing::warn!(%error, "the output of a command could not be kept");
                Spill::Failed
            }
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use longhand_session::artifact_store::NoArtifacts;

    #[test]
    fn memory_does_not_grow_with_the_output() {
        let limits = ShownLimits::default();
        let mut capture = Capture::new(&limits, &NoArtifacts);
        let piece = "0123456789abcde\n".repeat(4096);
        for _ in 0..512 {
            capture.push(piece.as_bytes());
            let held = capture.head.len() + capture.tail.len() + capture.filter.held().len();
            assert!(held < 256 * 1024, "{held} bytes");
        }
        let (shown, lines) = capture.finish();
        assert_eq!(lines, 512 * 4096);
        assert!(shown.text.len() < 41 * 1024);
        assert!(shown.text.ends_with("0123456789abcde\n"));
    }
}
