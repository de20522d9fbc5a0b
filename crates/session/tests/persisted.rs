//! What is written of an entry: pictures as blobs, no text beyond use, nothing lost and nothing copied.

use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;

use longhand_session::archive::FrameSource as _;
use longhand_session::artifact_store::{
    ArtifactStore, FolderArtifacts, MemoryArtifacts, address, copy_folder, merge_folder,
};
use longhand_session::blob_store::{
    BlobFrames, BlobRef, BlobStore, FolderBlobs, MemoryBlobs, references,
};
use longhand_session::draft_text::DraftText;
use longhand_session::persisted::{KeepText, Persistence};
use longhand_session::time::Timestamp;
use longhand_session::{ArtifactId, Entry, EntryReader, Header, JsonlStore, SessionStore};
use serde_json::{Value, json};

const NOTICE: &str = "\n\n[Session persistence truncated large content]";

fn with_blobs() -> (Arc<MemoryBlobs>, Persistence) {
    let blobs = Arc::new(MemoryBlobs::default());
    (blobs.clone(), Persistence { blobs: Some(blobs), texts: None })
}

fn written(persistence: &Persistence, entry: &Value) -> Value {
    let line = entry.to_string();
    serde_json::from_str(&persistence.written(&line).expect("kept")).expect("JSON")
}

/// `{"$rep": [text, n]}` stands for the text n times.
fn expanded(value: &Value) -> Value {
    match value {
        Value::Object(members) => match members.get("$rep").and_then(Value::as_array) {
            Some(rep) => {
                let text = rep[0].as_str().expect("text");
                text.repeat(rep[1].as_u64().expect("a count") as usize).into()
            }
            None => members.iter().map(|(key, value)| (key.clone(), expanded(value))).collect(),
        },
        other => other.clone(),
    }
}

fn units(text: &Value) -> u64 {
    text.as_str().expect("text").encode_utf16().count() as u64
}

#[test]
fn golden_blocks_are_written_as_other_programs_write_them() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/session/persistence.json");
    let data: Value =
        serde_json::from_str(&fs::read_to_string(path).expect("a file")).expect("JSON");
    let (blobs, persistence) = with_blobs();
    let mut count = 0;
    for case in data["cases"].as_array().expect("cases") {
        let Some(input) = case.get("input").map(expanded) else { continue };
        count += 1;
        let entry =
            json!({"type": "message", "id": "a", "message": {"role": "user", "content": [input]}});
        let block = &written(&persistence, &entry)["message"]["content"][0];
        let name = &case["what"];
        let text = block.get("text").or(block.get("thinking")).unwrap_or(&Value::Null);
        if case["unchanged"] == true {
            assert_eq!(*block, input, "{name}");
        }
        if let Some(result) = case.get("result") {
            assert_eq!(block, result, "{name}");
        }
        if let Some(length) = case["resultLength"].as_u64() {
            assert_eq!(units(text), length, "{name}");
            assert!(text.as_str().expect("text").ends_with(NOTICE), "{name}");
        }
        if let Some(kept) = case["keptPrefix"].as_u64() {
            assert_eq!(units(text) - units(&NOTICE.into()), kept, "{name}");
        }
    }
    assert_eq!(count, 6);
    for name in data["blobFiles"].as_array().expect("names") {
        let hash = name.as_str().expect("text").trim_end_matches(".png");
        let blob = BlobRef::parse(&format!("blob:sha256:{hash}")).expect("a reference");
        assert_eq!(blobs.bytes(&blob).expect("memory"), Some(1_200));
    }
}

#[test]
fn a_result_with_events_and_a_long_text_is_counted_again() {
    let content = "a\nb\nc\nd\n".to_owned() + &"e".repeat(500_002);
    let entry = json!({"type": "message", "id": "a", "message": {"role": "toolResult", "content": [],
        "details": {"jsonlEvents": [1, 2], "content": content, "lineCount": 3}}});
    let details = &written(&Persistence::default(), &entry)["message"]["details"];
    assert_eq!(details.get("jsonlEvents"), None);
    assert_eq!((units(&details["content"]), &details["lineCount"]), (500_000, &json!(7)));
}

