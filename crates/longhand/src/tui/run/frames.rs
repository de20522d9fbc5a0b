//! The viewer's loop: its keys and its workers on one side, the session, which goes on meanwhile, on the other.

use std::io;
use std::sync::Arc;

use crossterm::event::Event;
use crossterm::terminal::window_size;
use longhand_agent::event::NoticeLevel;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::task::spawn_blocking;

use super::{Left, Loop};
use crate::signals;
use crate::tui::app::Reply;
use crate::tui::input::Input;
use crate::tui::terminal;
use crate::tui::viewer::files::{self, ShownFiles};
use crate::tui::viewer::graphics::{Graphics, Pixels, Protocol};
use crate::tui::viewer::query;
use crate::tui::viewer::reel::Reel;
use crate::tui::viewer::source::Which;
use crate::tui::viewer::workers::{Found, Workers};
use crate::tui::viewer::{Images, Opening, Step, Viewer, Wanted};

/// What the terminal was found to draw, and the files that other programs show: both last longer than a look at an archive.
#[derive(Default)]
pub(super) struct Lasting {
    /// `None` until a viewer was opened.
    graphics: Option<Graphics>,
    files: ShownFiles,
}

/// An archive that is looked at.
struct Look {
    viewer: Viewer,
    /// `None` until it was read.
    reel: Option<Arc<Reel>>,
    workers: Workers,
}

/// What woke the viewer.
enum Wake {
    Input(Input),
    Found(Found),
    Reply(Reply),
    /// The session said something.
    Session,
    Left(Left),
}

