//! A session goes out whole, with nothing of it able to act, and without its keys where that was asked.

use std::fs;

use longhand_coding_agent::SessionFile;
use longhand_coding_agent::export::{self, Format, Keys, Options, Theme};
use longhand_coding_agent::tree_rows::{Filter, tree_rows};
use longhand_session::{JsonlStore, SessionStore};
use serde_json::{Value, json};
use tempfile::TempDir;

const KEY: &str = "sk-abcdefghijklmnopqrstuvwxyz0123";
const PICTURE: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

struct Written {
    _folder: TempDir,
    session: SessionFile,
}

fn session(lines: &[Value]) -> Written {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("s.jsonl");
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    fs::write(&path, text).expect("a file");
    let session = SessionFile::open(Box::new(JsonlStore::resume(path))).expect("a session");
    Written { _folder: folder, session }
}

fn header() -> Value {
    json!({"type": "session", "version": 3, "id": "0190", "timestamp": "2026-03-01T10:00:00.000Z",
        "cwd": "/w", "title": "The <b>parser</b>"})
}

fn user(id: &str, parent: Option<&str>, text: &str) -> Value {
    json!({"type": "message", "id": id, "parentId": parent, "timestamp": "2026-03-01T10:00:00.000Z",
        "message": {"role": "user", "content": text, "timestamp": 1}})
}

fn turn(id: &str, parent: &str, content: &Value) -> Value {
    json!({"type": "message", "id": id, "parentId": parent, "timestamp": "2026-03-01T10:00:01.000Z",
        "message": {"role": "assistant", "provider": "demo", "model": "offline", "stopReason": "stop",
            "usage": {"input": 10, "output": 5, "totalTokens": 15, "cost": {"total": 0.5}},
            "content": content, "timestamp": 1}})
}

fn result(id: &str, parent: &str, text: &str) -> Value {
    json!({"type": "message", "id": id, "parentId": parent, "timestamp": "2026-03-01T10:00:02.000Z",
        "message": {"role": "toolResult", "toolCallId": "c", "toolName": "bash", "isError": false,
            "content": [{"type": "text", "text": text},
                {"type": "image", "data": PICTURE, "mimeType": "image/png"}], "timestamp": 1}})
}

/// A session with a fork after its first answer, a call, a picture, a label and a compaction.
fn forked() -> Written {
    session(&[
        header(),
        user("u1", None, "Begin"),
        turn(
            "a1",
            "u1",
            &json!([{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "First."},
            {"type": "toolCall", "id": "c", "name": "bash", "arguments": {"command": "ls"}}]),
        ),
        result("r1", "a1", "one\ntwo"),
        user("left", Some("r1"), "The way not taken"),
        turn("left2", "left", &json!([{"type": "text", "text": "A dead end."}])),
        user("u2", Some("r1"), "Go on"),
        json!({"type": "label", "id": "l", "parentId": "u2", "targetId": "u2", "label": "here"}),
        json!({"type": "compaction", "id": "c1", "parentId": "l", "summary": "What was done",
            "firstKeptEntryId": "u2", "tokensBefore": 2_500, "tokensAfter": 400, "method": "soft"}),
        turn("a2", "c1", &json!([{"type": "text", "text": "Done."}])),
    ])
}

fn written(session: &SessionFile, format: Format, keys: Keys) -> String {
    let mut out = Vec::new();
    let options = Options { keys, theme: Theme::Auto, frames: None };
    export::write(session, format, &options, &mut out).expect("memory has room");
    String::from_utf8(out).expect("text")
}

#[test]
fn a_page_has_every_entry_of_every_branch() {
    let forked = forked();
    let page = written(&forked.session, Format::Html, Keys::Kept);
    for id in ["u1", "a1", "r1", "left", "left2", "u2", "l", "c1", "a2"] {
        assert_eq!(page.matches(&format!("id=\"e-{id}\"")).count(), 1, "{id}");
    }
    for text in ["A dead end.", "What was done", "one\ntwo", "Compacted with soft: 2,500", "$1.50"]
    {
        assert!(page.contains(text), "{text}");
    }
    assert!(page.contains(&format!("src=\"data:image/png;base64,{PICTURE}\"")));
    let branch = page.find("Branch that was left: 2 entries").expect("a branch");
    let order = ["e-r1", "e-left", "e-u2", "e-a2"].map(|id| page.find(&format!("id=\"{id}\"")));
    assert!(order.is_sorted() && order[0] < Some(branch) && Some(branch) < order[1]);
}