#[test]
fn pictures_become_blobs_wherever_they_are_and_come_back() {
    let (_, persistence) = with_blobs();
    let picture = "BwcH".repeat(400);
    let url = format!("data:image/png;base64,{}", "BwcH".repeat(2));
    let image = json!({"type": "image", "data": picture, "mimeType": "image/png"});
    let entry = json!({"type": "compaction", "id": "a", "summary": "S", "big": 123_456_789_012_345_678_901_234_567_890.0,
        "preserveData": {"snapcompact": {"frames": [
            {"data": picture, "mimeType": "image/png", "cols": 1, "rows": 1, "chars": 1}]},
            "openaiRemoteCompaction": {"provider": "p", "replacementHistory": [
                {"type": "message", "content": [{"type": "input_image", "image_url": url}]},
                {"type": "image_generation_call", "result": picture}]}},
        "details": {"images": [{"data": picture, "mimeType": "image/png"}], "content": [image]}});
    let line = entry.to_string();
    let stored = persistence.written(&line).expect("kept").into_owned();
    assert_eq!(stored.matches("blob:sha256:").count(), 5);
    assert!(!stored.contains("BwcH"), "{stored}");
    assert_eq!(references(&stored).count(), 5);

    let read: Value = serde_json::from_str(&persistence.read(&stored)).expect("JSON");
    let mut expected = entry.clone();
    let frame = "/preserveData/snapcompact/frames/0/data";
    let reference = read.pointer(frame).expect("a frame").clone();
    assert!(
        reference.as_str().expect("text").starts_with("blob:sha256:"),
        "frames stay references"
    );
    *expected.pointer_mut(frame).expect("a frame") = reference;
    assert_eq!(read, expected);
    assert_eq!(persistence.written(&stored).expect("kept"), stored, "again changes nothing");
}

#[test]
fn a_picture_is_never_cut() {
    let picture = "BwcH".repeat(200_000);
    for data in [picture.clone(), format!("{picture}!")] {
        let entry = json!({"type": "message", "id": "a", "message": {"role": "user", "content": [
            {"type": "image", "data": data, "mimeType": "image/png"}]}});
        assert_eq!(written(&Persistence::default(), &entry), entry);
    }
}

