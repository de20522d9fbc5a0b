//! One pass over a session file, from its first byte to its last, that makes the index of its entries.
//!
//! In memory at a time: one line and one chunk, and of every entry its ids, its kind and its place. No entry is built.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use memchr::memchr;
use sha2::{Digest as _, Sha256};

use super::disk::Token;
use super::line::{self, Names, Object};
use crate::header::{Header, VERSION};
use crate::ids::EntryId;
use crate::store::{Damage, IndexRow};
use crate::title_slot::{SLOT_BYTES, TitleSlot};

/// Where some bytes lie in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) offset: u64,
    pub(crate) bytes: u64,
}

impl Place {
    pub(crate) fn end(self) -> u64 {
        self.offset + self.bytes
    }
}

/// One object of the file, in its order.
#[derive(Debug, Clone)]
pub(crate) struct Record {
    /// `None` for an object without an id: it keeps its place in the file, and is no entry.
    pub(crate) id: Option<EntryId>,
    pub(crate) place: Place,
    /// Number of its line, from 1.
    pub(crate) line: usize,
    pub(crate) form: Form,
}

/// How an object lies in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// As it is to be, on a line of its own.
    Whole,
    /// As it is to be, but on a line with something else.
    SharedLine,
    /// It gets another id, or is of an older version.
    Edited,
}

/// What a session file holds.
#[derive(Debug)]
pub(crate) struct Scanned {
    /// The header, with the title slot applied, in the version of today.
    pub(crate) header: Header,
    pub(crate) header_place: Place,
    /// Version that the file is in.
    pub(crate) version: u64,
    /// Whether the file starts with a title slot of the right width.
    pub(crate) has_slot: bool,
    pub(crate) records: Vec<Record>,
    pub(crate) by_id: HashMap<EntryId, usize>,
    pub(crate) rows: Vec<IndexRow>,
    pub(crate) damage: Damage,
    /// Length of the file.
    pub(crate) bytes: u64,
    /// Number of its lines.
    pub(crate) lines: usize,
    /// Whether the last line has its end.
    pub(crate) is_terminated: bool,
}

impl Scanned {
    /// Whether what was read is the file, or a beginning of it that ends with a whole line.
    pub(crate) fn fits(&self, token: &Token) -> bool {
        let ends_well = self.is_terminated && self.damage.lines.last() != Some(&self.lines);
        ends_well || token.is_of_the_whole_file()
    }
}

/// What a file is.
#[derive(Debug)]
pub(crate) enum Content {
    Session(Box<Scanned>),
    /// Nothing but white space, or a title slot.
    Nothing,
    /// Something without a header.
    Foreign,
}

/// Lines that may stand before the header: other writers put facts of their own there.
const MAX_LINES_BEFORE_HEADER: usize = 50;

/// Longest piece that is taken for a line before the header was seen, so that no foreign file is read whole.
const MAX_BYTES_BEFORE_HEADER: usize = 16 << 20;

const BOM: &[u8] = b"\xef\xbb\xbf";

/// Reads a file once.
pub(crate) fn scan(file: &File) -> io::Result<Content> {
    let mut lines = Lines::new(file, 0, 0);
    let mut slot = None;
    let mut has_slot = false;
    let mut index = Index::new();
    let mut is_first = true;
    while let Some(line) = lines.next(index.longest_line())? {
        let is_terminated = line.is_terminated;
        let (bytes, offset) = match line.bytes.strip_prefix(BOM) {
            Some(rest) if line.offset == 0 => (rest, BOM.len() as u64),
            _ => (line.bytes, line.offset),
        };
        if bytes.trim_ascii().is_empty() {
            continue;
        }
        if std::mem::take(&mut is_first)
            && let Some(title) = TitleSlot::from_line(bytes)
        {
            has_slot = offset == 0 && is_terminated && bytes.len() + 1 == SLOT_BYTES;
            slot = Some(title);
            continue;
        }
        index.add_line(bytes, offset, line.number, is_terminated);
        if index.header.is_none() && index.lines > MAX_LINES_BEFORE_HEADER {
            return Ok(Content::Foreign);
        }
    }
    Ok(index.finish(slot, has_slot, &lines))
}

