//! `/fork`: go on in a copy of this session.

use super::Command;
use crate::tui::app::{App, Effect, Switch};
use crate::tui::moment::Moment;

pub(super) const COMMAND: Command = Command {
    name: "fork",
    aliases: &[],
    arguments: "",
    about: "Go on in a copy; this session stays as it is",
    run,
};

fn run(_: &mut App, _: &str, _: Moment) -> Vec<Effect> {
    vec![Effect::Switch(Switch::Fork)]
}
