//! Prints standard input as frames into the current folder, and reads them back.
//!
//! ```sh
//! cargo run -p longhand-snapcompact --example print_text < README.md
//! ```

use std::error::Error;
use std::fs;
use std::io;

use longhand_snapcompact::{Decoder, Family, Fonts, Variant, render};

fn main() -> Result<(), Box<dyn Error>> {
    let text = io::read_to_string(io::stdin())?;
    let shape = Variant::Wide8On16.shape(Family::Anthropic);
    let frames = render(&text, &shape)?;
    for (at, frame) in frames.iter().enumerate() {
        fs::write(format!("frame-{:03}.png", at + 1), &frame.png)?;
    }
    let read = Decoder::new(&shape, &Fonts::default())?
        .decode_all(frames.iter().map(|frame| &*frame.png))?;
    println!("{} frames, {} characters read back", frames.len(), read.chars().count());
    Ok(())
}
