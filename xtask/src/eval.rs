//! `cargo xtask eval`: what ways of making a context smaller keep, cost and lose.
//!
//! Each question is a subcommand in a file of its own. Nothing here calls a model or the network.

mod archive;
mod corpus;
mod legibility;
mod reader;

use anyhow::Result;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    question: Question,
}

#[derive(clap::Subcommand)]
enum Question {
    /// Whether frames can be read back, by the decoder and by a general OCR program
    Legibility(legibility::Arguments),
    /// What a session costs as an archive, for four models
    Archive(archive::Arguments),
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    match &arguments.question {
        Question::Legibility(arguments) => legibility::run(arguments),
        Question::Archive(arguments) => archive::run(arguments),
    }
}