/// Reads what was added to a file of today's version after its whole lines, which end at `from`. `None` where there is damage:
/// then only the whole file tells what is what.
pub(crate) fn scan_added(file: &File, from: u64, lines: usize) -> io::Result<Option<Added>> {
    let mut lines = Lines::new(file, from, lines);
    let mut index = Index::new();
    while let Some(line) = lines.next(usize::MAX)? {
        if !line.bytes.trim_ascii().is_empty() {
            index.add_line(line.bytes, line.offset, line.number, line.is_terminated);
        }
    }
    let is_plain = index.damage.is_none()
        && index.shadowed.is_empty()
        && index.header.is_none()
        && lines.is_terminated;
    Ok(is_plain.then_some(Added {
        records: index.records,
        rows: index.rows,
        bytes: lines.offset,
        lines: lines.number,
    }))
}

/// What somebody added to a file.
#[derive(Debug)]
pub(crate) struct Added {
    pub(crate) records: Vec<Record>,
    pub(crate) rows: Vec<IndexRow>,
    /// Length of the file.
    pub(crate) bytes: u64,
    /// Number of its lines.
    pub(crate) lines: usize,
}

struct Index {
    header: Option<(Header, Place)>,
    version: u64,
    records: Vec<Record>,
    by_id: HashMap<EntryId, usize>,
    rows: Vec<IndexRow>,
    /// Records whose id a later one took.
    shadowed: Vec<usize>,
    damage: Damage,
    /// Lines that were not blank.
    lines: usize,
}

impl Index {
    fn new() -> Self {
        Self {
            header: None,
            version: VERSION,
            records: Vec::new(),
            by_id: HashMap::new(),
            rows: Vec::new(),
            shadowed: Vec::new(),
            damage: Damage::default(),
            lines: 0,
        }
    }

    fn longest_line(&self) -> usize {
        if self.header.is_some() { usize::MAX } else { MAX_BYTES_BEFORE_HEADER }
    }

    fn add_line(&mut self, bytes: &[u8], offset: u64, number: usize, is_terminated: bool) {
        self.lines += 1;
        let whole = Place { offset, bytes: bytes.len() as u64 };
        // A last line without its end may be torn anywhere, and a line that gets an id must be whole to be written with it.
        let may_be_usual = is_terminated && self.version >= 2;
        if may_be_usual && let Some(names) = line::usual(bytes) {
            return self.add_record(&names, whole, number, Form::Whole);
        }
        let judged = line::judge(bytes);
        if judged.is_damaged {
            self.damage.lines.push(number);
        }
        for Object { names, range } in judged.objects {
            let place = Place { offset: offset + range.start as u64, bytes: range.len() as u64 };
            let header = (self.header.is_none() && names.type_name == "session")
                .then(|| Header::from_line(&String::from_utf8_lossy(&bytes[range])))
                .flatten();
            if let Some(header) = header {
                self.version = header.format_version();
                self.header = Some((header, place));
            } else if judged.is_damaged {
                self.add_record(&names, place, number, Form::SharedLine);
            } else {
                self.add_record(&names, whole, number, Form::Whole);
            }
        }
    }

    fn add_record(&mut self, names: &Names<'_>, place: Place, line: usize, form: Form) {
        let is_old = self.version < VERSION;
        let needs_edit = self.version < 2 || (is_old && names.role == "hookMessage");
        let form = if needs_edit { Form::Edited } else { form };
        let row = self.row(names);
        let id = row.as_ref().map(|row| row.id.clone());
        if let Some(row) = row {
            self.shadowed.extend(self.by_id.insert(row.id.clone(), self.records.len()));
            self.rows.push(row);
        }
        self.records.push(Record { id, place, line, form });
    }

    /// The node of an object; `None` where it is none.
    fn row(&self, names: &Names<'_>) -> Option<IndexRow> {
        // A second header or slot, of files that were joined, is no entry.
        if matches!(&*names.type_name, "session" | "title") {
            return None;
        }
        let previous = self.rows.last().map(|row| &row.id);
        if self.version < 2 {
            let id = self.derived_id(self.records.len());
            return Some(IndexRow { id, parent_id: previous.cloned(), tag: names.tag() });
        }
        let id = names.id.as_deref()?;
        let parent_id = names.parent_id.as_deref().map(|parent| match previous {
            // One allocation for both: most entries follow the one before.
            Some(previous) if *previous == parent => previous.clone(),
            _ => EntryId::from(parent),
        });
        Some(IndexRow { id: EntryId::from(id), parent_id, tag: names.tag() })
    }

