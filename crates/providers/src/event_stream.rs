//! An event stream that is driven by a future inside it.
//!
//! Nothing is spawned: the future runs while the stream is polled, and dropping the stream drops it, and with it the connection.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures::Stream;
use longhand_agent::StreamEvent;
use longhand_agent::request::EventStream;
use tokio::sync::mpsc;

/// Events that may wait before the future pauses. A chunk gives a handful.
const WAITING_EVENTS: usize = 64;

struct Driven<F> {
    driver: Option<Pin<Box<F>>>,
    events: mpsc::Receiver<StreamEvent>,
}

impl<F: Future<Output = ()>> Stream for Driven<F> {
    type Item = StreamEvent;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<StreamEvent>> {
        let this = &mut *self;
        if let Ok(event) = this.events.try_recv() {
            return Poll::Ready(Some(event));
        }
        if let Some(driver) = &mut this.driver
            && driver.as_mut().poll(context).is_ready()
        {
            this.driver = None;
        }
        this.events.poll_recv(context)
    }
}

/// The events that `drive` sends. The stream ends when its sender is dropped.
pub(crate) fn driven<F>(drive: impl FnOnce(mpsc::Sender<StreamEvent>) -> F) -> EventStream
where
    F: Future<Output = ()> + Send + 'static,
{
    let (sender, events) = mpsc::channel(WAITING_EVENTS);
    Box::pin(Driven { driver: Some(Box::pin(drive(sender))), events })
}
