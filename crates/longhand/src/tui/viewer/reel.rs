//! An archive as the viewer lists it: text, frames, text, each with its size and its price. Reads every picture's head once.

use std::io::Cursor;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use image::{ImageReader, Limits};
use longhand_session::archive::{self, Archive, Frame};
use longhand_session::blob_store::{BlobRef, BlobStore};
use longhand_session::counter::{Fragment, TokenCounter};
use longhand_session::{Entry, EntryId};
use longhand_snapcompact::{Decoder, Family, Fonts, LINE_END, Shape, Variant};

/// A picture with a longer edge is not opened: it would take gigabytes.
const MOST_EDGE_PX: u32 = 16_384;

/// Characters of a frame's beginning that a list may show.
const WORDS_CHARS: usize = 120;

/// An archive that is looked at. Shares its frames' data with nobody: it goes when the viewer closes.
#[derive(Debug)]
pub(crate) struct Reel {
    /// The compaction that made the archive.
    pub(crate) entry: EntryId,
    /// When, in milliseconds since the epoch.
    pub(crate) at_millis: i64,
    /// What can be looked at, oldest first.
    pub(crate) parts: Vec<Part>,
    archive: Archive,
    blobs: Arc<dyn BlobStore>,
}

/// Something of an archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Part {
    /// What it is.
    pub(crate) kind: PartKind,
    /// What the model is billed for it; `None` where that is not known.
    pub(crate) tokens: Option<u64>,
}

/// What a part of an archive is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PartKind {
    /// The oldest part, verbatim.
    Head,
    /// The newest part, verbatim.
    Tail,
    /// A picture.
    Frame {
        /// Its place among the frames, from 0.
        number: usize,
        /// Width and height in pixels, or why it cannot be looked at.
        size_px: Result<(u32, u32), String>,
        /// How finely it is drawn; `None` where the archive does not tell.
        class: Option<Class>,
    },
}

/// How finely a frame is drawn, beside the others of its archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    /// As finely as any.
    High,
    /// More text on the same area.
    Low,
}

impl Reel {
    /// The archive of a compaction.
    ///
    /// # Errors
    /// It holds none, in words for the user.
    pub(crate) fn of(
        entry: &Entry,
        blobs: Arc<dyn BlobStore>,
        family: Family,
        counter: &dyn TokenCounter,
    ) -> Result<Self, String> {
        let compaction = entry.compaction().ok_or("that entry is no compaction")?;
        let archive =
            compaction.preserve_data.as_ref().and_then(Archive::read).ok_or_else(|| {
                let method = compaction.method.as_deref().unwrap_or("an unknown method");
                format!("the compaction {} by {method} holds no frames", entry.id)
            })?;
        let mut reel = Self {
            entry: entry.id.clone(),
            at_millis: entry.timestamp.millis().unwrap_or(0),
            parts: Vec::new(),
            archive,
            blobs,
        };
        let mut parts = Vec::new();
        parts.extend(edge(PartKind::Head, reel.archive.text_head.as_deref(), counter));
        parts.extend(reel.frames(family));
        parts.extend(edge(PartKind::Tail, reel.archive.text_tail.as_deref(), counter));
        reel.parts = parts;
        Ok(reel)
    }

    fn frames(&self, family: Family) -> Vec<Part> {
        let sizes: Vec<Result<(u32, u32), String>> =
            (0..self.archive.frames.len()).map(|number| size_px(&self.png(number)?)).collect();
        let frames = self.archive.frames.iter().zip(&sizes);
        let areas: Vec<Option<u64>> = frames.map(|(frame, size)| cell_area(frame, size)).collect();
        let finest = areas.iter().flatten().max().copied();
        let parts = sizes.into_iter().zip(areas).enumerate().map(|(number, (size_px, area))| {
            let tokens = size_px
                .as_ref()
                .ok()
                .map(|(width, height)| family.frame_tokens(*width as usize, *height as usize));
            let class =
                area.map(|area| if Some(area) == finest { Class::High } else { Class::Low });
            Part { kind: PartKind::Frame { number, size_px, class }, tokens }
        });
        parts.collect()
    }

    /// The newest frame, as a place among the parts.
    pub(crate) fn newest_frame(&self) -> Option<usize> {
        self.parts.iter().rposition(|part| matches!(part.kind, PartKind::Frame { .. }))
    }

    /// How many frames there are.
    pub(crate) fn frame_count(&self) -> usize {
        self.archive.frames.len()
    }

    /// The file of a frame.
    ///
    /// # Errors
    /// It is not there, in words for the user.
    pub(crate) fn png(&self, number: usize) -> Result<Vec<u8>, String> {
        let frame = self.archive.frames.get(number).ok_or("there is no such frame")?;
        if !frame.data.starts_with(archive::BLOB_PREFIX) {
            return STANDARD.decode(&frame.data).map_err(|_| "its data is damaged".to_owned());
        }
        let name: String = frame.data.chars().take(archive::BLOB_PREFIX.len() + 12).collect();
        let blob = BlobRef::parse(&frame.data)
            .ok_or_else(|| format!("`{name}` is no reference to a picture"))?;
        match self.blobs.read(&blob) {
            Ok(Some(png)) => Ok(png),
            Ok(None) => Err(format!("its picture `{name}…` is missing")),
            Err(error) => Err(format!("its picture `{name}…` cannot be read: {error}")),
        }
    }

