//! `/rename TITLE`: give the session a title.

use longhand_agent::event::NoticeLevel;

use super::Command;
use crate::tui::app::{App, Effect};
use crate::tui::moment::Moment;

pub(super) const COMMAND: Command = Command {
    name: "rename",
    aliases: &["title"],
    arguments: "TITLE",
    about: "Give the session a title",
    run,
};

fn run(app: &mut App, arguments: &str, now: Moment) -> Vec<Effect> {
    if arguments.is_empty() {
        app.tell(NoticeLevel::Warning, "write the title after /rename", now);
        return Vec::new();
    }
    vec![Effect::Rename(arguments.to_owned())]
}
