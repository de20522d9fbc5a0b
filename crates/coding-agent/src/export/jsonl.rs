//! The session as a session file: title slot, header, and every line as it lies.

use std::io::Write;

use longhand_session::header::VERSION;
use longhand_session::title_slot::TitleSlot;

use super::{ExportError, Keys, Options};
use crate::session_file::SessionFile;

pub(super) fn write(
    session: &SessionFile,
    options: &Options<'_>,
    out: &mut dyn Write,
) -> Result<(), ExportError> {
    let mut header = session.header.clone();
    header.version = header.version.max(Some(VERSION));
    if options.keys == Keys::Redacted {
        header.title = header.title.map(|title| options.keys.text(&title));
    }
    let slot = TitleSlot::of(&header, header.timestamp.clone());
    out.write_all(slot.to_line().as_bytes())?;
    writeln!(out, "{}", options.keys.json(&header.to_line()))?;
    for line in session.lines() {
        writeln!(out, "{}", options.keys.json(&line?))?;
    }
    Ok(())
}
