//! A frame's picture cut, scaled and encoded for a box of cells. Slow work for a worker; the box is known before it begins.

use image::imageops::{self, FilterType};
use image::{DynamicImage, Rgb, RgbImage};
use ratatui::layout::Size;
use ratatui_image::protocol::Protocol as Encoded;
use ratatui_image::protocol::halfblocks::Halfblocks;
use ratatui_image::protocol::iterm2::Iterm2;
use ratatui_image::protocol::kitty::Kitty;
use ratatui_image::protocol::sixel::Sixel;

use super::graphics::{Graphics, Protocol};
use super::reel;
use crate::tui::terminal;

/// What surrounds a picture that does not fill its cells: the paper of frames.
const PAPER: Rgb<u8> = Rgb([255, 255, 255]);

/// How much of a picture is seen at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) enum Zoom {
    /// All of it.
    #[default]
    Whole,
    /// All of its width.
    Width,
    /// As much as fits, a pixel a pixel.
    Pixels,
}

/// How a picture lies in a box of cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Layout {
    /// What of the picture is seen: left, top, width, height in its own pixels.
    pub(crate) seen: [u32; 4],
    /// Width and height of what is drawn, in pixels of the terminal.
    drawn: (u32, u32),
    /// Cells that it takes.
    pub(crate) cells: Size,
}

impl Layout {
    /// Lays a picture of `size` pixels out in a box of cells of `cell_px` pixels. Nothing is made larger than it is. `pan` is where
    /// what is seen begins, in pixels of the picture; it is moved back where that is too far. `None` where there is no room.
    pub(crate) fn new(
        size: (u32, u32),
        room: Size,
        cell_px: (u16, u16),
        zoom: Zoom,
        pan: (u32, u32),
    ) -> Option<Self> {
        let (width, height) = (u64::from(size.0), u64::from(size.1));
        let (cell_width, cell_height) = (u64::from(cell_px.0), u64::from(cell_px.1));
        let room_width = u64::from(room.width) * cell_width;
        let room_height = u64::from(room.height) * cell_height;
        if [width, height, room_width, room_height].contains(&0) {
            return None;
        }
        // The scale as a fraction, at most 1.
        let by_width = if room_width < width { (room_width, width) } else { (1, 1) };
        let by_height = if room_height < height { (room_height, height) } else { (1, 1) };
        let (up, down) = match zoom {
            Zoom::Pixels => (1, 1),
            Zoom::Width => by_width,
            Zoom::Whole if by_width.0 * by_height.1 < by_height.0 * by_width.1 => by_width,
            Zoom::Whole => by_height,
        };
        let seen_width = (room_width * down / up).clamp(1, width);
        let seen_height = (room_height * down / up).clamp(1, height);
        let drawn_width = (seen_width * up / down).clamp(1, room_width);
        let drawn_height = (seen_height * up / down).clamp(1, room_height);
        let left = u64::from(pan.0).min(width - seen_width);
        let top = u64::from(pan.1).min(height - seen_height);
        Some(Self {
            // All are at most an edge of the picture or of the room, which fit.
            seen: [left, top, seen_width, seen_height].map(|px| px as u32),
            drawn: (drawn_width as u32, drawn_height as u32),
            cells: Size::new(
                drawn_width.div_ceil(cell_width) as u16,
                drawn_height.div_ceil(cell_height) as u16,
            ),
        })
    }
}

/// Encodes what a layout shows of a file. `slot` says which of the terminal's places for pictures it takes.
///
/// # Errors
/// It is no picture, or cannot be encoded, in words for the user.
pub(crate) fn encode(
    file: &[u8],
    layout: &Layout,
    graphics: Graphics,
    slot: u32,
) -> Result<Option<Encoded>, String> {
    let picture = reel::reader(file)?.decode().map_err(|error| error.to_string())?;
    let [left, top, width, height] = layout.seen;
    let picture = picture.crop_imm(left, top, width, height).into_rgb8();
    let picture = if layout.drawn == picture.dimensions() {
        picture
    } else {
        imageops::resize(&picture, layout.drawn.0, layout.drawn.1, FilterType::Triangle)
    };
    let size = layout.cells;
    let (cell_width, cell_height) = graphics.cell_px();
    let mut paper = RgbImage::from_pixel(
        u32::from(size.width) * u32::from(cell_width),
        u32::from(size.height) * u32::from(cell_height),
        PAPER,
    );
    imageops::replace(&mut paper, &picture, 0, 0);
    let paper = DynamicImage::from(paper);
    let encoded = match graphics {
        Graphics::Off => return Ok(None),
        Graphics::HalfBlocks(_) => Halfblocks::new(paper, size).map(Encoded::Halfblocks),
        Graphics::Pixels(pixels) => match pixels.protocol {
            Protocol::Kitty { inflates } => {
                let id = terminal::FIRST_PICTURE_ID + slot;
                Kitty::new(paper, size, id, false, inflates).map(Encoded::Kitty)
            }
            Protocol::Iterm2 => Iterm2::new(paper, size, false).map(Encoded::ITerm2),
            Protocol::Sixel => Sixel::new(paper, size, false).map(Encoded::Sixel),
        },
    };
    encoded.map(Some).map_err(|error| error.to_string())
}
