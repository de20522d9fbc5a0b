//! What a maintainer runs: `cargo xtask <task>`.

mod crash;
mod eval;
mod fonts;
mod gallery;
mod gen_session;
mod marked;
mod vectors;

use clap::Parser;

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Maintainer's tasks")]
enum Task {
    /// Measure what ways of making a context smaller keep, cost and lose
    Eval(eval::Arguments),
    /// Pack the fonts of `longhand-fonts` from their sources
    Fonts(fonts::Arguments),
    /// Draw the pictures and tables of docs/snapcompact.md
    Gallery(gallery::Arguments),
    /// Copy the golden vectors that tests use into the crates
    Vectors(vectors::Arguments),
    /// Write a session file of a given size
    GenSession(gen_session::Arguments),
    /// Kill writers of a session at random moments and look what is lost
    Crash(crash::Arguments),
    /// One writer of the crash test
    #[command(hide = true)]
    CrashWriter(crash::writer::Arguments),
}

fn main() -> anyhow::Result<()> {
    match Task::parse() {
        Task::Eval(arguments) => eval::run(&arguments),
        Task::Fonts(arguments) => fonts::run(&arguments),
        Task::Gallery(arguments) => gallery::run(&arguments),
        Task::Vectors(arguments) => vectors::run(&arguments),
        Task::GenSession(arguments) => gen_session::run(&arguments),
        Task::Crash(arguments) => crash::run(&arguments),
        Task::CrashWriter(arguments) => crash::writer::run(&arguments),
    }
}