impl Loop<'_> {
    /// Shows an archive until the user goes back to the transcript. Gives why the session is left, where it is.
    pub(super) async fn view_frames(&mut self, which: Which, opening: Opening) -> Option<Left> {
        let (workers, mut found) = Workers::new();
        workers.read_archive(self.session.clone(), self.viewer.shelf.clone(), which);
        if opening == Opening::File {
            drop(workers);
            self.open_newest(&mut found).await;
            return None;
        }
        let mut viewer = Viewer::new(&self.app.theme, self.lasting.graphics);
        if opening == Opening::Text {
            viewer.read(Wanted::Source);
        }
        self.screen.forget();
        let left = self.look(Look { viewer, reel: None, workers }, &mut found).await;
        terminal::delete_pictures();
        self.screen.forget();
        let now = self.now();
        self.pace.changed(now);
        left
    }

    /// Hands the newest frame to the user's program, without a viewer.
    async fn open_newest(&mut self, found: &mut UnboundedReceiver<Found>) {
        let Some(Found::Reel(reel)) = found.recv().await else { return };
        let said = reel.and_then(|reel| match reel.newest_frame() {
            Some(part) => self.open_file(&reel, part),
            None => Err("this archive is all text; it has no frames".into()),
        });
        self.say(said);
    }

    async fn look(&mut self, mut look: Look, found: &mut UnboundedReceiver<Found>) -> Option<Left> {
        let ending = signals::ending();
        tokio::pin!(ending);
        if self.draw(&mut look).is_err() {
            return Some(Left::TerminalGone);
        }
        if self.lasting.graphics.is_none() {
            let Ok(graphics) = self.find_graphics(&look.viewer).await else {
                return Some(Left::TerminalGone);
            };
            look.viewer.take_graphics(graphics);
            if self.draw(&mut look).is_err() {
                return Some(Left::TerminalGone);
            }
        }
        loop {
            let wake = tokio::select! {
                biased;
                number = &mut ending => Wake::Left(Left::Signal(number)),
                event = self.keys.next() => match event {
                    Some(Ok(event)) => Wake::Input(event.into()),
                    Some(Err(_)) | None => Wake::Left(Left::TerminalGone),
                },
                Some(found) = found.recv() => Wake::Found(found),
                Some(reply) = self.courier.reply() => Wake::Reply(reply),
                event = self.events.next() => match event {
                    Some(event) => {
                        for effect in self.take_events(&event) {
                            self.courier.send(effect);
                        }
                        Wake::Session
                    }
                    None => Wake::Left(Left::SessionClosed),
                },
            };
            let step = match wake {
                Wake::Left(left) => return Some(left),
                // What it said is seen when the viewer is closed, save that it waits.
                Wake::Session if self.app.view().approvals.is_empty() => continue,
                Wake::Session => {
                    look.viewer.tell("a call waits for your answer; esc goes back to it");
                    Step::Stay
                }
                Wake::Input(Input::Press(press)) => look.viewer.press(&press),
                Wake::Input(Input::Resize) => Step::Repaint,
                Wake::Input(Input::Nothing) => continue,
                Wake::Found(found) => self.take_found(found, &mut look),
                Wake::Reply(reply) => {
                    if let Reply::Done(Ok(said) | Err(said)) = &reply {
                        look.viewer.tell(said.clone());
                    }
                    let now = self.now();
                    self.app.reply(reply, now);
                    Step::Stay
                }
            };
            if step == Step::Back {
                return None;
            }
            if self.follow(step, &mut look).await.is_err() || self.draw(&mut look).is_err() {
                return Some(Left::TerminalGone);
            }
        }
    }

    /// Draws, and has the picture made that is missing.
    fn draw(&mut self, look: &mut Look) -> io::Result<()> {
        let area = self.screen.area()?;
        self.screen.show(look.viewer.frame(area))?;
        if let Some(reel) = &look.reel
            && let Some(order) = look.viewer.order()
        {
            look.workers.make(reel.clone(), order);
        }
        Ok(())
    }

    fn take_found(&mut self, found: Found, look: &mut Look) -> Step {
        match found {
            Found::Reel(Ok(reel)) => {
                look.reel = Some(reel.clone());
                look.workers.read_words(reel.clone());
                let early = look.viewer.take_reel(reel);
                self.keys.give_back(early.into_iter().map(Event::Key));
                return look.viewer.wanted_text().map_or(Step::Stay, Step::Read);
            }
            Found::Reel(Err(why)) => {
                self.say(Err(why));
                return Step::Back;
            }
            Found::Words(part, words) => look.viewer.take_words(part, words),
            Found::Text(wanted, text) => look.viewer.take_text(wanted, text),
            Found::Picture(order, made) => look.viewer.take_picture(order, made),
            Found::Kept(said) => look.viewer.tell(said),
        }
        Step::Stay
    }

    /// Does what a key asks for.
    async fn follow(&mut self, step: Step, look: &mut Look) -> io::Result<()> {
        match (step, &look.reel) {
            (Step::Repaint, _) => self.forget_shown(look),
            (Step::Suspend, _) => {
                self.suspend().await?;
                self.forget_shown(look);
            }
            (Step::Open(part), Some(reel)) => {
                let (Ok(said) | Err(said)) = self.open_file(reel, part);
                look.viewer.tell(said);
            }
            (Step::Save(part), Some(reel)) => {
                look.workers.keep(reel.clone(), part, self.viewer.outlet.clone());
            }
            (Step::Read(wanted), Some(reel)) => look.workers.read_text(reel.clone(), wanted),
            // A part is only asked for where there is an archive.
            (Step::Stay | Step::Back, _)
            | (Step::Open(_) | Step::Save(_) | Step::Read(_), None) => {}
        }
        Ok(())
    }

    fn forget_shown(&mut self, look: &mut Look) {
        if let Some((graphics, cell_px)) = self.lasting.graphics.zip(known_cell_px()) {
            let graphics = graphics.resized(cell_px);
            self.lasting.graphics = Some(graphics);
            look.viewer.take_graphics(graphics);
        }
        look.viewer.forget_pictures();
        self.screen.forget();
    }

    /// Finds out what the terminal draws, once. What the user presses meanwhile is kept.
    async fn find_graphics(&mut self, viewer: &Viewer) -> io::Result<Graphics> {
        let hints = &self.viewer.hints;
        let graphics = if self.viewer.images == Images::Off {
            Graphics::Off
        } else if hints.is_multiplexed {
            hints.half_blocks()
        } else {
            self.keys.let_go();
            let asked = spawn_blocking(query::ask).await.map_err(io::Error::other)?;
            let (answers, typed) = asked?;
            self.keys.give_back(typed);
            if !answers.is_complete {
                self.keys.expect_answers();
            }
            // A terminal that does not know a question may have shown it.
            self.screen.forget();
            hints.choose(&answers, known_cell_px())
        };
        let graphics = match graphics {
            Graphics::HalfBlocks(_) if !viewer.draws_half_blocks() => Graphics::Off,
            graphics => graphics,
        };
        if let Graphics::Pixels(Pixels { protocol: Protocol::Kitty { .. }, .. }) = graphics {
            terminal::keep_pictures();
        }
        self.lasting.graphics = Some(graphics);
        Ok(graphics)
    }

    /// Shows a part with the user's program for such files. Gives what to say.
    fn open_file(&mut self, reel: &Reel, part: usize) -> Result<String, String> {
        let outlet = &self.viewer.outlet;
        let (name, content) = files::of_part(reel, part)?;
        let file = self.lasting.files.write(outlet, &name, &content);
        let file = file.map_err(|error| format!("the file cannot be written: {error}"))?;
        // The program may fail long after the viewer was closed.
        let replies = self.courier.replies();
        files::show(outlet, &file, move |why| {
            // Nobody listens where the session was left.
            let _ = replies.send(Reply::Done(Err(why)));
        })?;
        Ok(format!("opened with {}", outlet.viewer.join(" ")))
    }

    /// Says something above the editor.
    fn say(&mut self, said: Result<String, String>) {
        let now = self.now();
        match said {
            Ok(text) => self.app.tell(NoticeLevel::Info, text, now),
            Err(text) => self.app.tell(NoticeLevel::Error, text, now),
        }
        self.pace.changed(now);
    }
}

/// Pixels of a cell, where the operating system knows them.
fn known_cell_px() -> Option<(u16, u16)> {
    let size = window_size().ok()?;
    let width = size.width.checked_div(size.columns)?;
    let height = size.height.checked_div(size.rows)?;
    (width > 0 && height > 0).then_some((width, height))
}
