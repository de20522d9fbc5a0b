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
    /// A new listener, who hears `first` before anything else.
    pub(crate) fn subscribe(
        &mut self,
        first: impl IntoIterator<Item = SessionEvent>,
    ) -> Subscription {
        let (subscriber, subscription) = subscription::channel();
        for event in first {
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
