//! Takes a shell command line apart: which simple commands it runs, with which words.
//!
//! Quoted text stays inside its word; what stands in `$(…)`, backquotes, `<(…)` or a here-document is taken apart as well. This is not
//! a shell: where the line says something that is not understood for certain, [`ShellLine::is_certain`] is false, and a caller that
//! wants to allow something by its words must not.

mod scanner;

pub(super) use self::scanner::parse;

/// A command line, taken apart.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct ShellLine {
    /// All simple commands, those inside of substitutions too, in the order of their starts.
    pub(super) commands: Vec<SimpleCommand>,
    /// Names of functions that it defines.
    pub(super) functions: Vec<String>,
    /// Whether everything was understood.
    pub(super) is_certain: bool,
}

/// A program with its arguments.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct SimpleCommand {
    pub(super) words: Vec<Word>,
    /// Files that its output goes to.
    pub(super) writes_to: Vec<Word>,
    /// Files that it reads by `<`.
    pub(super) reads_from: Vec<Word>,
    /// Here-documents and here-strings that it reads.
    pub(super) input: Vec<String>,
    /// `NAME=value` before the program.
    pub(super) has_assignments: bool,
    /// What feeds it: the index of the command before the `|`.
    pub(super) piped_from: Option<usize>,
}

/// A word after quotes are removed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Word {
    pub(super) text: String,
    /// Whether the shell puts something else in the place of a part of it: a variable, a substitution, a pattern.
    pub(super) is_expanded: bool,
    /// Whether a part of it was quoted.
    pub(super) is_quoted: bool,
    /// Indices of the commands whose output becomes part of the word.
    pub(super) substitutes: Vec<usize>,
}
