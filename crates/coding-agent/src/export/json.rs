//! The session as one JSON document: header, entries as they lie, the tree, and what it cost.

use std::io::Write;

use serde_json::{Value, json};

use super::{ExportError, LOT, Options, Totals};
use crate::session_file::SessionFile;

pub(super) fn write(
    session: &SessionFile,
    options: &Options<'_>,
    out: &mut dyn Write,
) -> Result<(), ExportError> {
    write!(out, "{{\"session\":{},\n\"entries\":[", options.keys.json(&session.header.to_line()))?;
    for (at, line) in session.lines().enumerate() {
        let separator = if at == 0 { "\n" } else { ",\n" };
        write!(out, "{separator}{}", options.keys.json(&line?))?;
    }
    let mut totals = Totals::default();
    for lot in session.rows.chunks(LOT) {
        session.read_once(lot)?.iter().for_each(|entry| totals.add(entry));
    }
    let tree: Vec<Value> = session
        .rows
        .iter()
        .map(|row| {
            let children: Vec<_> =
                session.tree.children(Some(&row.id)).map(|child| &child.id).collect();
            json!({ "id": row.id, "parent": row.parent_id, "children": children })
        })
        .collect();
    let usage = serde_json::to_value(&totals).unwrap_or_default();
    let leaf = json!(session.tree.leaf());
    writeln!(out, "],\n\"leaf\":{leaf},\n\"tree\":{},\n\"usage\":{usage}}}", Value::from(tree))?;
    Ok(())
}
