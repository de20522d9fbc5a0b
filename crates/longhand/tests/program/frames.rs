//! The viewer of frames in terminals that draw pictures in different ways: what is written to them, byte for byte.

use std::io::Read;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use image::{DynamicImage, Rgb, RgbImage, imageops};
use longhand_snapcompact::RenderedFrame;
use portable_pty::PtySize;
use ratatui::layout::Size;
use ratatui_image::protocol::sixel::Sixel;
use serde_json::json;

use crate::archive;
use crate::home::Home;
use crate::terminal::Terminal;

/// A terminal of 100 x 30 cells of 10 x 20 pixels.
const SIZE: PtySize = PtySize { rows: 30, cols: 100, pixel_width: 1_000, pixel_height: 600 };

/// What every terminal answers.
const PLAIN: &str = "\x1b[?62c";

/// Five lines: 462 x 80 pixels, in 47 x 4 cells.
const TEXT: &str = "[User]: alright, read the main file and tell me what the program does in a few plain words. \
                    [Assistant]: it prints history as dense pictures, and a model reads them back later on, word for word.";
const CELLS: Size = Size { width: 47, height: 4 };

/// The viewer over a session with one frame.
fn viewer(
    home: &Home,
    frame: &RenderedFrame,
    words: &[&str],
    variables: &[(&str, &str)],
    answer: Option<&'static str>,
) -> Terminal {
    let session = archive::session(home, &[archive::kept(frame)]);
    let session = session.to_str().expect("a path");
    let words = [&["--model", "demo/offline", "--resume", session], words].concat();
    let mut terminal = Terminal::start_as(home, &words, SIZE, variables, answer);
    terminal.wait_for("snap-compacted");
    terminal.press("/frames\r");
    terminal.wait_for("frame 01");
    terminal
}

fn printed() -> RenderedFrame {
    let frame = archive::frame(TEXT);
    assert_eq!((frame.width_px, frame.height_px), (462, 80));
    frame
}

/// The frame on the paper of its cells.
fn on_paper(frame: &RenderedFrame) -> RgbImage {
    let picture = image::load_from_memory(&frame.png).expect("a picture").into_rgb8();
    let mut paper = RgbImage::from_pixel(470, 80, Rgb([255, 255, 255]));
    imageops::replace(&mut paper, &picture, 0, 0);
    paper
}

/// What stands between two marks, from place `at` of what was written.
fn between<'a>(written: &'a [u8], start: &str, end: &str) -> Option<&'a [u8]> {
    let from = find(written, start)? + start.len();
    let length = find(&written[from..], end)?;
    Some(&written[from..from + length])
}

fn find(bytes: &[u8], mark: &str) -> Option<usize> {
    bytes.windows(mark.len()).position(|window| window == mark.as_bytes())
}

/// Waits for the end of a picture, which the screen does not show, by the text that is drawn after it.
fn wait_for_written(terminal: &mut Terminal, what: &str, is_there: impl Fn(&[u8]) -> bool) {
    while !is_there(&terminal.written) {
        terminal.read_more(what);
    }
}

#[test]
fn a_kitty_gets_pixels_once_and_placeholders_and_deletes_them_in_the_end() {
    let (home, frame) = (Home::new(), printed());
    let answer =
        "\x1b_Gi=31;OK\x1b\\\x1b_Gi=32;OK\x1b\\\x1b[6;20;10t\x1bP>|kitty(0.40.1)\x1b\\\x1b[?62c";
    let mut terminal = viewer(&home, &frame, &[], &[], Some(answer));
    let begin = "\x1b_Gq=2,i=1279787009,a=T,U=1,f=32,o=z,t=d,s=470,v=80,m=";
    wait_for_written(&mut terminal, "the picture", |written| {
        between(written, begin, "\u{10eeee}").is_some()
    });
    let sent = between(&terminal.written, begin, "\u{10eeee}").expect("it was waited for");
    let chunks = std::str::from_utf8(sent).expect("text").split("\x1b_Gq=2,m=");
    let chunks = chunks.map(|chunk| &chunk[2..chunk.find('\x1b').expect("an end")]);
    let zlib: Vec<u8> =
        chunks.flat_map(|chunk| STANDARD.decode(chunk).expect("base64 in each")).collect();
    let mut pixels = Vec::new();
    flate2::read::ZlibDecoder::new(&*zlib).read_to_end(&mut pixels).expect("deflated pixels");
    assert!(pixels == DynamicImage::from(on_paper(&frame)).into_rgba8().into_raw());
    terminal.press("\x1b");
    terminal.wait_for("snap-compacted");
    let times_sent = terminal.written.windows(begin.len()).filter(|w| *w == begin.as_bytes());
    assert_eq!(times_sent.count(), 1);
    assert!(find(&terminal.written, "\x1b_Ga=d,d=I,i=1279787009,q=2\x1b\\").is_some());
}

