//! What the first use of a font costs, and a look-up.

use divan::{Bencher, black_box};
use longhand_fonts::{BitmapFont, BuiltIn};

fn main() {
    divan::main();
}

#[divan::bench]
fn unpack_fixed_8x13() -> BitmapFont {
    let packed = include_bytes!("../data/fixed-8x13.font");
    BitmapFont::unpack(black_box(packed)).expect("a compiled-in font is whole")
}

#[divan::bench]
fn unpack_wide() -> BitmapFont {
    let packed = include_bytes!("../data/wide.font");
    BitmapFont::unpack(black_box(packed)).expect("a compiled-in font is whole")
}

#[divan::bench(args = ['漢', '한', 'A', '\u{1F980}'])]
fn look_up_in_wide(bencher: Bencher, c: char) {
    let font = BuiltIn::Wide.font();
    bencher.bench(|| font.glyph(black_box(c)));
}

#[divan::bench]
fn glyph_classes_of_wide() -> Vec<Vec<char>> {
    BuiltIn::Wide.font().glyph_classes()
}
