//! One archive, made and judged: each reason against it is told apart.

use std::sync::Arc;

use longhand_agent::compaction::{CompactionResult, Job, MethodError, Preparation};
use longhand_agent::live::Frames;
use longhand_prompts::Prompts;
use longhand_session::archive::{Archive, BLOB_PREFIX, FrameSource};
use longhand_session::digits::grouped;
use longhand_session::tokens::{EncryptedReasoning, count_messages};
use longhand_session::{Fragment, Message, llm, pairing};
use longhand_snapcompact::budget::{self, ImageBudget, Room};
use longhand_snapcompact::compact::{self, Compacted, Input, Layout};
use longhand_snapcompact::model_class::ModelClass;
use longhand_snapcompact::serialize::Reasoning;
use longhand_snapcompact::{Family, Renderer, Shape, plan};

use super::failed;
use crate::options::Options;
use crate::projection::{self, Scale};
use crate::threshold;

/// Most of the new text that may have no glyph, as a part.
const UNSAFE_SHARE: f64 = 0.05;

/// What one archive is made from and judged by.
pub(super) struct Attempt {
    pub(super) options: Arc<Options>,
    pub(super) prompts: Arc<Prompts>,
    pub(super) renderer: Renderer,
    pub(super) frames: Option<Frames>,
    pub(super) job: Job,
    pub(super) preparation: Arc<Preparation>,
}

/// An archive that is worth its place.
pub(super) struct Made {
    pub(super) result: CompactionResult,
    /// Tokens of the context with it.
    pub(super) tokens: u64,
    pub(super) frames: usize,
}

impl Attempt {
    /// Makes an archive of what is cut. Costs the layout of all history and the drawing of the pages that are new.
    pub(super) fn make(&self) -> Result<Made, MethodError> {
        let messages = self.messages();
        let input = self.input(&messages);
        let layout = self.laid_out(&input, budget::MAX_FRAMES)?;
        check_legible(&layout)?;
        let most = self.frame_budget(&layout.shape)?;
        let made = self.made(self.drawn(&input, layout, most)?);
        self.check_reduction(&made)?;
        Ok(made)
    }

    /// Makes the archive of the newest compaction again, with as many frames as have room; `None` where that would not be fewer.
    pub(super) fn shrink(&self, room_tokens: u64) -> Result<Option<Made>, MethodError> {
        let before = self.preparation.previous_preserve_data.as_ref().and_then(Archive::read);
        let before = before.map_or(0, |archive| archive.frames.len());
        let messages = self.messages();
        let input = self.input(&messages);
        let layout = self.laid_out(&input, budget::MAX_FRAMES)?;
        let shape = &layout.shape;
        let taken = self.kept_tokens().saturating_add(budget::edge_tokens(shape));
        let fitting = room_tokens.saturating_sub(taken) / shape.frame_token_estimate.max(1);
        let fitting = usize::try_from(fitting).unwrap_or(usize::MAX);
        let most = fitting.min(budget::frame_budget(shape, &Room { window: None, ..self.room() }));
        if most == 0 || most >= before {
            return Ok(None);
        }
        let made = self.made(self.drawn(&input, layout, most)?);
        Ok((made.frames < before).then_some(made))
    }

    /// What is cut, in the roles that providers take.
    fn messages(&self) -> Vec<Arc<Message>> {
        let preparation = &self.preparation;
        let cut = preparation.messages_to_summarize.iter().chain(&preparation.turn_prefix_messages);
        let cut: Vec<Arc<Message>> = cut.cloned().collect();
        pairing::repair(llm::convert(&cut, &self.prompts))
    }

    fn provider(&self) -> ImageBudget {
        let provider = self.options.snapcompact.image_budgets.of(&self.job.model.provider);
        // What is rebuilt of an archive for a request has a budget of its own.
        ImageBudget { bytes: provider.bytes.min(budget::REQUEST_FRAME_BYTES), ..provider }
    }

    /// Tokens of everything that stays beside the archive.
    fn kept_tokens(&self) -> u64 {
        let recent = &self.preparation.recent_messages;
        let counted = count_messages(&*self.job.counter, recent, EncryptedReasoning::Counted);
        self.job.non_message_tokens.saturating_add(counted)
    }

    fn room(&self) -> Room {
        let window = self.job.model.context_window;
        Room {
            window,
            reserve: threshold::effective_reserve(window.unwrap_or(0), &self.options),
            kept: self.kept_tokens(),
            provider: self.provider(),
        }
    }

    fn frame_budget(&self, shape: &Shape) -> Result<usize, MethodError> {
        let room = self.room();
        if room.provider.images == 0 {
            let provider = &self.job.model.provider;
            return Err(MethodError::Blocked(format!("requests to `{provider}` carry no images")));
        }
        match budget::frame_budget(shape, &room) {
            0 => Err(MethodError::Blocked(format!(
                "what is kept takes {} tokens and leaves no room for an archive in a window of {}",
                grouped(room.kept),
                grouped(room.window.unwrap_or(0)),
            ))),
            most => Ok(most),
        }
    }

    /// Draws an archive of at most `most` frames, and of fewer where a request could not carry them. Each further try has fewer.
    fn drawn(
        &self,
        input: &Input<'_>,
        mut layout: Layout,
        mut most: usize,
    ) -> Result<Compacted, MethodError> {
        let limit = self.provider().bytes;
        loop {
            if layout.plan.pages.len() > most {
                layout = self.laid_out(input, most)?;
            }
            if self.is_cheaper_as_text(&layout) {
                layout = layout.without_frames();
            }
            let compacted = compact::draw(&layout, input, &self.renderer, &self.prompts)
                .map_err(|error| failed(&error))?;
            let bytes = self.payload(&compacted.archive);
            if bytes <= limit {
                return Ok(compacted);
            }
            let frames = compacted.archive.frames.len();
            let fitting = usize::try_from(frames as u64 * limit / bytes).unwrap_or(frames);
            most = fitting.max(1);
            if most >= frames {
                return Err(MethodError::Blocked(format!(
                    "the frames would add {} base64 bytes to every request, more than the {} that it may carry",
                    grouped(bytes),
                    grouped(limit),
                )));
            }
        }
    }

