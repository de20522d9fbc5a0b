//! Transcripts of Claude Code: a tree of records, one file a session.
//!
//! Read twice: the first time to learn where everything hangs, for a record may follow one that comes later or is missing; the second
//! time to make entries, one record at a time. Side conversations of agents and notes of the program itself are left out.

mod ancestry;
mod content;
mod convert;
mod record;
mod sessions;
mod title;

use std::collections::{HashMap, VecDeque};
use std::io::{self, BufRead};
use std::sync::Arc;

use serde_json::value::RawValue;

use self::ancestry::{Ancestry, Gathering};
use self::convert::{Converter, PROVIDER, Unit};
use self::record::{Record, session_facts};
pub(super) use self::sessions::sessions;
use self::title::Titles;
use super::parts;
use super::records::Records;
use super::survey::Facts;
use super::tally::Tally;
use crate::entry::Entry;
use crate::ids::EntryId;
use crate::time::Timestamp;

/// What the first look learns: facts about the session, and where everything hangs.
pub(super) fn survey<R: BufRead>(records: &mut Records<R>, facts: &mut Facts) -> io::Result<Plan> {
    let mut gathering = Gathering::default();
    let mut converter = Converter::default();
    let mut titles = Titles::default();
    while let Some(line) = records.next()? {
        facts.records += line.objects.len() as u64;
        for object in &line.objects {
            if facts.cwd.is_none() || facts.source_id.is_none() {
                let (cwd, session_id) = session_facts(object);
                facts.cwd = facts.cwd.take().or(cwd);
                facts.source_id = facts.source_id.take().or(session_id);
            }
            let record = Record::read(line.number, object);
            titles.add(&record.kind);
            let step = converter.take(&record);
            gathering.add(&record, step);
        }
        while let Some(unit) = converter.ready() {
            gathering.add_unit(&unit);
        }
    }
    converter.finish();
    while let Some(unit) = converter.ready() {
        gathering.add_unit(&unit);
    }
    facts.title = titles.best();
    facts.has_messages = gathering.has_units();
    Ok(Plan { ancestry: gathering.finish() })
}

/// What the second look needs of the first.
#[derive(Debug)]
pub(super) struct Plan {
    ancestry: Ancestry,
}

/// Makes entries of records.
pub(super) struct Conversion<'p> {
    plan: &'p Plan,
    converter: Converter,
    /// The model in force after each unit.
    models: Vec<Option<Arc<str>>>,
    /// How often a start of ids had a change of model.
    model_changes: HashMap<String, u32>,
}

impl<'p> Conversion<'p> {
    pub(super) fn new(plan: &'p Plan) -> Self {
        let converter = Converter::default();
        Self { plan, converter, models: Vec::new(), model_changes: HashMap::new() }
    }

    /// Takes a record, and adds the entries that are finished.
    pub(super) fn take(&mut self, line: u64, object: &RawValue, out: &mut VecDeque<Entry>) {
        self.converter.take(&Record::read(line, object));
        self.drain(out);
    }

    /// Adds what the last record began.
    pub(super) fn finish(&mut self, out: &mut VecDeque<Entry>) {
        self.converter.finish();
        self.drain(out);
    }

    pub(super) fn tally(&mut self) -> &mut Tally {
        &mut self.converter.tally
    }

    fn drain(&mut self, out: &mut VecDeque<Entry>) {
        while let Some(unit) = self.converter.ready() {
            self.emit(unit, out);
        }
    }

    fn emit(&mut self, unit: Unit, out: &mut VecDeque<Entry>) {
        let ancestry = &self.plan.ancestry;
        let parent = ancestry.parent(self.models.len());
        let mut parent_id = parent.and_then(|parent| ancestry.last_entry(parent)).cloned();
        let in_force = parent.and_then(|parent| self.models.get(parent)).cloned().flatten();
        let timestamp = Timestamp::from_millis(unit.millis);
        if let Some(model) = &unit.model
            && in_force.as_ref() != Some(model)
        {
            let id = self.model_change_id(&unit.id_start);
            let kind = parts::model_change(PROVIDER, model);
            let parent_id = parent_id.replace(id.clone());
            out.push_back(Entry { id, parent_id, timestamp: timestamp.clone(), kind });
        }
        self.models.push(unit.model.or(in_force));
        for (id, kind) in unit.entries {
            let parent_id = parent_id.replace(id.clone());
            out.push_back(Entry { id, parent_id, timestamp: timestamp.clone(), kind });
        }
    }

    /// A uuid that occurs twice gets a number.
    fn model_change_id(&mut self, id_start: &str) -> EntryId {
        let count = self.model_changes.entry(id_start.to_owned()).or_default();
        *count += 1;
        let number = if *count == 1 { String::new() } else { format!("-{count}") };
        EntryId::from(format!("{id_start}-model{number}"))
    }
}
