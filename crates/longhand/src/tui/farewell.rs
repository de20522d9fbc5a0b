//! What is left on the normal screen: the last answer, and how to go on.

use std::fmt::Write as _;
use std::io::Write as _;

use super::sanitize;

/// Rows of the last answer.
const MAX_LINES: usize = 20;

/// Prints the farewell. An output that is closed is no failure.
pub(crate) fn print(last_answer: Option<&str>, resume_id: Option<&str>) {
    let text = text(last_answer.unwrap_or_default(), resume_id);
    let _ = std::io::stdout().write_all(text.as_bytes());
}

/// The farewell: the end of the last answer, and the command that resumes the session.
pub(crate) fn text(last_answer: &str, resume_id: Option<&str>) -> String {
    let answer = sanitize::text(last_answer.trim());
    let lines: Vec<&str> = answer.lines().collect();
    let hidden = lines.len().saturating_sub(MAX_LINES);
    let mut text = String::new();
    if hidden > 0 {
        let _ = writeln!(text, "… {hidden} earlier lines");
    }
    for line in &lines[hidden..] {
        let _ = writeln!(text, "{line}");
    }
    if let Some(id) = resume_id {
        if !text.is_empty() {
            text.push('\n');
        }
        let _ = writeln!(text, "Resume: longhand --resume {id}");
    }
    text
}
