//! Which session goes on in a directory, and the breadcrumb that tells the next program of the same terminal.
//!
//! A breadcrumb is a convenience: one that cannot be written or read costs a log line, never a session.

use longhand_session::breadcrumbs::{Breadcrumb, TerminalId, Trail, follow};
use longhand_session::lookup::LookupError;
use longhand_session::place::SessionPlace;

use super::{CodingAgent, Opened};
use crate::stores;

impl CodingAgent {
    /// The session that goes on here: the last one of the terminal, which moves along if its directory was renamed to this one; else
    /// the newest of the directory. `None` begins a new one.
    pub(super) fn to_continue(
        &self,
        terminal: Option<&TerminalId>,
        notices: &mut Vec<String>,
    ) -> Result<Option<SessionPlace>, LookupError> {
        let crumb = terminal.and_then(|terminal| self.sessions().breadcrumbs().read(terminal));
        let crumb = crumb.filter(|crumb| self.sessions().may_hold(&crumb.place));
        let trail = crumb.map(|crumb| follow(&crumb, self.directory(), stores::exists));
        Ok(match trail.unwrap_or(Trail::Elsewhere) {
            Trail::Here(place) => Some(place),
            Trail::Moved(place) => Some(self.moved_along(place, notices)),
            Trail::Fresh => None,
            Trail::Elsewhere => {
                self.sessions().newest(self.directory())?.map(|session| session.place)
            }
        })
    }

    fn moved_along(&self, place: SessionPlace, notices: &mut Vec<String>) -> SessionPlace {
        let here = self.directory().display();
        match self.move_session(&place, self.directory()) {
            Ok(moved) => {
                notices.push(format!("the session's folder is `{here}` now; it moved along"));
                moved
            }
            Err(error) => {
                notices.push(format!(
                    "the session's folder is `{here}` now; it stays where it was: {error}"
                ));
                place
            }
        }
    }

    /// Leaves a breadcrumb of what was opened. Sessions that are kept nowhere leave none.
    pub(super) fn leave_breadcrumb(&self, terminal: &TerminalId, opened: &Opened) {
        let Some(place) = opened.place.clone() else { return };
        let crumb = Breadcrumb::new(&opened.directory, place, stores::exists);
        if let Err(error) = self.sessions().breadcrumbs().leave(terminal, &crumb) {
            tracing::warn!("cannot note which session this terminal is in: {error}");
        }
    }
}
