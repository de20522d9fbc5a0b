//! `/resume [id or words]`: go on with another session.

use super::Command;
use crate::tui::app::{App, Effect, Switch};
use crate::tui::moment::Moment;

pub(super) const COMMAND: Command = Command {
    name: "resume",
    aliases: &[],
    arguments: "[id or words]",
    about: "Go on with another session",
    run,
};

fn run(_: &mut App, arguments: &str, _: Moment) -> Vec<Effect> {
    vec![Effect::Switch(Switch::Resume(arguments.to_owned()))]
}
