//! From text to frames: normalised, laid out, drawn and encoded, on all cores.

use std::sync::Arc;

use rayon::prelude::*;
use serde_json::json;
use sha2::{Digest, Sha256};

use crate::error::Error;
use crate::glyphs::Fonts;
use crate::shape::Shape;
use crate::{DIM_ON, dim, normalize, pages, raster};

/// One page as a picture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RenderedFrame {
    /// The PNG file.
    pub png: Arc<[u8]>,
    /// Width, in pixels.
    pub width_px: usize,
    /// Height, in pixels.
    pub height_px: usize,
    /// Cells a line, of one column of text.
    pub cols: usize,
    /// Lines of a full frame.
    pub rows: usize,
    /// Characters drawn.
    pub chars: usize,
    /// Tells pages that look alike: see [`frame_key`].
    pub key: String,
}

/// Draws frames. Holds the fonts; cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Renderer {
    fonts: Fonts,
}

/// Frames of a text, with the compiled-in fonts. A text without a character to print has none.
///
/// ```
/// use longhand_snapcompact::{Family, Variant, decode, render};
///
/// let shape = Variant::Wide11On16.shape(Family::Anthropic);
/// let frames = render("fn main() {}\nprints nothing", &shape)?;
/// assert_eq!((frames[0].width_px, frames[0].height_px), (1568, 16));
/// let page = decode(&frames[0].png, &shape)?;
/// assert_eq!(page.text, "fn main() {}\u{2588}prints nothing");
/// # Ok::<(), longhand_snapcompact::Error>(())
/// ```
///
/// # Errors
/// The shape is not possible.
pub fn render(text: &str, shape: &Shape) -> Result<Vec<RenderedFrame>, Error> {
    Renderer::default().render(text, shape, usize::MAX)
}

impl Renderer {
    /// Draws with these fonts.
    pub fn new(fonts: Fonts) -> Self {
        Self { fonts }
    }

    /// The fonts.
    pub fn fonts(&self) -> &Fonts {
        &self.fonts
    }

    /// The first `max_frames` frames of a text.
    ///
    /// # Errors
    /// The shape is not possible.
    pub fn render(
        &self,
        text: &str,
        shape: &Shape,
        max_frames: usize,
    ) -> Result<Vec<RenderedFrame>, Error> {
        let pages = self.finished_pages(text, shape, max_frames)?;
        self.render_pages(&pages, shape)
    }

    /// The pages of a text as they are drawn: normalised, laid out, function words dimmed where the shape asks for it.
    ///
    /// # Errors
    /// The shape is not possible.
    pub fn finished_pages(
        &self,
        text: &str,
        shape: &Shape,
        max_pages: usize,
    ) -> Result<Vec<String>, Error> {
        let glyphs = self.fonts.glyphs(shape.font);
        let normalized = normalize::normalize(text, &glyphs);
        let pages = pages::pages(&normalized.text, shape, &glyphs)?;
        let mut is_dim = false;
        Ok(pages
            .iter()
            .take(max_pages)
            .map(|page| {
                // Lines are laid out anew for each page, so that a pale span that goes on must be opened again.
                let starts_dim = is_dim && shape.columns > 1;
                is_dim = dim::opens_dim(page, is_dim);
                finished_page(page, starts_dim, shape)
            })
            .collect())
    }

    /// Draws pages that are finished, on all cores, in their order.
    ///
    /// # Errors
    /// The shape is not possible.
    pub fn render_pages<P: AsRef<str> + Sync>(
        &self,
        pages: &[P],
        shape: &Shape,
    ) -> Result<Vec<RenderedFrame>, Error> {
        pages.par_iter().map(|page| self.render_page(page.as_ref(), shape)).collect()
    }

    /// Draws finished pages, each in a shape of its own, on all cores, in their order.
    ///
    /// # Errors
    /// A shape is not possible.
    pub fn render_each(&self, pages: &[(&str, &Shape)]) -> Result<Vec<RenderedFrame>, Error> {
        pages.par_iter().map(|(page, shape)| self.render_page(page, shape)).collect()
    }

    /// Draws one finished page.
    ///
    /// # Errors
    /// The shape is not possible.
    pub fn render_page(&self, page: &str, shape: &Shape) -> Result<RenderedFrame, Error> {
        let grid = shape.grid()?;
        let drawing = raster::draw(page, shape, &self.fonts)?;
        Ok(RenderedFrame {
            png: drawing.png()?.into(),
            width_px: drawing.width_px(),
            height_px: drawing.height_px(),
            cols: grid.cols,
            rows: grid.rows,
            chars: pages::drawn_chars(page, grid, &self.fonts.glyphs(shape.font)),
            key: frame_key(page, shape, &self.fonts),
        })
    }
}

/// A page as it is drawn: a pale span that the page before left open is opened again, and function words are dimmed where the
/// shape asks for it.
pub fn finished_page(page: &str, starts_dim: bool, shape: &Shape) -> String {
    let mut finished = String::with_capacity(page.len() + DIM_ON.len_utf8());
    if starts_dim {
        finished.push(DIM_ON);
    }
    finished.push_str(page);
    if shape.stopword_dim { dim::dim_stopwords(&finished).into_owned() } else { finished }
}

/// Tells pages that look alike: the same for the same finished page, geometry and fonts. What a frame is billed does not count.
pub fn frame_key(page: &str, shape: &Shape, fonts: &Fonts) -> String {
    let geometry = json!([
        FORMAT,
        fonts.fingerprint(),
        shape.font,
        shape.cell_width,
        shape.cell_height,
        shape.is_stretched(),
        shape.ink,
        shape.columns,
        shape.line_repeat,
        shape.frame_size,
    ]);
    let mut hash = Sha256::new();
    hash.update(geometry.to_string());
    hash.update(page);
    hash.finalize()[..KEY_BYTES].iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Changes whenever the same page of the same shape would become another file.
const FORMAT: u32 = 1;

/// Half of a SHA-256: as unlikely to collide by chance as anyone needs.
const KEY_BYTES: usize = 16;
