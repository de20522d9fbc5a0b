//! Where a move to an entry ends, and what of the entry goes back to the user.
//!
//! Whoever goes to something that was said before wants to say it differently: the leaf goes before it, and its words return to the
//! editor. Whoever goes to anything else wants to go on from there.

use super::Tree;
use crate::block::{Block, Content, ImageBlock};
use crate::entry::{Entry, EntryKind};
use crate::ids::EntryId;
use crate::json::Json;
use crate::message::{Attribution, Message};

/// Where a move ends.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Landing {
    /// The new leaf; `None` is before the first entry.
    pub leaf: Option<EntryId>,
    /// What returns to the editor; `None` where nothing does.
    pub returned: Option<Returned>,
}

/// What the user said, to be said again.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Returned {
    /// Text.
    pub text: String,
    /// Pictures.
    pub images: Vec<ImageBlock>,
}

/// Custom messages that are requests of the user in another form.
const REQUESTS: &[&str] = &["skill-prompt", "collab-prompt"];

/// A custom message that the program wrote on the user's behalf, not to be written again.
const SKILL: &str = "skill-prompt";

/// Where a move to an entry of a tree ends.
pub fn landing(tree: &Tree, target: &Entry) -> Landing {
    match returned(target) {
        // A parent that is missing, or that is the entry itself, is none.
        Some(returned) => {
            let leaf = tree.ancestors(&target.id).nth(1).map(|row| row.id.clone());
            Landing { leaf, returned: Some(returned) }
        }
        None => Landing { leaf: Some(target.id.clone()), returned: None },
    }
}

/// Whether an entry is what the user asked for. Going to it from itself takes it back; going to anything else from itself does
/// nothing.
pub fn is_request(entry: &Entry) -> bool {
    let of_custom = |custom_type: &str, attribution| {
        REQUESTS.contains(&custom_type) && attribution == Some(Attribution::User)
    };
    match &entry.kind {
        EntryKind::Message(entry) => match &*entry.message {
            Message::User(_) => true,
            Message::Custom(message) | Message::HookMessage(message) => {
                of_custom(&message.custom_type, message.attribution)
            }
            _ => false,
        },
        EntryKind::CustomMessage(message) => of_custom(&message.custom_type, message.attribution),
        _ => false,
    }
}

fn returned(target: &Entry) -> Option<Returned> {
    let (custom_type, content) = match &target.kind {
        EntryKind::Message(entry) => match &*entry.message {
            Message::User(message) => return Some(whole(&message.content)),
            Message::Custom(message) | Message::HookMessage(message) => {
                (&message.custom_type, message.content.clone())
            }
            _ => return None,
        },
        EntryKind::CustomMessage(message) => (&message.custom_type, content_of(&message.content)),
        _ => return None,
    };
    if is_request(target) {
        return Some(whole(&content));
    }
    (custom_type != SKILL).then(|| Returned { images: Vec::new(), ..whole(&content) })
}

fn whole(content: &Content) -> Returned {
    let blocks = match content {
        Content::Text(_) => &[][..],
        Content::Blocks(blocks) => blocks.as_slice(),
    };
    let image =
        |block: &Block| if let Block::Image(image) = block { Some(image.clone()) } else { None };
    Returned { text: content.text(), images: blocks.iter().filter_map(image).collect() }
}

/// Content in a form that is not understood says nothing.
fn content_of(content: &Json) -> Content {
    serde_json::from_str(content.text()).unwrap_or_default()
}
