//! `/help`: the commands and the keys.

use super::Command;
use crate::tui::app::{App, Effect, Modal};
use crate::tui::moment::Moment;

pub(super) const COMMAND: Command = Command {
    name: "help",
    aliases: &["hotkeys"],
    arguments: "",
    about: "List commands and keys",
    run,
};

fn run(app: &mut App, _: &str, _: Moment) -> Vec<Effect> {
    app.open(Modal::Help { from: 0 });
    Vec::new()
}
