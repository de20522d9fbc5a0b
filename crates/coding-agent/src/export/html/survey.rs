//! What the top of a page tells of the whole session, from one pass over it.

use std::collections::HashSet;

use longhand_session::store::StoreError;
use longhand_session::{EntryId, Message};

use crate::export::{LOT, Totals};
use crate::session_file::SessionFile;
use crate::tree_rows::{Calls, one_line};
use longhand_session::tree::Labels;

/// Characters of a request in the outline.
const REQUEST_CHARS: usize = 90;

/// What is known of a session before its first entry is written.
pub(super) struct Survey {
    pub(super) totals: Totals,
    /// What the user asked on the active branch, in order.
    pub(super) requests: Vec<(EntryId, String)>,
    pub(super) calls: Calls,
    pub(super) labels: Labels,
    pub(super) branches: usize,
}

impl Survey {
    pub(super) fn read(session: &SessionFile) -> Result<Self, StoreError> {
        let active: HashSet<EntryId> = session.tree.active_path().into_iter().collect();
        let mut survey = Self {
            totals: Totals::default(),
            requests: Vec::new(),
            calls: Calls::default(),
            labels: Labels::default(),
            branches: session
                .tree
                .rows()
                .filter(|row| session.tree.children(Some(&row.id)).next().is_none())
                .count(),
        };
        for lot in session.rows.chunks(LOT) {
            for entry in session.read_once(lot)? {
                survey.totals.add(&entry);
                survey.calls.take(&entry);
                survey.labels.take(&entry);
                if active.contains(&entry.id)
                    && let Some(Message::User(said)) = entry.message().map(|message| &**message)
                {
                    let text = said.content.texts().collect::<Vec<_>>().join(" ");
                    let text = one_line(&text, REQUEST_CHARS);
                    let text = if text.is_empty() { "(picture)".to_owned() } else { text };
                    survey.requests.push((entry.id.clone(), text));
                }
            }
        }
        Ok(survey)
    }
}