    /// An id for the nth object of a file, where it has none or has lost it. Everybody who reads the file finds the same one, so that
    /// two processes agree about its entries.
    fn derived_id(&self, nth: usize) -> EntryId {
        let session = self.header.as_ref().map_or("", |(header, _)| header.id.as_str());
        let candidate = |attempt: u64| {
            let hash = Sha256::digest(format!("{session}\0{nth}\0{attempt}"));
            EntryId::from(hash[..4].iter().map(|byte| format!("{byte:02x}")).collect::<String>())
        };
        (0..=self.by_id.len() as u64)
            .map(candidate)
            .find(|id| !self.by_id.contains_key(id))
            .unwrap_or_else(|| EntryId::from(format!("{nth:016x}")))
    }

    fn finish(mut self, slot: Option<TitleSlot>, has_slot: bool, read: &Lines<'_>) -> Content {
        self.rename_shadowed();
        let Some((mut header, header_place)) = self.header.take() else {
            return if self.lines == 0 { Content::Nothing } else { Content::Foreign };
        };
        if let Some(slot) = slot {
            slot.apply(&mut header);
        }
        header.version = Some(self.version.max(VERSION));
        Content::Session(Box::new(Scanned {
            header,
            header_place,
            version: self.version,
            has_slot,
            records: self.records,
            by_id: self.by_id,
            rows: self.rows,
            damage: self.damage,
            bytes: read.offset,
            lines: read.number,
            is_terminated: read.is_terminated,
        }))
    }

    /// Gives fresh ids to entries that lost theirs to a later line, so that they survive a rewrite.
    fn rename_shadowed(&mut self) {
        if self.shadowed.is_empty() {
            return;
        }
        let nodes: Vec<usize> =
            (0..self.records.len()).filter(|at| self.records[*at].id.is_some()).collect();
        for at in std::mem::take(&mut self.shadowed) {
            let fresh = self.derived_id(at);
            self.by_id.insert(fresh.clone(), at);
            if let Ok(row) = nodes.binary_search(&at) {
                self.rows[row].id = fresh.clone();
            }
            self.records[at].form = Form::Edited;
            self.damage.duplicate_ids.extend(self.records[at].id.replace(fresh));
        }
    }
}

/// Bytes that are read at once: enough that the calls do not count, and few enough to stay in the second-level cache.
const CHUNK_BYTES: usize = 256 << 10;

/// The lines of a file, read in chunks into one buffer that grows only for a longer line.
pub(super) struct Lines<'a> {
    file: &'a File,
    buffer: Vec<u8>,
    /// The part of the buffer that was not yet given out.
    start: usize,
    filled: usize,
    /// Where the next line starts in the file.
    offset: u64,
    number: usize,
    is_terminated: bool,
}

pub(super) struct Line<'b> {
    /// Without the line end.
    pub(super) bytes: &'b [u8],
    offset: u64,
    number: usize,
    is_terminated: bool,
}

impl<'a> Lines<'a> {
    /// The lines from an offset on, after so many others.
    pub(super) fn new(file: &'a File, offset: u64, number: usize) -> Self {
        Self {
            file,
            buffer: vec![0; CHUNK_BYTES],
            start: 0,
            filled: 0,
            offset,
            number,
            is_terminated: true,
        }
    }

    /// The next line; a line beyond `longest` bytes comes in pieces.
    pub(super) fn next(&mut self, longest: usize) -> io::Result<Option<Line<'_>>> {
        let mut searched = 0;
        loop {
            let unseen = &self.buffer[self.start + searched..self.filled];
            if let Some(at) = memchr(b'\n', unseen) {
                return Ok(Some(self.give(searched + at, 1)));
            }
            searched += unseen.len();
            if searched >= longest || self.fill()? == 0 {
                return Ok((searched > 0).then(|| self.give(searched, 0)));
            }
        }
    }

    fn give(&mut self, len: usize, end_bytes: usize) -> Line<'_> {
        let start = self.start;
        let offset = self.offset;
        self.start += len + end_bytes;
        self.offset += (len + end_bytes) as u64;
        self.number += 1;
        self.is_terminated = end_bytes > 0;
        Line {
            bytes: &self.buffer[start..start + len],
            offset,
            number: self.number,
            is_terminated: self.is_terminated,
        }
    }

    /// Reads on, after moving what is left to the front.
    fn fill(&mut self) -> io::Result<usize> {
        self.buffer.copy_within(self.start..self.filled, 0);
        self.filled -= self.start;
        self.start = 0;
        if self.filled == self.buffer.len() {
            self.buffer.resize(self.buffer.len() * 2, 0);
        }
        let from = self.offset + self.filled as u64;
        loop {
            match self.file.read_at(&mut self.buffer[self.filled..], from) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(read) => {
                    self.filled += read;
                    return Ok(read);
                }
                Err(error) => return Err(error),
            }
        }
    }
}
