//! Input that waits for its turn. Each piece leaves the queue once: delivered, or taken back by the user.

use std::collections::VecDeque;

use crate::command::UserInput;
use crate::event::SessionEvent;

/// Input that arrived while something was running.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    steering: VecDeque<UserInput>,
    follow_up: VecDeque<UserInput>,
}

impl Queue {
    pub(crate) fn steer(&mut self, input: UserInput) {
        self.steering.push_back(input);
    }

    pub(crate) fn follow_up(&mut self, input: UserInput) {
        self.follow_up.push_back(input);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.steering.is_empty() && self.follow_up.is_empty()
    }

    /// All that belongs before the next request.
    pub(crate) fn take_steering(&mut self) -> Vec<UserInput> {
        self.steering.drain(..).collect()
    }

    /// The next follow-up. One at a time: each is a request of its own.
    pub(crate) fn take_follow_up(&mut self) -> Option<UserInput> {
        self.follow_up.pop_front()
    }

    /// Everything, steering first.
    pub(crate) fn take_all(&mut self) -> Vec<UserInput> {
        self.steering.drain(..).chain(self.follow_up.drain(..)).collect()
    }

    /// What is queued now, for those who show it.
    pub(crate) fn changed(&self) -> SessionEvent {
        let texts = |inputs: &VecDeque<UserInput>| inputs.iter().map(|i| i.text.clone()).collect();
        SessionEvent::QueueChanged {
            steering: texts(&self.steering),
            follow_up: texts(&self.follow_up),
        }
    }
}
