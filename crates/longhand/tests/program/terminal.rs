//! The interactive program through a pseudo-terminal and a model of a screen.

use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};

use crate::home::Home;

/// After this a screen that does not show what it should counts as a failure. Only ever waited for by a failing test.
const PATIENCE: Duration = Duration::from_mins(1);

/// How long the screen may stand still before the program is nudged.
const NUDGE_AFTER: Duration = Duration::from_secs(2);

fn cells(count: u16) -> NonZeroU16 {
    NonZeroU16::new(count).expect("a terminal has cells")
}

pub(crate) struct Terminal {
    pub(crate) screen: vt100::Parser,
    /// All that was written to the terminal.
    pub(crate) written: Vec<u8>,
    /// What it answers when it is asked for its attributes.
    answer: Option<&'static str>,
    bytes: Receiver<Vec<u8>>,
    keys: Box<dyn Write + Send>,
    pub(crate) child: Box<dyn Child + Send + Sync>,
    pty: Box<dyn MasterPty + Send>,
}

impl Terminal {
    fn start(home: &Home, words: &[&str], rows: u16, columns: u16) -> Self {
        let size = PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 };
        Self::start_as(home, words, size, &[], None)
    }

    /// A terminal of that size, which sets variables and answers what it is asked.
    pub(crate) fn start_as(
        home: &Home,
        words: &[&str],
        size: PtySize,
        variables: &[(&str, &str)],
        answer: Option<&'static str>,
    ) -> Self {
        let (rows, columns) = (size.rows, size.cols);
        let pair = native_pty_system().openpty(size).expect("a pseudo-terminal");
        let mut command = CommandBuilder::new(assert_cmd::cargo::cargo_bin("longhand"));
        command.args(words);
        command.cwd(home.work());
        command.env_clear();
        command.env("LONGHAND_HOME", home.path().join("home"));
        command.env("PATH", "/usr/bin:/bin");
        command.env("TERM", "xterm-256color");
        for (name, value) in variables {
            command.env(name, value);
        }
        let child = pair.slave.spawn_command(command).expect("the program starts");
        drop(pair.slave);
        let mut reader = pair.master.try_clone_reader().expect("the terminal can be read");
        let (sender, bytes) = mpsc::channel();
        thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(length @ 1..) = reader.read(&mut buffer) {
                if sender.send(buffer[..length].to_vec()).is_err() {
                    return;
                }
            }
        });
        let keys = pair.master.take_writer().expect("the terminal can be written");
        Self {
            screen: vt100::Parser::new(cells(rows), cells(columns), 0),
            written: Vec::new(),
            answer,
            bytes,
            keys,
            child,
            pty: pair.master,
        }
    }

    /// Takes in what the program wrote, and answers a question in it.
    fn take(&mut self, bytes: &[u8]) {
        self.screen.process(bytes);
        self.written.extend_from_slice(bytes);
        if self.written.windows(3).any(|three| three == b"\x1b[c")
            && let Some(answer) = self.answer.take()
        {
            self.press(answer);
        }
    }

    pub(crate) fn press(&mut self, keys: &str) {
        self.keys
            .write_all(keys.as_bytes())
            .and_then(|()| self.keys.flush())
            .expect("the program listens");
    }

    pub(crate) fn shown(&self) -> String {
        self.screen.screen().contents()
    }

    /// Reads until the screen is as wanted. Keys that reach the terminal library in the same moment as a signal can lie unread until
    /// the next byte comes; a person presses again, and this tells that the window has the focus, which means nothing.
    pub(crate) fn wait(&mut self, what: &str, is_there: impl Fn(&vt100::Screen) -> bool) {
        let deadline = Instant::now() + PATIENCE;
        while !is_there(self.screen.screen()) {
            match self.bytes.recv_timeout(NUDGE_AFTER) {
                Ok(bytes) => self.take(&bytes),
                Err(RecvTimeoutError::Timeout) if Instant::now() < deadline => self.press("\x1b[I"),
                Err(error) => {
                    panic!("waiting for {what} ({error}), the screen shows:\n{}", self.shown())
                }
            }
        }
    }

    /// Reads what is written next.
    pub(crate) fn read_more(&mut self, what: &str) {
        match self.bytes.recv_timeout(PATIENCE) {
            Ok(bytes) => self.take(&bytes),
            Err(error) => {
                panic!("waiting for {what} ({error}), the screen shows:\n{}", self.shown())
            }
        }
    }

    pub(crate) fn wait_for(&mut self, text: &str) {
        self.wait(text, |screen| screen.contents().contains(text));
    }

    /// Reads until the program has ended, and gives its code.
    pub(crate) fn end(&mut self) -> u32 {
        let deadline = Instant::now() + PATIENCE;
        while let Ok(bytes) =
            self.bytes.recv_timeout(deadline.saturating_duration_since(Instant::now()))
        {
            self.take(&bytes);
        }
        self.child.wait().expect("the program ends").exit_code()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // Ended already, in a test that went well.
        let _ = self.child.kill();
    }
}

#[test]
fn someone_without_a_model_gets_to_an_answer_in_two_steps() {
    let home = Home::new();
    std::fs::write(home.work().join("a.txt"), "hello from the file\n").expect("a file");
    let mut terminal = Terminal::start(&home, &[], 30, 100);
    terminal.wait_for("No model is configured");
    terminal.press("1");
    terminal.wait_for("demo/offline");
    terminal.press("read a.txt\r");
    terminal.wait_for("the first one is");
    terminal.press("/quit\r");
    assert_eq!(terminal.end(), 0);
    assert!(!terminal.screen.screen().alternate_screen(), "the normal screen is back");
    assert!(!terminal.screen.screen().hide_cursor(), "the cursor is back");
    assert!(terminal.shown().contains("Resume: longhand --resume "), "{}", terminal.shown());
}

