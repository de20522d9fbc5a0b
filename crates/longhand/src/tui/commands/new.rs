//! `/new`: begin a new session; this one can be resumed.

use super::Command;
use crate::tui::app::{App, Effect, Switch};
use crate::tui::moment::Moment;

pub(super) const COMMAND: Command = Command {
    name: "new",
    aliases: &[],
    arguments: "",
    about: "Begin a new session; this one can be resumed",
    run,
};

fn run(_: &mut App, _: &str, _: Moment) -> Vec<Effect> {
    vec![Effect::Switch(Switch::New)]
}
