//! The archive of a session as files.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use longhand_session::archive::{self, Archive, BLOB_PREFIX, Frame, FrameSource};
use longhand_session::image_bill::{Family, PictureSize};
use longhand_session::{Entry, Fragment, TokenCounter};
use longhand_snapcompact::decode::shape_of;

use super::{FrameFacts, FrameFiles, FramesError, Manifest, sha256};

/// The files of an archive: frames, text edges, and all text that it was laid out from. A frame whose picture is not there has no
/// file.
///
/// # Errors
/// The entry has no archive.
pub fn of_archive(
    entry: &Entry,
    model: &str,
    family: Family,
    counter: &dyn TokenCounter,
    source: &dyn FrameSource,
) -> Result<FrameFiles, FramesError> {
    let archive =
        entry.compaction().and_then(|made| made.preserve_data.as_ref()).and_then(Archive::read);
    let no_archive = || FramesError::NoArchive(format!("entry {} has no archive", entry.id));
    let archive = archive.ok_or_else(no_archive)?;
    let mut files = Vec::new();
    for (name, text) in [("head.txt", &archive.text_head), ("tail.txt", &archive.text_tail)] {
        if let Some(text) = text {
            files.push((name.to_owned(), archive::plain(text).into_bytes()));
        }
    }
    if let Some(text) = archive.source_text() {
        files.push(("source.txt".to_owned(), text.into_bytes()));
    }
    let best = archive.frames.iter().map(|frame| frame.cols).min().unwrap_or_default();
    let mut frames = Vec::new();
    for (at, frame) in archive.frames.iter().enumerate() {
        let class = if frame.cols == best { "hq" } else { "lq" };
        let (mut facts, png) = facts(frame, class, family, source);
        if let Some(png) = png {
            facts.file = format!("{:03}-{class}.png", at + 1);
            files.push((facts.file.clone(), png));
        }
        frames.push(facts);
    }
    let tokens = |text: &Option<String>| {
        text.as_ref().map_or(0, |text| counter.count(Fragment::Text(&archive::plain(text))))
    };
    let shape = frames.iter().find(|frame| frame.class == "hq").map(|frame| frame.shape.clone());
    let manifest = Manifest {
        entry: entry.id.to_string(),
        shape: shape.unwrap_or_default(),
        frames,
        head_tokens: tokens(&archive.text_head),
        tail_tokens: tokens(&archive.text_tail),
        model: model.to_owned(),
    };
    Ok(FrameFiles { manifest, files })
}

/// What is known of a frame, without its file's name, and its picture.
fn facts(
    frame: &Frame,
    class: &'static str,
    family: Family,
    source: &dyn FrameSource,
) -> (FrameFacts, Option<Vec<u8>>) {
    let data = if frame.data.starts_with(BLOB_PREFIX) {
        source.read(&frame.data)
    } else {
        Some(frame.data.clone())
    };
    let size = data.as_deref().and_then(PictureSize::of_png);
    let png = data.and_then(|data| BASE64_STANDARD.decode(data).ok());
    let (width, height) = size.map_or((0, 0), |size| (size.width_px, size.height_px));
    let shape = shape_of(frame, width).map(|(variant, _)| variant.as_str().to_owned());
    let facts = FrameFacts {
        file: String::new(),
        width,
        height,
        class,
        shape: shape.unwrap_or_default(),
        chars: frame.chars,
        tokens: family.frame_tokens(width, height),
        sha256: png.as_deref().map(sha256).unwrap_or_default(),
    };
    (facts, png)
}
