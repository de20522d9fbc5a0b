//! The session as one page that needs nothing else: no network, no script but its own, and no way for what was said to become
//! part of the page.
//!
//! Text goes in escaped, Markdown without raw HTML; a policy in the page forbids every script but the one whose hash it names.

mod body;
mod markdown;
mod survey;

use std::io::Write;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use longhand_session::digits::grouped;
use sha2::{Digest as _, Sha256};

use super::flow::{self, Step};
use super::{ExportError, LOT, Options, Theme};
use crate::session_file::SessionFile;
use body::Body;
use survey::Survey;

const STYLE: &str = include_str!("html/page.css");
const SCRIPT: &str = include_str!("html/page.js");

pub(super) fn write(
    session: &SessionFile,
    options: &Options<'_>,
    out: &mut dyn Write,
) -> Result<(), ExportError> {
    let survey = Survey::read(session)?;
    head(session, options, out)?;
    facts(session, options, &survey, out)?;
    outline(options, &survey, out)?;
    writeln!(out, "<main id=\"flow\">")?;
    let mut body = Body { options, survey: &survey, out };
    for lot in flow::steps(&session.tree).chunks(LOT) {
        let mut entries = session.read_once(&flow::rows(&session.tree, lot))?.into_iter();
        for step in lot {
            match step {
                Step::Entry(_) => {
                    if let Some(entry) = entries.next() {
                        body.entry(&entry)?;
                    }
                }
                Step::Open { entries } => body.open_branch(*entries)?,
                Step::Close => body.close_branch()?,
            }
        }
    }
    writeln!(body.out, "</main>\n<script>{SCRIPT}</script>\n</body>\n</html>")?;
    Ok(())
}

fn head(
    session: &SessionFile,
    options: &Options<'_>,
    out: &mut dyn Write,
) -> Result<(), ExportError> {
    let title = options.keys.text(session.header.title.as_deref().unwrap_or("Session"));
    let theme = match options.theme {
        Theme::Auto => "auto",
        Theme::Light => "light",
        Theme::Dark => "dark",
    };
    writeln!(
        out,
        "<!doctype html>\n<html lang=\"en\" data-theme=\"{theme}\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; \
         style-src 'sha256-{}'; script-src 'sha256-{}'; base-uri 'none'; form-action 'none'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{}</title>\n<style>{STYLE}</style>\n</head>\n<body>",
        hash(STYLE),
        hash(SCRIPT),
        escape(&title),
    )?;
    Ok(())
}

/// What a policy calls a script or style that it lets through.
fn hash(text: &str) -> String {
    STANDARD.encode(Sha256::digest(text))
}

fn facts(
    session: &SessionFile,
    options: &Options<'_>,
    survey: &Survey,
    out: &mut dyn Write,
) -> Result<(), ExportError> {
    let header = &session.header;
    let keys = options.keys;
    let title = keys.text(header.title.as_deref().unwrap_or("Untitled session"));
    writeln!(out, "<header class=\"top\">\n<h1>{}</h1>\n<dl class=\"facts\">", escape(&title))?;
    let all = &survey.totals.all;
    let models: Vec<&str> = survey.totals.models.keys().map(String::as_str).collect();
    let branches = survey.branches;
    let facts = [
        ("Folder", keys.text(header.cwd.as_deref().unwrap_or_default())),
        ("Model", models.join(", ")),
        ("Began", time(header.timestamp.as_str())),
        ("Changed", session.modified.as_ref().map(|at| time(at.as_str())).unwrap_or_default()),
        (
            "Entries",
            format!(
                "{} on {branches} {}",
                grouped(session.tree.len() as u64),
                if branches == 1 { "branch" } else { "branches" }
            ),
        ),
        (
            "Tokens",
            format!(
                "{} in, {} out, {} from cache",
                grouped(all.input),
                grouped(all.output),
                grouped(all.cache_read)
            ),
        ),
        ("Cost", format!("${:.2}", all.cost)),
        ("Session", header.id.to_string()),
    ];
    for (name, value) in facts.iter().filter(|(_, value)| !value.is_empty()) {
        writeln!(out, "<div><dt>{name}</dt><dd>{}</dd></div>", escape(value))?;
    }
    if !session.damage.lines.is_empty() {
        let lines = session.damage.lines.len();
        writeln!(out, "<div><dt>Damaged</dt><dd>{lines} lines could not be read</dd></div>")?;
    }
    writeln!(
        out,
        "</dl>\n<div class=\"tools\"><input id=\"search\" type=\"search\" placeholder=\"Search\" \
         aria-label=\"Search the session\"><output id=\"found\"></output>\
         <button id=\"unfold\">Unfold all</button><button id=\"fold\">Fold all</button></div>\n</header>"
    )?;
    Ok(())
}

fn outline(options: &Options<'_>, survey: &Survey, out: &mut dyn Write) -> Result<(), ExportError> {
    writeln!(out, "<nav class=\"outline\" aria-label=\"Requests\">\n<ol>")?;
    for (id, text) in &survey.requests {
        let text = options.keys.text(text);
        writeln!(out, "<li><a href=\"#{}\">{}</a></li>", anchor(id.as_str()), escape(&text))?;
    }
    writeln!(out, "</ol>\n</nav>")?;
    Ok(())
}

/// Text as part of a page, in an element or in the value of an attribute.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            // A page has no place for them, and a terminal's own sequences are told by them.
            '\n' | '\t' => escaped.push(char),
            control if control.is_control() => {}
            other => escaped.push(other),
        }
    }
    escaped
}

/// A time for people: to the second.
fn time(timestamp: &str) -> String {
    match timestamp.split_once('.') {
        Some((seconds, _)) if timestamp.ends_with('Z') => seconds.replace('T', " "),
        _ => timestamp.to_owned(),
    }
}

/// The place of an entry on the page. Ids of other programs have any form.
fn anchor(id: &str) -> String {
    let safe =
        |c: char| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '_' };
    format!("e-{}", id.chars().map(safe).collect::<String>())
}