#[test]
fn nothing_that_was_said_can_act_on_a_page() {
    let evil = "</script><script>alert(1)</script> <img src=x onerror=alert(2)> \u{1b}[31m";
    let hostile = session(&[
        json!({"type": "session", "id": "x\"><script>", "cwd": evil, "title": evil}),
        user(
            "a\"onclick=\"x",
            None,
            &format!(
                "{evil}\n\n[l](javascript:alert(3)) ![p](http://x/y.png)\n\n<script>alert(4)</script>"
            ),
        ),
        turn(
            "b",
            "a\"onclick=\"x",
            &json!([{"type": "text", "text": evil}, {"type": "thinking", "thinking": evil},
            {"type": "toolCall", "id": "c", "name": evil, "arguments": {"x": evil}},
            {"type": "image", "mimeType": "image/svg+xml", "data": "PHN2Zz4="},
            {"type": "image", "mimeType": "image/png\" onload=\"x", "data": "AAAA"}]),
        ),
        result("r", "b", evil),
        json!({"type": "label", "id": "l", "parentId": "r", "targetId": "r", "label": evil}),
        json!({"type": evil, "id": "z", "parentId": "l"}),
    ]);
    let page = written(&hostile.session, Format::Html, Keys::Kept);
    assert_eq!(page.matches("<script").count(), 1, "its own");
    assert_eq!(page.matches("<img").count(), 1, "the picture of the result");
    assert!(
        !page.contains("onclick=\"") && !page.contains("onload=\"") && !page.contains('\u{1b}')
    );
    assert!(
        !page.contains("href=\"javascript:")
            && !page.contains("src=\"http")
            && !page.contains("svg")
    );
    let policy = page.split("Content-Security-Policy").nth(1).expect("a policy");
    assert!(policy.contains("default-src 'none'") && policy.contains("script-src 'sha256-"));

    let text = written(&hostile.session, Format::Markdown, Keys::Kept);
    assert!(text.contains("<details><summary>&lt;/script&gt;"), "{text}");
}

#[test]
fn keys_stay_at_home_in_every_format() {
    let secret = session(&[
        json!({"type": "session", "id": "s", "cwd": "/w", "title": format!("With {KEY}")}),
        user("u", None, &format!("My key is {KEY} you know")),
        turn(
            "a",
            "u",
            &json!([{"type": "text", "text": format!("`{KEY}`")},
            {"type": "thinking", "thinking": KEY},
            {"type": "toolCall", "id": "c", "name": "bash",
                "arguments": {"command": format!("curl -H 'Authorization: Bearer {KEY}'"), "API_KEY": "hunter2hunter2"}}]),
        ),
        result("r", "a", &format!("OPENAI_API_KEY={KEY}")),
        json!({"type": "compaction", "id": "c", "parentId": "r", "summary": format!("uses {KEY}"), "tokensBefore": 1,
            "firstKeptEntryId": ""}),
        json!({"type": "label", "id": "l", "parentId": "c", "targetId": "u", "label": KEY}),
    ]);
    for format in [Format::Html, Format::Markdown, Format::Json, Format::Jsonl] {
        let kept = written(&secret.session, format, Keys::Kept);
        assert!(kept.contains(KEY), "{format:?}");
        let redacted = written(&secret.session, format, Keys::Redacted);
        for key in [KEY, "hunter2hunter2"] {
            assert!(!redacted.contains(key), "{format:?}: {redacted}");
        }
        assert!(redacted.contains("[redacted]") && redacted.contains("you know"), "{format:?}");
    }
    let lines = written(&secret.session, Format::Jsonl, Keys::Redacted);
    assert!(lines.lines().all(|line| serde_json::from_str::<Value>(line).is_ok()));
}

#[test]
fn a_session_file_that_went_out_opens_as_the_same_session() {
    let forked = forked();
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("copy.jsonl");
    fs::write(&path, written(&forked.session, Format::Jsonl, Keys::Kept)).expect("a file");
    let mut copy = JsonlStore::resume(&path);
    let opened = copy.open().expect("a session");
    assert!(opened.damage.is_none());
    assert_eq!(opened.rows, forked.session.rows);
    let lines: Vec<String> = copy.lines().map(|line| line.expect("a line")).collect();
    let before: Vec<String> = forked.session.lines().map(|line| line.expect("a line")).collect();
    assert_eq!(lines, before);
}

