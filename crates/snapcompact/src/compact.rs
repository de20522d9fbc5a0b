//! History that is taken out of a context becomes an archive: text at its edges, frames between them.
//!
//! An archive is always planned from its whole text, so that it can grow and change its shape. Frames that would look as they did
//! before are not drawn again. Nothing is read or written here.

mod drawing;
mod source;

use std::sync::Arc;

use longhand_prompts::Prompts;
use longhand_session::archive::Archive;
use longhand_session::{FileOperations, Json, Message};

use crate::billing::Family;
use crate::cells;
use crate::error::Error;
use crate::glyphs::Fonts;
use crate::plan::{self, Plan};
use crate::render::Renderer;
use crate::resolve::{low_companion, resolve_for_text};
use crate::serialize::{Reasoning, SerializeOptions};
use crate::shape::{Shape, ShapeChoice};
use source::Source;

/// What is archived, and for which model.
#[derive(Clone, Copy)]
pub struct Input<'a> {
    /// The history, in the roles that providers take.
    pub messages: &'a [Arc<Message>],
    /// Summary of what came before it.
    pub previous_summary: Option<&'a str>,
    /// What the compaction before left, with its archive.
    pub previous_preserve_data: Option<&'a Json>,
    /// Files that were touched in it.
    pub file_operations: &'a FileOperations,
    /// Further lines that the model should know, from extensions.
    pub extra_context: &'a [String],
    /// API of the model that will read the archive, by the name stored in sessions.
    pub api: &'a str,
    /// Id of that model.
    pub model_id: &'a str,
}

/// How an archive is made.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Options {
    /// The shape of frames.
    pub shape: ShapeChoice,
    /// Edge of a full frame in pixels, in place of the shape's own.
    pub frame_size: Option<usize>,
    /// Most frames, at least one.
    pub max_frames: usize,
    /// How messages become text.
    pub serialize: SerializeOptions,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            shape: ShapeChoice::Auto,
            frame_size: None,
            max_frames: crate::budget::MAX_FRAMES,
            serialize: SerializeOptions::default(),
        }
    }
}

/// An archive that is planned and not drawn.
#[derive(Debug, Clone)]
pub struct Layout {
    /// Shape of frames that are read best.
    pub shape: Shape,
    /// Shape of frames in the middle of a long history.
    pub low: Shape,
    /// Pages and edges.
    pub plan: Plan,
    /// Part of the new text that no font has, 0 to 1.
    pub unsafe_share: f64,
    reasoning: Reasoning,
    has_digest: bool,
    previous: Option<Archive>,
    /// The text between the edges, kept or not.
    middle: String,
}

/// An archive, and what goes with it into a compaction.
#[derive(Debug, Clone, PartialEq)]
pub struct Compacted {
    /// What the model reads before the archive.
    pub summary: String,
    /// One line for people.
    pub short_summary: String,
    /// Facts such as the lists of files.
    pub details: Json,
    /// The data that goes on to the next compaction, with the archive in it.
    pub preserve_data: Json,
    /// The archive.
    pub archive: Archive,
    /// Frames that were drawn.
    pub drawn: usize,
    /// Frames that were taken from the archive before.
    pub reused: usize,
}

impl Layout {
    /// Characters that no longer have a place, since the first archive.
    pub fn truncated_chars(&self) -> u64 {
        let before = self.previous.as_ref().map_or(0, |archive| archive.truncated_chars);
        before.saturating_add(self.plan.truncated_chars)
    }

    /// The same archive with its pages as text. What was left out stays out.
    #[must_use]
    pub fn without_frames(mut self) -> Self {
        self.plan.text_head = std::mem::take(&mut self.plan.kept);
        self.plan.kept.clone_from(&self.plan.text_head);
        self.plan.text_tail = String::new();
        self.plan.pages = Vec::new();
        self.middle = String::new();
        self
    }

    /// Tokens that the frame of a page will be billed at.
    pub fn page_tokens(&self, page: &plan::PlannedPage, family: Family, fonts: &Fonts) -> u64 {
        let shape = self.shape_of(page.tier);
        let Ok(grid) = shape.grid() else { return 0 };
        let glyphs = fonts.glyphs(shape.font);
        let units = page.text.chars().map(|c| glyphs.units(c)).filter(|units| *units > 0);
        let cells = units.fold(0, |cursor, units| cells::place(cursor, grid.cols, units).next);
        let lines = if grid.columns > 1 {
            page.text.split('\n').count().min(grid.rows)
        } else {
            cells.div_ceil(grid.cols).clamp(1, grid.rows)
        };
        family.frame_tokens(shape.frame_size, lines * shape.line_repeat * shape.cell_height)
    }

    /// The shape of a page.
    pub fn shape_of(&self, tier: plan::Tier) -> &Shape {
        match tier {
            plan::Tier::High => &self.shape,
            plan::Tier::Low => &self.low,
        }
    }
}

/// Plans an archive. Draws nothing. Linear in the history.
///
/// # Errors
/// The shape is not possible.
pub fn lay_out(input: &Input<'_>, options: &Options, fonts: &Fonts) -> Result<Layout, Error> {
    let previous = input.previous_preserve_data.and_then(Archive::read);
    let source = Source::new(input, previous.as_ref(), &options.serialize);
    let family = Family::of_api(input.api);
    let mut shape =
        resolve_for_text(&source.probe(), input.api, input.model_id, options.shape, fonts);
    if let Some(frame_px) = options.frame_size {
        shape.frame_size = frame_px;
        shape.frame_token_estimate = family.frame_tokens(frame_px, frame_px);
    }
    let low = low_companion(&shape, family);
    let text = source.text(&fonts.glyphs(shape.font));
    let max_frames = options.max_frames.clamp(1, crate::budget::MAX_FRAMES);
    let plan = plan::plan(&text.text, &shape, &low, max_frames, fonts)?;
    let middle_end = text.text.len() - plan.text_tail.len();
    let middle = text.text[plan.text_head.len()..middle_end].to_owned();
    Ok(Layout {
        shape,
        low,
        plan,
        unsafe_share: text.unsafe_share,
        reasoning: options.serialize.reasoning,
        has_digest: source.has_digest(),
        previous,
        middle,
    })
}

/// Draws an archive, on all cores. Frames of the archive before whose page did not change are taken as they lie.
///
/// # Errors
/// A frame could not be encoded.
pub fn draw(
    layout: &Layout,
    input: &Input<'_>,
    renderer: &Renderer,
    prompts: &Prompts,
) -> Result<Compacted, Error> {
    drawing::draw(layout, input, renderer, prompts)
}

/// Plans and draws an archive.
///
/// # Errors
/// The shape is not possible, or a frame could not be encoded.
pub fn compact(
    input: &Input<'_>,
    options: &Options,
    renderer: &Renderer,
    prompts: &Prompts,
) -> Result<Compacted, Error> {
    let layout = lay_out(input, options, renderer.fonts())?;
    draw(&layout, input, renderer, prompts)
}