#[test]
fn digits_and_unknown_members_beside_a_picture_survive() {
    let (_, persistence) = with_blobs();
    let line = format!(
        r#"{{"type":"message","id":"a","x":1.00000000000000000001e400,"message":{{"role":"user","content":[{{"type":"image","data":"{}","mimeType":"image/png","y":[1e3]}}]}}}}"#,
        "BwcH".repeat(400)
    );
    let stored = persistence.written(&line).expect("kept");
    assert!(
        stored.contains(r#""x":1.00000000000000000001e400"#) && stored.contains(r#""y":[1e3]"#)
    );
    assert_eq!(persistence.read(&stored), line);
}

#[test]
fn what_a_provider_signed_is_written_as_it_is_unless_it_is_there_twice() {
    let (_, persistence) = with_blobs();
    let long = "a".repeat(500_010);
    let signed = json!({"type": "message", "id": "a", "message": {"role": "assistant", "content": [
        {"type": "text", "text": long, "textSignature": "s"},
        {"type": "toolCall", "id": "c", "name": "n", "arguments": {"a": long}, "thoughtSignature": "s"},
        {"type": "redactedThinking", "data": long},
        {"type": "anthropicServerTool", "block": {"x": long}}]}});
    assert_eq!(written(&persistence, &signed), signed);

    let item = json!({"type": "reasoning", "id": "r", "encrypted_content": "e"});
    let own = json!({"type": "reasoning", "id": "q", "encrypted_content": "f"}).to_string();
    let turn = json!({"type": "message", "id": "a", "message": {"role": "assistant",
        "providerPayload": {"type": "openaiResponsesHistory", "items": [item]},
        "content": [{"type": "thinking", "thinking": "t", "thinkingSignature": item.to_string()},
            {"type": "thinking", "thinking": "u", "thinkingSignature": own}]}});
    let stored = written(&persistence, &turn);
    assert_eq!(stored["message"]["content"][0], json!({"type": "thinking", "thinking": "t"}));
    assert_eq!(stored["message"]["content"][1]["thinkingSignature"], json!(own));
}

#[test]
fn a_structured_copy_goes_only_where_the_text_is_an_artifact() {
    let result = |meta: Value| {
        json!({"type": "message", "id": "a", "message": {"role": "toolResult", "content": [],
            "details": {"serverName": "s", "mcpToolName": "t", "structuredContent": {"a": 1}, "meta": meta}}})
    };
    let whole = result(json!({}));
    assert_eq!(written(&Persistence::default(), &whole), whole);
    let spilled = result(json!({"truncation": {"artifactId": "3"}}));
    let stored = written(&Persistence::default(), &spilled);
    assert_eq!(stored["message"]["details"].get("structuredContent"), None);
}

#[derive(Debug)]
struct NoRoom;

impl KeepText for NoRoom {
    fn keep(&self, _text: &str) -> io::Result<ArtifactId> {
        Err(io::Error::other("no room"))
    }
}

#[test]
fn a_text_is_cut_only_where_the_whole_is_kept() {
    let folder = tempfile::tempdir().expect("a folder");
    let artifacts = Arc::new(FolderArtifacts::at(folder.path().join("s")));
    let long = "\u{e4}".repeat(600_000);
    let entry = json!({"type": "message", "id": "a", "message": {"role": "user", "content": long}});
    let kept = Persistence { texts: Some(artifacts.clone()), ..Persistence::default() };
    let stored = &written(&kept, &entry)["message"]["content"];
    assert_eq!(units(stored), 500_000);
    assert!(stored.as_str().expect("text").ends_with(&format!("{NOTICE}\nartifact://0")));
    let mut whole = String::new();
    artifacts.open(ArtifactId(0)).expect("kept").read_to_string(&mut whole).expect("text");
    assert_eq!(whole, long);

    let full = Persistence { texts: Some(Arc::new(NoRoom)), ..Persistence::default() };
    assert_eq!(written(&full, &entry), entry);
}

#[test]
fn only_a_hash_is_a_reference() {
    let hash = "0123456789abcdef".repeat(4);
    assert!(BlobRef::parse(&format!("blob:sha256:{hash}")).is_some());
    for other in [
        hash.clone(),
        format!("blob:sha256:{}", hash.to_uppercase()),
        format!("blob:sha256:{hash}0"),
        "blob:sha256:../../../etc/passwd".to_owned(),
        format!("blob:sha256:{}", &hash[1..]),
    ] {
        assert_eq!(BlobRef::parse(&other), None, "{other}");
    }
}

#[test]
fn blobs_are_kept_once_and_read_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder_blobs = FolderBlobs::at(folder.path().join("blobs"));
    for blobs in [&folder_blobs as &dyn BlobStore, &MemoryBlobs::default()] {
        let blob = blobs.put(b"content").expect("room");
        assert_eq!(blobs.put(b"content").expect("room"), blob);
        assert_eq!(blobs.read(&blob).expect("a blob").as_deref(), Some(&b"content"[..]));
        assert_eq!(blobs.bytes(&blob).expect("a blob"), Some(7));
        let missing = BlobRef::of(b"other");
        assert_eq!(blobs.read(&missing).expect("no blob"), None);
        assert_eq!(blobs.bytes(&missing).expect("no blob"), None);
    }
    let listed = folder_blobs.list().expect("a folder");
    assert_eq!(listed.len(), 1);
    // One that a crash cut off is written anew.
    fs::write(&listed[0].1, b"con").expect("a file");
    folder_blobs.put(b"content").expect("room");
    assert_eq!(fs::read(&listed[0].1).expect("a file"), b"content");

    let frames = BlobFrames(Arc::new(folder_blobs));
    let reference = listed[0].0.to_string();
    assert_eq!(frames.encoded_bytes(&reference), Some(12));
    assert_eq!(frames.read(&reference).as_deref(), Some("Y29udGVudA=="));
    assert_eq!(frames.read("blob:sha256:x"), None);
}

#[test]
fn a_session_file_holds_references_and_gives_pictures() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("s.jsonl");
    let (_, persistence) = with_blobs();
    let entry = |text: &str| -> Arc<Entry> {
        let entry = json!({"type": "message", "id": "a", "parentId": null, "timestamp": "t",
            "message": {"role": "user", "content": [{"type": "text", "text": text},
                {"type": "image", "data": "BwcH".repeat(400), "mimeType": "image/png"}], "timestamp": 1}});
        Arc::new(serde_json::from_value(entry).expect("an entry"))
    };
    let header = Header::new("s".into(), Timestamp::from_millis(0), "/w");
    let mut store = JsonlStore::create(&path, header).with_persistence(persistence.clone());
    store.append(&[entry("one")]).expect("room");
    let text = fs::read_to_string(&path).expect("the file");
    assert!(text.contains("blob:sha256:") && !text.contains("BwcH"));
    assert_eq!(store.read(&["a".into()]).expect("the entry"), [entry("one")]);

    let changes =
        longhand_session::store::ChangeSet { replace: vec![entry("two")], ..Default::default() };
    store.rewrite(&changes).expect("room");
    assert!(!fs::read_to_string(&path).expect("the file").contains("BwcH"));
    let mut store = JsonlStore::resume(&path).with_persistence(persistence);
    store.open().expect("a session");
    assert_eq!(store.read(&["a".into()]).expect("the entry"), [entry("two")]);
}

