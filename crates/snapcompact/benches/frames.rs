//! Drawing and encoding one full frame of each shape, on one core.

use divan::Bencher;
use longhand_snapcompact::{Family, Renderer, Variant, raster};

#[path = "../tests/generated/mod.rs"]
mod generated;

fn main() {
    divan::main();
}

/// Shape and edge in pixels.
fn shapes() -> Vec<(Variant, usize)> {
    let own = Variant::ALL.iter().map(|variant| (*variant, variant.frame_size()));
    own.chain([(Variant::Wide11On16, 1932), (Variant::Wide8On22, 2048)]).collect()
}

#[divan::bench(args = 0..shapes().len(), sample_count = 20, sample_size = 1)]
fn frame(bencher: Bencher<'_, '_>, at: usize) {
    let (variant, size) = shapes()[at];
    let shape = variant.sized(Family::Anthropic, size);
    let capacity = shape.grid().expect("a shape with a name").capacity();
    let renderer = Renderer::default();
    // Laid out before: the page of a shape with columns is wrapped lines.
    let pages = renderer.finished_pages(&generated::text(2 * capacity, 5), &shape, 1);
    let text = pages.expect("a shape with a name").remove(0);
    let bytes = renderer.render_page(&text, &shape).expect("a frame").png.len();
    eprintln!("{at}: {variant} at {size} px, {bytes} bytes");
    bencher.bench(|| renderer.render_page(&text, &shape));
}

#[divan::bench(sample_count = 20, sample_size = 1)]
fn pixels_only_11on16_1932(bencher: Bencher<'_, '_>) {
    let shape = Variant::Wide11On16.sized(Family::Anthropic, 1932);
    let text = generated::text(21_000, 5);
    let renderer = Renderer::default();
    bencher.bench(|| raster::draw(&text, &shape, renderer.fonts()));
}
