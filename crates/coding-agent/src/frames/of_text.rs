//! Any text as frames.

use longhand_snapcompact::{Family, Renderer, Shape};

use super::{FrameFacts, FrameFiles, FramesError, Manifest, sha256};

/// Frames of a text, in a shape. `shape_name` and `model` are for the manifest.
///
/// # Errors
/// The shape is not possible.
pub fn of_text(
    text: &str,
    shape: &Shape,
    shape_name: &str,
    model: &str,
    renderer: &Renderer,
    family: Family,
) -> Result<FrameFiles, FramesError> {
    let pages = renderer.finished_pages(text, shape, usize::MAX)?;
    let mut files = vec![(
        "source.txt".to_owned(),
        longhand_session::archive::plain(&pages.concat()).into_bytes(),
    )];
    let mut frames = Vec::new();
    for (at, frame) in renderer.render_pages(&pages, shape)?.into_iter().enumerate() {
        let file = format!("{:03}-hq.png", at + 1);
        frames.push(FrameFacts {
            file: file.clone(),
            width: frame.width_px,
            height: frame.height_px,
            class: "hq",
            shape: shape_name.to_owned(),
            chars: frame.chars as u64,
            tokens: family.frame_tokens(frame.width_px, frame.height_px),
            sha256: sha256(&frame.png),
        });
        files.push((file, frame.png.to_vec()));
    }
    let manifest = Manifest {
        entry: String::new(),
        shape: shape_name.to_owned(),
        frames,
        head_tokens: 0,
        tail_tokens: 0,
        model: model.to_owned(),
    };
    Ok(FrameFiles { manifest, files })
}
