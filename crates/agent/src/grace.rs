//! How long something that was stopped may take to end.

use std::future::Future;
use std::pin::pin;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

/// Long enough for a process group to end in order, short enough for someone who waits at the prompt.
pub(crate) const GRACE: Duration = Duration::from_secs(3);

/// What `work` gives; `None` if it has not ended [`GRACE`] after `cancel`. It is dropped then.
pub(crate) async fn until_over<T>(
    work: impl Future<Output = T>,
    cancel: &CancellationToken,
) -> Option<T> {
    let mut work = pin!(work);
    tokio::select! {
        biased;
        output = &mut work => Some(output),
        () = over(cancel) => None,
    }
}

/// Ends [`GRACE`] after `cancel`.
pub(crate) async fn over(cancel: &CancellationToken) {
    cancel.cancelled().await;
    tokio::time::sleep(GRACE).await;
}
