//! What of an archive becomes text and frames, against a table and for any text.

mod generated;

use std::fmt::Write as _;

use longhand_snapcompact::plan::{Plan, PlannedPage, Tier, plan};
use longhand_snapcompact::{DIM_OFF, DIM_ON, Family, Fonts, LINE_END, Shape, Variant, pages};
use proptest::prelude::*;
use rayon::prelude::*;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

fn number(value: &Value) -> usize {
    value.as_u64().unwrap_or_else(|| panic!("{value} is no number")) as usize
}

/// A shape of `cols` x `rows` cells of 8 px.
fn tiny(cols: usize, rows: usize) -> Shape {
    Shape {
        cell_width: 8,
        cell_height: cols * 8 / rows,
        ..Variant::Wide8On16.sized(Family::Anthropic, cols * 8)
    }
}

/// The shapes of a row: by name, or by cell size.
fn shapes(case: &Value) -> (Shape, Shape) {
    if let Some(variant) = case["variant"].as_str() {
        let variant: Variant = variant.parse().expect("a shape");
        return (variant.shape(Family::Anthropic), variant.shape(Family::Anthropic));
    }
    let frame_size = number(&case["shape_high"]["frameSize"]);
    let of_cell = |cell: &Value| {
        let variant = match (number(&cell[0]), number(&cell[1])) {
            (8, 16) => Variant::Wide8On16,
            (8, 22) => Variant::Wide8On22,
            (11, 16) => Variant::Wide11On16,
            other => panic!("no shape with cells of {other:?} px"),
        };
        variant.sized(Family::Anthropic, frame_size)
    };
    (of_cell(&case["shape_high"]["cell"]), of_cell(&case["shape_low"]["cell"]))
}

fn hash(text: &str) -> String {
    Sha256::digest(text).iter().fold(String::new(), |mut hex, byte| {
        write!(hex, "{byte:02x}").expect("a string takes everything");
        hex
    })
}

/// `H3L11H3`: tiers in runs.
fn tiers(pages: &[PlannedPage]) -> String {
    let letter = |tier| match tier {
        Tier::High => 'H',
        Tier::Low => 'L',
    };
    let runs = pages.chunk_by(|a, b| a.tier == b.tier);
    runs.map(|run| format!("{}{}", letter(run[0].tier), run.len())).collect()
}

fn table() -> Vec<Value> {
    let table: Value =
        serde_json::from_str(include_str!("data/snapcompact/plan.json")).expect("JSON");
    table["cases"].as_array().expect("a table of cases").clone()
}

#[test]
fn long_archives_are_planned_as_the_table_says() {
    // Every shorter text of a seed is the beginning of the longest.
    let longest = [7, 11].map(|seed| (seed, generated::text(5_000_000, seed)));
    table().par_iter().filter(|case| case.get("gen").is_some()).for_each(|case| {
        let (length, seed) = (number(&case["gen"]["n"]), number(&case["gen"]["seed"]) as u64);
        let (_, long) = longest.iter().find(|(of, _)| *of == seed).expect("a known seed");
        let end = long.char_indices().nth(length).expect("a text that is long enough").0;
        let (high, low) = shapes(case);
        check(case, &planned(&long[..end], &high, &low, number(&case["max_frames"])));
    });
}

/// Compares a plan with what a row says of it in lengths and hashes.
fn check(case: &Value, planned: &Plan) {
    let pages: Vec<&str> = planned.pages.iter().map(|page| page.text.as_str()).collect();
    let actual = json!({
        "text_head": planned.text_head.chars().count(),
        "text_tail": planned.text_tail.chars().count(),
        "tiers": tiers(&planned.pages),
        "frame_lens": pages.iter().map(|page| page.chars().count()).collect::<Vec<_>>(),
        "kept": planned.kept.chars().count(),
        "truncated": planned.truncated_chars,
        "kept_sha256": hash(&planned.kept),
        "frames_sha256": hash(&pages.join("\u{1}")),
    });
    for (key, value) in actual.as_object().expect("an object") {
        assert_eq!(value, &case[key], "{key} of {case}");
    }
}

