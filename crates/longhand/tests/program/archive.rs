//! A session whose history was printed, for tests of the viewer.

use std::fs;
use std::path::PathBuf;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use longhand_snapcompact::{Family, RenderedFrame, Variant, render};
use serde_json::{Value, json};

use crate::home::Home;

/// Width of the frames, in pixels: 42 letters of 11 px.
pub(crate) const FRAME_PX: usize = 462;

/// A frame with some text.
pub(crate) fn frame(text: &str) -> RenderedFrame {
    let shape = Variant::Wide11On16.sized(Family::Unknown, FRAME_PX);
    let mut frames = render(text, &shape).expect("the text can be printed");
    frames.swap_remove(0)
}

/// A frame as an archive keeps it.
pub(crate) fn kept(frame: &RenderedFrame) -> Value {
    json!({
        "data": STANDARD.encode(&frame.png), "mimeType": "image/png",
        "cols": frame.cols, "rows": frame.rows, "chars": frame.chars,
        "font": "8x13", "variant": "bw", "lineRepeat": 1,
    })
}

/// Writes a session with one compaction that holds these frames between two edges of text. Gives its file.
pub(crate) fn session(home: &Home, frames: &[Value]) -> PathBuf {
    let archive = json!({
        "frames": frames, "totalChars": 90, "truncatedChars": 0,
        "textHead": "[User]: the oldest words\u{2588}", "textTail": "[User]: the newest words\u{2588}",
    });
    let at = |second: u32| format!("2026-11-28T14:03:{second:02}.000Z");
    let said = |id: &str, parent: Option<&str>, second: u32, text: &str| {
        json!({
            "type": "message", "id": id, "parentId": parent, "timestamp": at(second),
            "message": { "role": "user", "content": text, "timestamp": 0 },
        })
    };
    let lines = [
        json!({
            "type": "session", "version": 3, "id": "01a0", "timestamp": at(0),
            "cwd": home.work(),
        }),
        said("aaaaaaaa", None, 1, "the oldest words"),
        said("bbbbbbbb", Some("aaaaaaaa"), 2, "the kept words"),
        json!({
            "type": "compaction", "id": "cccccccc", "parentId": "bbbbbbbb", "timestamp": at(3),
            "summary": "History is in the frames.", "firstKeptEntryId": "bbbbbbbb",
            "tokensBefore": 178_204, "tokensAfter": 43_118, "method": "snapcompact",
            "preserveData": { "snapcompact": archive },
        }),
    ];
    let path = home.work().join("printed.jsonl");
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    fs::write(&path, text).expect("the session is written");
    path
}
