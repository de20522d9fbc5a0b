//! The viewer of frames, without a terminal.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use crossterm::event::{Event, KeyCode};
use longhand_coding_agent::environment::Environment;
use longhand_session::blob_store::MemoryBlobs;
use longhand_session::counter::ByteEstimate;
use longhand_session::entry::CompactionEntry;
use longhand_session::time::Timestamp;
use longhand_session::{Entry, EntryKind, Json};
use longhand_snapcompact::{Family, Variant, render};
use ratatui::layout::{Rect, Size};
use serde_json::{Value, json};

use super::fixture::{key_event, text_of};
use crate::tui::app::Press;
use crate::tui::theme::{Palette, SymbolSet, Theme};
use crate::tui::viewer::graphics::{Colours, Graphics, Hints, Pixels, Protocol};
use crate::tui::viewer::picture::{self, Layout, Zoom};
use crate::tui::viewer::query::{self, Answers, KittyPictures};
use crate::tui::viewer::reel::Reel;
use crate::tui::viewer::{Step, Viewer, Wanted};

const HALF_BLOCKS: Graphics = Graphics::HalfBlocks(Colours::True);

fn frame(variant: Variant, frame_px: usize, text: &str) -> Value {
    let shape = variant.sized(Family::Unknown, frame_px);
    let frame = render(text, &shape).unwrap().swap_remove(0);
    json!({
        "data": STANDARD.encode(&frame.png), "mimeType": "image/png",
        "cols": frame.cols, "rows": frame.rows, "chars": frame.chars,
        "font": shape.font.as_str(), "variant": shape.ink.as_str(), "lineRepeat": 1,
        "stopwordDim": shape.stopword_dim,
    })
}

fn entry(archive: &Value) -> Entry {
    Entry {
        id: "c0ffee00".into(),
        parent_id: None,
        timestamp: Timestamp::new("2026-11-28T14:03:12.000Z"),
        kind: EntryKind::Compaction(Box::new(CompactionEntry {
            method: Some("snapcompact".into()),
            preserve_data: Some(Json::from(json!({ "snapcompact": archive }))),
            ..CompactionEntry::default()
        })),
    }
}

fn reel(archive: &Value) -> Result<Reel, String> {
    let blobs = Arc::new(MemoryBlobs::default());
    Reel::of(&entry(archive), blobs, Family::Anthropic, &ByteEstimate)
}

/// Two frames of a dense shape, one of a finer one, between two edges.
fn archive() -> Value {
    let dense = |text: &str| frame(Variant::Fixed6x12Dim, 462, text);
    json!({
        "frames": [
            dense(&"alright, read the main file ".repeat(12)),
            dense("and then the next one"),
            frame(Variant::Wide11On16, 462, "it prints \u{201c}history\u{201d} as pictures"),
        ],
        "textHead": "[User]: the oldest words\u{2588}\u{2588}[Assistant]: an answer",
        "textTail": "[User]: the newest words",
    })
}

fn viewer_of(archive: &Value, graphics: Graphics, theme: &Theme) -> Viewer {
    let mut viewer = Viewer::new(theme, Some(graphics));
    let reel = Arc::new(reel(archive).unwrap());
    reel.first_words(|part, words| {
        viewer.take_words(part, words);
        true
    });
    viewer.take_reel(reel);
    viewer
}

fn viewer(graphics: Graphics) -> Viewer {
    viewer_of(&archive(), graphics, &Theme::new(Palette::Dark, SymbolSet::Unicode))
}

/// The screen, once everything that was ordered for it is there.
fn screen(viewer: &mut Viewer, columns: u16, rows: u16) -> String {
    let area = Rect::new(0, 0, columns, rows);
    viewer.frame(area);
    while let Some(order) = viewer.order() {
        let reel = reel(&archive()).unwrap();
        let file = reel.png(order.key.number).unwrap();
        let made = picture::encode(&file, &order.key.layout, order.key.graphics, order.slot);
        viewer.take_picture(order, made);
        viewer.frame(area);
    }
    text_of(&viewer.frame(area).buffer)
}

fn press(viewer: &mut Viewer, keys: &[&str]) -> Step {
    keys.iter().map(|key| viewer.press(&Press::Key(key_event(key)))).last().expect("a key")
}

#[test]
fn the_viewer_in_every_size() {
    for (columns, rows) in [(100, 30), (60, 20), (40, 14), (40, 10), (20, 6), (8, 4)] {
        let mut viewer = viewer(HALF_BLOCKS);
        insta::assert_snapshot!(
            format!("viewer_{columns}x{rows}"),
            screen(&mut viewer, columns, rows)
        );
    }
}

