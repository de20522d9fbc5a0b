//! Rewrites of an outgoing request.

use longhand_session::{Model, TokenCounter};

use crate::request::Request;

/// Who a request goes to.
#[derive(Clone, Copy)]
pub struct Recipient<'a> {
    /// The model.
    pub model: &'a Model,
    /// Counts tokens for it.
    pub counter: &'a dyn TokenCounter,
}

/// A rewrite of a request just before it is sent: redaction, inline imaging, image budgets. The session is never changed by it, and
/// the same request becomes the same bytes, so that a provider's cache of it holds.
pub trait RequestTransform: Send + Sync {
    /// The request as it should be sent.
    fn apply(&self, request: Request, recipient: &Recipient<'_>) -> Request;
}
