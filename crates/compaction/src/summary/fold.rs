//! A conversation in windows that each fit a request.
//!
//! Windows end between messages. A single message larger than a window is clipped: nothing else is ever left out. Every message
//! is counted once, by the counter of the model that will read it.

use std::sync::Arc;

use longhand_session::tokens::check_budget;
use longhand_session::{Fragment, Message, TokenCounter};

use super::budget::InputBudget;
use super::layout::safe;
use crate::serialize::{self, Dialect, clip};

/// A clipped window is made a little smaller than its budget: how many tokens its start has can only be guessed.
const CLIP_SHARE: f64 = 0.95;

/// A clipped window keeps at least as many UTF-16 units.
const MIN_CLIPPED_UNITS: usize = 1_024;

/// A byte count that no counter exceeds by much: text of any script has at least two bytes a token in the mean.
const BYTES_A_TOKEN: u64 = 2;

/// Something that a window holds whole.
#[derive(Clone)]
pub(super) enum Piece {
    Message(Arc<Message>),
    Text(String),
}

/// Cuts older text into pieces of at most `tokens` tokens, at line ends where there are any.
pub(super) fn text_pieces(text: &str, tokens: u64) -> Vec<Piece> {
    let most_bytes = usize::try_from(tokens.saturating_mul(BYTES_A_TOKEN)).unwrap_or(usize::MAX);
    let mut rest = text;
    let mut pieces = Vec::new();
    while rest.len() > most_bytes {
        let end = rest.floor_char_boundary(most_bytes.max(4));
        let end = rest[..end].rfind('\n').map_or(end, |line_end| line_end + 1);
        let (piece, later) = rest.split_at(end);
        pieces.push(Piece::Text(piece.to_owned()));
        rest = later;
    }
    if !rest.is_empty() {
        pieces.push(Piece::Text(rest.to_owned()));
    }
    pieces
}

/// How windows are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Taking {
    /// One after the other, until nothing is left.
    Fold,
    /// One, clipped to what fits.
    Once,
}

/// The windows of a conversation.
pub(super) struct Windows<'a> {
    pieces: Vec<Piece>,
    /// Tokens of each piece alone; counted when the whole was found not to fit.
    costs: Option<Vec<u64>>,
    at: usize,
    budget: InputBudget,
    taking: Taking,
    dialect: Dialect,
    counter: &'a dyn TokenCounter,
}

/// What one request holds of a conversation.
pub(super) struct Window {
    pub(super) text: String,
    pub(super) tokens: u64,
    pieces: usize,
}

impl<'a> Windows<'a> {
    pub(super) fn new(
        pieces: Vec<Piece>,
        budget: InputBudget,
        taking: Taking,
        dialect: Dialect,
        counter: &'a dyn TokenCounter,
    ) -> Self {
        Self { pieces, costs: None, at: 0, budget, taking, dialect, counter }
    }

    /// Tokens that the conversation in one request may have.
    pub(super) fn budget_tokens(&self) -> u64 {
        self.budget.tokens
    }

    /// The next window. The first is there even when there is nothing to put into it.
    pub(super) fn next(&mut self) -> Window {
        let rest = &self.pieces[self.at..];
        if self.costs.is_none() {
            let text = self.text(rest);
            if self.taking == Taking::Once || self.fits(&text) {
                return self.window(text, rest.len());
            }
            let costs = self.pieces.iter().map(|piece| {
                self.counter.count(Fragment::Text(&self.text(std::slice::from_ref(piece))))
            });
            self.costs = Some(costs.collect());
        }
        let pieces = self.pieces_that_fit();
        let text = self.text(&self.pieces[self.at..self.at + pieces]);
        self.window(text, pieces)
    }

    /// Moves past a window that was summarized. Returns whether more follows.
    pub(super) fn advance(&mut self, window: &Window) -> bool {
        self.at += window.pieces;
        self.at < self.pieces.len()
    }

    /// Takes smaller windows from now on, because the model refused one. Returns whether that can help.
    pub(super) fn halve(&mut self, refused: &Window) -> bool {
        let halved = self.budget.tokens.min(refused.tokens) / 2;
        if halved < self.budget.least_tokens {
            return false;
        }
        self.budget.tokens = halved;
        true
    }

    fn pieces_that_fit(&self) -> usize {
        let costs = self.costs.as_deref().unwrap_or_default();
        let mut sum: u64 = 0;
        let fitting = costs[self.at..].iter().take_while(|cost| {
            sum = sum.saturating_add(**cost);
            sum <= self.budget.tokens
        });
        fitting.count().max(1).min(costs.len() - self.at)
    }

    fn window(&self, text: String, pieces: usize) -> Window {
        let tokens = self.counter.count(Fragment::Text(&text));
        if tokens <= self.budget.tokens {
            return Window { text, tokens, pieces };
        }
        let text = clipped(&text, tokens, self.budget.tokens);
        Window { text, tokens: self.budget.tokens, pieces }
    }

    fn fits(&self, text: &str) -> bool {
        check_budget(text, self.budget.tokens, self.counter).fits
    }

    fn text(&self, pieces: &[Piece]) -> String {
        let mut out = String::new();
        for run in pieces.chunk_by(|a, b| matches!((a, b), (Piece::Message(_), Piece::Message(_))))
        {
            match &run[0] {
                Piece::Text(text) => out.push_str(&safe(text)),
                Piece::Message(_) => {
                    let messages = run.iter().filter_map(|piece| match piece {
                        Piece::Message(message) => Some(message.clone()),
                        Piece::Text(_) => None,
                    });
                    let messages: Vec<_> = messages.collect();
                    out.push_str(&serialize::for_summary(&messages, self.dialect));
                }
            }
        }
        out
    }
}

/// The start of a text that has `tokens` tokens and may have `budget_tokens`.
pub(super) fn clipped(text: &str, tokens: u64, budget_tokens: u64) -> String {
    let units = text.chars().map(char::len_utf16).sum::<usize>() as f64;
    let kept_units = (units * budget_tokens as f64 * CLIP_SHARE / tokens as f64).floor() as usize;
    clip(text, kept_units.max(MIN_CLIPPED_UNITS)).into_owned()
}
