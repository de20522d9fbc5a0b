//! Plays a transcript through an import, and looks at what comes out.

use longhand_session::import::{Facts, Making, Origin, Replay, Survey, Tally};
use longhand_session::time::Clock;
use longhand_session::{Entry, EntryId, SequentialIds};
use serde_json::{Value, json};

/// The time at which everything is imported, in milliseconds.
pub(crate) const NOW: i64 = 1_770_000_000_000;

pub(crate) struct Now;

impl Clock for Now {
    fn now_millis(&self) -> i64 {
        NOW
    }
}

/// What an import made.
pub(crate) struct Imported {
    pub(crate) facts: Facts,
    pub(crate) tally: Tally,
    pub(crate) entries: Vec<Entry>,
}

pub(crate) fn import(origin: Origin, transcript: &[u8], replay: Replay) -> Imported {
    let survey = Survey::read(origin, transcript).unwrap();
    let ids = SequentialIds::default();
    let mut entries = survey.entries(transcript, Making { ids: &ids, clock: &Now, replay });
    let made = entries.by_ref().collect::<Result<_, _>>().unwrap();
    Imported { facts: survey.facts().clone(), tally: entries.tally().clone(), entries: made }
}

/// A transcript of these records, one a line.
pub(crate) fn lines(records: &[Value]) -> Vec<u8> {
    records.iter().map(|record| format!("{record}\n")).collect::<String>().into_bytes()
}

/// Imports records of Claude Code.
pub(crate) fn claude(records: &[Value]) -> Imported {
    import(Origin::Claude, &lines(records), Replay::Possible)
}

/// Imports records of Codex.
pub(crate) fn codex(records: &[Value]) -> Imported {
    import(Origin::Codex, &lines(records), Replay::Possible)
}

impl Imported {
    /// Ids and parents, in order.
    pub(crate) fn tree(&self) -> Vec<(&str, Option<EntryId>)> {
        self.entries.iter().map(|entry| (entry.id.as_str(), entry.parent_id.clone())).collect()
    }

    /// The entry with an id, as stored.
    pub(crate) fn entry(&self, id: &str) -> Value {
        let entry = self.entries.iter().find(|entry| entry.id == id);
        serde_json::to_value(entry.unwrap_or_else(|| panic!("no {id} in {:?}", self.tree())))
            .unwrap()
    }

    /// Role, or type, and text of each entry.
    pub(crate) fn said(&self) -> Vec<(String, String)> {
        self.entries.iter().map(said).collect()
    }
}

fn said(entry: &Entry) -> (String, String) {
    let value = serde_json::to_value(entry).unwrap();
    let message = &value["message"];
    let who = message["role"].as_str().or(value["type"].as_str()).unwrap_or_default();
    let content = match &message["content"] {
        Value::Null => {
            ["summary", "model", "title"].iter().find_map(|key| value[key].as_str()).unwrap_or("")
        }
        .to_owned(),
        Value::String(text) => text.clone(),
        blocks => blocks
            .as_array()
            .unwrap()
            .iter()
            .map(|block| {
                ["text", "thinking", "name", "mimeType"]
                    .iter()
                    .find_map(|key| block[key].as_str())
                    .unwrap_or("?")
                    .to_owned()
            })
            .collect::<Vec<_>>()
            .join("|"),
    };
    (who.to_owned(), content)
}

/// What a table of a test says of an entry.
pub(crate) fn is(who: &str, text: &str) -> (String, String) {
    (who.to_owned(), text.to_owned())
}

/// A record of Claude Code.
pub(crate) fn record(kind: &str, uuid: &str, parent: Option<&str>, message: &Value) -> Value {
    json!({"type": kind, "uuid": uuid, "parentUuid": parent, "timestamp": "2026-02-01T09:00:00.000Z", "message": message})
}

pub(crate) fn user(uuid: &str, parent: Option<&str>, text: &str) -> Value {
    record("user", uuid, parent, &json!({"content": text}))
}

/// A reply of one text, with an id.
pub(crate) fn reply(uuid: &str, parent: Option<&str>, id: &str, text: &str) -> Value {
    let content = json!([{"type": "text", "text": text}]);
    record("assistant", uuid, parent, &json!({"id": id, "model": "m", "content": content}))
}

/// A record of Codex.
pub(crate) fn item(payload: &Value) -> Value {
    json!({"timestamp": "2026-02-01T09:00:00.000Z", "type": "response_item", "payload": payload})
}

pub(crate) fn event(payload: &Value) -> Value {
    json!({"timestamp": "2026-02-01T09:00:00.000Z", "type": "event_msg", "payload": payload})
}

pub(crate) fn says(role: &str, text: &str) -> Value {
    let content = json!([{"type": "input_text", "text": text}]);
    item(&json!({"type": "message", "role": role, "content": content}))
}
