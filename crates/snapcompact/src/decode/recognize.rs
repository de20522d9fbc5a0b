//! Frames of which nobody says how they were drawn.

use longhand_session::archive::Frame;

use super::{DecodedPage, Decoder};
use crate::billing::Family;
use crate::error::Error;
use crate::glyphs::Fonts;
use crate::shape::{Shape, Variant};

/// The shape that reads a frame with the fewest cells unread, its reader, and what it reads. Tries every shape that can be read and
/// has the picture's width; ink makes no difference.
///
/// # Errors
/// The file is no PNG, or no shape reads most of it.
pub fn recognize(png: &[u8], fonts: &Fonts) -> Result<(Decoder, DecodedPage), Error> {
    let width_px = super::pixels::Inked::read(png)?.width_px;
    let mut best: Option<(Decoder, DecodedPage)> = None;
    for shape in readable_shapes(width_px) {
        let Ok(decoder) = Decoder::new(&shape, fonts) else { continue };
        let Ok(page) = decoder.decode(png) else { continue };
        let is_better = best.as_ref().is_none_or(|(_, best)| is_better(&page, best));
        if is_better {
            best = Some((decoder, page));
        }
    }
    let unknown = || Error::Unreadable("no shape that can be read back was drawn like it".into());
    best.filter(|(_, page)| page.unread_cells * 2 <= page.text.chars().count()).ok_or_else(unknown)
}

/// Of two readings without a gap the longer one is right: in too large cells, most of a page is one blank.
fn is_better(page: &DecodedPage, best: &DecodedPage) -> bool {
    let share =
        |page: &DecodedPage| page.unread_cells as f64 / page.text.chars().count().max(1) as f64;
    share(page) < share(best) || share(page) <= share(best) && page.text.len() > best.text.len()
}

/// One shape of each geometry.
fn readable_shapes(width_px: usize) -> Vec<Shape> {
    let mut shapes: Vec<Shape> = Vec::new();
    for variant in Variant::ALL {
        let shape = variant.sized(Family::Unknown, width_px);
        let is_alike = |other: &Shape| geometry(other) == geometry(&shape);
        if !shape.is_stretched() && !shapes.iter().any(is_alike) {
            shapes.push(shape);
        }
    }
    shapes
}

fn geometry(shape: &Shape) -> impl PartialEq {
    (shape.font, shape.cell_width, shape.cell_height, shape.line_repeat, shape.columns)
}

/// The shape with a name that a frame of an archive was drawn in; `None` where it does not tell, or none is known. An archive keeps
/// no cells, but no two shapes agree in all that it keeps. Frames of the oldest kind tell nothing and have the oldest shape.
pub fn shape_of(frame: &Frame, width_px: usize) -> Option<(Variant, Shape)> {
    let (font, ink) = match (frame.font.as_deref(), frame.variant.as_deref()) {
        (None, None) => ("5x8", "sent"),
        (font, ink) => (font?, ink?),
    };
    let is_drawn_so = |shape: &Shape| {
        let cells = shape.grid().ok().map(|grid| (grid.cols as u64, grid.rows as u64));
        shape.font.as_str() == font
            && shape.ink.as_str() == ink
            && shape.stopword_dim == frame.stopword_dim.unwrap_or(false)
            && shape.columns as u64 == frame.columns.unwrap_or(1)
            && shape.line_repeat as u64 == frame.line_repeat.unwrap_or(1)
            && cells == Some((frame.cols, frame.rows))
    };
    let named =
        Variant::ALL.iter().map(|variant| (*variant, variant.sized(Family::Unknown, width_px)));
    named.into_iter().find(|(_, shape)| is_drawn_so(shape))
}
