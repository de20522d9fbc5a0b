//! The loop: terminal, clock and session on one side, the view on the other.
//!
//! Everything that can be decided without them is decided in [`super::app`]. The loop never waits for the agent, draws at most sixty
//! frames a second, and sleeps while nothing changes. However it ends, the terminal is given back first.

mod frames;

use std::io;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use longhand_agent::event::NoticeLevel;
use longhand_agent::{Ending, SessionHandle, Subscription, UserInput};
use longhand_session::place::SessionPlace;
use rustix::process::Signal;
use tokio::signal::unix::{SignalKind, signal};

use super::app::{App, Effect, Switch};
use super::courier::Courier;
use super::draft::KeptDraft;
use super::input::Input;
use super::key_reader::KeyReader;
use super::moment::Moment;
use super::pace::Pace;
use super::picker::{self, Desk, Picked};
use super::render::{self, SPINNER_PERIOD};
use super::status_line::Surroundings;
use super::terminal::Screen;
use super::theme::{Palette, SymbolSet, Theme};
use super::view_state::ViewState;
use super::viewer::ViewerOptions;
use crate::exit::Exit;
use crate::signals;
use frames::Lasting;

/// Events taken before the next look at keys.
const EVENTS_AT_ONCE: usize = 1_000;

/// How long a session may take to end after its terminal has gone.
const HANGUP_GRACE: Duration = Duration::from_secs(2);

/// How long the shell gets to stop the program that asked for it.
const SUSPEND_GRACE: Duration = Duration::from_millis(100);

/// How the terminal looks, and what it is told besides the session.
pub(crate) struct TuiOptions {
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
    /// Keeps what stands in the editor.
    pub kept_draft: KeptDraft,
    /// Where other sessions are listed.
    pub desk: Desk,
    /// What the viewer of frames is told.
    pub viewer: ViewerOptions,
}

/// What comes after a session.
#[derive(Debug)]
pub(crate) enum Next {
    /// Nothing: the user leaves.
    Leave {
        /// How.
        exit: Exit,
        /// The last answer, where there is a terminal to print it on.
        last_answer: Option<String>,
    },
    /// The session that lies there.
    Open(SessionPlace),
    /// A new one.
    New,
    /// A copy of the one that was left.
    Fork,
}

/// Runs the interactive terminal over a session until the user leaves it, and ends the session.
///
/// # Errors
/// The transcript cannot be read, or the session not be written to its end.
pub(crate) async fn run(
    session: SessionHandle,
    options: TuiOptions,
    screen: &mut Screen,
    keys: &mut KeyReader,
) -> Result<Next> {
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
    let mut terminal = Loop {
        app,
        events,
        courier,
        screen,
        pace: Pace::default(),
        started: Instant::now(),
        keys,
        draft: options.kept_draft,
        session: session.clone(),
        viewer: options.viewer,
        lasting: Lasting::default(),
    };
    let left = terminal.work_or_pick(&theme, &options.desk).await;
    let Loop { app, courier, mut draft, .. } = terminal;
    draft.keep(&app.draft());
    drop(courier);
    let exit = close(&session, &left).await?;
    Ok(match left {
        Left::Open(place) => Next::Open(place),
        Left::Switch(Switch::Fork) => Next::Fork,
        Left::Switch(Switch::New | Switch::Resume(_)) => Next::New,
        Left::TerminalGone => Next::Leave { exit, last_answer: None },
        Left::Asked | Left::SessionClosed | Left::Signal(_) => {
            Next::Leave { exit, last_answer: Some(app.view().last_text().to_owned()) }
        }
    })
}

/// Why the loop has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Left {
    /// The user wanted to.
    Asked,
    /// The session was closed by someone else.
    SessionClosed,
    /// A signal came.
    Signal(u8),
    /// There is no terminal any more.
    TerminalGone,
    /// The user wants another session.
    Switch(Switch),
    /// The user has picked another session.
    Open(SessionPlace),
}

/// Ends the session. A second signal meanwhile ends the program at once.
async fn close(session: &SessionHandle, left: &Left) -> Result<Exit> {
    let signal = match left {
        Left::Asked | Left::SessionClosed | Left::Switch(_) | Left::Open(_) => None,
        Left::Signal(number) => Some(*number),
        Left::TerminalGone => Some(1),
    };
    let ending = if signal.is_some() { Ending::Signal } else { Ending::Normal };
    let closing = session.close_as(ending);
    tokio::select! {
        closed = closing => closed?,
        number = signals::ending(), if signal.is_none() => return Ok(Exit::Signal(number)),
        () = tokio::time::sleep(HANGUP_GRACE), if *left == Left::TerminalGone => {}
    }
    Ok(signal.map_or(Exit::Success, Exit::Signal))
}

struct Loop<'t> {
    keys: &'t mut KeyReader,
    app: App,
    events: Subscription,
    courier: Courier,
    screen: &'t mut Screen,
    pace: Pace,
    started: Instant,
    draft: KeptDraft,
    session: SessionHandle,
    viewer: ViewerOptions,
    lasting: Lasting,
}

/// What woke the loop.
enum Wake {
    Input(Option<io::Result<crossterm::event::Event>>),
    Event(Option<longhand_agent::Sequenced>),
    Reply(Option<super::app::Reply>),
    Signal(u8),
    Time,
}

impl Loop<'_> {
    /// Works until the user leaves the session. A list of sessions from which nothing was picked leads back to it.
    async fn work_or_pick(&mut self, theme: &Theme, desk: &Desk) -> Left {
        loop {
            let left = self.work().await;
            let Left::Switch(Switch::Resume(query)) = &left else { return left };
            if let Some(place) = meant(query, desk) {
                return Left::Open(place);
            }
            self.screen.forget();
            match picker::pick(self.screen, self.keys, theme, desk, query).await {
                Picked::Session(place) => return Left::Open(place),
                Picked::Ended(1) => return Left::TerminalGone,
                Picked::Ended(number) => return Left::Signal(number),
                Picked::Nothing => self.screen.forget(),
            }
        }
    }

    async fn work(&mut self) -> Left {
        let ending = signals::ending();
        tokio::pin!(ending);
        let now = self.now();
        self.pace.changed(now);
        loop {
            if self.draw_if_due().is_err() {
                return Left::TerminalGone;
            }
            self.draft.look(&self.app.draft(), self.now());
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
                    Effect::Switch(switch) => return Left::Switch(switch),
                    Effect::Frames(which, opening) => {
                        // Rare, and its state is large.
                        let viewing = Box::pin(self.view_frames(which, opening));
                        if let Some(left) = viewing.await {
                            return left;
                        }
                    }
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
        [self.pace.due(), notices, picture, self.draft.due()]
            .into_iter()
            .flatten()
            .min()
            .map(|at| at.max(now))
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

/// The one session that a word names.
fn meant(word: &str, desk: &Desk) -> Option<SessionPlace> {
    if word.is_empty() { None } else { desk.sessions.find(word, &desk.directory).ok() }
}

/// Sleeps for a time; for ever without one.
async fn sleep(time: Option<Duration>) {
    match time {
        Some(time) => tokio::time::sleep(time).await,
        None => std::future::pending().await,
    }
}
