//! A general OCR program as a second reader, and how far what it read is from the truth.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

/// Whether the program is there.
pub(super) fn is_installed() -> bool {
    Command::new("tesseract").arg("--version").output().is_ok_and(|done| done.status.success())
}

/// What the program reads in a picture.
pub(super) fn read(png: &[u8], folder: &Path) -> Result<String> {
    let file = folder.join("frame.png");
    fs::write(&file, png).with_context(|| format!("cannot write {}", file.display()))?;
    // One block of text, lines as they stand; one thread, because another tenant may need the second core.
    let done = Command::new("tesseract")
        .args([file.as_os_str(), "-".as_ref()])
        .args(["--psm", "6", "-l", "eng"])
        .env("OMP_THREAD_LIMIT", "1")
        .output()
        .context("cannot run tesseract")?;
    if !done.status.success() {
        bail!("tesseract: {}", String::from_utf8_lossy(&done.stderr).trim());
    }
    Ok(String::from_utf8_lossy(&done.stdout).into_owned())
}

/// Edits that make one text into the other, for each character of the truth. Blanks and line ends do not count: a frame breaks
/// lines anywhere. Quadratic.
pub(super) fn character_error_rate(truth: &str, read: &str) -> f64 {
    let (truth, read) = (inked(truth), inked(read));
    if truth.is_empty() {
        return 0.0;
    }
    let mut row: Vec<usize> = (0..=read.len()).collect();
    for (at, wanted) in truth.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = at + 1;
        for (column, found) in read.iter().enumerate() {
            let replaced = diagonal + usize::from(wanted != found);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(row[column] + 1).min(diagonal + 1);
        }
    }
    row[read.len()] as f64 / truth.len() as f64
}

/// Part of the identifiers that stand in what was read, letter by letter.
pub(super) fn recall(identifiers: &[String], read: &str) -> Option<f64> {
    let read: String = inked(read).into_iter().collect();
    let found = identifiers.iter().filter(|identifier| read.contains(identifier.as_str())).count();
    (!identifiers.is_empty()).then(|| found as f64 / identifiers.len() as f64)
}

fn inked(text: &str) -> Vec<char> {
    text.chars()
        .filter(|c| !c.is_whitespace() && !matches!(c, '\u{2588}' | '\u{e}' | '\u{f}'))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_counted_by_characters_with_ink() {
        for (truth, read, expected) in
            [("abcd", "ab\ncd", 0.0), ("abcd", "abxd", 0.25), ("abcd", "", 1.0), ("ab", "axb", 0.5)]
        {
            let rate = character_error_rate(truth, read);
            assert!((rate - expected).abs() < 1e-9, "{truth} read as {read}: {rate}");
        }
    }

    #[test]
    fn an_identifier_counts_only_when_every_letter_is_right() {
        let identifiers = ["a1b2".to_owned(), "ffff".to_owned()];
        assert_eq!(recall(&identifiers, "x a1\nb2 fff"), Some(0.5));
        assert_eq!(recall(&[], "x"), None);
    }
}
