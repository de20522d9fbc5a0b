//! Frames read back: what was printed is what is read.

use std::sync::LazyLock;

use longhand_snapcompact::glyphs::is_overlay;
use longhand_snapcompact::normalize::normalize;
use longhand_snapcompact::{Decoder, Error, Family, Fonts, Glyphs, Shape, Variant, decode, render};
use proptest::prelude::*;

fn shapes() -> impl Iterator<Item = (Variant, Shape)> {
    Variant::ALL.iter().map(|variant| (*variant, variant.shape(Family::Anthropic)))
}

#[test]
fn a_sentence_comes_back_from_every_shape_that_is_not_resampled() {
    let text = "Read src/main.rs:42. 0O 1lI| 5S 8B 2Z rn/m!\nIs it 0x1F? 漢字と仮名。 done";
    for (variant, shape) in shapes() {
        let frames = render(text, &shape).expect("a frame");
        let read = decode(&frames[0].png, &shape);
        if shape.is_stretched() {
            assert!(matches!(read, Err(Error::Resampled(_))), "{variant}");
            continue;
        }
        let page = read.expect("a readable frame");
        assert_eq!(page.unread_cells, 0, "{variant}");
        let expected = "Read src/main.rs:42. 0O 1lI| 5S 8B 2Z rn/m!█Is it 0x1F? 漢字と仮名。 done";
        if variant.shape(Family::Anthropic).cell_height >= 13 {
            assert_eq!(page.text, expected, "{variant}");
        }
    }
}

#[test]
fn foreign_pictures_are_refused_with_a_reason() {
    let shape = Variant::Wide11On16.shape(Family::Anthropic);
    let other = Variant::Fixed5x8Black.shape(Family::Anthropic);
    let frame = &render("text", &other).expect("a frame")[0];
    let said = decode(&frame.png, &shape).expect_err("another width").to_string();
    assert_eq!(
        said,
        "the picture cannot be read as a frame: 2576x8 px is no frame of 1568 px with lines of 16 px"
    );
    decode(b"\x89PNG\r\n\x1a\nrubbish", &shape).expect_err("no picture");
    decode(&frame.png[..frame.png.len() / 2], &other).expect_err("half a picture");
}

/// Text of every kind: words, code, scripts, marks, pictures, line ends, ink switches, and anything else.
fn any_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        6 => "[ -~]{1,12}",
        2 => "[a-z]{1,9}[.!?] ",
        2 => "[\\u{4e00}-\\u{9fa0}\\u{3040}-\\u{30ff}\\u{ac00}-\\u{d7a0}]{1,6}",
        1 => "[\\u{a0}-\\u{24f}\\u{370}-\\u{6ff}]{1,8}",
        1 => "[\\u{2000}-\\u{2bff}]{1,4}",
        1 => Just("\n    ".to_owned()),
        1 => Just("\u{e}dim words\u{f} ".to_owned()),
        1 => "\\PC{1,4}",
    ];
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

/// What can be read of a text: each character as the picture of it is read, without what leaves no trace.
fn readable(text: &str, decoder: &Decoder) -> String {
    text.chars().filter_map(|c| decoder.reading_of(c)).collect()
}

/// A blank before a wide character may be the end of a line.
fn without_pads(text: &str, glyphs: &Glyphs) -> String {
    let chars: Vec<char> = text.chars().collect();
    let is_pad = |at: usize| {
        chars[at] == ' ' && chars.get(at + 1).is_some_and(|next| glyphs.units(*next) == 2)
    };
    (0..chars.len()).filter(|at| !is_pad(*at)).map(|at| chars[at]).collect()
}

/// Small frames, so that a short text has several pages; each shape with its reader, which is dear to make.
static READERS: LazyLock<Vec<(Variant, Shape, Decoder)>> = LazyLock::new(|| {
    let read = |variant: &Variant| {
        let shape = variant.sized(Family::Unknown, 272);
        let decoder = Decoder::new(&shape, &Fonts::default()).ok()?;
        Some((*variant, shape, decoder))
    };
    Variant::ALL.iter().filter_map(read).collect()
});

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, max_shrink_iters: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_printed_is_what_is_read(text in any_text()) {
        for (variant, shape, decoder) in READERS.iter() {
            let glyphs = Fonts::default().glyphs(shape.font);
            let normalized = normalize(&text, &glyphs).text;
            let frames = render(&text, shape).expect("frames");
            let read = decoder.decode_all(frames.iter().map(|frame| &*frame.png)).expect("readable frames");
            if normalized.chars().any(is_overlay) {
                // Marks and what they stand over may be read as another pair that looks the same.
                let again = render(&read, shape).expect("frames");
                prop_assert_eq!(again.len(), frames.len(), "{}", variant);
                continue;
            }
            let (mut read, mut expected) = (without_pads(&read, &glyphs), without_pads(&readable(&normalized, decoder), &glyphs));
            if shape.columns > 1 {
                // A word that fills a line may or may not have ended there.
                read.retain(|c| c != ' ');
                expected.retain(|c| c != ' ');
            }
            prop_assert_eq!(read.trim_end(), expected.trim_end(), "{}", variant);
        }
    }
}
