//! The title of a transcript: the user's own before one that a model gave, the newest of each.

use super::record::Kind;
use crate::import::survey::{Title, clean_title};
use crate::title_slot::TitleSource;

#[derive(Default)]
pub(super) struct Titles {
    custom: Option<String>,
    ai: Option<String>,
}

impl Titles {
    pub(super) fn add(&mut self, kind: &Kind) {
        match kind {
            Kind::CustomTitle(title) => self.custom = clean_title(title),
            Kind::AiTitle(title) => self.ai = clean_title(title),
            Kind::User
            | Kind::Assistant
            | Kind::CompactBoundary
            | Kind::CompactSummary
            | Kind::Skipped(_) => {}
        }
    }

    pub(super) fn best(self) -> Option<Title> {
        let custom = self.custom.map(|text| Title { text, source: TitleSource::User });
        custom.or(self.ai.map(|text| Title { text, source: TitleSource::Auto }))
    }
}
