//! `/frames [entry]`: look at the pictures of a compaction.

use super::Command;
use crate::tui::app::{App, Effect};
use crate::tui::moment::Moment;
use crate::tui::viewer::Opening;
use crate::tui::viewer::source::Which;

pub(super) const COMMAND: Command = Command {
    name: "frames",
    aliases: &[],
    arguments: "[entry]",
    about: "Look at the frames of a compaction, the newest without a name",
    run,
};

fn run(_: &mut App, arguments: &str, _: Moment) -> Vec<Effect> {
    let which = match arguments {
        "" => Which::Newest,
        name => Which::Named(name.to_owned()),
    };
    vec![Effect::Frames(which, Opening::List)]
}
