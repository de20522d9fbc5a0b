//! `/session`: what the session is called, and where it lies.

use longhand_agent::event::NoticeLevel;

use super::Command;
use crate::tui::app::{App, Effect};
use crate::tui::moment::Moment;

pub(super) const COMMAND: Command = Command {
    name: "session",
    aliases: &[],
    arguments: "",
    about: "Show the session's id and where it lies",
    run,
};

fn run(app: &mut App, _: &str, now: Moment) -> Vec<Effect> {
    let about = app.about_session();
    app.tell(NoticeLevel::Info, about, now);
    Vec::new()
}