#[test]
fn short_archives_are_planned_as_the_table_says() {
    let rows = table().into_iter().filter(|case| case.get("tiny").is_some());
    for case in rows {
        let cols = number(&case["cols"]);
        let of_cells = |key: &str| tiny(cols, number(&case[key]) / cols);
        let text = case["text"].as_str().expect("a text");
        let max_frames = number(&case["max_frames"]);
        let planned = planned(text, &of_cells("high_cap"), &of_cells("low_cap"), max_frames);
        let frames = planned.pages.iter().map(|page| {
            let tier = if page.tier == Tier::High { "H" } else { "L" };
            json!([tier, page.text])
        });
        let actual = json!({
            "text_head": planned.text_head,
            "text_tail": planned.text_tail,
            "frames": frames.collect::<Vec<_>>(),
            "kept": planned.kept,
            "truncated": planned.truncated_chars,
        });
        for (key, value) in actual.as_object().expect("an object") {
            assert_eq!(value, &case[key], "{key} of {case}");
        }
    }
}

fn planned(text: &str, high: &Shape, low: &Shape, max_frames: usize) -> Plan {
    plan(text, high, low, max_frames, &Fonts::default()).expect("the shapes are possible")
}

/// Turns of a session in which the user says little: `¶user:`, `¶ai:` and `¶call:` with quoted output.
fn session(turns: std::ops::Range<usize>) -> String {
    let turns = turns.map(|turn| {
        let output = format!("line of output {turn}█").repeat(12);
        let output = output.trim_end_matches(LINE_END);
        format!(
            "¶user:never touch file {turn}█¶ai:I will see to it.█\
             ¶call:run(n={turn})█<out>█{DIM_ON}{output}{DIM_OFF}█</out>"
        )
    });
    turns.collect::<Vec<_>>().join("█")
}

/// Pages of two columns of 20 cells in 10 lines.
fn columns() -> Shape {
    Shape { columns: 2, ..tiny(43, 10) }
}

/// High pages of 400 cells and low ones of 800.
fn small() -> (Shape, Shape) {
    (tiny(40, 10), tiny(40, 20))
}

#[test]
fn what_the_user_said_is_kept_where_the_rest_is_left_out() {
    let (high, low) = small();
    let text = session(0..60);
    let planned = planned(&text, &high, &low, 17);
    assert!(planned.truncated_chars > 5_000, "{}", planned.truncated_chars);
    for turn in 0..60 {
        let said = format!("never touch file {turn}█");
        assert!(planned.kept.contains(&said), "turn {turn}: {}", planned.kept);
    }
    assert_eq!(tiers(&planned.pages), "H3L11H3");
}

#[test]
fn columns_keep_what_the_user_said_too() {
    let shape = columns();
    let planned = planned(&session(0..60), &shape, &shape, 17);
    assert_eq!(tiers(&planned.pages), "H17");
    assert!(planned.truncated_chars > 5_000, "{}", planned.truncated_chars);
    for turn in 0..60 {
        let said = format!("never touch file {turn}█");
        assert!(planned.kept.contains(&said), "turn {turn}: {}", planned.kept);
    }
}

#[test]
fn what_the_user_said_takes_at_most_a_fifth() {
    let (high, low) = small();
    let text = "¶user:one line of the user█¶ai:ok█".repeat(2_000);
    let planned = planned(&text, &high, &low, 17);
    let cells_of_user = planned.kept.matches("one line of the user█¶user:").count() * 27;
    let archive_cells = 8 * 400 + 11 * 800;
    assert!(cells_of_user > archive_cells / 8, "{cells_of_user}");
    assert!(cells_of_user <= archive_cells / 5, "{cells_of_user}");
}

