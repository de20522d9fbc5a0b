//! An archive as the blocks of a message: text, pictures, text, with a note wherever a picture is missing.

use super::{Archive, BLOB_PREFIX, Frame, plain};
use crate::digits::grouped;
use crate::message::{Block, ImageBlock};

/// Most base64 bytes of frames that one request carries.
const REQUEST_FRAME_BYTES: u64 = 3_000_000;

/// An archive of this many frames of the oldest kind made providers fail, and so did one of this much text.
const LEGACY_FRAMES: usize = 16;
const LEGACY_TRUNCATED_CHARS: u64 = 1_000_000;
const LEGACY_TEXT_UNITS: usize = 250_000;

/// How many base64 bytes of frames may be in a context.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrameBudget {
    /// All frames.
    Unlimited,
    /// At most this many bytes, newest frames first.
    Bytes(u64),
}

/// Where frames lie that an archive only refers to.
pub trait FrameSource {
    /// Length in base64 of what a reference refers to; `None` if it is not there. Cheap: reads no content.
    fn encoded_bytes(&self, reference: &str) -> Option<u64>;

    /// The content in base64; `None` if it cannot be read.
    fn read(&self, reference: &str) -> Option<String>;
}

/// The budget of frames in a model's context.
pub fn model_budget(archive: &Archive, source: Option<&dyn FrameSource>) -> FrameBudget {
    let frames = &archive.frames;
    let is_legacy = frames.iter().any(|frame| frame.font.is_none() && frame.variant.is_none());
    if !is_legacy {
        return FrameBudget::Bytes(REQUEST_FRAME_BYTES);
    }
    let is_many = frames.len() >= LEGACY_FRAMES;
    let bytes = || frames.iter().filter_map(|frame| price(frame, source)).sum::<u64>();
    let text_units = || archive.source_text().map_or(0, |text| text.encode_utf16().count());
    let is_heavy = is_many || bytes() >= REQUEST_FRAME_BYTES;
    let is_long = is_many
        || archive.truncated_chars >= LEGACY_TRUNCATED_CHARS
        || text_units() >= LEGACY_TEXT_UNITS;
    FrameBudget::Bytes(if is_heavy && is_long { 0 } else { REQUEST_FRAME_BYTES })
}

/// The blocks of an archive, oldest first. Reads only frames that are shown.
pub fn history_blocks(
    archive: &Archive,
    budget: FrameBudget,
    source: Option<&dyn FrameSource>,
) -> Vec<Block> {
    let middle = place(&archive.frames, budget, source);
    let has_images = middle.iter().any(|place| matches!(place, Place::Shown(_)));
    let has_gaps = middle.len() > middle.iter().filter(|p| matches!(p, Place::Shown(_))).count();
    let mut blocks = Vec::with_capacity(middle.len() + 2);
    if let Some(head) = &archive.text_head {
        let rule = if has_images { "\n-------------- imaged middle below\n" } else { "" };
        blocks.push(Block::text(plain(head) + rule));
    }
    push_middle(&mut blocks, middle);
    if let Some(tail) = &archive.text_tail {
        let rule = if has_images {
            "-------------- imaged middle above\n"
        } else if archive.truncated_chars > 0 || has_gaps {
            "\n-------------- middle history omitted above\n"
        } else {
            ""
        };
        let tail = plain(tail);
        match blocks.last_mut() {
            Some(Block::Text(last)) => last.text.extend([rule, &tail]),
            _ => blocks.push(Block::text(format!("{rule}{tail}"))),
        }
    }
    blocks
}

/// What becomes of one frame.
enum Place {
    Shown(Block),
    /// Its content is not there.
    Unavailable,
    /// It has this many bytes and does not fit.
    OverBudget(u64),
}

/// Decides newest first: what was said last is worth most. A smaller, older frame may fit where a larger one did not.
fn place(frames: &[Frame], budget: FrameBudget, source: Option<&dyn FrameSource>) -> Vec<Place> {
    let mut used = 0_u64;
    let mut places: Vec<Place> = frames
        .iter()
        .rev()
        .map(|frame| {
            let Some(bytes) = price(frame, source) else { return Place::Unavailable };
            if matches!(budget, FrameBudget::Bytes(most) if used.saturating_add(bytes) > most) {
                return Place::OverBudget(bytes);
            }
            let Some(data) = content(frame, source) else { return Place::Unavailable };
            used = used.saturating_add(bytes);
            Place::Shown(Block::Image(ImageBlock {
                data,
                mime_type: frame.mime_type.clone(),
                detail: frame.detail.clone(),
                ..ImageBlock::default()
            }))
        })
        .collect();
    places.reverse();
    places
}

fn price(frame: &Frame, source: Option<&dyn FrameSource>) -> Option<u64> {
    if frame.data.starts_with(BLOB_PREFIX) {
        source?.encoded_bytes(&frame.data)
    } else {
        Some(frame.data.len() as u64)
    }
}

fn content(frame: &Frame, source: Option<&dyn FrameSource>) -> Option<String> {
    if frame.data.starts_with(BLOB_PREFIX) {
        source?.read(&frame.data)
    } else {
        Some(frame.data.clone())
    }
}

/// Neighbouring gaps of one kind become one note.
fn push_middle(blocks: &mut Vec<Block>, middle: Vec<Place>) {
    let mut unavailable = 0;
    let mut over_budget = (0, 0_u64);
    for place in middle {
        if !matches!(place, Place::Unavailable) && unavailable > 0 {
            blocks.push(unavailable_note(std::mem::take(&mut unavailable)));
        }
        if !matches!(place, Place::OverBudget(_)) && over_budget.0 > 0 {
            let (frames, bytes) = std::mem::take(&mut over_budget);
            blocks.push(over_budget_note(frames, bytes));
        }
        match place {
            Place::Shown(block) => blocks.push(block),
            Place::Unavailable => unavailable += 1,
            Place::OverBudget(bytes) => {
                over_budget = (over_budget.0 + 1, over_budget.1.saturating_add(bytes));
            }
        }
    }
    if unavailable > 0 {
        blocks.push(unavailable_note(unavailable));
    }
    if over_budget.0 > 0 {
        blocks.push(over_budget_note(over_budget.0, over_budget.1));
    }
}

fn unavailable_note(frames: u64) -> Block {
    let (number, noun) = frames_in_words(frames);
    Block::text(format!(
        "-------------- {number} archived image {noun} unavailable here --------------"
    ))
}

/// What stands in the place of frames that a request cannot carry. `bytes` is their length in base64, 0 where it is not known.
pub fn over_budget_note(frames: u64, bytes: u64) -> Block {
    let (number, noun) = frames_in_words(frames);
    let size = if bytes > 0 {
        format!(": {} of base64 is more than one request carries", decimal_size(bytes))
    } else {
        String::new()
    };
    Block::text(format!(
        "-------------- snapcompact image middle omitted\n\
         {number} archived image {noun} left out{size}. The summary and the text before and after are complete.\n\
         --------------"
    ))
}

fn frames_in_words(frames: u64) -> (String, &'static str) {
    (grouped(frames), if frames == 1 { "frame" } else { "frames" })
}

fn decimal_size(bytes: u64) -> String {
    match bytes {
        ..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{:.1} KB", bytes as f64 / 1e3),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}
