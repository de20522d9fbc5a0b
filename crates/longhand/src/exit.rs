//! What the program tells the shell. One place turns errors into codes and words.

use std::process::ExitCode;

/// How the program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// All went well.
    Success,
    /// The turn failed or was stopped, the transcript is not durable, or output could not be written.
    Failure,
    /// The command line is wrong.
    Usage,
    /// There was nothing to do.
    NothingToDo,
    /// There is no model, or no key for it.
    NoModel,
    /// The session was not found, is ambiguous, or cannot be read.
    NoSession,
    /// A tool call needed an answer and nobody could give one.
    ApprovalNeeded,
    /// `--max-time` is over.
    TimedOut,
    /// A signal ended it.
    Signal(u8),
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Success => 0,
            Exit::Failure => 1,
            Exit::Usage => 2,
            Exit::NothingToDo => 3,
            Exit::NoModel => 4,
            Exit::NoSession => 5,
            Exit::ApprovalNeeded => 6,
            Exit::TimedOut => 124,
            Exit::Signal(number) => 128 + number,
        })
    }
}
