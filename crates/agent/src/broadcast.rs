//! Sends events to all who listen, each with its place in the order. Never waits for a listener.

use crate::event::{Sequenced, SessionEvent};
use crate::subscription::{self, Subscriber, Subscription};

/// The listeners of a session.
#[derive(Default)]
pub(crate) struct Broadcast {
    last_seq: u64,
    subscribers: Vec<Subscriber>,
}

impl Broadcast {
    /// A new listener. It first hears `standing`: what was said before and still holds.
    pub(crate) fn subscribe(&mut self, standing: Option<SessionEvent>) -> Subscription {
        let (subscriber, subscription) = subscription::channel();
        if let Some(event) = standing {
            subscriber.push(self.sequenced(event));
        }
        self.subscribers.push(subscriber);
        subscription
    }

    /// Tells everyone, and forgets those who have gone.
    pub(crate) fn emit(&mut self, event: SessionEvent) {
        let event = self.sequenced(event);
        self.subscribers.retain(|subscriber| subscriber.push(event.clone()));
    }

    fn sequenced(&mut self, event: SessionEvent) -> Sequenced {
        self.last_seq += 1;
        Sequenced { seq: self.last_seq, event }
    }
}
