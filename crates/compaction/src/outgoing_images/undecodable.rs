//! Pictures that no provider could read become a note: one of them would make every request fail.

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Cursor;
use std::sync::{Arc, Mutex, PoisonError};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use longhand_agent::{Recipient, Request, RequestTransform};
use longhand_session::message::ImageBlock;
use longhand_session::{Block, Content, Message};

/// Verdicts that are remembered.
const MOST_VERDICTS: usize = 512;

/// Puts a note in the place of pictures that cannot be decoded. Each picture is decoded once, and its verdict remembered.
#[derive(Default)]
pub struct UndecodableImages {
    verdicts: Mutex<VecDeque<(u64, Option<String>)>>,
}

impl RequestTransform for UndecodableImages {
    fn apply(&self, mut request: Request, _recipient: &Recipient<'_>) -> Request {
        for message in &mut request.messages {
            if let Some(checked) = self.checked(message) {
                *message = Arc::new(checked);
            }
        }
        request
    }
}

impl UndecodableImages {
    /// The message with notes; `None` where all its pictures are good.
    fn checked(&self, message: &Message) -> Option<Message> {
        let mut changed = message.clone();
        let blocks = match &mut changed {
            Message::User(user) | Message::Developer(user) => match &mut user.content {
                Content::Blocks(blocks) => blocks,
                Content::Text(_) => return None,
            },
            Message::ToolResult(result) => &mut result.content,
            _ => return None,
        };
        let mut is_changed = false;
        for block in blocks {
            let Block::Image(image) = &*block else { continue };
            if let Some(reason) = self.verdict(image) {
                let mime = &image.mime_type;
                *block =
                    Block::text(format!("[image omitted: undecodable {mime} data ({reason})]"));
                is_changed = true;
            }
        }
        is_changed.then_some(changed)
    }

    /// Why a picture cannot be decoded; `None` where it can.
    fn verdict(&self, image: &ImageBlock) -> Option<String> {
        let mut hasher = DefaultHasher::new();
        (&image.mime_type, image.data.len(), &image.data).hash(&mut hasher);
        let key = hasher.finish();
        let known = |verdicts: &VecDeque<(u64, Option<String>)>| {
            verdicts.iter().find(|(known, _)| *known == key).map(|(_, verdict)| verdict.clone())
        };
        let lock = || self.verdicts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(verdict) = known(&lock()) {
            return verdict;
        }
        let verdict = decode(&image.data).err();
        let mut verdicts = lock();
        if verdicts.len() >= MOST_VERDICTS {
            verdicts.pop_front();
        }
        verdicts.push_back((key, verdict.clone()));
        verdict
    }
}

fn decode(data: &str) -> Result<(), String> {
    let bytes = BASE64_STANDARD.decode(data).map_err(|_| "not base64".to_owned())?;
    let reader = image::ImageReader::new(Cursor::new(bytes)).with_guessed_format();
    let reader = reader.map_err(|error| error.to_string())?;
    if reader.format().is_none() {
        return Err("no known format".to_owned());
    }
    reader.decode().map(drop).map_err(|error| first_line(&error.to_string()))
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_owned()
}
