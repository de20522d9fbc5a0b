//! `/clear`: the model begins afresh in the same session.

use super::Command;
use crate::tui::app::{App, Effect};
use crate::tui::moment::Moment;

pub(super) const COMMAND: Command = Command {
    name: "clear",
    aliases: &[],
    arguments: "",
    about: "Let the model begin afresh; nothing is deleted",
    run,
};

fn run(_: &mut App, _: &str, _: Moment) -> Vec<Effect> {
    vec![Effect::Reset]
}