#[test]
fn escape_at_a_question_stops_the_turn_and_the_session_goes_on() {
    let home = Home::new();
    let mut terminal = Terminal::start(&home, &["--model", "demo/offline"], 30, 100);
    terminal.wait_for("demo/offline");
    terminal.press("run touch made\r");
    terminal.wait_for("Run this command?");
    terminal.press("\x1b");
    terminal.wait("the question to go", |screen| !screen.contents().contains("Run this command?"));
    terminal.press("list .\r");
    terminal.wait_for("ls .");
    terminal.press("/quit\r");
    assert_eq!(terminal.end(), 0);
    assert!(!home.work().join("made").exists());
}

#[test]
fn what_was_acknowledged_survives_a_kill() {
    let home = Home::new();
    std::fs::write(home.work().join("a.txt"), "hello from the file\n").expect("a file");
    let mut terminal = Terminal::start(&home, &["--model", "demo/offline"], 30, 100);
    terminal.wait_for("demo/offline");
    terminal.press("read a.txt\r");
    terminal.wait_for("the first one is");
    // SIGKILL, while the next prompt is on its way.
    terminal.press("search hello\r");
    terminal.wait_for("› search hello");
    terminal.child.kill().expect("the program is killed");
    terminal.end();
    let mut again = Terminal::start(&home, &["-c"], 30, 100);
    again.wait_for("› search hello");
    assert!(again.shown().contains("› read a.txt"), "{}", again.shown());
    again.press("list .\r");
    again.wait_for("› list .");
    again.press("/quit\r");
    again.end();
}

#[test]
fn a_signal_gives_the_terminal_back() {
    let home = Home::new();
    let mut terminal = Terminal::start(&home, &["--model", "demo/offline"], 30, 100);
    terminal.wait("the alternate screen", vt100::Screen::alternate_screen);
    terminal.wait_for("demo/offline");
    let id = terminal.child.process_id().expect("the program runs");
    let kill = std::process::Command::new("kill").args(["-TERM", &id.to_string()]).status();
    assert!(kill.expect("kill runs").success());
    assert_eq!(terminal.end(), 143);
    assert!(!terminal.screen.screen().alternate_screen());
}

#[test]
fn a_small_window_and_a_resize_keep_the_program_usable() {
    let home = Home::new();
    let mut terminal = Terminal::start(&home, &["--model", "demo/offline"], 12, 40);
    terminal.wait_for("demo/offline");
    terminal.press("你好\r");
    terminal.wait_for("› 你好");
    terminal
        .pty
        .resize(PtySize { rows: 30, cols: 100, pixel_width: 0, pixel_height: 0 })
        .expect("a resize");
    terminal.screen.screen_mut().set_size(cells(30), cells(100));
    terminal.wait_for("think off");
    terminal.press("list .\r");
    terminal.wait_for("› list .");
    terminal.press("/quit\r");
    assert_eq!(terminal.end(), 0);
}

#[test]
fn a_session_is_left_for_a_new_one_and_picked_again() {
    let home = Home::new();
    let mut terminal = Terminal::start(&home, &["--model", "demo/offline"], 30, 100);
    terminal.wait_for("demo/offline");
    terminal.press("the first thing\r");
    terminal.wait_for("Try list .");
    terminal.press("/rename Work on the parser\r");
    terminal.wait_for("the session is called");
    terminal.press("/new\r");
    terminal.wait("an empty session", |screen| !screen.contents().contains("the first thing"));
    terminal.press("the second thing\r");
    terminal.wait_for("Try list .");
    terminal.press("/resume parser ✗✗\r");
    terminal.wait_for("nothing matches");
    terminal.press("\x15parser");
    terminal.wait_for("▸ Work on the parser");
    terminal.press("\r");
    terminal.wait_for("› the first thing");
    terminal.press("/clear\r");
    terminal.wait_for("everything above stays");
    // SIGKILL; this terminal goes on where it was, not with the session that was written last.
    terminal.child.kill().expect("the program is killed");
    terminal.end();
    let mut again = Terminal::start(&home, &["--resume"], 30, 100);
    again.wait_for("Work on the parser");
    again.press("\x1b");
    assert_eq!(again.end(), 0);
    let mut direct = Terminal::start(&home, &["--resume", "work on"], 30, 100);
    direct.wait_for("› the first thing");
    direct.press("/quit\r");
    assert_eq!(direct.end(), 0);
}

#[test]
fn an_unsent_text_is_there_again() {
    let home = Home::new();
    let mut terminal = Terminal::start(&home, &["--model", "demo/offline"], 30, 100);
    terminal.wait_for("demo/offline");
    terminal.press("hello\r");
    terminal.wait_for("Try list .");
    terminal.press("half a thought");
    terminal.wait_for("half a thought");
    let id = terminal.child.process_id().expect("the program runs");
    let kill = std::process::Command::new("kill").args(["-TERM", &id.to_string()]).status();
    assert!(kill.expect("kill runs").success());
    assert_eq!(terminal.end(), 143);
    let mut again = Terminal::start(&home, &["-c"], 30, 100);
    again.wait_for("half a thought");
    again.press("\r");
    again.wait_for("› half a thought");
    again.press("/quit\r");
    assert_eq!(again.end(), 0);
    let mut third = Terminal::start(&home, &["-c"], 30, 100);
    third.wait_for("› half a thought");
    third.wait_for("think off");
    third.press("/quit\r");
    assert_eq!(third.end(), 0, "nothing stood before the command");
}
