//! What must be in a session after its writers were killed, what may be, and what is.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use longhand_session::jsonl::SystemDisk;
use longhand_session::place::SessionPlace;
use longhand_session::store::Opened;
use longhand_session::{EntryId, SessionStore, StoreError};
use serde_json::Value;

use super::{content, kept_in};

/// What writers told of a session.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    entries: HashMap<String, Fate>,
    forks: Vec<(String, usize)>,
    totals: Totals,
}

/// What is known of an entry.
#[derive(Debug, Default)]
struct Fate {
    /// The version that was acknowledged last.
    acknowledged: Option<u32>,
    /// Later versions of which nobody heard what became of them.
    possible: Vec<u32>,
}

/// Counts of all rounds.
#[derive(Debug, Default, Clone)]
pub(crate) struct Totals {
    appended: u64,
    patched: u64,
    renamed: u64,
    forked: u64,
    refused: u64,
    torn: u64,
    killed_within: u64,
    damaged_lines: u64,
    lost: u64,
    damaged: u64,
    doubled: u64,
    strange: u64,
}

impl Totals {
    pub(crate) fn add(&mut self, ledger: &Ledger) {
        let Totals {
            appended,
            patched,
            renamed,
            forked,
            refused,
            torn,
            killed_within,
            damaged_lines,
            lost,
            damaged,
            doubled,
            strange,
        } = &ledger.totals;
        self.appended += appended;
        self.patched += patched;
        self.renamed += renamed;
        self.forked += forked;
        self.refused += refused;
        self.torn += torn;
        self.killed_within += killed_within;
        self.damaged_lines += damaged_lines;
        self.lost += lost;
        self.damaged += damaged;
        self.doubled += doubled;
        self.strange += strange;
    }

    /// How often a promise was broken.
    pub(crate) fn losses(&self) -> u64 {
        self.lost + self.damaged + self.doubled + self.strange
    }
}

impl fmt::Display for Totals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "acknowledged: {} entries appended, {} changed, {} titles, {} forks",
            self.appended, self.patched, self.renamed, self.forked
        )?;
        writeln!(
            f,
            "not acknowledged: {} steps refused, {} torn, {} cut off by the kill; {} damaged lines repaired",
            self.refused, self.torn, self.killed_within, self.damaged_lines
        )?;
        write!(
            f,
            "entries lost: {}, damaged: {}, doubled: {}, never written: {}",
            self.lost, self.damaged, self.doubled, self.strange
        )
    }
}

