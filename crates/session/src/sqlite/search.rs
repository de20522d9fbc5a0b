//! Finding sessions by what was said in them, by words.
//!
//! What the user types is never taken for a query language: it is cut at white space, and each piece is quoted.

use std::collections::HashMap;
use std::ops::Range;

use rusqlite::{Connection, Row, params};

use super::library::COLUMNS;
use super::summary::Summary;
use crate::ids::EntryId;
use crate::listing::SessionRow;

/// A session that a search found.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// The session.
    pub session: SessionRow,
    /// The entry that matches best; `None` where only the title does.
    pub entry: Option<EntryId>,
    /// The place that matches best, with what stands around it.
    pub snippet: Snippet,
    /// How many messages and summaries match.
    pub passages: u64,
    /// How well it matches, above 0; 1 is the best passage of a session that was just written.
    pub score: f64,
}

/// A piece of text with what matched in it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Snippet {
    /// The text, on one line.
    pub text: String,
    /// What matched, as ranges of bytes.
    pub matches: Vec<Range<usize>>,
}

/// How many of the best passages are looked at. Beyond them a query is so common that order means little.
const MOST_PASSAGES: i64 = 10_000;

/// Words of a snippet.
const SNIPPET_WORDS: i64 = 16;

/// Marks of a match in a snippet, which do not occur in text.
const START: char = '\u{2}';
const END: char = '\u{3}';

/// A session of this age counts half as much as one of now.
const HALF_AGE_DAYS: f64 = 60.0;

const MILLIS_A_DAY: f64 = 86_400_000.0;

/// What matches of one session.
#[derive(Default)]
struct Found {
    /// The best line.
    line: Option<i64>,
    passages: u64,
    /// How well the best line matches, from 0 to 1.
    relevance: f64,
    /// How well the title matches, from 0 to 1.
    title_relevance: f64,
    modified: i64,
}

impl Found {
    /// A title that matches is worth more than any passage.
    fn score(&self, now_millis: i64) -> f64 {
        let has_title = f64::from(u8::from(self.title_relevance > 0.0));
        let relevance = self.relevance + self.title_relevance + has_title;
        let age_days = now_millis.saturating_sub(self.modified).max(0) as f64 / MILLIS_A_DAY;
        relevance * HALF_AGE_DAYS / (HALF_AGE_DAYS + age_days)
    }
}

/// The best `most` sessions for a query.
pub(super) fn search(
    connection: &Connection,
    query: &str,
    now_millis: i64,
    most: usize,
    row: impl Fn(&Row<'_>) -> rusqlite::Result<SessionRow>,
) -> rusqlite::Result<Vec<Hit>> {
    let Some(query) = quoted(query) else { return Ok(Vec::new()) };
    let mut found = HashMap::new();
    passages(connection, &query, &mut found)?;
    titles(connection, &query, &mut found)?;

    let mut ranked: Vec<(i64, Found, f64)> = found
        .into_iter()
        .map(|(session, found)| {
            let score = found.score(now_millis);
            (session, found, score)
        })
        .collect();
    ranked.sort_by(|a, b| b.2.total_cmp(&a.2).then(b.0.cmp(&a.0)));
    ranked.truncate(most);
    let lines: Vec<i64> = ranked.iter().filter_map(|(_, found, _)| found.line).collect();
    let mut passages = passage_snippets(connection, &query, &lines)?;
    let untold = ranked.iter().filter(|(_, found, _)| found.line.is_none());
    let mut titles = title_snippets(
        connection,
        &query,
        &untold.map(|(number, ..)| *number).collect::<Vec<_>>(),
    )?;
    let sql = format!("SELECT {COLUMNS}, {} FROM sessions WHERE session = ?", Summary::COLUMNS);
    let mut sessions = connection.prepare(&sql)?;
    let hit = |(number, found, score): (i64, Found, f64)| {
        let (entry, snippet) = match found.line {
            Some(line) => passages.remove(&line).unwrap_or_default(),
            None => (None, titles.remove(&number).unwrap_or_default()),
        };
        let session = sessions.query_row([number], |columns| row(columns))?;
        Ok(Hit { session, entry, snippet, passages: found.passages, score })
    };
    ranked.into_iter().map(hit).collect()
}

/// From so many characters on, a piece also finds words that start with it. Shorter ones would find a word in nearly every text.
const MIN_PREFIX_CHARS: usize = 3;

/// The pieces of a query, each as a phrase whose last word may go on; `None` where there is nothing to look for.
fn quoted(query: &str) -> Option<String> {
    let phrases: Vec<String> = query
        .split(|char: char| char.is_whitespace() || char == '\0')
        .filter(|piece| piece.chars().any(char::is_alphanumeric))
        .map(|piece| {
            let goes_on = if piece.chars().count() < MIN_PREFIX_CHARS { "" } else { "*" };
            format!("\"{}\"{goes_on}", piece.replace('"', "\"\""))
        })
        .collect();
    (!phrases.is_empty()).then(|| phrases.join(" "))
}

fn passages(
    connection: &Connection,
    query: &str,
    found: &mut HashMap<i64, Found>,
) -> rusqlite::Result<()> {
    // Of the columns beside `min`, those of the row with the least are taken. A better match has a lower rank, below 0.
    let mut statement = connection.prepare(
        "WITH best AS MATERIALIZED (
             SELECT rowid AS line, bm25(passage_search) AS rank FROM passage_search
             WHERE passage_search MATCH ? ORDER BY rank LIMIT ?
         )
         SELECT session, line, min(rank), count(*), modified
         FROM best JOIN lines USING (line) JOIN sessions USING (session) GROUP BY session",
    )?;
    let mut rows = statement.query(params![query, MOST_PASSAGES])?;
    let mut best: f64 = 0.0;
    while let Some(row) = rows.next()? {
        let relevance = -row.get::<_, f64>(2)?;
        best = best.max(relevance);
        let of_session = Found {
            line: Some(row.get(1)?),
            passages: u64::try_from(row.get::<_, i64>(3)?).unwrap_or_default(),
            relevance,
            modified: row.get(4)?,
            ..Found::default()
        };
        found.insert(row.get(0)?, of_session);
    }
    for of_session in found.values_mut() {
        of_session.relevance = share(of_session.relevance, best);
    }
    Ok(())
}

