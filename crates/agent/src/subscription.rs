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
        self.queue.with(|state| match state.waiting.back_mut() {
            Some(last) if merges(&last.event, &event.event) => merge(last, event),
            _ => state.waiting.push_back(event),
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

/// Whether a waiting update may take in a newer one: both are deltas of the same block.
fn merges(waiting: &SessionEvent, newer: &SessionEvent) -> bool {
    use crate::event::AssistantMessageEvent as E;
    let (
        SessionEvent::MessageUpdate { assistant_message_event: a, .. },
        SessionEvent::MessageUpdate { assistant_message_event: b, .. },
    ) = (waiting, newer)
    else {
        return false;
    };
    match (a, b) {
        (E::TextDelta { content_index: i, .. }, E::TextDelta { content_index: j, .. })
        | (E::ThinkingDelta { content_index: i, .. }, E::ThinkingDelta { content_index: j, .. })
        | (E::ToolCallDelta { content_index: i, .. }, E::ToolCallDelta { content_index: j, .. }) => {
            i == j
        }
        _ => false,
    }
}

/// Joins two deltas of one block, so that whoever reads deltas misses nothing.
fn merge(waiting: &mut Sequenced, newer: Sequenced) {
    use crate::event::AssistantMessageEvent as E;
    let (
        SessionEvent::MessageUpdate { assistant_message_event: a, partial: old },
        SessionEvent::MessageUpdate { assistant_message_event: b, partial: new },
    ) = (&mut waiting.event, newer.event)
    else {
        return;
    };
    if let (
        E::TextDelta { delta: a, .. }
        | E::ThinkingDelta { delta: a, .. }
        | E::ToolCallDelta { delta: a, .. },
        E::TextDelta { delta: b, .. }
        | E::ThinkingDelta { delta: b, .. }
        | E::ToolCallDelta { delta: b, .. },
    ) = (a, b)
    {
        a.push_str(&b);
    }
    *old = new;
    waiting.seq = newer.seq;
}
