//! Bytes to feed: from pure noise to lines that a real program may have left behind.

use std::fmt;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Value, json};

/// Bytes that a failure shows as text.
#[derive(Clone, PartialEq)]
pub(crate) struct Bytes(pub(crate) Vec<u8>);

impl fmt::Debug for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for line in self.0.split_inclusive(|byte| *byte == b'\n') {
            writeln!(f, "{}", line.escape_ascii())?;
        }
        Ok(())
    }
}

/// Bytes, many of them with a meaning in JSON.
pub(crate) fn noise() -> impl Strategy<Value = Bytes> {
    let telling = select(b"{}[]\",:\\u0n \n\r\0\xef\xbb\xbf\xff".to_vec());
    vec(prop_oneof![3 => telling, 1 => any::<u8>()], 0..300).prop_map(Bytes)
}

const WORDS: &[&str] = &[
    "type",
    "id",
    "parentId",
    "timestamp",
    "message",
    "content",
    "role",
    "user",
    "assistant",
    "text",
    "uuid",
    "parentUuid",
    "payload",
    "response_item",
    "event_msg",
    "compacted",
    "session",
    "title",
    "tool_use",
    "tool_result",
    "",
    "\u{1f600}",
    "2026-02-01T09:00:00.000Z",
    "a\nb\u{0}",
];

/// Words that readers look for, and some that nobody does.
fn word() -> impl Strategy<Value = String> {
    prop_oneof![4 => select(WORDS).prop_map(str::to_owned), 1 => ".{0,12}"]
}

