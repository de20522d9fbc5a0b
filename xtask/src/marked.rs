//! Parts of Markdown pages that are made by a program, each between two marks that name it.

use anyhow::{Context, Result};

/// The page with the part of that name made anew.
///
/// # Errors
/// The page has no marks of that name.
pub(crate) fn replaced(page: &str, name: &str, made: &str) -> Result<String> {
    let (begin, end) = (format!("<!-- begin: {name} -->\n"), format!("<!-- end: {name} -->"));
    let parts = page
        .split_once(&begin)
        .and_then(|(before, rest)| Some((before, rest.split_once(&end)?.1)))
        .with_context(|| format!("the page has no marks for `{name}`"))?;
    Ok(format!("{}{begin}\n{made}\n{end}{}", parts.0, parts.1))
}
