//! Why a model did not answer, in terms that a caller can act on.

use std::time::Duration;

/// One trait of a failure. A failure may have several.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The prompt does not fit the context window.
    ContextOverflow,
    /// The key is missing, wrong or may not use the model.
    AuthFailed,
    /// A quota is used up.
    UsageLimit,
    /// Waiting and trying again may help.
    Transient,
    /// Nothing came in time.
    Timeout,
    /// The request is too large in bytes or images.
    PayloadRejected,
    /// The provider refused the content.
    ContentBlocked,
    /// The provider ended the reply with a failure of its own.
    ProviderFinishError,
    /// The reply had no text, no call and no image.
    EmptyResponse,
    /// The caller stopped the request.
    Aborted,
}

/// Why a model did not answer. Filled by providers; nobody else matches the text of a foreign service.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct ModelError {
    /// What kind of failure it is; empty for one that nothing is known of.
    pub kinds: Vec<ErrorKind>,
    /// HTTP status, where there was an answer.
    pub status: Option<u16>,
    /// How long the provider asks to wait.
    pub hint: Option<Duration>,
    /// One line for people. Never carries a key.
    pub text: String,
}

impl ModelError {
    /// A failure of one kind, without a status.
    pub fn new(kind: ErrorKind, text: impl Into<String>) -> Self {
        Self { kinds: vec![kind], status: None, hint: None, text: text.into() }
    }

    /// A failure of which nothing is known but its text. It is final.
    pub fn unclassified(text: impl Into<String>) -> Self {
        Self { kinds: Vec::new(), status: None, hint: None, text: text.into() }
    }

    /// The caller stopped the request.
    pub fn aborted() -> Self {
        Self::new(ErrorKind::Aborted, "Request was aborted")
    }

    /// Whether it is of that kind.
    pub fn is(&self, kind: ErrorKind) -> bool {
        self.kinds.contains(&kind)
    }

    /// Whether the same request may succeed later.
    pub fn is_retryable(&self) -> bool {
        !self.is(ErrorKind::ContentBlocked)
            && !self.is(ErrorKind::PayloadRejected)
            && [
                ErrorKind::Transient,
                ErrorKind::UsageLimit,
                ErrorKind::ProviderFinishError,
                ErrorKind::EmptyResponse,
            ]
            .iter()
            .any(|kind| self.is(*kind))
    }
}