#[test]
fn artifacts_are_numbered_whoever_writes_them() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("s");
    let artifacts = &FolderArtifacts::at(&path);
    let mut ids: Vec<ArtifactId> = std::thread::scope(|scope| {
        let writers: Vec<_> = (0..8)
            .map(|n| {
                scope.spawn(move || artifacts.save("my tool/x", &n.to_string()).expect("room"))
            })
            .collect();
        writers.into_iter().map(|writer| writer.join().expect("no panic")).collect()
    });
    ids.sort();
    assert_eq!(ids, (0..8).map(ArtifactId).collect::<Vec<_>>());
    assert!(path.join("7.my_tool_x.log").is_file());
    let again = FolderArtifacts::at(&path);
    let draft = again.begin("bash").expect("room");
    assert_eq!(FolderArtifacts::at(&path).save("bash", "y").expect("room"), ArtifactId(9));
    drop(draft);
    assert_eq!(again.ids().len(), 9);
    let missing = again.open(ArtifactId(77)).map(drop).expect_err("none").to_string();
    assert_eq!(missing, "Artifact 77 not found. Available: 0, 1, 2, 3, 4, 5, 6, 7, 9");

    let memory = MemoryArtifacts::default();
    assert_eq!(memory.save("bash", "x").expect("room"), ArtifactId(0));
    let missing = MemoryArtifacts::default().open(ArtifactId(0)).map(drop).expect_err("none");
    assert_eq!(missing.to_string(), "Artifact 0 not found. Available: none");
    assert_eq!(memory.ids(), [ArtifactId(0)]);
    assert_eq!(address("artifact://12"), Some(ArtifactId(12)));
    for other in ["artifact://", "artifact://-1", "artifact://1/../2", "artifact://1x", "12"] {
        assert_eq!(address(other), None, "{other}");
    }
}

#[test]
fn a_merge_replaces_neither_a_name_nor_a_number() {
    let folder = tempfile::tempdir().expect("a folder");
    let (from, to) = (folder.path().join("from"), folder.path().join("to"));
    let write = |folder: &Path, name: &str| {
        fs::create_dir_all(folder).expect("a folder");
        fs::write(folder.join(name), folder.display().to_string()).expect("a file");
    };
    for name in ["0.bash.log", "1.read.log", "draft.txt"] {
        write(&from, name);
    }
    write(&to, "0.grep.log");
    write(&to, "draft.txt");
    let staying = merge_folder(&from, &to).expect("moved");
    assert_eq!(staying, [from.join("0.bash.log"), from.join("draft.txt")]);
    assert_eq!(
        fs::read_to_string(to.join("1.read.log")).expect("moved"),
        from.display().to_string()
    );
    assert_eq!(fs::read_to_string(to.join("draft.txt")).expect("kept"), to.display().to_string());

    let copy = folder.path().join("copy");
    write(&to.join("deep"), "x");
    copy_folder(&to, &copy).expect("copied");
    assert!(copy.join("deep/x").is_file() && copy.join("1.read.log").is_file());
    let moved = folder.path().join("moved");
    assert_eq!(merge_folder(&copy, &moved).expect("moved"), [] as [std::path::PathBuf; 0]);
    assert!(moved.join("deep/x").is_file() && !copy.exists());
}

#[test]
fn a_draft_is_kept_beside_the_artifacts_and_leaves_nothing_when_it_is_sent() {
    let folder = tempfile::tempdir().expect("a folder");
    let artifacts = folder.path().join("s");
    let draft = DraftText::among(&artifacts);
    assert_eq!(draft.read().expect("none"), None);
    draft.write("").expect("nothing to do");
    draft.write("half a\nthought").expect("room");
    assert_eq!(draft.read().expect("a text").as_deref(), Some("half a\nthought"));
    draft.write("").expect("removed");
    assert!(!artifacts.exists());
    draft.write("more").expect("room");
    fs::write(artifacts.join("0.bash.log"), "kept").expect("a file");
    draft.write("").expect("removed");
    assert!(artifacts.join("0.bash.log").exists());
}
