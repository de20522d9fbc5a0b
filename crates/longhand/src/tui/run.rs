//! The loop: terminal, clock and session on one side, the view on the other.
//!
//! Everything that can be decided without them is decided in [`super::app`]. The loop never waits for the agent, draws at most sixty
//! frames a second, and sleeps while nothing changes. However it ends, the terminal is given back first.

use std::io;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use crossterm::event::EventStream;
use futures::StreamExt;
use longhand_agent::event::NoticeLevel;
use longhand_agent::{Ending, SessionHandle, Subscription, UserInput};
use rustix::process::Signal;
use tokio::signal::unix::{SignalKind, signal};

use super::app::{App, Effect};
use super::courier::Courier;
use super::farewell;
use super::input::Input;
use super::moment::Moment;
use super::pace::Pace;
use super::render::{self, SPINNER_PERIOD};
use super::status_line::Surroundings;
use super::terminal::Screen;
use super::theme::{Palette, SymbolSet, Theme};
use super::view_state::ViewState;
use crate::exit::Exit;
use crate::signals;

/// Events taken before the next look at keys.
const EVENTS_AT_ONCE: usize = 1_000;

/// How long a session may take to end after its terminal has gone.
const HANGUP_GRACE: Duration = Duration::from_secs(2);

/// How long the shell gets to stop the program that asked for it.
const SUSPEND_GRACE: Duration = Duration::from_millis(100);

/// How the terminal looks, and what it is told besides the session.
pub(crate) struct TuiOptions {
    /// The keys.
    pub(crate) keys: EventStream,
    /// Colours.
    pub palette: Palette,
    /// Glyphs.
    pub symbols: SymbolSet,
    /// What the status line says of the surroundings.
    pub surroundings: Surroundings,
    /// What stands in the editor at the start.
    pub draft: String,
    /// Sent at once: the first now, the others one after another, each after the run before it.
    pub messages: Vec<UserInput>,
    /// What the user should know, one line each.
    pub notices: Vec<String>,
    /// Whether the last answer is printed at the end.
    pub prints_last_answer: bool,
    /// The id by which the session can be resumed; asked at the end, `None` where nothing was stored.
    pub resume_id: Box<dyn Fn() -> Option<String> + Send + Sync>,
}

/// Runs the interactive terminal over a session until the user leaves, and ends the session. The last answer and how to resume are
/// printed when the terminal has been given back.
///
/// # Errors
/// There is no terminal, or the transcript cannot be read.
pub(crate) async fn run(session: SessionHandle, options: TuiOptions) -> Result<Exit> {
    // First the events, then the transcript, so that nothing falls between them.
    let events = session.subscribe().await.context("the session is closed")?;
    let transcript = session.transcript().await.context("the session is closed")?;
    let mut view = ViewState::from_transcript(&transcript?);
    view.model = session.live().client.model().reference().to_string();
    view.apply(&session.context_usage(), Moment::default());
    for notice in options.notices {
        view.notify(NoticeLevel::Warning, notice, Moment::default());
    }
    let theme = Theme::new(options.palette, options.symbols);
    let app = App::new(view, options.surroundings, &theme, &options.draft);
    let courier = Courier::start(session.clone());
    for (i, message) in options.messages.into_iter().enumerate() {
        courier.send(if i == 0 { Effect::Steer(message) } else { Effect::FollowUp(message) });
    }
    let screen = Screen::take("longhand").context("the terminal cannot be used")?;
    let mut terminal = Loop {
        app,
        events,
        courier,
        screen,
        pace: Pace::default(),
        started: Instant::now(),
        keys: options.keys,
    };
    let left = terminal.work().await;
    let Loop { app, screen, courier, .. } = terminal;
    drop(screen);
    drop(courier);
    let exit = close(&session, left).await?;
    if left != Left::TerminalGone {
        let last = options.prints_last_answer.then(|| app.view().last_text().to_owned());
        farewell::print(last.as_deref(), (options.resume_id)().as_deref());
    }
    Ok(exit)
}

/// Why the loop has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Left {
    /// The user wanted to.
    Asked,
    /// The session was closed by someone else.
    SessionClosed,
    /// A signal came.
    Signal(u8),
    /// There is no terminal any more.
    TerminalGone,
}

/// Ends the session. A second signal meanwhile ends the program at once.
async fn close(session: &SessionHandle, left: Left) -> Result<Exit> {
    let signal = match left {
        Left::Asked | Left::SessionClosed => None,
        Left::Signal(number) => Some(number),
        Left::TerminalGone => Some(1),
    };
    let ending = if signal.is_some() { Ending::Signal } else { Ending::Normal };
    let closing = session.close_as(ending);
    tokio::select! {
        closed = closing => closed?,
        number = signals::ending(), if signal.is_none() => return Ok(Exit::Signal(number)),
        () = tokio::time::sleep(HANGUP_GRACE), if left == Left::TerminalGone => {}
    }
    Ok(signal.map_or(Exit::Success, Exit::Signal))
}

