//! From a plan to an archive.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use longhand_prompts::Prompts;
use longhand_session::archive::{Archive, Frame};
use longhand_session::digits::grouped;
use longhand_session::file_lists;
use longhand_session::{Json, redaction};
use serde_json::{Map, Value};

use super::{Compacted, Input, Layout};
use crate::error::Error;
use crate::guide::{self, Facts};
use crate::render::{RenderedFrame, Renderer, finished_page, frame_key};
use crate::shape::Shape;
use crate::{DIM_ON, dim, exact_tokens};

/// Stands for a history that does not exist.
const NO_HISTORY: &str = "No prior history.";

/// Payloads with which a provider replaced history. They do not go on beside an archive.
const NATIVE_SLOTS: [&str; 2] = ["openaiRemoteCompaction", "anthropicCompaction"];

/// Most characters of the list of exact spellings.
const MAX_EXACT_CHARS: usize = 2_000;

pub(super) fn draw(
    layout: &Layout,
    input: &Input<'_>,
    renderer: &Renderer,
    prompts: &Prompts,
) -> Result<Compacted, Error> {
    let Finished { pages, text_tail } = finished(layout);
    let (frames, drawn) = frames(layout, &pages, renderer)?;
    let reused = frames.len() - drawn;
    let archive = archive(layout, frames, text_tail);
    let short_summary = short_summary(&archive);
    Ok(Compacted {
        summary: summary(layout, &archive, input, prompts),
        short_summary,
        details: input.file_operations.lists().details(),
        preserve_data: archive.write(input.previous_preserve_data.and_then(carried_on).as_ref()),
        archive,
        drawn,
        reused,
    })
}

/// Pages as they are drawn, each with its shape, and the newest text.
struct Finished<'a> {
    pages: Vec<(String, &'a Shape)>,
    text_tail: String,
}

/// Pale spans that a page or an edge leaves open are opened again in the next one.
fn finished(layout: &Layout) -> Finished<'_> {
    let plan = &layout.plan;
    let mut is_dim = dim::opens_dim(&plan.text_head, false);
    let mut pages = Vec::with_capacity(plan.pages.len());
    for page in &plan.pages {
        let shape = layout.shape_of(page.tier);
        pages.push((finished_page(&page.text, is_dim, shape), shape));
        is_dim = dim::opens_dim(&page.text, is_dim);
    }
    let mut text_tail = plan.text_tail.clone();
    if is_dim && !text_tail.is_empty() {
        text_tail.insert(0, DIM_ON);
    }
    Finished { pages, text_tail }
}

/// The frames of pages, and how many of them were drawn.
fn frames(
    layout: &Layout,
    pages: &[(String, &Shape)],
    renderer: &Renderer,
) -> Result<(Vec<Frame>, usize), Error> {
    let known = layout.previous.as_ref().map_or(&[][..], |archive| archive.frames.as_slice());
    let mut frames: Vec<Option<Frame>> = pages
        .iter()
        .map(|(page, shape)| {
            let key = frame_key(page, shape, renderer.fonts());
            let frame = known.iter().find(|frame| frame.key.as_deref() == Some(&*key))?;
            Some(Frame { detail: detail(shape), ..frame.clone() })
        })
        .collect();
    let missing: Vec<usize> = (0..pages.len()).filter(|at| frames[*at].is_none()).collect();
    let to_draw: Vec<(&str, &Shape)> =
        missing.iter().map(|at| (pages[*at].0.as_str(), pages[*at].1)).collect();
    for (at, drawn) in missing.iter().zip(renderer.render_each(&to_draw)?) {
        frames[*at] = Some(archived(&drawn, pages[*at].1));
    }
    Ok((frames.into_iter().flatten().collect(), missing.len()))
}

/// A drawn frame as it is kept.
fn archived(drawn: &RenderedFrame, shape: &Shape) -> Frame {
    Frame {
        data: BASE64_STANDARD.encode(&drawn.png),
        mime_type: "image/png".to_owned(),
        cols: drawn.cols as u64,
        rows: drawn.rows as u64,
        chars: drawn.chars as u64,
        font: Some(shape.font.as_str().to_owned()),
        variant: Some(shape.ink.as_str().to_owned()),
        line_repeat: Some(shape.line_repeat as u64),
        columns: (shape.columns > 1).then_some(shape.columns as u64),
        stopword_dim: shape.stopword_dim.then_some(true),
        detail: detail(shape),
        width: Some(drawn.width_px as u64),
        height: Some(drawn.height_px as u64),
        key: Some(drawn.key.clone()),
        ..Frame::default()
    }
}

fn detail(shape: &Shape) -> Option<String> {
    shape.image_detail.map(|detail| detail.as_str().to_owned())
}

fn archive(layout: &Layout, frames: Vec<Frame>, text_tail: String) -> Archive {
    let plan = &layout.plan;
    let kept_before_tail = &plan.kept[..plan.kept.len() - plan.text_tail.len()];
    let text = format!("{kept_before_tail}{text_tail}");
    let chars = |text: &str| text.chars().count() as u64;
    let drawn_chars: u64 = frames.iter().map(|frame| frame.chars).sum();
    let filled = |text: String| (!text.is_empty()).then_some(text);
    Archive {
        total_chars: drawn_chars + chars(&plan.text_head) + chars(&text_tail),
        truncated_chars: layout.truncated_chars(),
        frames,
        text: filled(text),
        text_head: filled(plan.text_head.clone()),
        text_tail: filled(text_tail),
    }
}

fn short_summary(archive: &Archive) -> String {
    let frames = archive.frames.len() as u64;
    let edges = [&archive.text_head, &archive.text_tail];
    let text: u64 = edges.into_iter().flatten().map(|text| text.chars().count() as u64).sum();
    let plural = if frames == 1 { "" } else { "s" };
    let beside = match text {
        0 => String::new(),
        chars => format!(" (+{} chars as text)", grouped(chars)),
    };
    let total = grouped(archive.total_chars);
    format!(
        "Archived {total} chars of history onto {} snapcompact frame{plural}{beside}",
        grouped(frames)
    )
}

fn summary(layout: &Layout, archive: &Archive, input: &Input<'_>, prompts: &Prompts) -> String {
    let operations = input.file_operations;
    let files = file_lists::tree(&operations.lists(), &operations.read);
    if archive.frames.is_empty() && archive.text.is_none() && files.is_empty() {
        return NO_HISTORY.to_owned();
    }
    let exact = exact_tokens::collect(&redaction::redact(&layout.middle), MAX_EXACT_CHARS);
    let facts = Facts {
        reasoning: layout.reasoning,
        frames: &archive.frames,
        shape: &layout.shape,
        has_digest: layout.has_digest,
        truncated_chars: archive.truncated_chars,
        exact_tokens: &exact,
        files: &files,
    };
    guide::guide(&facts, prompts)
}

/// What the next compaction still needs of what this one was given.
fn carried_on(preserve_data: &Json) -> Option<Json> {
    let Value::Object(slots) = preserve_data.value() else { return None };
    let is_kept = |slot: &&String| !NATIVE_SLOTS.contains(&slot.as_str());
    let kept: Map<String, Value> = slots
        .iter()
        .filter(|(slot, _)| is_kept(slot))
        .map(|(slot, value)| (slot.clone(), value.clone()))
        .collect();
    Some(Value::Object(kept).into())
}
