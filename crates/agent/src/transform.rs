//! Rewrites of an outgoing request.

use crate::request::Request;

/// A pure rewrite of a request just before it is sent: redaction, image budgets. The session is never changed by it.
pub trait RequestTransform: Send + Sync {
    /// The request as it should be sent.
    fn apply(&self, request: Request) -> Request;
}