struct Loop {
    keys: EventStream,
    app: App,
    events: Subscription,
    courier: Courier,
    screen: Screen,
    pace: Pace,
    started: Instant,
}

/// What woke the loop.
enum Wake {
    Input(Option<io::Result<crossterm::event::Event>>),
    Event(Option<longhand_agent::Sequenced>),
    Reply(Option<super::app::Reply>),
    Signal(u8),
    Time,
}

impl Loop {
    async fn work(&mut self) -> Left {
        let ending = signals::ending();
        tokio::pin!(ending);
        let now = self.now();
        self.pace.changed(now);
        loop {
            if self.draw_if_due().is_err() {
                return Left::TerminalGone;
            }
            let wait = self.next_time().map(|at| at.since(self.now()));
            let wake = tokio::select! {
                biased;
                number = &mut ending => Wake::Signal(number),
                event = self.keys.next() => Wake::Input(event),
                reply = self.courier.reply() => Wake::Reply(reply),
                event = self.events.next() => Wake::Event(event),
                () = sleep(wait) => Wake::Time,
            };
            let effects = match wake {
                Wake::Signal(number) => return Left::Signal(number),
                Wake::Input(Some(Ok(event))) => self.take_input(event.into()),
                Wake::Input(Some(Err(_)) | None) => return Left::TerminalGone,
                Wake::Event(Some(event)) => self.take_events(&event),
                Wake::Event(None) => return Left::SessionClosed,
                Wake::Reply(Some(reply)) => {
                    let now = self.now();
                    self.app.reply(reply, now);
                    self.pace.changed(now);
                    Vec::new()
                }
                Wake::Reply(None) | Wake::Time => Vec::new(),
            };
            for effect in effects {
                match effect {
                    Effect::Quit => return Left::Asked,
                    Effect::Repaint => self.screen.forget(),
                    Effect::Suspend => {
                        if self.suspend().await.is_err() {
                            return Left::TerminalGone;
                        }
                    }
                    effect => self.courier.send(effect),
                }
            }
        }
    }

    fn take_input(&mut self, input: Input) -> Vec<Effect> {
        let now = self.now();
        match input {
            Input::Press(press) => {
                self.pace.changed(now);
                self.app.press(press, now)
            }
            Input::Resize => {
                self.pace.resized(now);
                Vec::new()
            }
            Input::Nothing => Vec::new(),
        }
    }

    /// Takes an event, and those that wait behind it: they make one frame.
    fn take_events(&mut self, first: &longhand_agent::Sequenced) -> Vec<Effect> {
        let now = self.now();
        let mut effects = self.app.event(&first.event, now);
        for _ in 0..EVENTS_AT_ONCE {
            let Some(next) = self.events.try_next() else { break };
            effects.extend(self.app.event(&next.event, now));
        }
        self.pace.changed(now);
        effects
    }

    /// When the loop must look again although nothing happened.
    fn next_time(&mut self) -> Option<Moment> {
        let now = self.now();
        let notices = self.app.view.next_expiry();
        let picture = self.app.is_animated().then(|| self.pace.next_picture(SPINNER_PERIOD));
        [self.pace.due(), notices, picture].into_iter().flatten().min().map(|at| at.max(now))
    }

    fn draw_if_due(&mut self) -> io::Result<()> {
        let now = self.now();
        let has_expired = self.app.view.expire_notices(now);
        let is_picture_due =
            self.app.is_animated() && self.pace.next_picture(SPINNER_PERIOD) <= now;
        let is_due = self.pace.due().is_some_and(|due| due <= now);
        if !is_due && !is_picture_due && !has_expired {
            return Ok(());
        }
        let frame = render::frame(&mut self.app, self.screen.area()?, now);
        self.screen.show(frame)?;
        self.pace.drawn(now);
        Ok(())
    }

    /// Gives the terminal to the shell until it resumes the program.
    async fn suspend(&mut self) -> io::Result<()> {
        super::terminal::give_back();
        let mut resumed = signal(SignalKind::from_raw(Signal::CONT.as_raw()))?;
        rustix::process::kill_process(rustix::process::getpid(), Signal::TSTP)?;
        // Without job control nothing stops, and nothing would resume.
        tokio::select! {
            _ = resumed.recv() => {}
            () = tokio::time::sleep(SUSPEND_GRACE) => {}
        }
        self.screen.retake()?;
        let now = self.now();
        self.pace.changed(now);
        Ok(())
    }

    fn now(&self) -> Moment {
        Moment::new(self.started.elapsed())
    }
}

/// Sleeps for a time; for ever without one.
async fn sleep(time: Option<Duration>) {
    match time {
        Some(time) => tokio::time::sleep(time).await,
        None => std::future::pending().await,
    }
}
