//! `/compact [method] [focus]`: make the context shorter now.

use longhand_agent::maintenance::ManualRequest;
use longhand_session::MethodId;

use super::Command;
use crate::tui::app::{App, Effect, Modal};
use crate::tui::moment::Moment;

/// Names that are taken as a method; anything else is what the summary should dwell on.
const METHODS: &[&str] = &["soft", "remote", "snapcompact", "handoff", "shake"];

pub(super) const COMMAND: Command = Command {
    name: "compact",
    aliases: &[],
    arguments: "[soft|remote|snapcompact|handoff|shake] [focus]",
    about: "Make the context shorter",
    run,
};

fn run(app: &mut App, arguments: &str, now: Moment) -> Vec<Effect> {
    let request = request(arguments);
    if app.view().is_busy() {
        app.open(Modal::AbortAndCompact(request));
        return Vec::new();
    }
    app.compact(request, now)
}

/// The pass that a user asks for.
pub(crate) fn request(arguments: &str) -> ManualRequest {
    let (first, rest) = arguments.split_once(char::is_whitespace).unwrap_or((arguments, ""));
    let (method, focus) = if METHODS.contains(&first) {
        (Some(MethodId::from(first)), rest.trim())
    } else {
        (None, arguments)
    };
    let focus = (!focus.is_empty()).then(|| focus.to_owned());
    ManualRequest { method, focus }
}