/// Any JSON.
pub(crate) fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        word().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 5, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..5).prop_map(Value::from),
            vec((word(), inner), 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// Any JSON, one value a line.
pub(crate) fn any_lines() -> impl Strategy<Value = Bytes> {
    vec(value(), 0..12).prop_map(|values| Bytes(joined(&values)))
}

/// Values, one a line.
fn joined(values: &[Value]) -> Vec<u8> {
    values.iter().map(|value| format!("{value}\n")).collect::<String>().into_bytes()
}

/// Lines of a real shape: some members are something else, and some bytes are damaged.
pub(crate) fn damaged(records: impl Strategy<Value = Vec<Value>>) -> impl Strategy<Value = Bytes> {
    let tweaks = vec((any::<Index>(), vec(any::<Index>(), 1..4), value()), 0..3);
    (records, tweaks, vec(damage(), 0..3)).prop_map(|(mut records, tweaks, damages)| {
        for (record, path, value) in tweaks {
            if !records.is_empty() {
                let record = record.get_mut(&mut records[..]);
                tweak(record, &path, value);
            }
        }
        let mut bytes = joined(&records);
        for damage in damages {
            damage.apply(&mut bytes);
        }
        Bytes(bytes)
    })
}

/// Puts a value somewhere into another.
fn tweak(value: &mut Value, path: &[Index], with: Value) {
    let inner = path.split_first().and_then(|(step, rest)| {
        let inner = match value {
            Value::Object(members) if !members.is_empty() => {
                let at = step.index(members.len());
                members.values_mut().nth(at)
            }
            Value::Array(items) if !items.is_empty() => Some(step.get_mut(&mut items[..])),
            _ => None,
        };
        Some((inner?, rest))
    });
    match inner {
        Some((inner, rest)) => tweak(inner, rest, with),
        None => *value = with,
    }
}

/// What happens to files.
#[derive(Debug, Clone)]
enum Damage {
    Torn(Index),
    Flipped(Index, u8),
    Inserted(Index, Bytes),
    Fused(Index),
    Repeated(Index),
    Zeroed(Index, usize),
    Marked,
}

fn damage() -> impl Strategy<Value = Damage> {
    prop_oneof![
        any::<Index>().prop_map(Damage::Torn),
        (any::<Index>(), any::<u8>()).prop_map(|(at, byte)| Damage::Flipped(at, byte)),
        (any::<Index>(), noise()).prop_map(|(at, bytes)| Damage::Inserted(at, bytes)),
        any::<Index>().prop_map(Damage::Fused),
        any::<Index>().prop_map(Damage::Repeated),
        (any::<Index>(), 1..600_usize).prop_map(|(at, bytes)| Damage::Zeroed(at, bytes)),
        Just(Damage::Marked),
    ]
}

impl Damage {
    fn apply(self, bytes: &mut Vec<u8>) {
        if bytes.is_empty() {
            return;
        }
        let len = bytes.len();
        match self {
            Self::Torn(at) => bytes.truncate(at.index(len)),
            Self::Flipped(at, byte) => bytes[at.index(len)] = byte,
            Self::Inserted(at, noise) => {
                let at = at.index(len);
                bytes.splice(at..at, noise.0);
            }
            Self::Fused(at) => {
                let ends: Vec<usize> = (0..len).filter(|at| bytes[*at] == b'\n').collect();
                if !ends.is_empty() {
                    bytes.remove(ends[at.index(ends.len())]);
                }
            }
            Self::Repeated(at) => {
                let lines: Vec<Vec<u8>> =
                    bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
                bytes.extend(&lines[at.index(lines.len())]);
            }
            Self::Zeroed(at, count) => {
                let at = at.index(len);
                bytes[at..len.min(at + count)].fill(0);
            }
            Self::Marked => {
                bytes.splice(0..0, *b"\xef\xbb\xbf");
            }
        }
    }
}

/// One of a few names, so that records refer to each other; a few refer to nothing.
pub(crate) fn name() -> impl Strategy<Value = Value> {
    prop_oneof![
        8 => select(&["a", "b", "c", "d", "e", "f", "g"][..]).prop_map(Value::from),
        1 => Just(Value::Null),
        1 => word().prop_map(Value::from),
    ]
}

fn time() -> impl Strategy<Value = Value> {
    prop_oneof![
        6 => (0..100_000_i64).prop_map(|n| json!(format!("2026-02-01T09:{:02}:{:02}.000Z", n / 60 % 60, n % 60))),
        1 => any::<i64>().prop_map(Value::from),
        1 => Just(Value::Null),
    ]
}

/// A transcript of Claude Code.
pub(crate) fn claude() -> impl Strategy<Value = Vec<Value>> {
    let block = prop_oneof![
        word().prop_map(|text| json!({"type": "text", "text": text})),
        word().prop_map(|text| json!({"type": "thinking", "thinking": text, "signature": text})),
        name().prop_map(
            |id| json!({"type": "tool_use", "id": id, "name": "Bash", "input": {"command": id}})
        ),
        name().prop_map(|id| json!({"type": "tool_result", "tool_use_id": id, "content": "ok"})),
        word().prop_map(
            |data| json!({"type": "image", "source": {"media_type": "image/png", "data": data}})
        ),
    ];
    let content = prop_oneof![word().prop_map(Value::from), vec(block, 0..4).prop_map(Value::from)];
    let kind = select(
        &[
            "user",
            "assistant",
            "assistant",
            "user",
            "progress",
            "system",
            "summary",
            "ai-title",
            "custom-title",
        ][..],
    );
    let flags = (prop::bool::weighted(0.1), prop::bool::weighted(0.1), prop::bool::weighted(0.1));
    let record = (kind, (name(), name(), name()), time(), content, name(), flags).prop_map(
        |(kind, (uuid, parent, logical), time, content, id, (is_sidechain, is_meta, is_summary))| {
            json!({
                "type": kind, "uuid": uuid, "parentUuid": parent, "logicalParentUuid": logical, "timestamp": time,
                "isSidechain": is_sidechain, "isMeta": is_meta, "isCompactSummary": is_summary, "subtype": "compact_boundary",
                "compactMetadata": {"preTokens": 7}, "customTitle": id, "aiTitle": id, "cwd": "/w",
                "message": {"id": id, "model": id, "content": content, "usage": {"input_tokens": 5}, "stop_reason": "tool_use"},
            })
        },
    );
    vec(record, 0..14)
}

/// A transcript of Codex.
pub(crate) fn codex() -> impl Strategy<Value = Vec<Value>> {
    let says = || prop_oneof![Just("one"), Just("two"), Just("three")];
    let item = prop_oneof![
        (select(&["user", "assistant", "developer"][..]), says()).prop_map(|(role, text)| {
            json!({"type": "message", "role": role, "content": [{"type": "input_text", "text": text}]})
        }),
        says().prop_map(|text| json!({"type": "reasoning", "summary": [{"text": text}]})),
        name().prop_map(|id| json!({"type": "function_call", "call_id": id, "name": "sh", "arguments": "{}"})),
        name().prop_map(|id| json!({"type": "function_call_output", "call_id": id, "output": "ok"})),
        (name(), value()).prop_map(|(id, out)| json!({"type": "custom_tool_call_output", "call_id": id, "output": out})),
        name().prop_map(|id| json!({"type": "web_search_call", "id": id, "action": {"query": id}})),
    ];
    let event = prop_oneof![
        (select(&["user_message", "agent_message"][..]), says()).prop_map(|(kind, text)| json!({"type": kind, "message": text})),
        says().prop_map(|text| json!({"type": "agent_reasoning", "text": text})),
        (name(), value()).prop_map(|(id, result)| {
            json!({"type": "mcp_tool_call_end", "call_id": id, "invocation": {"server": "s", "tool": "t"}, "result": {"Ok": result}})
        }),
        (0..4_u64).prop_map(|turns| json!({"type": "thread_rolled_back", "num_turns": turns})),
        word().prop_map(|title| json!({"type": "thread_name_updated", "thread_name": title})),
    ];
    let compacted = (word(), vec(item.clone(), 0..3))
        .prop_map(|(message, history)| json!({"message": message, "replacement_history": history}));
    let record = |kind: &'static str, payload: BoxedStrategy<Value>| {
        (time(), payload).prop_map(
            move |(time, payload)| json!({"timestamp": time, "type": kind, "payload": payload}),
        )
    };
    let record = prop_oneof![
        5 => record("response_item", item.boxed()),
        4 => record("event_msg", event.boxed()),
        1 => record("compacted", compacted.boxed()),
        1 => record("turn_context", name().prop_map(|model| json!({"model": model})).boxed()),
        1 => record("session_meta", name().prop_map(|id| json!({"id": id, "cwd": id})).boxed()),
    ];
    vec(record, 0..16)
}