#[test]
fn an_iterm2_gets_a_file() {
    let (home, frame) = (Home::new(), printed());
    let variables = [("TERM_PROGRAM", "iTerm.app"), ("TERM_PROGRAM_VERSION", "3.5.10")];
    let mut terminal = viewer(&home, &frame, &[], &variables, Some(PLAIN));
    let size = ";width=470px;height=80px;doNotMoveCursor=1:";
    wait_for_written(&mut terminal, "the file", |written| between(written, size, "\x07").is_some());
    assert!(find(&terminal.written, "\x1b]1337;File=inline=1;size=").is_some());
    let file = between(&terminal.written, size, "\x07").expect("it was waited for");
    let file = STANDARD.decode(file).expect("base64");
    let picture = image::load_from_memory(&file).expect("a picture").into_rgb8();
    assert!(picture == on_paper(&frame));
}

#[test]
fn a_terminal_with_sixels_gets_sixels() {
    let (home, frame) = (Home::new(), printed());
    let mut terminal = viewer(&home, &frame, &[], &[], Some("\x1b[?62;4;22c"));
    let picture = DynamicImage::from(on_paper(&frame));
    let sixel = Sixel::new(picture, CELLS, false).expect("sixels").data;
    assert!(sixel.contains("\x1bP"), "a sixel introducer: {:?}", &sixel[..80]);
    wait_for_written(&mut terminal, "the sixels", |written| find(written, &sixel).is_some());
}

#[test]
fn a_terminal_that_says_nothing_gets_half_blocks() {
    let (home, frame) = (Home::new(), printed());
    let mut terminal = viewer(&home, &frame, &[], &[("COLORTERM", "truecolor")], None);
    terminal.wait("half blocks", |screen| screen.contents().contains('▀'));
    assert!(find(&terminal.written, "\x1b_Gi=31").is_some(), "it was asked");
    // What it says after all is not typed.
    terminal.press("\x1b_Gi=31;OK\x1b\\\x1b[6;20;10t\x1bP>|slow(1)\x1b\\\x1b[?62;4ct");
    terminal.wait_for("Text · frame 01");
    terminal.press("\x1b");
    terminal.wait_for("Frames · cccccccc");
    terminal.press("\x1b");
    terminal.wait_for("snap-compacted");
    terminal.press("/quit\r");
    assert_eq!(terminal.end(), 0);
}

#[test]
fn a_multiplexer_is_not_asked_and_gets_colours_that_it_has() {
    let (home, frame) = (Home::new(), printed());
    let mut terminal = viewer(&home, &frame, &[], &[("TMUX", "/tmp/tmux,1,0")], None);
    terminal.wait("half blocks", |screen| screen.contents().contains('▀'));
    assert!(find(&terminal.written, "\x1b_G").is_none());
    assert!(find(&terminal.written, "38;2;").is_none(), "no true colours");
}

#[test]
fn without_pictures_a_line_stands_for_one() {
    let (home, frame) = (Home::new(), printed());
    for words in [["--no-images"].as_slice(), &["--set", "terminal.showImages=false"]] {
        let mut terminal = viewer(&home, &frame, words, &[], Some(PLAIN));
        terminal.wait_for("[image 462×80 png, 54 tok · o open · s save]");
        assert!(find(&terminal.written, "\x1b[c").is_none(), "nothing was asked");
    }
}

#[test]
fn the_newest_archive_is_found_below_a_younger_compaction_without_one() {
    let home = Home::new();
    let session = archive::session(&home, &[archive::kept(&printed())]);
    let younger = json!({
        "type": "compaction", "id": "dddddddd", "parentId": "cccccccc",
        "timestamp": "2026-11-28T15:00:00.000Z", "summary": "In short.",
        "firstKeptEntryId": "cccccccc", "tokensBefore": 1, "method": "soft",
    });
    let text = std::fs::read_to_string(&session).expect("the session");
    std::fs::write(&session, format!("{text}{younger}\n")).expect("the session is written");
    let session = session.to_str().expect("a path");
    let words = ["--model", "demo/offline", "--no-images", "--resume", session];
    let mut terminal = Terminal::start_as(&home, &words, SIZE, &[], None);
    terminal.wait_for("soft-compacted");
    terminal.press("/frames\r");
    terminal.wait_for("Frames · cccccccc");
    terminal.press("\x1b");
    terminal.wait_for("soft-compacted");
    terminal.press("/frames dd\r");
    terminal.wait_for("the compaction dddddddd by soft holds no frames");
}