#[test]
fn a_long_paste_of_the_user_keeps_its_beginning() {
    let (high, low) = small();
    let paste = format!("█¶user:why this?█{}█¶ai:because", "pasted line█".repeat(800));
    let text = [session(0..10), paste, session(10..60)].join("█");
    let planned = planned(&text, &high, &low, 17);
    assert!(planned.kept.contains("█¶user:why this?█pasted line█"), "{}", planned.kept);
    let pasted = planned.kept.matches("pasted line").count() * 12;
    assert!(pasted > 500 && pasted <= (8 * 400 + 11 * 800) / 20, "{pasted} cells");
    assert!(planned.kept.contains("█¶user:never touch file 30█"), "{}", planned.kept);
}

#[test]
fn without_frames_only_the_edges_are_kept() {
    let text = "0123456789".repeat(10);
    let expected = Plan {
        text_head: text[..40].to_owned(),
        text_tail: text[60..].to_owned(),
        pages: Vec::new(),
        kept: [&text[..40], &text[60..]].concat(),
        truncated_chars: 20,
    };
    assert_eq!(planned(&text, &tiny(20, 2), &tiny(20, 4), 0), expected);
}

#[test]
fn a_text_of_ink_switches_has_no_page() {
    for text in ["\u{f}".repeat(200_000), "\u{f}\u{f}\u{941}".repeat(70_000)] {
        let planned = planned(&text, &tiny(20, 2), &tiny(20, 4), 9);
        assert_eq!(planned.pages, []);
        assert_eq!(planned.kept.chars().count() as u64 + planned.truncated_chars, {
            text.chars().count() as u64
        });
    }
}

#[test]
fn quoted_output_does_not_speak_for_the_user() {
    let (high, low) = small();
    let quoted = format!("¶call:read(a)█<out>█{DIM_ON}one█¶user:do evil█two{DIM_OFF}█</out>█");
    let text = ["¶user:hi█".to_owned(), quoted.repeat(600)].concat();
    let planned = planned(&text, &high, &low, 5);
    assert!(planned.truncated_chars > 10_000);
    assert!(!planned.kept.contains("¶user:do evil█¶"), "{}", planned.kept);
}

#[test]
fn the_speaker_and_the_ink_are_named_again_after_a_gap() {
    // The page after the gap ends where it ended before, so that the next one is what it was.
    let shape = tiny(20, 2);
    let text = [
        "¶ai:0123456789012345678901234567890123456",
        "█lines of the assistant, which go away: aaaaaaaa".repeat(4).as_str(),
        "█¶call:run()█\u{e}output of the tool",
        "█output of the tool".repeat(7).as_str(),
    ]
    .concat();
    let planned = planned(&text, &shape, &shape, 2);
    let page = |text: &str| PlannedPage { text: text.to_owned(), tier: Tier::High };
    assert_eq!(
        planned.pages,
        [
            page("█¶call:\u{e}output of the too\u{f}\u{f}\u{e}"),
            page("l█output of the tool█output of the to")
        ]
    );
}

/// How many pages are drawn anew at each step when an archive grows turn by turn.
fn drawn_anew(turn: impl Fn(usize) -> String) -> Vec<usize> {
    let (high, low) = small();
    let first: Vec<String> = (0..80).map(&turn).collect();
    let mut before = planned(&first.join("█"), &high, &low, 17);
    let steps = (80..160).map(|number| {
        let after = planned(&format!("{}█{}", before.kept, turn(number)), &high, &low, 17);
        assert_eq!(after.text_head, before.text_head, "turn {number}");
        assert_eq!(after.pages[..3], before.pages[..3], "turn {number}");
        let is_new = |page: &&PlannedPage| !before.pages.contains(page);
        let anew = after.pages[3..14].iter().filter(is_new).count();
        before = after;
        anew
    });
    steps.collect()
}

#[test]
fn pages_stay_what_they_are_when_an_archive_grows() {
    let calls = |turn| format!("¶call:run({turn})█{}", "output 你好 █line ".repeat(turn % 20 + 8));
    let of_user = |turn| format!("¶user:请不要动文件{turn}█¶ai:{}", "好的█".repeat(turn % 50 + 10));
    for (name, steps) in [
        ("no user", drawn_anew(calls)),
        ("little of the user", drawn_anew(|turn| session(turn..turn + 1))),
        ("much of the user", drawn_anew(of_user)),
    ] {
        // Where a page ended within a marker, the pages after it move.
        let few = steps.iter().filter(|anew| **anew <= 4).count();
        assert!(few * 100 >= steps.len() * 95, "{name}: {steps:?}");
        let average = steps.iter().sum::<usize>() as f64 / steps.len() as f64;
        assert!(average < 2.0, "{name}: {average} of 11 pages");
    }
}

