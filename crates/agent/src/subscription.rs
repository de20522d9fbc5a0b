//! One queue a subscriber. The agent never waits for a view: in each queue a newer update of a message replaces the waiting one.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Notify;

use crate::event::{Sequenced, SessionEvent};

/// Events of a session, in order.
pub struct Subscription {
    queue: Arc<Queue>,
}

/// The owner's end of a [`Subscription`].
pub(crate) struct Subscriber {
    queue: Arc<Queue>,
}

struct Queue {
    state: Mutex<State>,
    changed: Notify,
}

struct State {
    waiting: VecDeque<Sequenced>,
    is_closed: bool,
}

/// Two ends of a new queue.
pub(crate) fn channel() -> (Subscriber, Subscription) {
    let state = Mutex::new(State { waiting: VecDeque::new(), is_closed: false });
    let queue = Arc::new(Queue { state, changed: Notify::new() });
    (Subscriber { queue: queue.clone() }, Subscription { queue })
}

impl Subscriber {
    /// Adds an event. Returns whether anyone still listens.
    pub(crate) fn push(&self, event: Sequenced) -> bool {
        if Arc::strong_count(&self.queue) == 1 {
            return false;
        }
        self.queue.with(|state| {
            let left = match state.waiting.back_mut() {
                Some(last) => merge(last, event),
                None => Some(event),
            };
            state.waiting.extend(left);
        });
        self.queue.changed.notify_one();
        true
    }
}

impl Drop for Subscriber {
    fn drop(&mut self) {
        self.queue.with(|state| state.is_closed = true);
        self.queue.changed.notify_one();
    }
}

impl Subscription {
    /// The next event; `None` after the last event of a closed session.
    pub async fn next(&mut self) -> Option<Sequenced> {
        loop {
            let (event, is_closed) =
                self.queue.with(|state| (state.waiting.pop_front(), state.is_closed));
            if event.is_some() || is_closed {
                return event;
            }
            self.queue.changed.notified().await;
        }
    }

    /// The next event that is already there.
    pub fn try_next(&mut self) -> Option<Sequenced> {
        self.queue.with(|state| state.waiting.pop_front())
    }
}

impl Queue {
    fn with<T>(&self, use_state: impl FnOnce(&mut State) -> T) -> T {
        // Nothing in here panics while it holds the lock, so a poisoned state is a whole one.
        use_state(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Joins two updates of one block. Gives back an event that is something else.
fn merge(waiting: &mut Sequenced, newer: Sequenced) -> Option<Sequenced> {
    let seq = newer.seq;
    match (&mut waiting.event, newer.event) {
        (
            SessionEvent::MessageUpdate { assistant_message_event: old, partial: old_partial },
            SessionEvent::MessageUpdate { assistant_message_event: new, partial },
        ) => {
            if let Some(assistant_message_event) = old.absorb(new) {
                let event = SessionEvent::MessageUpdate { assistant_message_event, partial };
                return Some(Sequenced { seq, event });
            }
            *old_partial = partial;
            waiting.seq = seq;
            None
        }
        (_, event) => Some(Sequenced { seq, event }),
    }
}
