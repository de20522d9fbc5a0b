//! Large texts of a request sent as pictures: old tool results, and the system prompt or the standing instructions in it.
//!
//! Off unless the options say otherwise, and only for models that see. Nothing is stored: history keeps its text. The same text
//! becomes the same bytes in every request, so that a provider's cache of it holds.

mod swap;
mod texts;

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use longhand_agent::{Recipient, Request, RequestTransform};
use longhand_prompts::Prompts;
use longhand_session::{Block, Fragment, Message, ToolCallId};
use longhand_snapcompact::inline_plan::{self, Candidate, MIN_RESULT_TOKENS, Swap, Terms};
use longhand_snapcompact::resolve::resolve;
use longhand_snapcompact::{Renderer, Shape, normalize, pages};
use tokio::sync::watch;

use crate::options::{Options, SystemImaging};

/// What one tool result saved by being sent as pictures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Saving {
    /// Provider of the model.
    pub provider: String,
    /// Id of the model.
    pub model: String,
    /// The call.
    pub tool_call_id: ToolCallId,
    /// Tokens that were not billed.
    pub saved_tokens: u64,
}

/// Takes note of savings.
pub trait SavingsJournal: Send + Sync {
    /// Notes savings of one request. A failure is the journal's own.
    fn record(&self, savings: &[Saving]);
}

/// Sends large texts as pictures.
pub struct InlineImaging {
    options: watch::Receiver<Arc<Options>>,
    prompts: Arc<Prompts>,
    renderer: Renderer,
    journal: Option<Arc<dyn SavingsJournal>>,
    state: Mutex<State>,
}

/// What is remembered from request to request.
#[derive(Default)]
struct State {
    /// Pictures by call, with what they were made from; the system prompt has no call.
    pictures: HashMap<Option<ToolCallId>, Pictures>,
    /// Calls whose saving was noted.
    noted: HashSet<ToolCallId>,
}

/// The pictures of one text.
#[derive(Clone)]
struct Pictures {
    text: String,
    shape: Shape,
    blocks: Arc<[Block]>,
}

impl InlineImaging {
    /// Sends pictures as the options in force say, and tells `journal` what was saved.
    pub fn new(
        options: watch::Receiver<Arc<Options>>,
        prompts: Arc<Prompts>,
        renderer: Renderer,
        journal: Option<Arc<dyn SavingsJournal>>,
    ) -> Self {
        Self { options, prompts, renderer, journal, state: Mutex::default() }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RequestTransform for InlineImaging {
    fn apply(&self, request: Request, recipient: &Recipient<'_>) -> Request {
        let options = self.options.borrow().snapcompact.clone();
        if !options.tool_results && options.system_prompt == SystemImaging::None {
            self.state().pictures.clear();
            return request;
        }
        let model = recipient.model;
        let present = texts::image_count(&request.messages);
        let budget = options.image_budgets.of(&model.provider).images.saturating_sub(present);
        if !model.has_vision() || budget == 0 {
            return request;
        }
        let shape = resolve(model.api.as_str(), &model.id, options.shape);
        let pass = Pass { imaging: self, recipient, shape };
        let results = texts::results(&request.messages);
        let system = texts::system(&request.system, options.system_prompt);
        let candidates: Vec<Candidate> = results.iter().map(|result| pass.result(result)).collect();
        let of_system = system.as_deref().map(|text| pass.candidate(text, 0));
        let terms = Terms {
            tool_results: options.tool_results,
            system_prompt: options.system_prompt != SystemImaging::None,
            frame_tokens: pass.shape.frame_token_estimate,
            budget,
            has_user_message: request.messages.iter().any(|m| matches!(**m, Message::User(_))),
        };
        let swaps = inline_plan::plan(&candidates, of_system.as_ref(), &terms);
        pass.swapped(request, &results, system.as_deref(), &swaps, options.system_prompt)
    }
}

/// One request.
struct Pass<'a> {
    imaging: &'a InlineImaging,
    recipient: &'a Recipient<'a>,
    shape: Shape,
}

impl Pass<'_> {
    /// A text as the plan sees it. It is laid out only from `min_tokens` on.
    fn candidate(&self, text: &str, min_tokens: u64) -> Candidate {
        let text_tokens = self.recipient.counter.count(Fragment::Text(text));
        let frames = if text_tokens >= min_tokens { self.frames(text) } else { 0 };
        Candidate { id: String::new(), text_tokens, frames, is_error: false }
    }

