//! Reads what the terminal reports: one reader from first to last, which can let go of the terminal for a question to it.
//!
//! Two readers at once would each get a part of what comes. Whoever wants the terminal's answer to a question asks here.

use std::collections::VecDeque;
use std::io;

use crossterm::event::{Event, EventStream};
use futures::StreamExt;

use super::late_answers::LateAnswers;

/// Reads what the terminal reports.
#[derive(Default)]
pub(crate) struct KeyReader {
    stream: Option<EventStream>,
    /// Came while something else read, or was held.
    waiting: VecDeque<Event>,
    /// Where the terminal still owes an answer.
    late: Option<LateAnswers>,
}

impl KeyReader {
    /// The next event; `None` when there is no terminal any more. Nothing is lost where the wait is given up.
    pub(crate) async fn next(&mut self) -> Option<io::Result<Event>> {
        loop {
            if let Some(event) = self.waiting.pop_front() {
                return Some(Ok(event));
            }
            let event = self.stream.get_or_insert_with(EventStream::new).next().await?;
            match (event, &mut self.late) {
                (Ok(event), Some(late)) => self.waiting.extend(late.pass(event)),
                (event, _) => return Some(event),
            }
        }
    }

    /// Lets go of the terminal: what it sends is somebody else's until the next call of [`KeyReader::next`].
    pub(crate) fn let_go(&mut self) {
        self.stream = None;
        // The thread of the old stream ends by itself, a little later. A new stream waits for the lock that it holds, and takes
        // nothing before it is asked.
        drop(EventStream::new());
    }

    /// Hands in what came while something else read.
    pub(crate) fn give_back(&mut self, events: impl IntoIterator<Item = Event>) {
        self.waiting.extend(events);
    }

    /// The terminal was asked and has not answered yet: what it says later is no key.
    pub(crate) fn expect_answers(&mut self) {
        self.late.get_or_insert_default();
    }
}
