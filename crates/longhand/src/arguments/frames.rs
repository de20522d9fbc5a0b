//! Arguments of `longhand frames`.

use std::path::PathBuf;

use clap::Args;

use super::Common;

/// `longhand frames`.
#[derive(Debug, Args)]
pub(crate) struct Frames {
    /// Session: file, id, title, or `-` for standard input; the newest of this directory without one
    #[arg(conflicts_with_all = ["text", "decode", "shapes"])]
    pub(crate) session: Option<String>,
    /// Entry of the archive; the newest one without it
    #[arg(long, value_name = "ENTRY", conflicts_with_all = ["text", "decode", "shapes"])]
    pub(crate) entry: Option<String>,
    /// Print this text file as frames; `-` reads standard input
    #[arg(long, value_name = "FILE", conflicts_with_all = ["decode", "shapes"])]
    pub(crate) text: Option<String>,
    /// Shape of frames; without it, what the model reads best
    #[arg(long, value_name = "NAME", conflicts_with = "shapes")]
    pub(crate) shape: Option<String>,
    /// Read frames back, as pages of one text
    #[arg(long, value_name = "PNG", num_args = 1.., conflicts_with = "shapes")]
    pub(crate) decode: Vec<PathBuf>,
    /// List the shapes, with what a frame of each holds and costs
    #[arg(long)]
    pub(crate) shapes: bool,
    /// New folder for the pictures
    #[arg(long, value_name = "DIR", conflicts_with_all = ["decode", "shapes"])]
    pub(crate) out: Option<PathBuf>,
    /// One JSON document
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) common: Common,
}