#[test]
fn what_is_pressed_while_the_terminal_is_asked_is_not_lost() {
    let (home, frame) = (Home::new(), printed());
    let mut terminal = viewer(&home, &frame, &[], &[], Some("\x1b_Gi=31;ENOTSUP\x1b\\t\x1b[?62c"));
    terminal.wait_for("Text · frame 01");
    terminal.wait_for("alright, read the main file");
}

#[test]
fn a_frame_is_saved_and_shown_by_the_program_that_the_user_named() {
    let (home, frame) = (Home::new(), printed());
    let copy = home.path().join("shown.png");
    let viewer_program = home.path().join("show");
    let script = format!("#!/bin/sh\ncp \"$2\" {0}.part && mv {0}.part {0}\n", copy.display());
    std::fs::write(&viewer_program, script).expect("a script");
    let runtime = home.path().join("run");
    std::fs::create_dir(&runtime).expect("a folder");
    let command = format!("/bin/sh {} -now", viewer_program.display());
    let variables = [
        ("LONGHAND_IMAGE_VIEWER", command.as_str()),
        ("XDG_RUNTIME_DIR", runtime.to_str().expect("a path")),
    ];
    let mut terminal = viewer(&home, &frame, &["--no-images"], &variables, None);
    terminal.press("s");
    terminal.wait_for("frame-cccccccc-01.png");
    let saved = std::fs::read(home.work().join("frame-cccccccc-01.png")).expect("it was saved");
    assert!(saved == *frame.png);
    terminal.press("o");
    terminal.wait_for("opened with /bin/sh");
    let mut folders = std::fs::read_dir(&runtime).expect("the runtime folder");
    let folder = folders.next().expect("a folder of its own").expect("readable").path();
    assert!(folder.join("frame-cccccccc-01.png").exists());
    terminal.press("\x1b");
    terminal.wait_for("snap-compacted");
    terminal.press("/quit\r");
    assert_eq!(terminal.end(), 0);
    assert!(!folder.exists(), "what was shown goes with the program");
}

#[test]
fn the_keys_of_an_expanded_divider_work_while_it_is_in_focus() {
    let (home, frame) = (Home::new(), printed());
    let session = archive::session(&home, &[archive::kept(&frame)]);
    let words = ["--model", "demo/offline", "--resume", session.to_str().expect("a path")];
    let mut terminal = Terminal::start_as(&home, &words, SIZE, &[], Some(PLAIN));
    terminal.wait_for("snap-compacted");
    terminal.press("f");
    terminal.wait("a letter", |screen| screen.contents().contains("❯ f"));
    terminal.press("\x7f\x1bk\x0f");
    terminal.wait_for("f frames");
    terminal.press("t");
    terminal.wait_for("Text · source");
    terminal.wait_for("the newest words");
    terminal.press("\x1b");
    terminal.wait_for("f frames");
    terminal.press("f");
    terminal.wait_for("Frames · cccccccc");
}

#[test]
fn what_cannot_be_shown_is_said_in_a_line() {
    let home = Home::new();
    let missing = "blob:sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
    let unreadable = |data: &str| json!({ "data": data, "mimeType": "image/png", "cols": 1, "rows": 1, "chars": 1 });
    let mut oldest = archive::kept(&printed());
    oldest.as_object_mut().expect("an object").retain(|key, _| key != "font" && key != "variant");
    let frames = [unreadable(missing), unreadable("bm8="), unreadable("é"), oldest];
    let session = archive::session(&home, &frames);
    let words =
        ["--model", "demo/offline", "--no-images", "--resume", session.to_str().expect("a path")];
    let mut terminal = Terminal::start_as(&home, &words, SIZE, &[], None);
    terminal.wait_for("snap-compacted");
    terminal.press("/frames nothing\r");
    terminal.wait_for("no compaction is called `nothing`");
    terminal.press("/frames cccc\r");
    terminal.wait_for("its picture `blob:sha256:aaaaaaaaaaaa…` is missing");
    terminal.wait_for("its picture cannot be read");
    terminal.wait_for("its data is damaged");
    terminal.press("t");
    terminal.wait_for("a frame of the oldest kind does not say how it was drawn");
}

#[test]
fn a_session_without_a_compaction_has_no_frames() {
    let home = Home::new();
    let mut terminal = Terminal::start_as(&home, &["--model", "demo/offline"], SIZE, &[], None);
    terminal.wait_for("demo/offline");
    terminal.press("/frames\r");
    terminal.wait_for("this branch was not compacted yet");
}