/// A step that a writer was at.
enum Step<'a> {
    Append(Vec<(&'a str, u32)>),
    Patch(Vec<(&'a str, u32)>),
    Title,
    Fork(&'a str, usize),
}

impl<'a> Step<'a> {
    fn read(line: &'a str) -> Result<Self> {
        let mut words = line.split(' ').skip(1);
        let unknown = || format!("a writer told `{line}`");
        match words.next().with_context(unknown)? {
            "append" => Ok(Self::Append(items(words).with_context(unknown)?)),
            "patch" => Ok(Self::Patch(items(words).with_context(unknown)?)),
            "title" => Ok(Self::Title),
            "fork" => {
                let path = words.next().with_context(unknown)?;
                Ok(Self::Fork(path, words.next().with_context(unknown)?.parse()?))
            }
            _ => bail!(unknown()),
        }
    }
}

fn items<'a>(words: impl Iterator<Item = &'a str>) -> Result<Vec<(&'a str, u32)>> {
    words
        .map(|word| {
            let (id, version) = word.split_once(':').context("an item has no version")?;
            Ok((id, version.parse()?))
        })
        .collect()
}

impl Ledger {
    /// Takes in what one writer told until it was killed.
    pub(crate) fn take(&mut self, lines: &[String]) -> Result<()> {
        let mut lines = lines.iter();
        while let Some(line) = lines.next() {
            let step = Step::read(line)?;
            match lines.next().map(String::as_str) {
                Some("did") => self.did(step),
                Some("not") => self.totals.refused += 1,
                Some("torn") => {
                    self.totals.torn += 1;
                    self.perhaps(step);
                }
                None => {
                    self.totals.killed_within += 1;
                    self.perhaps(step);
                }
                Some(other) => bail!("a writer told `{other}` after `{line}`"),
            }
        }
        Ok(())
    }

    fn did(&mut self, step: Step<'_>) {
        match step {
            Step::Append(items) => {
                self.totals.appended += items.len() as u64;
                self.acknowledge(items);
            }
            Step::Patch(items) => {
                self.totals.patched += items.len() as u64;
                self.acknowledge(items);
            }
            Step::Title => self.totals.renamed += 1,
            Step::Fork(path, entries) => {
                self.totals.forked += 1;
                self.forks.push((path.to_owned(), entries));
            }
        }
    }

    fn acknowledge(&mut self, items: Vec<(&str, u32)>) {
        for (id, version) in items {
            let fate = self.entries.entry(id.to_owned()).or_default();
            *fate = Fate { acknowledged: Some(version), possible: Vec::new() };
        }
    }

    fn perhaps(&mut self, step: Step<'_>) {
        let (Step::Append(items) | Step::Patch(items)) = step else { return };
        for (id, version) in items {
            self.entries.entry(id.to_owned()).or_default().possible.push(version);
        }
    }

    /// Holds the session against the ledger.
    pub(crate) fn check(&mut self, session: &SessionPlace) -> Result<()> {
        let before = self.totals.losses();
        let mut store = kept_in::resume(session, Arc::new(SystemDisk));
        match store.open() {
            // The writers were killed before they wrote anything.
            Err(StoreError::Missing { .. })
                if self.entries.values().all(|fate| fate.acknowledged.is_none()) => {}
            opened => {
                let opened = opened.context("the session does not open")?;
                self.check_entries(&*store, &opened)?;
            }
        }
        for (place, entries) in std::mem::take(&mut self.forks) {
            let place = SessionPlace::named(&place);
            let mut fork = kept_in::resume(&place, Arc::new(SystemDisk));
            let opened = fork.open().with_context(|| format!("cannot open the fork {place}"))?;
            if opened.rows.len() < entries || !opened.damage.is_none() {
                self.totals.lost += 1;
                eprintln!("fork {place}: {} of {entries} entries", opened.rows.len());
            }
            kept_in::remove(&place).with_context(|| format!("cannot remove {place}"))?;
        }
        if self.totals.losses() > before {
            eprintln!("losses in {session}");
        }
        Ok(())
    }

    fn check_entries(&mut self, store: &dyn SessionStore, opened: &Opened) -> Result<()> {
        self.totals.damaged_lines += opened.damage.lines.len() as u64;
        let mut times: HashMap<String, u32> = HashMap::new();
        for line in store.lines() {
            let id = serde_json::from_str::<Value>(&line?).ok();
            if let Some(id) = id.as_ref().and_then(|object| object.get("id")?.as_str()) {
                *times.entry(id.to_owned()).or_default() += 1;
            }
        }
        for (id, times) in &times {
            let is_strange = !self.entries.contains_key(id);
            self.totals.strange += u64::from(is_strange);
            self.totals.doubled += u64::from(*times > 1);
            if is_strange || *times > 1 {
                eprintln!("entry {id} is there {times} times");
            }
        }
        for (id, fate) in &mut self.entries {
            if !times.contains_key(id) {
                if fate.acknowledged.is_some() {
                    self.totals.lost += 1;
                    eprintln!("entry {id} is lost");
                }
                continue;
            }
            let entry = store.read(&[EntryId::from(id.as_str())])?.remove(0);
            let versions = fate.acknowledged.iter().chain(&fate.possible).copied();
            if let Some(version) =
                versions.into_iter().find(|version| content::is(&entry, *version))
            {
                // What was seen must stay.
                *fate = Fate { acknowledged: Some(version), possible: Vec::new() };
            } else {
                self.totals.damaged += 1;
                eprintln!("entry {id} is damaged");
            }
        }
        Ok(())
    }
}
