//! TBD

#[expect(dead_code, reason = "the command line that starts it is being written")]
mod tui;

fn main() {}
