//! Normalising text of a long session: 1 MB that is ASCII, that is mixed, that is wide, and that a terminal coloured.

use divan::Bencher;
use divan::counter::BytesCount;
use longhand_snapcompact::Fonts;
use longhand_snapcompact::normalize::{is_cjk_heavy, normalize};
use longhand_snapcompact::shape::FontName;

#[path = "../tests/generated/mod.rs"]
mod generated;

fn main() {
    divan::main();
}

const TEXTS: [&str; 4] = ["ascii", "mixed", "wide", "coloured"];

fn text(kind: &str) -> String {
    let ascii = generated::text(1_000_000, 5).replace('█', "\n");
    match kind {
        "ascii" => ascii,
        "mixed" => {
            ascii.replace("lazy", "“ленивый” → é…").replace("jumps", "跳过").replace("=>", "├── ✅")
        }
        "wide" => "历史记录变成图片，模型可以阅读。\n".repeat(20_000),
        _ => ascii.replace("error:", "\u{1b}[1;31merror:\u{1b}[0m"),
    }
}

#[divan::bench(args = TEXTS)]
fn normalise(bencher: Bencher<'_, '_>, kind: &str) {
    let (text, glyphs) = (text(kind), Fonts::default().glyphs(FontName::Fixed8x13));
    bencher.counter(BytesCount::of_str(&text)).bench(|| normalize(&text, &glyphs));
}

#[divan::bench(args = TEXTS)]
fn judge_wide(bencher: Bencher<'_, '_>, kind: &str) {
    let text = text(kind);
    bencher.counter(BytesCount::of_str(&text)).bench(|| is_cjk_heavy(&text));
}