    /// The text of a part: as it is kept, or read back from the picture.
    ///
    /// # Errors
    /// A picture cannot be read back, in words for the user.
    pub(crate) fn text(&self, kind: &PartKind) -> Result<String, String> {
        let kept = |text: &Option<String>| archive::plain(text.as_deref().unwrap_or_default());
        match kind {
            PartKind::Head => Ok(kept(&self.archive.text_head)),
            PartKind::Tail => Ok(kept(&self.archive.text_tail)),
            PartKind::Frame { number, .. } => self.read_back(*number, &mut Readers::default()),
        }
    }

    /// The text of the whole archive: as it is kept, or put together from its parts.
    pub(crate) fn source_text(&self) -> String {
        if self.archive.text.is_some() || self.archive.frames.is_empty() {
            return self.archive.source_text().unwrap_or_default();
        }
        let mut readers = Readers::default();
        let texts = self.parts.iter().map(|part| {
            let text = match &part.kind {
                PartKind::Frame { number, .. } => self.read_back(*number, &mut readers),
                edge => self.text(edge),
            };
            text.unwrap_or_else(|why| format!("[{why}]"))
        });
        texts.collect::<Vec<_>>().join("\n")
    }

    /// How each frame begins, one after another, handed to `found` until it wants no more. Costs tens of milliseconds a frame.
    pub(crate) fn first_words(&self, mut found: impl FnMut(usize, String) -> bool) {
        let mut readers = Readers::default();
        for (at, part) in self.parts.iter().enumerate() {
            let PartKind::Frame { number, size_px: Ok(_), .. } = part.kind else { continue };
            if let Ok(text) = self.read_back(number, &mut readers)
                && !found(at, beginning(&text))
            {
                return;
            }
        }
    }

    fn read_back(&self, number: usize, readers: &mut Readers) -> Result<String, String> {
        let png = self.png(number)?;
        let frame = &self.archive.frames[number];
        let (width_px, _) = size_px(&png)?;
        let decoder = readers.reader(frame, width_px as usize)?;
        let page =
            decoder.decode(&png).map_err(|error| format!("frame {}: {error}", number + 1))?;
        Ok(archive::plain(&page.text))
    }
}

/// Readers of frames by shape. Making one costs more than reading a frame with it.
#[derive(Default)]
struct Readers(Vec<(Shape, Decoder)>);

impl Readers {
    fn reader(&mut self, frame: &Frame, width_px: usize) -> Result<&Decoder, String> {
        let shape = shape(frame, width_px)?;
        if let Some(at) = self.0.iter().position(|(known, _)| *known == shape) {
            return Ok(&self.0[at].1);
        }
        let decoder = Decoder::new(&shape, &Fonts::default()).map_err(|error| error.to_string())?;
        self.0.push((shape, decoder));
        Ok(&self.0[self.0.len() - 1].1)
    }
}

/// The shape that a frame was drawn in. An archive keeps no cells, but no two shapes agree in all that it keeps.
fn shape(frame: &Frame, width_px: usize) -> Result<Shape, String> {
    let (Some(font), Some(ink)) = (frame.font.as_deref(), frame.variant.as_deref()) else {
        return Err("a frame of the oldest kind does not say how it was drawn".into());
    };
    let is_drawn_so = |shape: &Shape| {
        let grid = shape.grid().ok();
        shape.font.as_str() == font
            && shape.ink.as_str() == ink
            && shape.stopword_dim == frame.stopword_dim.unwrap_or(false)
            && shape.columns as u64 == frame.columns.unwrap_or(1)
            && shape.line_repeat as u64 == frame.line_repeat.unwrap_or(1)
            && grid.is_some_and(|grid| {
                (grid.cols as u64, grid.rows as u64) == (frame.cols, frame.rows)
            })
    };
    let shapes = Variant::ALL.iter().map(|variant| variant.sized(Family::Unknown, width_px));
    shapes.into_iter().find(is_drawn_so).ok_or_else(|| {
        format!(
            "no known shape of {font} has {} x {} cells in {width_px} px",
            frame.cols, frame.rows
        )
    })
}

fn edge(kind: PartKind, text: Option<&str>, counter: &dyn TokenCounter) -> Option<Part> {
    let text = archive::plain(text?);
    let tokens = Some(counter.count(Fragment::Text(&text)));
    Some(Part { kind, tokens })
}

fn beginning(text: &str) -> String {
    text.trim_start_matches([LINE_END, '\n', ' ']).chars().take(WORDS_CHARS).collect()
}

/// Width and height of a picture, from its head.
fn size_px(file: &[u8]) -> Result<(u32, u32), String> {
    reader(file)?.into_dimensions().map_err(|error| format!("its picture cannot be read: {error}"))
}

/// Reads a picture whose size is bounded.
pub(super) fn reader(file: &[u8]) -> Result<ImageReader<Cursor<&[u8]>>, String> {
    let mut reader = ImageReader::new(Cursor::new(file))
        .with_guessed_format()
        .map_err(|error| error.to_string())?;
    let mut limits = Limits::default();
    limits.max_image_width = Some(MOST_EDGE_PX);
    limits.max_image_height = Some(MOST_EDGE_PX);
    reader.limits(limits);
    Ok(reader)
}

/// Pixels of a cell; `None` for frames of the oldest kind, which do not tell. A full frame is a square: the height of a picture tells
/// only how full it is.
fn cell_area(frame: &Frame, size_px: &Result<(u32, u32), String>) -> Option<u64> {
    frame.font.as_ref()?;
    let width_px = u64::from(size_px.as_ref().ok()?.0);
    let columns = frame.cols.checked_mul(frame.columns.unwrap_or(1))?;
    Some(width_px.checked_div(columns)? * width_px.checked_div(frame.rows)?)
}
