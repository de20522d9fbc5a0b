//! The terminal as a thing that is taken and given back.
//!
//! Given back means: as it was before, whatever happens. One function does that, and every way out calls it: leaving, an error, a signal,
//! suspension, the panic hook and the drop of the guard. It may be called at any time and any number of times.

use std::io::{self, Stdout, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, Once, PoisonError};
use std::thread::ThreadId;

use crossterm::cursor::{Hide, MoveTo, Show};
use crossterm::event::{
    DisableBracketedPaste, DisableFocusChange, EnableBracketedPaste, EnableFocusChange,
    KeyboardEnhancementFlags, PopKeyboardEnhancementFlags, PushKeyboardEnhancementFlags,
};
use crossterm::style::Print;
use crossterm::terminal::{
    BeginSynchronizedUpdate, EndSynchronizedUpdate, EnterAlternateScreen, LeaveAlternateScreen,
    SetTitle,
};
use crossterm::{execute, queue, terminal};
use ratatui::backend::{Backend, CrosstermBackend};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

use super::render::Frame;

/// Whether the terminal is ours now.
static IS_TAKEN: AtomicBool = AtomicBool::new(false);

/// The thread that draws. A panic elsewhere is caught where that work is owned, and must not take the screen away.
static DRAWING_THREAD: Mutex<Option<ThreadId>> = Mutex::new(None);

/// How many pictures of ours the terminal keeps at most, and the id of the first: any number that no other program is likely to use,
/// since they share the terminal's.
pub(crate) const PICTURES: u32 = 8;
pub(crate) const FIRST_PICTURE_ID: u32 = 0x4c48_0001;

/// Whether the terminal may keep pictures by id.
static KEEPS_PICTURES: AtomicBool = AtomicBool::new(false);

/// Buttons and the wheel are reported, moves are not: the library's own command would report every move.
const MOUSE: (&str, &str) = ("\x1b[?1000h\x1b[?1006h", "\x1b[?1006l\x1b[?1000l");

/// Attributes off, scroll region whole, character set US, cursor of the user's shape.
const SANE: &str = "\x1b[0m\x1b[r\x1b(B\x1b[0 q";

/// The terminal while it is ours. Dropping it gives it back.
pub(crate) struct Screen {
    backend: CrosstermBackend<Stdout>,
    /// What the terminal shows; `None` where that is not known.
    shown: Option<Buffer>,
    title: String,
}

impl Screen {
    /// Takes the terminal.
    ///
    /// # Errors
    /// It is no terminal, or it is gone.
    pub(crate) fn take(title: &str) -> io::Result<Self> {
        give_back_on_panic();
        let screen = Self {
            backend: CrosstermBackend::new(io::stdout()),
            shown: None,
            title: title.to_owned(),
        };
        enter(&screen.title)?;
        Ok(screen)
    }

    /// Takes the terminal again after it was given back.
    ///
    /// # Errors
    /// As [`Screen::take`].
    pub(crate) fn retake(&mut self) -> io::Result<()> {
        self.shown = None;
        enter(&self.title)
    }

    /// The size of the terminal, in columns and rows.
    ///
    /// # Errors
    /// The terminal is gone.
    pub(crate) fn area(&self) -> io::Result<Rect> {
        let size = self.backend.size()?;
        Ok(Rect::new(0, 0, size.width, size.height))
    }

    /// Forgets what is shown: the next frame is drawn whole.
    pub(crate) fn forget(&mut self) {
        self.shown = None;
    }

    /// Shows a frame. Only cells that changed are written, in one piece where the terminal can.
    ///
    /// # Errors
    /// The terminal is gone.
    pub(crate) fn show(&mut self, frame: Frame) -> io::Result<()> {
        let Frame { buffer, cursor } = frame;
        // A task may move from thread to thread.
        draw_from_this_thread();
        queue!(self.backend, BeginSynchronizedUpdate, Hide)?;
        if let Some(shown) = self.shown.take().filter(|shown| shown.area == buffer.area) {
            self.backend.draw(shown.diff(&buffer).into_iter())?;
        } else {
            self.backend.clear()?;
            let blank = Buffer::empty(buffer.area);
            self.backend.draw(blank.diff(&buffer).into_iter())?;
        }
        if let Some((x, y)) = cursor {
            self.backend.set_cursor_position(Position::new(x, y))?;
            queue!(self.backend, Show)?;
        }
        queue!(self.backend, EndSynchronizedUpdate)?;
        Write::flush(&mut self.backend)?;
        self.shown = Some(buffer);
        Ok(())
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        give_back();
    }
}

fn enter(title: &str) -> io::Result<()> {
    terminal::enable_raw_mode()?;
    draw_from_this_thread();
    IS_TAKEN.store(true, Ordering::SeqCst);
    execute!(
        io::stdout(),
        EnterAlternateScreen,
        EnableBracketedPaste,
        EnableFocusChange,
        Print(MOUSE.0),
        // Ignored by terminals that do not know it. They are not asked: an answer that comes late would be typed text.
        PushKeyboardEnhancementFlags(KeyboardEnhancementFlags::DISAMBIGUATE_ESCAPE_CODES),
        SetTitle(title),
        MoveTo(0, 0),
    )
}

/// From now on the terminal is sent pictures that it keeps by id: they are deleted before it is given back.
pub(crate) fn keep_pictures() {
    KEEPS_PICTURES.store(true, Ordering::SeqCst);
}

/// Deletes the pictures that the terminal keeps. A terminal that is gone is no failure.
pub(crate) fn delete_pictures() {
    if !KEEPS_PICTURES.load(Ordering::SeqCst) {
        return;
    }
    let delete = |id| format!("\x1b_Ga=d,d=I,i={id},q=2\x1b\\");
    let all: String = (FIRST_PICTURE_ID..FIRST_PICTURE_ID + PICTURES).map(delete).collect();
    let _ = execute!(io::stdout(), Print(all));
}

/// Gives the terminal back. Does nothing where it is not ours; a terminal that is gone is no failure.
pub(crate) fn give_back() {
    if !IS_TAKEN.swap(false, Ordering::SeqCst) {
        return;
    }
    delete_pictures();
    let _ = execute!(
        io::stdout(),
        EndSynchronizedUpdate,
        PopKeyboardEnhancementFlags,
        Print(MOUSE.1),
        DisableFocusChange,
        DisableBracketedPaste,
        Print(SANE),
        LeaveAlternateScreen,
        Show,
    );
    let _ = terminal::disable_raw_mode();
}

/// Gives the terminal back before a panic is told, so that the message can be read. The hook before stays in force. A panic of a worker
/// goes to the log while the terminal is ours.
fn give_back_on_panic() {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if IS_TAKEN.load(Ordering::SeqCst) && !is_drawing_thread() {
                tracing::error!(%panic, "a worker panicked");
                return;
            }
            give_back();
            before(panic);
        }));
    });
}

fn is_drawing_thread() -> bool {
    // A poisoned lock holds a whole value: nothing panics while it is held.
    let drawing = *DRAWING_THREAD.lock().unwrap_or_else(PoisonError::into_inner);
    drawing == Some(std::thread::current().id())
}

fn draw_from_this_thread() {
    let mut drawing = DRAWING_THREAD.lock().unwrap_or_else(PoisonError::into_inner);
    *drawing = Some(std::thread::current().id());
}
