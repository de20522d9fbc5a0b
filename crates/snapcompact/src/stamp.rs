//! The pixels of a character in its cells: where a glyph lies, and how a fallback is made to fit.

use crate::glyphs::{Found, Glyphs, MAX_ROWS, Raster};
use crate::shape::Shape;

/// Part of a pixel that must be covered for it to get ink when a glyph is scaled down.
const INK_COVERAGE: f32 = 0.4;

/// Rows above the baseline of a fallback glyph.
const FALLBACK_ASCENT_PX: usize = 14;

/// A glyph, and where it lies relative to the top left of its cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp {
    pub(crate) left: usize,
    pub(crate) top: usize,
    pub(crate) raster: Raster,
}

/// The stamp of a character over `units` cells; `None` where no font has it. In the cells of `cell`, which are the shape's own, or
/// the font's where letters are resampled.
pub(crate) fn stamp(c: char, units: usize, glyphs: &Glyphs, cell: (usize, usize)) -> Option<Stamp> {
    match glyphs.find(c)? {
        Found::Own(raster) => Some(Stamp { left: 0, top: 0, raster }),
        Found::Fallback(raster) => Some(fitted(raster, units, glyphs, cell)),
    }
}

fn fitted(raster: Raster, units: usize, glyphs: &Glyphs, cell: (usize, usize)) -> Stamp {
    let (box_width, box_height) = (units * cell.0, cell.1);
    let (width, height) = (usize::from(raster.width_px), usize::from(raster.height_px));
    let raster = if width <= box_width && height <= box_height {
        raster
    } else {
        scaled(&raster, width.min(box_width), height.min(box_height))
    };
    let height = usize::from(raster.height_px);
    let lowest_top = box_height - height;
    Stamp {
        left: (box_width - usize::from(raster.width_px)) / 2,
        top: glyphs.ascent_px().saturating_sub(FALLBACK_ASCENT_PX).min(lowest_top),
        raster,
    }
}

/// A glyph made smaller. A pixel gets ink where enough of it is covered; there are no pale edges.
fn scaled(raster: &Raster, width: usize, height: usize) -> Raster {
    let x_scale = f32::from(raster.width_px) / width as f32;
    let y_scale = f32::from(raster.height_px) / height as f32;
    let mut rows = [0; MAX_ROWS];
    for (y, row) in rows.iter_mut().enumerate().take(height) {
        let ys = spans(y, y_scale);
        for x in 0..width {
            let covered: f32 = spans(x, x_scale)
                .flat_map(|(column, across)| {
                    ys.clone().map(move |(line, down)| (column, line, across * down))
                })
                .filter(|(column, line, _)| raster.rows[*line] & (0x8000 >> column) != 0)
                .map(|(_, _, part)| part)
                .sum();
            if covered >= INK_COVERAGE * x_scale * y_scale {
                *row |= 0x8000 >> x;
            }
        }
    }
    Raster { width_px: width as u8, height_px: height as u8, rows }
}

/// The source pixels under one target pixel, each with the part of it that lies there.
fn spans(at: usize, scale: f32) -> impl Iterator<Item = (usize, f32)> + Clone {
    let (start, end) = (at as f32 * scale, (at + 1) as f32 * scale);
    (start as usize..(end.ceil() as usize).min(MAX_ROWS)).map(move |pixel| {
        let (low, high) = (pixel as f32, pixel as f32 + 1.0);
        (pixel, (high.min(end) - low.max(start)).max(0.0))
    })
}

/// The cell in which a shape's glyphs are drawn: the font's own where they are resampled afterwards.
pub(crate) fn drawn_cell(shape: &Shape) -> (usize, usize) {
    if shape.is_stretched() {
        shape.font.natural_cell()
    } else {
        (shape.cell_width, shape.cell_height)
    }
}
