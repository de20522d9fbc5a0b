//! The `longhand` program: command line and terminal. Decides nothing about sessions; that is the library's part.

mod arguments;
mod exit;
mod log;
mod prompt_input;
mod signals;
mod single_shot;
#[expect(dead_code, reason = "the command line that starts it is being written")]
mod tui;

fn main() {}
