//! One question to the terminal: which pictures it draws, and how large its cells are.
//!
//! Everything is asked at once, last what every terminal answers, so that silence about the rest is known without waiting. A terminal
//! that answers nothing costs [`PATIENCE`]. Keys that are pressed meanwhile are told apart from answers and handed back.

use std::io::{self, Write};
use std::time::{Duration, Instant};

use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
use rustix::event::{PollFd, PollFlags, Timespec};

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_millis(200);

/// Whether a picture of one pixel could be shown (31), and whether it may come compressed (32); the size of a cell in pixels; the
/// terminal's name; its attributes.
const QUESTION: &str = "\x1b_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\x1b\\\
                        \x1b_Gi=32,s=1,v=1,a=q,t=d,f=24,o=z;eJxjYGAAAAADAAE=\x1b\\\
                        \x1b[16t\x1b[>0q\x1b[c";

/// An answer that is longer is none.
const MOST_BYTES: usize = 4_096;

/// What a terminal answered.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Answers {
    /// How it takes pictures of the kitty protocol.
    pub(crate) kitty: KittyPictures,
    /// It draws sixels.
    pub(crate) has_sixel: bool,
    /// Width and height of a cell, in pixels.
    pub(crate) cell_px: Option<(u16, u16)>,
    /// Its name and version.
    pub(crate) name: Option<String>,
    /// It answered what every terminal answers: nothing more will come.
    pub(crate) is_complete: bool,
}

/// How a terminal takes pictures of the kitty protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) enum KittyPictures {
    /// Not at all.
    #[default]
    Unknown,
    /// As they are.
    Plain,
    /// Also compressed.
    Compressed,
}

/// Asks, and waits for the answer. Nobody else may read the terminal meanwhile. Returns also what the user pressed.
///
/// # Errors
/// The terminal is gone.
pub(crate) fn ask() -> io::Result<(Answers, Vec<Event>)> {
    let mut out = io::stdout();
    out.write_all(QUESTION.as_bytes())?;
    out.flush()?;
    let deadline = Instant::now() + PATIENCE;
    let mut heard = Vec::new();
    loop {
        let (answers, keys) = read(&heard);
        let left = deadline.saturating_duration_since(Instant::now());
        if answers.is_complete || left.is_zero() || heard.len() > MOST_BYTES {
            return Ok((answers, keys));
        }
        hear(&mut heard, left)?;
    }
}

