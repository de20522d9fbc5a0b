//! The `longhand` program: command line and terminal. Decides nothing about sessions; that is the library's part.

mod arguments;
mod exit;
mod log;
mod prompt_input;
mod signals;
mod single_shot;
mod tui;

fn main() {}