#[test]
fn json_is_one_document_with_tree_and_costs() {
    let forked = forked();
    let document: Value =
        serde_json::from_str(&written(&forked.session, Format::Json, Keys::Kept)).expect("JSON");
    assert_eq!(document["session"]["id"], "0190");
    assert_eq!(document["entries"].as_array().map(Vec::len), Some(9));
    assert_eq!(document["leaf"], "a2");
    assert_eq!(document["tree"][2]["children"], json!(["left", "u2"]));
    assert_eq!(document["usage"]["models"]["demo/offline"]["requests"], 3);
    assert_eq!(document["usage"]["all"]["cost"], 1.5);
}

#[test]
fn markdown_reads_from_the_top_with_the_other_branch_at_the_end() {
    let forked = forked();
    let text = written(&forked.session, Format::Markdown, Keys::Kept);
    assert!(text.starts_with("---\nid: \"0190\"\ntitle: \"The <b>parser</b>\"\n"), "{text}");
    let places = [
        "## User\n\nBegin",
        "bash: ls",
        "one\ntwo",
        "Go on",
        "What was done",
        "Done.",
        "# Branch 1 that was left",
        "A dead end.",
    ]
    .map(|part| text.find(part));
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{places:?}\n{text}");
    let fenced =
        session(&[header(), user("u", None, "x"), result("r", "u", "```\nstill inside\n````")]);
    let text = written(&fenced.session, Format::Markdown, Keys::Kept);
    assert!(text.contains("`````\n```\nstill inside\n````\n`````"), "{text}");
}

#[test]
fn a_tree_is_indented_only_where_it_forks_and_starts_with_the_active_branch() {
    let forked = forked();
    let tree = tree_rows(&forked.session, Filter::Default).expect("a session");
    let rows: Vec<String> = tree
        .rows
        .iter()
        .map(|row| {
            let dot = if row.is_active { "*" } else { "" };
            let label = row.label.as_ref().map_or_else(String::new, |label| format!("[{label}] "));
            format!("{}{dot}{label}{}", row.connectors, row.text)
        })
        .collect();
    assert_eq!(
        rows,
        [
            "*user: Begin",
            "*assistant: First.",
            "*[bash: ls]",
            "├─ *[here] user: Go on",
            "│  *[compaction: 3k tokens]",
            "│  *assistant: Done.",
            "└─ user: The way not taken",
            "   assistant: A dead end.",
        ]
    );
    assert_eq!((tree.branches, tree.entries), (2, 9));
    let ids = |filter| -> Vec<String> {
        let tree = tree_rows(&forked.session, filter).expect("a session");
        tree.rows.iter().map(|row| row.id.to_string()).collect()
    };
    assert_eq!(ids(Filter::UserOnly), ["u1", "u2", "left"]);
    assert_eq!(ids(Filter::LabeledOnly), ["u2"]);
    assert_eq!(ids(Filter::NoTools).len(), 7);
    assert_eq!(ids(Filter::All).len(), 9);
}

#[test]
fn odd_trees_go_out_whole() {
    let odd = session(&[
        header(),
        user("a", Some("b"), "one of a circle"),
        user("b", Some("a"), "the other"),
        user("orphan", Some("gone"), "after a gap"),
        user("root", None, "another beginning"),
        json!({"type": "unheard_of", "id": "new", "parentId": "root"}),
        json!({"no": "id"}),
    ]);
    let page = written(&odd.session, Format::Html, Keys::Kept);
    for id in ["a", "b", "orphan", "root", "new"] {
        assert_eq!(page.matches(&format!("id=\"e-{id}\"")).count(), 1, "{id}");
    }
    let tree = tree_rows(&odd.session, Filter::All).expect("a session");
    assert_eq!(tree.rows.len(), 5);
    assert!(tree.rows.iter().any(|row| row.text.contains("gone") && row.text.contains("missing")));
    assert!(written(&odd.session, Format::Json, Keys::Kept).contains("{\"no\":\"id\"}"));
}