/// Takes in what comes next, if it comes in time.
fn hear(heard: &mut Vec<u8>, left: Duration) -> io::Result<()> {
    let stdin = rustix::stdio::stdin();
    let mut fds = [PollFd::new(&stdin, PollFlags::IN)];
    let wait = Timespec { tv_sec: 0, tv_nsec: left.subsec_nanos().into() };
    match rustix::event::poll(&mut fds, Some(&wait)) {
        Ok(0) | Err(rustix::io::Errno::INTR) => return Ok(()),
        Ok(_) => {}
        Err(error) => return Err(error.into()),
    }
    let mut buffer = [0; 512];
    match rustix::io::read(stdin, &mut buffer) {
        Ok(0) => Err(io::ErrorKind::UnexpectedEof.into()),
        Ok(length) => {
            heard.extend_from_slice(&buffer[..length]);
            Ok(())
        }
        Err(rustix::io::Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Takes answers and keys apart. An answer that is not whole yet is neither.
pub(crate) fn read(mut heard: &[u8]) -> (Answers, Vec<Event>) {
    let mut answers = Answers::default();
    let mut keys = Vec::new();
    while let Some((part, rest)) = next_part(heard) {
        match part {
            Part::Kitty(text) => answers.kitty(text),
            Part::Device(text) => answers.name = text.strip_prefix(">|").map(str::to_owned),
            Part::Control(text) => {
                if !answers.control(text) {
                    keys.extend(control_key(text));
                }
            }
            Part::Key(key) => keys.push(Event::Key(key)),
            Part::Unknown => {}
        }
        heard = rest;
    }
    (answers, keys)
}

impl Answers {
    fn kitty(&mut self, text: &str) {
        let Some((id, result)) = text.split_once(';') else { return };
        let has_id = |wanted: &str| id.split(',').any(|pair| pair == wanted);
        if result != "OK" {
            return;
        }
        if has_id("i=31") {
            self.kitty = self.kitty.max(KittyPictures::Plain);
        } else if has_id("i=32") {
            self.kitty = KittyPictures::Compressed;
        }
    }

    /// Returns whether it was an answer.
    fn control(&mut self, text: &str) -> bool {
        if let Some(attributes) = text.strip_prefix('?').and_then(|text| text.strip_suffix('c')) {
            self.has_sixel = attributes.split(';').any(|attribute| attribute == "4");
            self.is_complete = true;
            return true;
        }
        if let Some(size) = text.strip_prefix("6;").and_then(|text| text.strip_suffix('t')) {
            let size = size.split_once(';');
            let size = size.and_then(|(h, w)| Some((w.parse().ok()?, h.parse().ok()?)));
            self.cell_px = size.filter(|(width, height)| *width > 0 && *height > 0);
            return true;
        }
        false
    }
}

/// Something that the terminal sent.
enum Part<'a> {
    /// What stands between `ESC _ G` and its end.
    Kitty(&'a str),
    /// What stands between `ESC P` and its end.
    Device(&'a str),
    /// What follows `ESC [`, with its last letter.
    Control(&'a str),
    Key(KeyEvent),
    Unknown,
}

/// The first part, and what follows it; `None` where there is none that is whole.
fn next_part(heard: &[u8]) -> Option<(Part<'_>, &[u8])> {
    match heard {
        [] => None,
        [0x1b, b'_', rest @ ..] => {
            let (text, rest) = string(rest)?;
            Some((text.strip_prefix('G').map_or(Part::Unknown, Part::Kitty), rest))
        }
        [0x1b, b'P', rest @ ..] => {
            let (text, rest) = string(rest)?;
            Some((Part::Device(text), rest))
        }
        [0x1b, b'[', rest @ ..] => {
            let end = rest.iter().position(|byte| (0x40..=0x7e).contains(byte))?;
            let text = std::str::from_utf8(&rest[..=end]).ok();
            Some((text.map_or(Part::Unknown, Part::Control), &rest[end + 1..]))
        }
        [0x1b, rest @ ..] => Some((Part::Key(KeyCode::Esc.into()), rest)),
        [b'\r', rest @ ..] => Some((Part::Key(KeyCode::Enter.into()), rest)),
        [control @ 1..=0x1a, rest @ ..] => {
            let key = KeyCode::Char(char::from(control - 1 + b'a'));
            Some((Part::Key(KeyEvent::new(key, KeyModifiers::CONTROL)), rest))
        }
        _ => {
            let length = match heard[0] {
                0xf0..=0xf7 => 4,
                0xe0..=0xef => 3,
                0xc0..=0xdf => 2,
                _ => 1,
            };
            let (first, rest) = heard.split_at_checked(length)?;
            let Some(typed) = std::str::from_utf8(first).ok().and_then(|c| c.chars().next()) else {
                return Some((Part::Unknown, &heard[1..]));
            };
            let is_key = !typed.is_control();
            let key = KeyCode::Char(typed).into();
            Some((if is_key { Part::Key(key) } else { Part::Unknown }, rest))
        }
    }
}

/// The text up to `ESC \`, and what follows that.
fn string(bytes: &[u8]) -> Option<(&str, &[u8])> {
    let end = bytes.windows(2).position(|pair| pair == b"\x1b\\")?;
    Some((std::str::from_utf8(&bytes[..end]).unwrap_or_default(), &bytes[end + 2..]))
}

/// The keys by which one moves; others are rare in a fifth of a second.
fn control_key(text: &str) -> Option<Event> {
    let code = match text {
        "A" => KeyCode::Up,
        "B" => KeyCode::Down,
        "C" => KeyCode::Right,
        "D" => KeyCode::Left,
        "27u" => KeyCode::Esc,
        _ => return None,
    };
    Some(Event::Key(code.into()))
}