/// A session file of any version, with or without its title.
pub(crate) fn session() -> impl Strategy<Value = Vec<Value>> {
    let message = prop_oneof![
        word().prop_map(|text| json!({"role": "user", "content": text, "timestamp": 1})),
        (word(), name()).prop_map(|(text, id)| json!({"role": "assistant", "timestamp": 1, "content": [
            {"type": "text", "text": text}, {"type": "toolCall", "id": id, "name": "bash", "arguments": {}}]})),
        (name(), word()).prop_map(|(id, text)| json!({"role": "toolResult", "toolCallId": id, "toolName": "bash", "isError": false,
            "content": [{"type": "text", "text": text}], "timestamp": 1})),
        Just(json!({"role": "hookMessage", "customType": "x", "content": "y", "display": true, "timestamp": 1})),
        value(),
    ];
    let body = prop_oneof![
        6 => message.prop_map(|message| json!({"type": "message", "message": message})),
        1 => (word(), name()).prop_map(|(summary, kept)| json!({"type": "compaction", "summary": summary, "firstKeptEntryId": kept,
            "tokensBefore": 5, "firstKeptEntryIndex": 2})),
        1 => name().prop_map(|from| json!({"type": "branch_summary", "fromId": from, "summary": "s"})),
        1 => value().prop_map(|data| json!({"type": "custom", "customType": "session_exit", "data": data})),
        1 => value().prop_map(|data| json!({"type": "mystery", "data": data})),
        1 => Just(json!({"type": "reset_boundary"})),
    ];
    let entry = (body, name(), name(), time()).prop_map(|(mut entry, id, parent, time)| {
        entry["id"] = id;
        entry["parentId"] = parent;
        entry["timestamp"] = time;
        entry
    });
    let version = prop_oneof![Just(Value::Null), (1..5_u64).prop_map(Value::from)];
    let header = (version, word()).prop_map(|(version, title)| {
        json!({"type": "session", "version": version, "id": "s", "timestamp": "2026-02-01T09:00:00.000Z", "cwd": "/w", "title": title})
    });
    let slot = Just(json!({"type": "title", "v": 1, "title": "t", "updatedAt": "u", "pad": ""}));
    (prop::option::weighted(0.3, slot), prop::option::weighted(0.95, header), vec(entry, 0..10))
        .prop_map(|(slot, header, entries)| slot.into_iter().chain(header).chain(entries).collect())
}
