//! One writer of the crash test: changes a session as fast as it can until it is killed, and tells each step before and after.
//!
//! What it tells, a line each: `try append|patch ID:VERSION …`, `try title`, `try fork PATH ENTRIES`; then `did`, `not` for a step that
//! was refused and left nothing, or `torn` for one whose remains could not be taken back.

use std::io::{self, Write};
use std::sync::Arc;

use anyhow::{Context, Result};
use fastrand::Rng;
use longhand_session::place::SessionPlace;
use longhand_session::store::ChangeSet;
use longhand_session::{EntryId, Header, SessionStore, StoreError};

use super::faults::FaultyDisk;
use super::{content, kept_in};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The session
    #[arg(long)]
    session: String,
    /// Makes ids of this round its own
    #[arg(long)]
    round: u32,
    /// Which of the round's writers this is
    #[arg(long)]
    writer: u32,
    /// Operations of the disk that fail, in a thousand
    #[arg(long)]
    faults: u32,
    /// Seed of what is done
    #[arg(long)]
    seed: u64,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let mut writer = Writer::open(arguments)?;
    loop {
        writer.step()?;
    }
}

struct Writer<'a> {
    arguments: &'a Arguments,
    rng: Rng,
    place: SessionPlace,
    store: Box<dyn SessionStore>,
    header: Header,
    /// Entries that this writer may change: those of all its predecessors of the same number.
    own: Vec<EntryId>,
    leaf: Option<EntryId>,
    entries: usize,
    steps: u32,
}

impl<'a> Writer<'a> {
    fn open(arguments: &'a Arguments) -> Result<Self> {
        let mut rng = Rng::with_seed(arguments.seed);
        // Another writer may be making the session at this moment.
        let place = SessionPlace::named(&arguments.session);
        let (store, opened) = loop {
            let disk = Arc::new(FaultyDisk::new(rng.u64(..), arguments.faults));
            let mut store = kept_in::resume(&place, disk.clone());
            let mut opened = store.open();
            if let Err(StoreError::Missing { .. }) = opened {
                store = kept_in::create(&place, disk);
                opened = store.open();
            }
            match opened {
                Ok(opened) => break (store, opened),
                Err(
                    StoreError::Exists { .. }
                    | StoreError::Missing { .. }
                    | StoreError::Conflict { .. }
                    | StoreError::Locked { .. },
                ) => {}
                Err(error) => return Err(error).context("cannot open the session"),
            }
        };
        let mark = mark(arguments.writer);
        let ids = opened.rows.iter().map(|row| row.id.clone());
        Ok(Self {
            arguments,
            rng,
            place,
            store,
            header: opened.header,
            own: ids.filter(|id| id.as_str().starts_with(mark)).collect(),
            leaf: opened.rows.last().map(|row| row.id.clone()),
            entries: opened.rows.len(),
            steps: 0,
        })
    }

    fn step(&mut self) -> Result<()> {
        self.steps += 1;
        match self.rng.u8(..100) {
            0..=74 => self.append(),
            75..=89 if !self.own.is_empty() => self.patch(),
            75..=94 => self.rename(),
            _ => self.fork(),
        }
    }

    fn append(&mut self) -> Result<()> {
        let mut entries = Vec::new();
        let mut parent = self.leaf.clone();
        for n in 0..self.rng.u32(1..4) {
            let (mark, round, step) =
                (mark(self.arguments.writer), self.arguments.round, self.steps);
            let id = format!("{mark}{round:05}-{step:05}{n}");
            entries.push(content::entry(&id, parent, 0));
            parent = Some(EntryId::from(id));
        }
        let items: Vec<String> = entries.iter().map(|entry| format!("{}:0", entry.id)).collect();
        tell(&format!("try append {}", items.join(" ")))?;
        let result = self.store.append(&entries).map(drop);
        if result.is_ok() {
            self.entries += entries.len();
            self.own.extend(entries.iter().map(|entry| entry.id.clone()));
            self.leaf = parent;
        }
        tell_result(&result)
    }

    fn patch(&mut self) -> Result<()> {
        let version = 1 + self.arguments.round * 100_000 + self.steps;
        let mut changes = ChangeSet::default();
        let mut items = Vec::new();
        for _ in 0..self.rng.usize(1..3) {
            let id = self.own[self.rng.usize(..self.own.len())].clone();
            if changes.replace.iter().any(|entry| entry.id == id) {
                continue;
            }
            let old = self.store.read(std::slice::from_ref(&id)).context("cannot read an entry")?;
            let parent = old.first().and_then(|old| old.parent_id.clone());
            changes.replace.push(content::entry(id.as_str(), parent, version));
            items.push(format!("{id}:{version}"));
        }
        tell(&format!("try patch {}", items.join(" ")))?;
        tell_result(&self.store.rewrite(&changes).map(drop))
    }

    fn rename(&mut self) -> Result<()> {
        self.header.title = Some(format!("Title {}", self.steps));
        let changes = ChangeSet { header: Some(self.header.clone()), ..ChangeSet::default() };
        tell("try title")?;
        tell_result(&self.store.rewrite(&changes).map(drop))
    }

    fn fork(&mut self) -> Result<()> {
        let Arguments { round, writer, faults, .. } = self.arguments;
        let place = kept_in::fork(&self.place, &format!("fork-{round}-{writer}-{}", self.steps));
        tell(&format!("try fork {place} {}", self.entries))?;
        let disk = FaultyDisk::new(self.rng.u64(..), *faults);
        let mut fork = kept_in::create(&place, Arc::new(disk));
        let result = fork.open().and_then(|_| fork.fill(self.store.lines()));
        tell_result(&result.map(drop))
    }
}

/// First character of the ids of a writer.
fn mark(writer: u32) -> char {
    if writer == 0 { 'a' } else { 'b' }
}

fn tell_result(result: &Result<(), StoreError>) -> Result<()> {
    match result {
        Ok(()) => tell("did"),
        Err(StoreError::TornAppend { .. }) => tell("torn"),
        Err(_) => tell("not"),
    }
}

/// One write, so that a line is told whole or not at all.
fn tell(line: &str) -> Result<()> {
    let line = format!("{line}\n");
    io::stdout().lock().write_all(line.as_bytes()).context("nobody listens")
}
