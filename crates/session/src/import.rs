//! Sessions of other programs, made into sessions of this one.
//!
//! A transcript is read twice, one line at a time, so that its length is no matter; what is kept of it between the two is an index of a
//! few hundred bytes a record. It is never written. Lines that cannot be read are counted and passed over, and so is what says nothing
//! in a conversation; the [`Tally`] tells how much of what.
//!
//! ```
//! use longhand_session::import::{Making, Origin, Replay, Survey};
//! use longhand_session::time::SystemClock;
//! use longhand_session::{EntryKind, SystemIds};
//!
//! let transcript: &[u8] = br#"{"type":"user","uuid":"a","parentUuid":null,"timestamp":"2026-02-01T09:00:00Z","message":{"content":"Hello"}}"#;
//! let survey = Survey::read(Origin::Claude, transcript)?;
//! let making = Making { ids: &SystemIds::default(), clock: &SystemClock, replay: Replay::Impossible };
//! let entries: Vec<_> = survey.entries(transcript, making).collect::<Result<_, _>>()?;
//! assert_eq!(entries[0].id, "claude-a-message-1");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod claude;
mod codex;
mod fields;
mod foreign;
mod origin_mark;
mod parts;
mod records;
mod survey;
mod tally;
mod transcript;

use std::collections::VecDeque;
use std::io::{self, BufRead};

use serde::{Deserialize, Serialize};

pub use foreign::{ForeignSession, list};
pub use origin_mark::{ImportedFile, ImportedFrom, imported_files};
pub use survey::{Facts, Title};
pub use tally::Tally;
pub use transcript::{ImportError, Transcript};

use crate::entry::{Entry, EntryKind, TitleChangeEntry};
use crate::id_source::IdSource;
use crate::ids::EntryId;
use crate::time::{Clock, Timestamp};
use records::Records;

/// The program that a session comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// Claude Code.
    Claude,
    /// Codex.
    Codex,
}

impl Origin {
    /// The name as stored and as typed.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
        }
    }

    /// The name of the program, for people.
    pub fn program(self) -> &'static str {
        match self {
            Self::Claude => "Claude Code",
            Self::Codex => "Codex",
        }
    }
}

/// Whether a model here can go on from a history that only its provider can read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Replay {
    /// One can.
    Possible,
    /// None can. What is readable of such a history becomes text.
    Impossible,
}

/// What entries are made with.
#[derive(Clone, Copy)]
pub struct Making<'a> {
    /// Ids of entries that the transcript has no counterpart of.
    pub ids: &'a dyn IdSource,
    /// Their time.
    pub clock: &'a dyn Clock,
    /// What becomes of histories that only their provider can read.
    pub replay: Replay,
}

/// A transcript after the first look.
#[derive(Debug)]
pub struct Survey {
    facts: Facts,
    plan: Plan,
}

#[derive(Debug)]
enum Plan {
    Claude(claude::Plan),
    Codex(codex::Plan),
}

impl Survey {
    /// Looks through a transcript.
    ///
    /// # Errors
    /// What the reader says.
    pub fn read(origin: Origin, reader: impl BufRead) -> io::Result<Self> {
        let mut records = Records::new(reader);
        let mut facts = Facts::default();
        let plan = match origin {
            Origin::Claude => Plan::Claude(claude::survey(&mut records, &mut facts)?),
            Origin::Codex => Plan::Codex(codex::survey(&mut records, &mut facts)?),
        };
        facts.bytes = records.read_bytes();
        Ok(Self { facts, plan })
    }

    /// What the first look learned.
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// The entries, in the order of the transcript. `reader` gives the same bytes again.
    pub fn entries<'a, R: BufRead>(&'a self, reader: R, making: Making<'a>) -> Entries<'a, R> {
        let conversion = match &self.plan {
            Plan::Claude(plan) => Conversion::Claude(claude::Conversion::new(plan)),
            Plan::Codex(plan) => Conversion::Codex(codex::Conversion::new(plan, making.replay)),
        };
        Entries {
            records: Records::new(reader),
            conversion,
            survey: self,
            making,
            ready: VecDeque::new(),
            last: None,
            state: State::Reading,
            tally: Tally::default(),
        }
    }
}

/// The entries of a transcript, made one by one.
pub struct Entries<'a, R> {
    records: Records<R>,
    conversion: Conversion<'a>,
    survey: &'a Survey,
    making: Making<'a>,
    ready: VecDeque<Entry>,
    last: Option<EntryId>,
    state: State,
    tally: Tally,
}

enum Conversion<'a> {
    Claude(claude::Conversion<'a>),
    Codex(codex::Conversion<'a>),
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    Reading,
    Ended,
}

impl<R: BufRead> Entries<'_, R> {
    /// What became of the records so far; complete after the last entry.
    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    /// Reads one line, or what follows the last.
    fn step(&mut self) -> io::Result<()> {
        let ready = &mut self.ready;
        let Some(line) = self.records.next()? else {
            self.end();
            return Ok(());
        };
        self.tally.damaged_lines += u64::from(line.is_damaged);
        for object in line.objects {
            match &mut self.conversion {
                Conversion::Claude(conversion) => conversion.take(line.number, object, ready),
                Conversion::Codex(conversion) => conversion.take(line.number, object, ready),
            }
        }
        Ok(())
    }

    fn end(&mut self) {
        self.state = State::Ended;
        let skipped = match &mut self.conversion {
            Conversion::Claude(conversion) => {
                conversion.finish(&mut self.ready);
                conversion.tally()
            }
            Conversion::Codex(conversion) => conversion.tally(),
        };
        self.tally.skipped = std::mem::take(&mut skipped.skipped);
        self.ready.extend(self.title_change());
    }

    /// The title as an entry, for a file has its title twice.
    fn title_change(&self) -> Option<Entry> {
        let title = self.survey.facts.title.clone()?;
        let last = self.ready.back().map(|entry| &entry.id).or(self.last.as_ref());
        let mut change = TitleChangeEntry {
            title: title.text,
            source: title.source.as_str().into(),
            ..TitleChangeEntry::default()
        };
        if let Conversion::Codex(_) = self.conversion {
            change.extra.insert("trigger", serde_json::Value::from("codex-import").into());
        }
        Some(Entry {
            id: self.making.ids.entry_candidate(),
            parent_id: last.cloned(),
            timestamp: Timestamp::from_millis(self.making.clock.now_millis()),
            kind: EntryKind::TitleChange(change),
        })
    }
}

impl<R: BufRead> Iterator for Entries<'_, R> {
    type Item = io::Result<Entry>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.ready.is_empty() && self.state == State::Reading {
            if let Err(error) = self.step() {
                self.state = State::Ended;
                return Some(Err(error));
            }
        }
        let entry = self.ready.pop_front()?;
        self.tally.add(&entry);
        self.last = Some(entry.id.clone());
        Some(Ok(entry))
    }
}
