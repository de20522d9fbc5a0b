//! The list from which a session is picked: searched as one types, newest first, with what each was about.
//!
//! Keys and lists go in, a drawing and a wish come out; the loop around it reads lists on a thread of their own, so that a key is
//! answered at once however many sessions there are.

mod list;
mod rows;

use std::path::PathBuf;
use std::sync::Arc;

use longhand_coding_agent::sessions::{Scope, Sessions};
use longhand_session::SessionId;
use longhand_session::listing::SessionRow;
use longhand_session::place::SessionPlace;
use tokio::sync::mpsc;
use tokio::task::spawn_blocking;

use super::app::Press;
use super::input::Input;
use super::key_reader::KeyReader;
use super::terminal::Screen;
use super::theme::Theme;
use crate::signals;

pub(crate) use list::{Picker, Step};

/// Where sessions are listed, and for which directory.
#[derive(Debug, Clone)]
pub(crate) struct Desk {
    /// All sessions of the user.
    pub(crate) sessions: Sessions,
    /// The working directory.
    pub(crate) directory: PathBuf,
}

/// Which sessions the list shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shown {
    /// Those of the working directory.
    Folder,
    /// All.
    All,
}

/// What came of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Picked {
    /// A session.
    Session(SessionPlace),
    /// Nothing: the user went back.
    Nothing,
    /// A signal ended it, or there is no terminal any more.
    Ended(u8),
}

/// A list that was read.
struct Listed {
    shown: Shown,
    rows: Result<Vec<SessionRow>, String>,
    pins: Vec<SessionId>,
}

/// Shows the list until something is picked. `query` stands in the search at first.
pub(crate) async fn pick(
    screen: &mut Screen,
    keys: &mut KeyReader,
    theme: &Theme,
    desk: &Desk,
    query: &str,
) -> Picked {
    let desk = Arc::new(desk.clone());
    let (sender, mut listed) = mpsc::unbounded_channel();
    let mut picker = Picker::new(theme, query);
    load(&desk, picker.shown(), &sender);
    let ending = signals::ending();
    tokio::pin!(ending);
    loop {
        let Ok(area) = screen.area() else { return Picked::Ended(1) };
        if screen.show(picker.frame(area)).is_err() {
            return Picked::Ended(1);
        }
        let step = tokio::select! {
            number = &mut ending => return Picked::Ended(number),
            Some(list) = listed.recv() => {
                let Listed { shown, rows, pins } = list;
                picker.take(shown, rows, pins);
                Step::Stay
            }
            event = keys.next() => match event {
                Some(Ok(event)) => match Input::from(event) {
                    Input::Press(press) => take(&mut picker, press),
                    Input::Resize | Input::Nothing => Step::Stay,
                },
                Some(Err(_)) | None => return Picked::Ended(1),
            },
        };
        match step {
            Step::Stay => {}
            Step::Back => return Picked::Nothing,
            Step::Open(place) => return Picked::Session(place),
            Step::Load(shown) => load(&desk, shown, &sender),
            Step::Delete(place, id) => {
                let sessions = desk.sessions.clone();
                let deleted = spawn_blocking(move || {
                    sessions.delete(&place)?;
                    sessions.pins().unpin(&id)
                });
                if let Ok(Err(error)) = deleted.await {
                    picker.tell(format!("it cannot be deleted: {error}"));
                }
                load(&desk, picker.shown(), &sender);
            }
            Step::Pin(id, is_pinned) => {
                let sessions = desk.sessions.clone();
                let changed = spawn_blocking(move || {
                    let pins = sessions.pins();
                    if is_pinned { pins.unpin(&id) } else { pins.pin(&id) }
                });
                if let Ok(Err(error)) = changed.await {
                    picker.tell(format!("it cannot be pinned: {error}"));
                }
                load(&desk, picker.shown(), &sender);
            }
        }
    }
}

fn take(picker: &mut Picker, press: Press) -> Step {
    match press {
        Press::Key(key) => picker.press(key),
        Press::Paste(text) => picker.paste(&text),
        Press::Wheel(rows) => picker.wheel(rows),
    }
}

fn load(desk: &Arc<Desk>, shown: Shown, to: &mpsc::UnboundedSender<Listed>) {
    let (desk, to) = (Arc::clone(desk), to.clone());
    spawn_blocking(move || {
        let scope = match shown {
            Shown::Folder => Scope::Directory(&desk.directory),
            Shown::All => Scope::Everywhere,
        };
        let rows = desk.sessions.list(scope).map_err(|error| error.to_string());
        let pins = desk.sessions.pins().read().unwrap_or_default();
        // Nobody waits for it where something was picked meanwhile.
        let _ = to.send(Listed { shown, rows, pins });
    });
}
