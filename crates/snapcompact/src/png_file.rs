//! Pictures as PNG files: indexed colours, no filter, the fewest bits a pixel that its colours need, no further chunks.

use libdeflater::{CompressionLvl, Compressor};
use png::{BitDepth, ColorType, chunk};

use crate::canvas::Canvas;
use crate::error::Error;
use crate::palette::PALETTE;
use crate::stretch::Picture;

/// How hard to compress. Level 6 costs a fifth of level 9's time and 6 % more bytes; see the figures in `docs/performance.md`.
const LEVEL: i32 = 6;

/// A file of a drawn canvas. Its palette holds the colours that are used, in the order of the common one.
pub(crate) fn of_canvas(canvas: &Canvas) -> Result<Vec<u8>, Error> {
    let mut is_used = [false; PALETTE.len()];
    for y in 0..canvas.height_px {
        canvas.row(y).iter().for_each(|colour| is_used[usize::from(*colour)] = true);
    }
    let mut narrow = [0; PALETTE.len()];
    let mut palette = Vec::new();
    for (colour, rgb) in PALETTE.iter().enumerate().filter(|(colour, _)| is_used[*colour]) {
        narrow[colour] = (palette.len() / 3) as u8;
        palette.extend_from_slice(rgb);
    }
    let rows = |y| canvas.row(y).iter().map(|colour| narrow[usize::from(*colour)]);
    write(canvas.width_px, canvas.height_px, palette, rows)
}

/// A file of a resampled picture, its colours reduced to sixteen.
pub(crate) fn of_rgb(picture: &Picture) -> Result<Vec<u8>, Error> {
    let palette = if picture.has_hues { hues() } else { greys() };
    let nearest = |rgb: &[u8]| {
        let distance = |colour: &[u8; 3]| -> u32 {
            colour.iter().zip(rgb).map(|(a, b)| u32::from(a.abs_diff(*b)).pow(2)).sum()
        };
        (0..palette.len() as u8).min_by_key(|at| distance(&palette[usize::from(*at)])).unwrap_or(0)
    };
    // Most neighbours are alike: paper beside paper.
    let mut last = ([255; 3], nearest(&[255; 3]));
    let mut index_of = |rgb: [u8; 3]| {
        if rgb != last.0 {
            last = (rgb, nearest(&rgb));
        }
        last.1
    };
    let pixels = picture.rgb.chunks_exact(3);
    let indices: Vec<u8> = pixels.map(|rgb| index_of([rgb[0], rgb[1], rgb[2]])).collect();
    let rows = |y: usize| indices[y * picture.width_px..][..picture.width_px].iter().copied();
    write(picture.width_px, picture.height_px, palette.concat(), rows)
}

/// Sixteen greys from black to white.
fn greys() -> Vec<[u8; 3]> {
    (0..16).map(|step| [step * 17; 3]).collect()
}

/// Each colour of ink in full, and the hues halfway to paper.
fn hues() -> Vec<[u8; 3]> {
    let halfway = |rgb: [u8; 3]| rgb.map(|part| u8::midpoint(part, 255));
    PALETTE.into_iter().chain(PALETTE[1..7].iter().copied().map(halfway)).collect()
}

fn write<R: Iterator<Item = u8>>(
    width_px: usize,
    height_px: usize,
    palette: Vec<u8>,
    row: impl Fn(usize) -> R,
) -> Result<Vec<u8>, Error> {
    let depth = match palette.len() / 3 {
        ..=2 => BitDepth::One,
        3..=4 => BitDepth::Two,
        _ => BitDepth::Four,
    };
    let per_byte = 8 / depth as usize;
    let mut packed = Vec::with_capacity((width_px.div_ceil(per_byte) + 1) * height_px);
    for y in 0..height_px {
        packed.push(0);
        let (mut byte, mut filled) = (0_u8, 0);
        for index in row(y) {
            byte = byte << depth as usize | index;
            filled += 1;
            if filled == per_byte {
                packed.push(byte);
                (byte, filled) = (0, 0);
            }
        }
        if filled > 0 {
            packed.push(byte << ((per_byte - filled) * depth as usize));
        }
    }
    file(width_px, height_px, depth, palette, &deflate(&packed)?)
}

fn deflate(bytes: &[u8]) -> Result<Vec<u8>, Error> {
    let level = CompressionLvl::new(LEVEL).expect("a level between 0 and 12");
    let mut compressor = Compressor::new(level);
    let mut out = vec![0; compressor.zlib_compress_bound(bytes.len())];
    let length = compressor
        .zlib_compress(bytes, &mut out)
        .map_err(|error| Error::Encode(Box::new(error)))?;
    out.truncate(length);
    Ok(out)
}

fn file(
    width_px: usize,
    height_px: usize,
    depth: BitDepth,
    palette: Vec<u8>,
    data: &[u8],
) -> Result<Vec<u8>, Error> {
    let mut out = Vec::with_capacity(data.len() + 256);
    let mut encoder = png::Encoder::new(&mut out, width_px as u32, height_px as u32);
    encoder.set_color(ColorType::Indexed);
    encoder.set_depth(depth);
    encoder.set_palette(palette);
    let written = encoder.write_header().and_then(|mut writer| {
        writer.write_chunk(chunk::IDAT, data)?;
        // The writer counts no rows of its own, so that it must not check that all were written.
        writer.finish()
    });
    written.map_err(|error| Error::Encode(Box::new(error)))?;
    Ok(out)
}
