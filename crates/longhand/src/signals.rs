//! Signals that end the program.

use tokio::signal::unix::{Signal, SignalKind, signal};

/// Waits for a signal that ends the program, and gives its number. Listens from the call on, not from the first wait on: a signal in
/// between would end the program at once.
pub(crate) fn ending() -> impl Future<Output = u8> {
    let listen = |kind| signal(kind).ok();
    let mut hangup = listen(SignalKind::hangup());
    let mut interrupt = listen(SignalKind::interrupt());
    let mut terminate = listen(SignalKind::terminate());
    async move {
        tokio::select! {
            () = arrival(&mut hangup) => 1,
            () = arrival(&mut interrupt) => 2,
            () = arrival(&mut terminate) => 15,
        }
    }
}

/// Waits for a signal; for ever where the system does not let us listen.
async fn arrival(signal: &mut Option<Signal>) {
    match signal {
        Some(signal) => {
            signal.recv().await;
        }
        None => std::future::pending().await,
    }
}
