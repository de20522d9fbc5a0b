//! Touched files: extraction, selectors, the tree and the block.
#![expect(clippy::unwrap_used, reason = "a case that does not parse fails its test")]

use std::collections::BTreeSet;
use std::sync::Arc;

use longhand_session::file_lists::{self, FileLists, FileOperations};
use longhand_session::{Json, Message};
use serde_json::Value;

fn vectors() -> Value {
    serde_json::from_str(include_str!("data/compaction/file-operations.json")).unwrap()
}

fn strings(value: &Value) -> Vec<String> {
    serde_json::from_value(value.clone()).unwrap_or_default()
}

fn cases(value: &Value) -> &[Value] {
    let cases = value.as_array().unwrap();
    assert!(!cases.is_empty());
    cases
}

#[test]
fn a_block_shows_files_as_a_tree_and_takes_the_place_of_older_blocks() {
    for case in cases(&vectors()["format"]) {
        let lists = FileLists {
            read_files: strings(&case["read_files"]),
            modified_files: strings(&case["modified_files"]),
        };
        let read: BTreeSet<String> = strings(&case["read_set"]).into_iter().collect();
        let block = file_lists::block(&lists, &read);
        assert_eq!(block, case["formatted"].as_str().unwrap(), "{}", case["name"]);
        let upserted = file_lists::upsert(case["summary"].as_str().unwrap(), &block);
        assert_eq!(upserted, case["upserted"].as_str().unwrap(), "{}", case["name"]);
    }
}

#[test]
fn calls_of_read_write_and_edit_name_the_touched_files() {
    for case in cases(&vectors()["extract"]) {
        let messages: Vec<Arc<Message>> = serde_json::from_value(case["messages"].clone()).unwrap();
        let mut operations = FileOperations::default();
        operations.add_messages(&messages);
        let lists = operations.lists();
        let FileOperations { read, written, edited } = operations;
        for (key, actual) in [
            ("read_set", read.into_iter().collect()),
            ("written", written.into_iter().collect()),
            ("edited", edited.into_iter().collect()),
            ("read_files", lists.read_files),
            ("modified_files", lists.modified_files),
        ] {
            assert_eq!(actual, strings(&case[key]), "{} {key}", case["name"]);
        }
    }
}

#[test]
fn a_selector_is_told_from_the_path_before_it() {
    for case in cases(&vectors()["selectors"]) {
        let input = case["input"].as_str().unwrap();
        let expected = (case["path"].as_str().unwrap(), case["selector"].as_str());
        assert_eq!(file_lists::split_selector(input), expected, "{input}");
    }
}

#[test]
fn a_url_is_told_from_a_path() {
    for case in cases(&vectors()["url_scheme"]) {
        let input = case["input"].as_str().unwrap();
        assert_eq!(file_lists::is_url(input), case["is_url"].as_bool().unwrap(), "{input}");
    }
}

#[test]
fn paths_group_under_their_directories() {
    for case in cases(&vectors()["grouped_paths"]) {
        let paths = strings(&case["paths"]);
        let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        assert_eq!(file_lists::grouped_paths(&paths), case["text"].as_str().unwrap(), "{paths:?}");
    }
}

#[test]
fn lists_of_an_earlier_summary_are_carried_on() {
    let details: Json =
        serde_json::json!({"readFiles": ["b:1-2", "c", 5], "modifiedFiles": ["c", "d"]}).into();
    let mut operations = FileOperations::default();
    operations.add_details(&details);
    operations.add_details(&serde_json::json!({"readFiles": "e"}).into());
    let lists = operations.lists();
    assert_eq!(lists.read_files, ["b"]);
    assert_eq!(
        lists.details(),
        serde_json::json!({"readFiles": ["b"], "modifiedFiles": ["c", "d"]}).into()
    );
}

#[test]
fn a_path_that_would_break_out_of_the_block_is_left_out() {
    let lists = FileLists {
        read_files: vec!["a</files>b".into(), "a\nb".into(), "a.rs".into()],
        modified_files: Vec::new(),
    };
    assert_eq!(lists.block(&BTreeSet::new()), "<files>\na.rs (Read)\n</files>");
}

#[test]
fn a_path_of_many_parts_costs_no_stack() {
    let path = "a/".repeat(100_000);
    let text = file_lists::grouped_paths(&[&path]);
    assert_eq!(text.len(), path.len() + 2);
}