fn titles(
    connection: &Connection,
    query: &str,
    found: &mut HashMap<i64, Found>,
) -> rusqlite::Result<()> {
    let mut statement = connection.prepare(
        "SELECT session, -bm25(title_search), modified
         FROM title_search JOIN sessions ON session = title_search.rowid
         WHERE title_search MATCH ?",
    )?;
    let rows = statement.query_map([query], |row| {
        Ok((row.get::<_, i64>(0)?, row.get::<_, f64>(1)?, row.get::<_, i64>(2)?))
    })?;
    let titles: Vec<(i64, f64, i64)> = rows.collect::<rusqlite::Result<_>>()?;
    let best = titles.iter().map(|(_, relevance, _)| *relevance).fold(0.0, f64::max);
    for (session, relevance, modified) in titles {
        let of_session = found.entry(session).or_default();
        of_session.title_relevance = share(relevance, best);
        of_session.modified = modified;
    }
    Ok(())
}

/// A relevance as a share of the best. Where a word is in nearly every text, all are alike.
fn share(relevance: f64, best: f64) -> f64 {
    let share = relevance / best;
    if share.is_finite() { share.clamp(f64::MIN_POSITIVE, 1.0) } else { 1.0 }
}

/// What matches in some lines, with the ids of their entries. One pass over all that matches: to ask for each line alone would repeat
/// the whole search.
fn passage_snippets(
    connection: &Connection,
    query: &str,
    lines: &[i64],
) -> rusqlite::Result<HashMap<i64, (Option<EntryId>, Snippet)>> {
    let mut statement = connection.prepare(&format!(
        "SELECT snippet(passage_search, 0, ?, ?, '…', ?), passage_search.rowid, id
         FROM passage_search JOIN lines ON line = passage_search.rowid
         WHERE passage_search MATCH ? AND +passage_search.rowid IN ({})",
        listed(lines)
    ))?;
    let columns = params![START.to_string(), END.to_string(), SNIPPET_WORDS, query];
    let found = statement.query_map(columns, |row| {
        let id: Option<String> = row.get(2)?;
        Ok((row.get(1)?, (id.map(EntryId::from), snippet(row)?)))
    })?;
    found.collect()
}

/// What matches in the titles of some sessions.
fn title_snippets(
    connection: &Connection,
    query: &str,
    sessions: &[i64],
) -> rusqlite::Result<HashMap<i64, Snippet>> {
    let mut statement = connection.prepare(&format!(
        "SELECT highlight(title_search, 0, ?, ?), rowid FROM title_search
         WHERE title_search MATCH ? AND +rowid IN ({})",
        listed(sessions)
    ))?;
    let columns = params![START.to_string(), END.to_string(), query];
    let found = statement.query_map(columns, |row| Ok((row.get(1)?, snippet(row)?)))?;
    found.collect()
}

/// Numbers as the members of a list.
fn listed(numbers: &[i64]) -> String {
    numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

fn snippet(row: &Row<'_>) -> rusqlite::Result<Snippet> {
    let marked = String::from_utf8_lossy(row.get_ref(0)?.as_bytes().unwrap_or_default());
    Ok(unmarked(&marked))
}

/// Takes the marks out of a text, and puts it on one line.
fn unmarked(marked: &str) -> Snippet {
    let mut snippet = Snippet::default();
    let mut start = None;
    for char in marked.chars() {
        match char {
            START => start = Some(snippet.text.len()),
            END => snippet.matches.extend(start.take().map(|start| start..snippet.text.len())),
            char if char.is_control() => snippet.text.push(' '),
            char => snippet.text.push(char),
        }
    }
    snippet
}
