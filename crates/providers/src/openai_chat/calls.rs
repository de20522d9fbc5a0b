//! Puts the tool calls of one reply together from their pieces.
//!
//! Servers name the call that a piece belongs to by index, by id, only by its place in the batch, or wrongly.

use serde_json::{Map, Value};

use crate::arguments;

/// One call, as far as it has come.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Call {
    pub(crate) id: String,
    pub(crate) name: String,
    index: Option<u64>,
    text: String,
    object: Option<Map<String, Value>>,
}

impl Call {
    /// The arguments, mended where that is needed.
    pub(crate) fn arguments(&self) -> Map<String, Value> {
        self.object.clone().unwrap_or_else(|| arguments::read(&self.text))
    }

    /// Whether nothing that could be run has come.
    pub(crate) fn is_blank(&self) -> bool {
        self.name.trim().is_empty() && self.text.trim().is_empty() && self.object.is_none()
    }

    fn has_whole_arguments(&self) -> bool {
        self.object.is_some() || serde_json::from_str::<Map<String, Value>>(&self.text).is_ok()
    }
}

/// What a piece did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Change {
    /// Which call, in the order of their beginnings.
    pub(crate) call: usize,
    /// Whether the call is new.
    pub(crate) is_new: bool,
    /// New text of the arguments.
    pub(crate) delta: String,
}

/// The calls of one reply.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    calls: Vec<Call>,
    /// Where the newest batch of pieces without index and id began.
    batch: usize,
}

impl Calls {
    /// The calls in the order of their beginnings.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Call> {
        self.calls.iter()
    }

    /// The name of a call, as far as it has come.
    pub(crate) fn name(&self, call: usize) -> &str {
        self.calls.get(call).map_or("", |call| &call.name)
    }

    /// Takes the pieces of one chunk.
    pub(crate) fn push(&mut self, pieces: &[Value]) -> Vec<Change> {
        pieces.iter().enumerate().map(|(position, piece)| self.piece(position, piece)).collect()
    }

    fn piece(&mut self, position: usize, piece: &Value) -> Change {
        let function = piece.get("function").unwrap_or(piece);
        let id = piece.get("id").and_then(Value::as_str).unwrap_or_default();
        let name = function.get("name").and_then(Value::as_str).unwrap_or_default();
        let index = piece.get("index").and_then(Value::as_u64);
        let found = self.find(index, id, name, position);
        let at = found.unwrap_or(self.calls.len());
        if found.is_none() {
            self.calls.push(Call { index, ..Call::default() });
        }
        let call = &mut self.calls[at];
        if call.id.is_empty() {
            id.clone_into(&mut call.id);
        }
        // Some servers repeat the name with each piece, some send it whole and longer.
        if name.len() > call.name.len() && name.starts_with(call.name.as_str()) {
            name.clone_into(&mut call.name);
        }
        let delta = match function.get("arguments") {
            Some(Value::String(text)) => {
                call.text.push_str(text);
                text.clone()
            }
            Some(Value::Object(members)) => {
                call.object.get_or_insert_default().extend(members.clone());
                Value::Object(members.clone()).to_string()
            }
            _ => String::new(),
        };
        Change { call: at, is_new: found.is_none(), delta }
    }

    /// The call that a piece belongs to; `None` for a new one.
    fn find(&mut self, index: Option<u64>, id: &str, name: &str, position: usize) -> Option<usize> {
        if index.is_some() {
            let at = self.calls.iter().rposition(|call| call.index == index)?;
            return self.continues(at, id, name).then_some(at);
        }
        if !id.is_empty() {
            return self.calls.iter().rposition(|call| call.id == id);
        }
        let at = self.batch + position;
        if at >= self.calls.len() {
            return None;
        }
        if self.continues(at, id, name) {
            return Some(at);
        }
        self.batch = self.calls.len();
        None
    }

    /// Whether a piece may be more of that call: not with another id, nor with a name when the call is whole already.
    fn continues(&self, at: usize, id: &str, name: &str) -> bool {
        let call = &self.calls[at];
        let is_other_id = !id.is_empty() && !call.id.is_empty() && id != call.id;
        let begins_another = id.is_empty() && !name.is_empty() && call.has_whole_arguments();
        !is_other_id && !begins_another
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::Calls;

    fn fold(chunks: &[Value]) -> Vec<(String, String, Value)> {
        let mut calls = Calls::default();
        for chunk in chunks {
            calls.push(chunk.as_array().unwrap());
        }
        calls
            .iter()
            .map(|call| (call.id.clone(), call.name.clone(), Value::Object(call.arguments())))
            .collect()
    }

    fn call(id: &str, name: &str, arguments: Value) -> (String, String, Value) {
        (id.into(), name.into(), arguments)
    }

    #[test]
    fn pieces_find_their_call_however_a_server_names_it() {
        let by_id = fold(&[
            json!([{"id": "a", "function": {"name": "ls", "arguments": "{\"p\":"}}]),
            json!([{"id": "b", "function": {"name": "cat", "arguments": "{\"q\":"}}]),
            json!([{"id": "a", "function": {"arguments": "1}"}}, {"id": "b", "function": {"arguments": "2}"}}]),
        ]);
        assert_eq!(by_id, [call("a", "ls", json!({"p": 1})), call("b", "cat", json!({"q": 2}))]);

        let by_position = fold(&[
            json!([{"function": {"name": "ls", "arguments": "{\"p\":"}}, {"function": {"name": "cat", "arguments": "{"}}]),
            json!([{"function": {"arguments": "1}"}}, {"function": {"arguments": "}"}}]),
        ]);
        assert_eq!(by_position, [call("", "ls", json!({"p": 1})), call("", "cat", json!({}))]);

        let same_index_other_id = fold(&[
            json!([{"index": 0, "id": "a", "function": {"name": "ls", "arguments": "{}"}}]),
            json!([{"index": 0, "id": "b", "function": {"name": "ls", "arguments": "{\"p\""}}]),
            json!([{"index": 0, "function": {"arguments": ":1}"}}]),
        ]);
        assert_eq!(
            same_index_other_id,
            [call("a", "ls", json!({})), call("b", "ls", json!({"p": 1}))]
        );

        let whole_calls_without_keys = fold(&[
            json!([{"function": {"name": "ls", "arguments": "{\"p\":1}"}}]),
            json!([{"function": {"name": "ls", "arguments": {"p": 2}}}]),
        ]);
        assert_eq!(
            whole_calls_without_keys,
            [call("", "ls", json!({"p": 1})), call("", "ls", json!({"p": 2}))]
        );
    }

    #[test]
    fn a_repeated_or_growing_name_is_one_name() {
        let calls = fold(&[
            json!([{"index": 0, "id": "a", "function": {"name": "re", "arguments": "{"}}]),
            json!([{"index": 0, "id": "a", "function": {"name": "read", "arguments": ""}}]),
            json!([{"index": 0, "id": "a", "function": {"name": "read", "arguments": "}"}}]),
        ]);
        assert_eq!(calls, [call("a", "read", json!({}))]);
    }
}
