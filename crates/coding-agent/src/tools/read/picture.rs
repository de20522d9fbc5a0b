//! Pictures as a model takes them: as they are where they are small, else scaled down.

use std::io::Cursor;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use image::codecs::jpeg::JpegEncoder;
use image::imageops::FilterType;
use image::{DynamicImage, GenericImageView, ImageFormat, ImageReader, Limits};
use longhand_session::Block;
use longhand_session::message::ImageBlock;

/// Longest edge that is sent: providers scale larger pictures down themselves, and some refuse them.
const MAX_EDGE_PX: u32 = 2000;

/// Most bytes that are sent: in base64 they stay below the 5 MB that providers take.
const MAX_SENT_BYTES: usize = 3_750_000;

/// Most bytes that are decoded to: a small file can claim to be an endless picture.
const MAX_DECODED_BYTES: u64 = 512 * 1024 * 1024;

/// A picture to attach.
pub(super) struct Picture {
    pub(super) block: Block,
    /// What it is, in a few words: `image/png, 800×600`.
    pub(super) caption: String,
}

/// The format of a file that starts like this, if it is one that models take.
pub(super) fn format(start: &[u8]) -> Option<ImageFormat> {
    image::guess_format(start).ok().filter(|format| {
        matches!(
            format,
            ImageFormat::Png | ImageFormat::Jpeg | ImageFormat::WebP | ImageFormat::Gif
        )
    })
}

/// Makes a picture ready for a model.
///
/// # Errors
/// The file is damaged, or too large to decode.
pub(super) fn prepare(content: &[u8], format: ImageFormat) -> Result<Picture, image::ImageError> {
    let (width, height) =
        ImageReader::with_format(Cursor::new(content), format).into_dimensions()?;
    let media_type = format.to_mime_type();
    if width.max(height) <= MAX_EDGE_PX && content.len() <= MAX_SENT_BYTES {
        let caption = format!("{media_type}, {width}×{height}");
        return Ok(Picture { block: block(content, media_type), caption });
    }
    let mut reader = ImageReader::with_format(Cursor::new(content), format);
    let mut limits = Limits::default();
    limits.max_alloc = Some(MAX_DECODED_BYTES);
    reader.limits(limits);
    let (scaled, media_type) = scaled_down(&reader.decode()?)?;
    let (shown_width, shown_height) = ImageReader::new(Cursor::new(&scaled))
        .with_guessed_format()
        .map_err(image::ImageError::IoError)?
        .into_dimensions()?;
    let caption = format!("{media_type}, {width}×{height}, shown at {shown_width}×{shown_height}");
    Ok(Picture { block: block(&scaled, media_type), caption })
}

/// The picture small enough to send: as PNG where that is enough, else as JPEG, smaller until it fits.
fn scaled_down(picture: &DynamicImage) -> Result<(Vec<u8>, &'static str), image::ImageError> {
    let (width, height) = picture.dimensions();
    let mut edge_px = width.max(height).min(MAX_EDGE_PX);
    let mut scaled = picture.resize(edge_px, edge_px, FilterType::Triangle);
    let mut png = Vec::new();
    scaled.write_to(&mut Cursor::new(&mut png), ImageFormat::Png)?;
    if png.len() <= MAX_SENT_BYTES {
        return Ok((png, "image/png"));
    }
    loop {
        let mut jpeg = Vec::new();
        scaled.to_rgb8().write_with_encoder(JpegEncoder::new_with_quality(&mut jpeg, 85))?;
        if jpeg.len() <= MAX_SENT_BYTES || edge_px <= 64 {
            return Ok((jpeg, "image/jpeg"));
        }
        edge_px /= 2;
        scaled = picture.resize(edge_px, edge_px, FilterType::Triangle);
    }
}

fn block(content: &[u8], media_type: &str) -> Block {
    Block::Image(ImageBlock {
        data: STANDARD.encode(content),
        mime_type: media_type.into(),
        ..ImageBlock::default()
    })
}