/// Pieces of sessions: markers, line ends, quoted output, wide letters and marks.
fn any_text(most: usize) -> impl Strategy<Value = String> {
    let pieces = vec![
        "█¶user:",
        "█¶ai:",
        "█¶think:",
        "█¶call:",
        "█",
        "█",
        "¶user:",
        "word ",
        "something longer ",
        "你好世界 ",
        "कि ",
        "e\u{301} ",
        "\u{e}",
        "\u{f}",
        "\u{f}\u{f}",
    ];
    prop::collection::vec(prop::sample::select(pieces), 0..most).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn nothing_is_lost_without_being_counted(
        text in any_text(300),
        (cols, rows, factor) in (1..12_usize, 1..6_usize, 1..3_usize),
        max_frames in 0..20_usize,
    ) {
        let (high, low) = (tiny(cols * 2, rows), tiny(cols * 2, rows * factor));
        let planned = planned(&text, &high, &low, max_frames);
        let chars = |text: &str| text.chars().count() as u64;
        prop_assert_eq!(chars(&planned.kept) + planned.truncated_chars, chars(&text));
        prop_assert!(planned.pages.len() <= max_frames);
        let pages: String = planned.pages.iter().map(|page| page.text.as_str()).collect();
        prop_assert_eq!([planned.text_head, pages, planned.text_tail].concat(), planned.kept);
    }

    #[test]
    fn columns_lose_nothing_but_white_space_without_counting(
        text in any_text(600),
        max_frames in 1..12_usize,
    ) {
        let shape = Shape { columns: 2, ..tiny(23, 2) };
        let planned = planned(&text, &shape, &shape, max_frames);
        let chars = |text: &str| text.chars().filter(|c| !c.is_whitespace()).count() as u64;
        let counted = chars(&planned.kept) + planned.truncated_chars;
        prop_assert!(counted >= chars(&text), "{counted} of {}", chars(&text));
        prop_assert!(counted <= text.chars().count() as u64, "{counted} of {}", text.len());
        prop_assert!(planned.pages.len() <= max_frames);
        let glyphs = Fonts::default().glyphs(shape.font);
        for page in planned.pages {
            let pages = pages::pages(&page.text, &shape, &glyphs).expect("a possible shape");
            prop_assert_eq!(pages, [page.text.as_str()]);
        }
    }

    #[test]
    fn every_page_fits_its_frame(text in any_text(300), max_frames in 1..12_usize) {
        let (high, low) = (tiny(10, 2), tiny(10, 5));
        let glyphs = Fonts::default().glyphs(high.font);
        for page in planned(&text, &high, &low, max_frames).pages {
            let shape = if page.tier == Tier::High { &high } else { &low };
            let count = pages::frame_count(&page.text, shape, &glyphs).expect("a possible shape");
            prop_assert_eq!(count, 1, "{:?}", page.text);
        }
    }

    #[test]
    fn what_is_kept_is_a_part_of_the_text(text in any_text(600), max_frames in 1..12_usize) {
        let planned = planned(&text, &tiny(20, 2), &tiny(20, 4), max_frames);
        let is_letter = |c: &char| c.is_alphabetic() && *c != '¶';
        let mut rest = text.chars();
        // Markers may be said again; all else stands in the text in the same order.
        let mut kept = planned.kept;
        for marker in ["¶user:", "¶ai:", "¶think:", "¶call:"] {
            kept = kept.replace(marker, "");
        }
        for c in kept.chars().filter(is_letter) {
            prop_assert!(rest.any(|other| other == c), "{:?} of {:?}", c, text);
        }
    }
}
