//! The viewer's slow work, each piece on a thread of its own. What comes of it is sent; it ends unheard where the viewer has closed.

use std::sync::Arc;

use longhand_agent::SessionHandle;
use longhand_snapcompact::Family;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::spawn_blocking;

use super::files::{self, Outlet};
use super::picture;
use super::pictures::{Made, Order};
use super::reel::Reel;
use super::source::{self, Shelf, Which};
use super::state::Wanted;

/// What a worker has found.
pub(crate) enum Found {
    /// The archive, or why there is none.
    Reel(Result<Arc<Reel>, String>),
    /// How a part begins.
    Words(usize, String),
    /// A text that was wanted.
    Text(Wanted, Result<String, String>),
    /// A picture that was ordered.
    Picture(Order, Made),
    /// What became of a file that is kept, in words for the user.
    Kept(String),
}

/// Starts workers.
pub(crate) struct Workers(UnboundedSender<Found>);

impl Workers {
    /// Workers, and what they find.
    pub(crate) fn new() -> (Self, UnboundedReceiver<Found>) {
        let (found_to, found) = unbounded_channel();
        (Self(found_to), found)
    }

    /// Reads an archive.
    pub(crate) fn read_archive(&self, session: SessionHandle, archives: Shelf, which: Which) {
        self.start(move |found_to| {
            let live = session.live();
            let family = Family::of_api(live.client.model().api.as_str());
            let reel = source::find(&session, &archives, &which)
                .and_then(|entry| Reel::of(&entry, archives.blobs, family, &*live.counter()));
            let _ = found_to.send(Found::Reel(reel.map(Arc::new)));
        });
    }

    /// Reads back how each frame begins.
    pub(crate) fn read_words(&self, reel: Arc<Reel>) {
        self.start(move |found_to| {
            reel.first_words(|part, words| found_to.send(Found::Words(part, words)).is_ok());
        });
    }

    /// Reads a text.
    pub(crate) fn read_text(&self, reel: Arc<Reel>, wanted: Wanted) {
        self.start(move |found_to| {
            let text = match wanted {
                Wanted::Source => Ok(reel.source_text()),
                Wanted::Part(part) => reel.text(&reel.parts[part].kind),
            };
            let _ = found_to.send(Found::Text(wanted, text));
        });
    }

    /// Makes a picture.
    pub(crate) fn make(&self, reel: Arc<Reel>, order: Order) {
        self.start(move |found_to| {
            let key = &order.key;
            let file = reel.png(key.number);
            let made =
                file.and_then(|file| picture::encode(&file, &key.layout, key.graphics, order.slot));
            let _ = found_to.send(Found::Picture(order, made));
        });
    }

    /// Writes a part to a file that is kept.
    pub(crate) fn keep(&self, reel: Arc<Reel>, part: usize, outlet: Outlet) {
        self.start(move |found_to| {
            let kept = files::of_part(&reel, part).and_then(|(name, content)| {
                let kept = files::keep(&outlet, &name, &content);
                kept.map_err(|error| format!("{name} cannot be written: {error}"))
            });
            let said = kept.map_or_else(|why| why, |path| format!("wrote {}", path.display()));
            let _ = found_to.send(Found::Kept(said));
        });
    }

    fn start(&self, work: impl FnOnce(UnboundedSender<Found>) + Send + 'static) {
        let found_to = self.0.clone();
        spawn_blocking(move || work(found_to));
    }
}