    fn result(&self, result: &texts::Result) -> Candidate {
        if result.is_error {
            return Candidate {
                id: result.id.to_string(),
                text_tokens: 0,
                frames: 0,
                is_error: true,
            };
        }
        Candidate { id: result.id.to_string(), ..self.candidate(&result.text, MIN_RESULT_TOKENS) }
    }

    fn frames(&self, text: &str) -> usize {
        let glyphs = self.imaging.renderer.fonts().glyphs(self.shape.font);
        let normalized = normalize::normalize(text, &glyphs);
        if !normalized.is_safe() {
            return 0;
        }
        pages::frame_count(&normalized.text, &self.shape, &glyphs).unwrap_or(0)
    }

    fn swapped(
        &self,
        mut request: Request,
        results: &[texts::Result],
        system: Option<&str>,
        swaps: &[Swap],
        mode: SystemImaging,
    ) -> Request {
        let mut savings = Vec::new();
        let mut used = HashSet::new();
        for swap in swaps {
            let Some(id) = &swap.id else {
                let Some(blocks) = system.and_then(|text| self.pictures(None, text)) else {
                    continue;
                };
                used.insert(None);
                swap::system(&mut request, &blocks, mode, &self.imaging.prompts);
                continue;
            };
            let Some(result) = results.iter().find(|result| *result.id.as_str() == **id) else {
                continue;
            };
            let Some(blocks) = self.pictures(Some(&result.id), &result.text) else { continue };
            used.insert(Some(result.id.clone()));
            swap::result(&mut request.messages[result.at], &blocks, &self.imaging.prompts);
            let billed = swap.frames as u64 * self.shape.frame_token_estimate;
            savings.push(self.saving(&result.id, swap.text_tokens.saturating_sub(billed)));
        }
        self.imaging.state().pictures.retain(|id, _| used.contains(id));
        self.note(savings);
        request
    }

    /// The pictures of a text; drawn once for as long as the text stays the same. `None` where they cannot be drawn.
    fn pictures(&self, id: Option<&ToolCallId>, text: &str) -> Option<Arc<[Block]>> {
        let key = id.cloned();
        let is_same = |known: &&Pictures| known.text == text && known.shape == self.shape;
        if let Some(known) = self.imaging.state().pictures.get(&key).filter(is_same) {
            return Some(known.blocks.clone());
        }
        let frames = match self.imaging.renderer.render(text, &self.shape, usize::MAX) {
            Ok(frames) => frames,
            Err(error) => {
                tracing::warn!(%error, "a text is sent as text");
                return None;
            }
        };
        let blocks: Arc<[Block]> =
            frames.iter().map(|frame| swap::block(frame, &self.shape)).collect();
        let pictures =
            Pictures { text: text.to_owned(), shape: self.shape.clone(), blocks: blocks.clone() };
        self.imaging.state().pictures.insert(key, pictures);
        Some(blocks)
    }

    fn saving(&self, id: &ToolCallId, saved_tokens: u64) -> Saving {
        let model = self.recipient.model;
        Saving {
            provider: model.provider.clone(),
            model: model.id.clone(),
            tool_call_id: id.clone(),
            saved_tokens,
        }
    }

    /// Each call is noted once.
    fn note(&self, mut savings: Vec<Saving>) {
        let Some(journal) = &self.imaging.journal else { return };
        let mut state = self.imaging.state();
        savings.retain(|saving| {
            saving.saved_tokens > 0 && state.noted.insert(saving.tool_call_id.clone())
        });
        drop(state);
        if !savings.is_empty() {
            journal.record(&savings);
        }
    }
}