#[test]
fn the_viewer_without_pictures_and_with_ascii_only() {
    let ascii = Theme::new(Palette::Mono, SymbolSet::Ascii);
    let mut viewer = viewer_of(&archive(), Graphics::Off, &ascii);
    assert!(!viewer.draws_half_blocks());
    let shown = screen(&mut viewer, 60, 14);
    insta::assert_snapshot!("viewer_ascii", shown);
    assert_eq!(press(&mut viewer, &["enter"]), Step::Stay);
    assert!(screen(&mut viewer, 60, 14).contains("o opens this one"));
}

#[test]
fn a_box_of_the_final_size_stands_until_the_picture_is_there() {
    let mut viewer = viewer(HALF_BLOCKS);
    let before = text_of(&viewer.frame(Rect::new(0, 0, 60, 20)).buffer);
    let boxed = before.matches('░').count();
    let key = viewer.order().expect("a picture is ordered").key;
    assert_eq!(boxed, usize::from(key.layout.cells.width * key.layout.cells.height));
    assert_eq!(viewer.order(), None, "one at a time");
}

#[test]
fn enter_zooms_arrows_pan_and_escape_goes_back_step_by_step() {
    let mut viewer = viewer(HALF_BLOCKS);
    assert!(screen(&mut viewer, 40, 10).contains("Frames"));
    press(&mut viewer, &["enter"]);
    assert!(screen(&mut viewer, 40, 10).contains("enter 1:1"));
    press(&mut viewer, &["enter"]);
    let corner = screen(&mut viewer, 40, 10);
    assert!(corner.contains("enter list"), "{corner}");
    press(&mut viewer, &["right"]);
    assert_ne!(screen(&mut viewer, 40, 10), corner);
    press(&mut viewer, &["left"]);
    assert_eq!(screen(&mut viewer, 40, 10), corner);
    assert_eq!(press(&mut viewer, &["esc"]), Step::Stay);
    assert!(screen(&mut viewer, 40, 10).contains("Frames"));
    assert_eq!(press(&mut viewer, &["esc"]), Step::Back);
}

#[test]
fn keys_name_the_part_that_is_chosen() {
    let mut viewer = viewer(HALF_BLOCKS);
    screen(&mut viewer, 100, 30);
    assert_eq!(press(&mut viewer, &["o"]), Step::Open(3), "the newest frame at first");
    assert_eq!(press(&mut viewer, &["home", "s"]), Step::Save(0));
    assert_eq!(press(&mut viewer, &["enter"]), Step::Read(Wanted::Part(0)));
    viewer.take_text(Wanted::Part(0), Ok("one\ntwo\u{1b}[31m".into()));
    assert!(screen(&mut viewer, 60, 10).contains("│ two"));
    assert_eq!(press(&mut viewer, &["esc"]), Step::Stay);
    press(&mut viewer, &["end"]);
    assert!(screen(&mut viewer, 60, 20).contains("▸ 5 tail text"));
    assert_eq!(press(&mut viewer, &["ctrl+c"]), Step::Back);
}

#[test]
fn keys_that_come_before_the_archive_wait_for_it() {
    let mut viewer = Viewer::new(&Theme::new(Palette::Dark, SymbolSet::Unicode), Some(HALF_BLOCKS));
    assert_eq!(press(&mut viewer, &["up", "t"]), Step::Stay);
    let early = viewer.take_reel(Arc::new(reel(&archive()).unwrap()));
    assert_eq!(early, [key_event("up"), key_event("t")]);
}

#[test]
fn the_source_text_is_put_together_from_what_can_be_read() {
    let mut archive = archive();
    archive["frames"][1]["data"] = "AAAA".into();
    let reel = reel(&archive).unwrap();
    let text = reel.source_text();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[..3], ["[User]: the oldest words", "", "[Assistant]: an answer"]);
    assert!(lines[3].starts_with("alright, read the main file"), "{}", lines[3]);
    assert!(lines[4].starts_with("[its picture cannot be read"), "{}", lines[4]);
    assert!(lines[5].starts_with("it prints"), "{}", lines[5]);
    assert_eq!(lines[6], "[User]: the newest words");
}

#[test]
fn an_archive_of_text_alone_is_shown_and_a_compaction_without_one_is_told() {
    let theme = Theme::new(Palette::Dark, SymbolSet::Unicode);
    let mut viewer = viewer_of(&json!({ "textHead": "[User]: all" }), HALF_BLOCKS, &theme);
    let shown = screen(&mut viewer, 60, 14);
    assert!(shown.contains("it has no frames") && shown.contains("[User]: all"), "{shown}");
    let none = reel(&json!({})).unwrap_err();
    assert_eq!(none, "the compaction c0ffee00 by snapcompact holds no frames");
}

