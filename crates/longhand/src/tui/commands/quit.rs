//! `/quit`: leave.

use super::Command;
use crate::tui::app::{App, Effect};
use crate::tui::moment::Moment;

pub(super) const COMMAND: Command = Command {
    name: "quit",
    aliases: &["exit", "q"],
    arguments: "",
    about: "Leave; the session can be resumed",
    run,
};

fn run(_: &mut App, _: &str, _: Moment) -> Vec<Effect> {
    vec![Effect::Quit]
}