    fn input<'a>(&'a self, messages: &'a [Arc<Message>]) -> Input<'a> {
        Input {
            messages,
            previous_summary: self.preparation.previous_summary.as_deref(),
            previous_preserve_data: self.preparation.previous_preserve_data.as_ref(),
            file_operations: &self.preparation.file_operations,
            extra_context: &self.job.extra_context,
            api: self.job.model.api.as_str(),
            model_id: &self.job.model.id,
        }
    }

    fn laid_out(&self, input: &Input<'_>, most: usize) -> Result<Layout, MethodError> {
        let mut options = compact::Options::default();
        options.shape = self.options.snapcompact.shape;
        options.max_frames = most;
        if ModelClass::of(&self.job.model.id).is_anthropic {
            options.serialize.reasoning = Reasoning::Excluded;
        }
        compact::lay_out(input, &options, self.renderer.fonts()).map_err(|error| failed(&error))
    }

    /// Whether the pages of a layout cost no more tokens as text than as frames. Frames would then cost legibility and gain nothing.
    /// Decided for all pages together: text between frames would break the run that a reader goes through, and change place with
    /// every page that comes to it.
    fn is_cheaper_as_text(&self, layout: &Layout) -> bool {
        let family = Family::of_api(self.job.model.api.as_str());
        let as_text = |page: &plan::PlannedPage| {
            self.job.counter.count(Fragment::Text(&longhand_session::archive::plain(&page.text)))
        };
        let (pages, fonts) = (&layout.plan.pages, self.renderer.fonts());
        let text: u64 = pages.iter().map(as_text).sum();
        let frames: u64 = pages.iter().map(|page| layout.page_tokens(page, family, fonts)).sum();
        !pages.is_empty() && text <= frames
    }

    /// Base64 bytes of the frames of an archive, wherever they lie.
    fn payload(&self, archive: &Archive) -> u64 {
        let source = self.frames.as_deref().map(|frames| frames as &dyn FrameSource);
        let bytes = |data: &str| {
            if data.starts_with(BLOB_PREFIX) {
                source.and_then(|source| source.encoded_bytes(data)).unwrap_or(0)
            } else {
                data.len() as u64
            }
        };
        archive.frames.iter().map(|frame| bytes(&frame.data)).sum()
    }

    fn made(&self, compacted: Compacted) -> Made {
        let frames = compacted.archive.frames.len();
        let result = CompactionResult {
            summary: compacted.summary,
            short_summary: Some(compacted.short_summary),
            first_kept_entry_id: self.preparation.first_kept_entry_id.clone(),
            tokens_before: self.preparation.tokens_before,
            details: Some(compacted.details),
            preserve_data: Some(compacted.preserve_data),
            spent: Vec::new(),
        };
        let tokens = self.projected(&result, EncryptedReasoning::Excluded);
        Made { result, tokens, frames }
    }

    fn projected(&self, result: &CompactionResult, reasoning: EncryptedReasoning) -> u64 {
        let frames = self.frames.as_deref().map(|frames| frames as &dyn FrameSource);
        let scale = Scale {
            reasoning,
            frames,
            ..Scale::new(&*self.job.counter, self.job.non_message_tokens)
        };
        projection::project(&self.job.branch, &self.preparation, result, &scale)
    }

    /// What is measured is what is stored, before and after, by one counter: what a provider reported may have been inflated by the
    /// very archive that is replaced.
    fn check_reduction(&self, made: &Made) -> Result<(), MethodError> {
        let before = self.baseline();
        if made.tokens >= before {
            return Err(MethodError::Blocked(format!(
                "the archive would not make the context smaller: {} tokens instead of {}",
                grouped(made.tokens),
                grouped(before),
            )));
        }
        let Some(window) = self.job.model.context_window else { return Ok(()) };
        let room = window.saturating_sub(threshold::effective_reserve(window, &self.options));
        let after = self.projected(&made.result, EncryptedReasoning::Counted);
        if after > room {
            return Err(MethodError::Blocked(format!(
                "the context would still not fit: {} tokens with the archive, room for {}",
                grouped(after),
                grouped(room),
            )));
        }
        Ok(())
    }

    fn baseline(&self) -> u64 {
        let preparation = &self.preparation;
        let count = |messages: &[Arc<Message>]| {
            count_messages(&*self.job.counter, messages, EncryptedReasoning::Excluded)
        };
        let cut =
            count(&preparation.messages_to_summarize) + count(&preparation.turn_prefix_messages);
        let parts = self.job.non_message_tokens + cut + count(&preparation.recent_messages);
        // What an earlier compaction left is in the context too, and becomes part of the archive.
        let live: Vec<Arc<Message>> = self.job.branch.live.iter().cloned().collect();
        parts.max(self.job.non_message_tokens + count(&live))
    }
}

/// History that would mostly become question marks is worth no picture.
fn check_legible(layout: &Layout) -> Result<(), MethodError> {
    if layout.unsafe_share <= UNSAFE_SHARE {
        return Ok(());
    }
    Err(MethodError::Blocked(format!(
        "{:.1} % of the history are characters that no font has; `snapcompact.fallbackFont` names a font of your own",
        layout.unsafe_share * 100.0,
    )))
}