#[test]
fn pictures_are_never_enlarged_and_never_larger_than_their_room() {
    let room = Size::new(40, 10);
    for (size, zoom, pan, seen, cells) in [
        ((100, 100), Zoom::Whole, (0, 0), [0, 0, 100, 100], (10, 5)),
        ((1_568, 1_568), Zoom::Whole, (0, 0), [0, 0, 1_568, 1_568], (20, 10)),
        ((1_568, 1_568), Zoom::Width, (9, 9_999), [0, 784, 1_568, 784], (40, 10)),
        ((1_568, 704), Zoom::Pixels, (1_500, 16), [1_168, 16, 400, 200], (40, 10)),
        ((u32::MAX, 1), Zoom::Whole, (0, 0), [0, 0, u32::MAX, 1], (40, 1)),
    ] {
        let layout = Layout::new(size, room, (10, 20), zoom, pan).unwrap();
        let case = format!("{size:?} {zoom:?} {pan:?}");
        assert_eq!((layout.seen, layout.cells), (seen, Size::from(cells)), "{case}");
    }
    assert_eq!(Layout::new((0, 5), room, (10, 20), Zoom::Whole, (0, 0)), None);
    assert_eq!(Layout::new((5, 5), Size::new(0, 5), (10, 20), Zoom::Whole, (0, 0)), None);
}

#[test]
fn answers_and_keys_are_told_apart() {
    let heard = b"a\x1b_Gi=31;OK\x1b\\\xc3\xa9\x1b[A\x1b_Gi=32;EBADF\x1b\\\x1b[6;18;9t\x1b[<64;1;1M\x1bP>|foot(1.2)\x1b\\\r\x03\x1b[?62;4;22c\x1b";
    let (answers, keys) = query::read(heard);
    let expected = Answers {
        kitty: KittyPictures::Plain,
        has_sixel: true,
        cell_px: Some((9, 18)),
        name: Some("foot(1.2)".into()),
        is_complete: true,
    };
    assert_eq!(answers, expected);
    let typed = ["a", "é", "up", "enter", "ctrl+c", "esc"].map(|key| Event::Key(key_event(key)));
    assert_eq!(keys, typed);
    let cut = query::read(b"\x1b[?6");
    assert_eq!(cut, (Answers::default(), Vec::new()), "half an answer is no key");
    assert_eq!(query::read(b"\xff\x1b_\xff\x1b\\\x1b[\xff").1, []);
    assert_eq!(query::read(&[0x1b]).1, [Event::Key(KeyCode::Esc.into())]);
}

#[test]
fn how_pictures_are_drawn_is_known_from_answers_and_not_from_the_name_of_the_terminal_type() {
    let kitty = Answers { kitty: KittyPictures::Compressed, ..Answers::default() };
    let sixel = Answers { has_sixel: true, ..Answers::default() };
    let named =
        |name: &str, answers: &Answers| Answers { name: Some(name.into()), ..answers.clone() };
    let nothing = Answers::default();
    let iterm2 = [("TERM_PROGRAM", "iTerm.app"), ("TERM_PROGRAM_VERSION", "3.5.0")];
    let old_iterm2 = [("TERM_PROGRAM", "iTerm.app"), ("TERM_PROGRAM_VERSION", "2.9")];
    let in_wezterm = [("WEZTERM_EXECUTABLE", "/usr/bin/wezterm")];
    for (variables, answers, expected) in [
        (&[("TERM", "xterm-kitty")][..], &nothing, None),
        (&[], &kitty, Some(Protocol::Kitty { inflates: true })),
        (&[], &sixel, Some(Protocol::Sixel)),
        (&iterm2, &nothing, Some(Protocol::Iterm2)),
        (&old_iterm2, &nothing, None),
        (&in_wezterm, &kitty, Some(Protocol::Iterm2)),
        (&in_wezterm, &named("foot(1.2)", &sixel), Some(Protocol::Sixel)),
        (&[], &named("WezTerm 20240203", &kitty), Some(Protocol::Iterm2)),
    ] {
        let hints = Hints::of(&variables.iter().copied().collect::<Environment>());
        let cell_px = (10, 20);
        let graphics = hints.choose(answers, Some(cell_px));
        let expected = expected.map_or(Graphics::HalfBlocks(Colours::Indexed), |protocol| {
            Graphics::Pixels(Pixels { protocol, cell_px })
        });
        assert_eq!(graphics, expected, "{variables:?} {answers:?}");
        let of_no_size = Graphics::HalfBlocks(Colours::Indexed);
        assert_eq!(hints.choose(answers, None), of_no_size, "{variables:?}");
    }
    for variable in ["TMUX", "STY", "ZELLIJ"] {
        let environment = std::iter::once((variable, "1")).collect::<Environment>();
        assert!(Hints::of(&environment).is_multiplexed, "{variable}");
    }
}
