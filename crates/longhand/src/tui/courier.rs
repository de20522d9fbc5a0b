//! Carries effects to the session and replies back, so that the view never waits for the agent.
//!
//! Effects are carried out in their order; a pass and the reading of a transcript take their time beside the others.

use longhand_agent::SessionHandle;
use longhand_session::title_slot::TitleSource;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::app::{Effect, Reply};

/// People believe that clearing deletes, and look for what they think is lost.
const CLEARED: &str = "the model begins afresh; everything above stays in the session. /new begins another one, /resume goes back";

/// The view's end of the way to the session. Dropping it ends the courier's work after what it has been given.
pub(crate) struct Courier {
    effects: mpsc::UnboundedSender<Effect>,
    replies: mpsc::UnboundedReceiver<Reply>,
    replies_to: mpsc::UnboundedSender<Reply>,
    /// Owns the tasks, and stops them when it is dropped.
    _work: JoinSet<()>,
}

impl Courier {
    /// Begins to carry.
    pub(crate) fn start(session: SessionHandle) -> Self {
        let (effects, to_do) = mpsc::unbounded_channel();
        let (replies_to, replies) = mpsc::unbounded_channel();
        let mut work = JoinSet::new();
        work.spawn(carry(session, to_do, replies_to.clone()));
        Self { effects, replies, replies_to, _work: work }
    }

    /// Gives an effect to be carried out.
    pub(crate) fn send(&self, effect: Effect) {
        // The courier ends only with this value.
        let _ = self.effects.send(effect);
    }

    /// Where replies go, for work that is done elsewhere.
    pub(crate) fn replies(&self) -> mpsc::UnboundedSender<Reply> {
        self.replies_to.clone()
    }

    /// The next reply.
    pub(crate) async fn reply(&mut self) -> Option<Reply> {
        self.replies.recv().await
    }
}

async fn carry(
    session: SessionHandle,
    mut effects: mpsc::UnboundedReceiver<Effect>,
    replies: mpsc::UnboundedSender<Reply>,
) {
    let mut slow = JoinSet::new();
    loop {
        let effect = tokio::select! {
            effect = effects.recv() => effect,
            Some(_) = slow.join_next() => continue,
        };
        let Some(effect) = effect else { return };
        let session = session.clone();
        let reply = match effect {
            Effect::Steer(input) => {
                session.steer(input).await;
                None
            }
            Effect::FollowUp(input) => {
                session.follow_up(input).await;
                None
            }
            Effect::Abort => {
                session.abort().await;
                None
            }
            Effect::TakeQueue => Some(Reply::Queue(session.take_queue().await)),
            Effect::DeliverQueue => {
                for input in session.take_queue().await {
                    session.steer(input).await;
                }
                None
            }
            Effect::Answer(call, answer) => {
                session.answer(call, answer).await;
                None
            }
            Effect::ReadEntries(ids) => {
                let branch = session.snapshot();
                let named = branch.entries.iter().filter(|entry| ids.contains(&entry.id));
                Some(Reply::Entries(named.cloned().collect()))
            }
            Effect::Compact(request) => {
                let replies = replies.clone();
                slow.spawn(async move {
                    let _ = replies.send(Reply::Compacted(session.compact(request).await));
                });
                None
            }
            Effect::LoadTranscript => {
                let replies = replies.clone();
                slow.spawn(async move {
                    if let Some(transcript) = session.transcript().await {
                        let _ = replies.send(Reply::Transcript(transcript));
                    }
                });
                None
            }
            Effect::Reset => Some(Reply::Done(match session.reset().await {
                Ok(()) => Ok(CLEARED.into()),
                Err(error) => Err(format!("the context was not cleared: {error}")),
            })),
            Effect::Rename(title) => {
                let renamed = session.set_title(title.clone(), TitleSource::User).await;
                Some(Reply::Done(match renamed {
                    Ok(()) => Ok(format!("the session is called: {title}")),
                    Err(error) => Err(format!("the title was not changed: {error}")),
                }))
            }
            // These concern the terminal, and are done where it is owned.
            Effect::Repaint
            | Effect::Suspend
            | Effect::Switch(_)
            | Effect::Frames(..)
            | Effect::Quit => None,
        };
        if let Some(reply) = reply {
            let _ = replies.send(reply);
        }
    }
}
