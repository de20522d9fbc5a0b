//! Sessions of other programs become sessions of this one.
#![expect(clippy::unwrap_used, reason = "a case that does not parse fails its test")]

#[path = "import/claude.rs"]
mod claude;
#[path = "import/codex.rs"]
mod codex;
#[path = "import/foreign.rs"]
mod foreign;
#[path = "import/play.rs"]
mod play;
#[path = "import/transcript.rs"]
mod transcript;
#[path = "import/vectors.rs"]
mod vectors;
