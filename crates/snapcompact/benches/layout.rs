//! Laying out and planning the text of a long session: 600 KB, and 3 MB of which most is left out.

use divan::Bencher;
use longhand_snapcompact::{Family, Fonts, Variant, pages, plan};

#[path = "../tests/generated/mod.rs"]
mod generated;

fn main() {
    divan::main();
}

/// Turns of a user who says little and tools that print much.
fn session(chars: usize) -> String {
    let turn =
        format!("¶user:do the next█¶ai:so I will█¶call:run()█{}█", generated::text(2_000, 5));
    turn.repeat(chars.div_ceil(2_000))
}

/// Text without wide characters, and with one in six.
const TEXTS: [&str; 2] = ["ascii", "mixed"];

fn text(kind: &str) -> String {
    match kind {
        "ascii" => generated::text(600_000, 5),
        _ => generated::text(600_000, 5).replace("the", "我们的").replace("lazy", "ленивый"),
    }
}

#[divan::bench(args = TEXTS)]
fn paginate(bencher: Bencher<'_, '_>, kind: &str) {
    let shape = Variant::Wide11On16.shape(Family::Anthropic);
    let glyphs = Fonts::default().glyphs(shape.font);
    let text = text(kind);
    bencher.bench(|| pages::frame_count(&text, &shape, &glyphs));
}

#[divan::bench(args = TEXTS)]
fn wrap(bencher: Bencher<'_, '_>, kind: &str) {
    let shape = Variant::Columns8On16.shape(Family::Anthropic);
    let glyphs = Fonts::default().glyphs(shape.font);
    let text = text(kind);
    bencher.bench(|| pages::frame_count(&text, &shape, &glyphs));
}

#[divan::bench(args = [600_000, 3_000_000])]
fn plan_17_frames(bencher: Bencher<'_, '_>, chars: usize) {
    let high = Variant::Wide11On16.sized(Family::Anthropic, 1932);
    let low = Variant::Wide8On16.sized(Family::Anthropic, 1932);
    let (text, fonts) = (session(chars), Fonts::default());
    bencher.bench(|| plan::plan(&text, &high, &low, 17, &fonts));
}
