//! What is sent as pictures.

use std::sync::{Arc, Mutex};

use longhand_compaction::inline_imaging::{InlineImaging, Saving, SavingsJournal};
use longhand_compaction::options::SystemImaging;
use longhand_prompts::{Prompt, Prompts};
use longhand_session::Model;
use longhand_snapcompact::Renderer;
use serde_json::json;

use crate::sent::{image, options, png, request, result, said, seeing, sent};

#[derive(Default)]
struct Noted(Mutex<Vec<Saving>>);

impl SavingsJournal for Noted {
    fn record(&self, savings: &[Saving]) {
        self.0.lock().expect("no test panics here").extend_from_slice(savings);
    }
}

fn imaging(system: SystemImaging, results: bool, journal: Option<Arc<Noted>>) -> InlineImaging {
    let options = options(|options| {
        options.snapcompact.system_prompt = system;
        options.snapcompact.tool_results = results;
    });
    let journal = journal.map(|journal| journal as Arc<dyn SavingsJournal>);
    InlineImaging::new(options, Arc::new(Prompts::default()), Renderer::default(), journal)
}

fn long(words: usize) -> String {
    "line of output\n".repeat(words)
}

#[test]
fn large_old_results_are_pictures_and_all_else_stays() {
    let text = json!({"type": "text", "text": long(4_000)});
    let mut failed = result("failed", &json!([text]));
    failed["isError"] = true.into();
    let request = request(&[
        json!({"role": "user", "content": "go"}),
        result("old", &json!([text, image(&png())])),
        result("small", &json!([{"type": "text", "text": "ok"}])),
        failed,
        result("newest", &json!([text])),
    ]);
    let journal = Arc::new(Noted::default());
    let imaging = imaging(SystemImaging::None, true, Some(journal.clone()));
    let once = sent(&imaging, &request, &seeing());
    let old = said(&once.messages[1]);
    assert!(old[0].contains("do not run the call again"), "{old:?}");
    assert!(old[1..old.len() - 2].iter().all(|line| line == "(image)") && old.len() > 4, "{old:?}");
    assert_eq!(old[old.len() - 2..], ["[image 1]", "(image)"], "its own picture stays");
    for at in [0, 2, 3, 4] {
        assert_eq!(once.messages[at], request.messages[at], "message {at}");
    }
    assert_eq!(sent(&imaging, &request, &seeing()).messages, once.messages);
    let noted = journal.0.lock().expect("a list");
    assert_eq!(
        noted.iter().map(|saving| saving.tool_call_id.as_str()).collect::<Vec<_>>(),
        ["old"],
        "noted once"
    );
    assert!(noted[0].saved_tokens > 0);
}

#[test]
fn a_system_prompt_is_read_from_the_first_message_of_the_user() {
    let mut request = request(&[json!({"role": "user", "content": "go"})]);
    request.system = vec!["You are an agent.".into(), long(4_000).into()];
    let once = sent(&imaging(SystemImaging::All, false, None), &request, &seeing());
    assert_eq!(once.system.len(), 1);
    assert!(once.system[0].contains("images"));
    let first = said(&once.messages[0]);
    assert!(first[0].contains("not words of the user") && first[1] == "(image)", "{first:?}");
    assert_eq!(first.last().map(String::as_str), Some("go"));
}

#[test]
fn standing_instructions_alone_can_be_pictures() {
    let mut request = request(&[json!({"role": "user", "content": "go"})]);
    let rules = format!("before\n<repo-rules>\n{}</repo-rules>\nafter", long(4_000));
    request.system = vec!["You are an agent.".into(), rules.into()];
    let once = sent(&imaging(SystemImaging::AgentsMd, false, None), &request, &seeing());
    assert_eq!(once.system[0], request.system[0]);
    assert!(once.system[1].starts_with("before\n") && once.system[1].ends_with("\nafter"));
    assert!(!once.system[1].contains("line of output"));
}

#[test]
fn each_section_of_standing_instructions_is_cut_and_an_open_one_stays() {
    let mut request = request(&[json!({"role": "user", "content": "go"})]);
    let rules = format!("<repo-rules>\n{}</repo-rules>", long(4_000));
    let context = format!("## Context\n<instructions>\n{}</instructions>", long(400));
    let open = "<repo-rules>\nnever closed";
    request.system = vec![format!("a\n{rules}\nb\n{context}\nc\n{rules}\nd\n{open}").into()];
    let once = sent(&imaging(SystemImaging::AgentsMd, false, None), &request, &seeing());
    let stub = Prompts::default();
    let stub = stub.text(Prompt::SnapcompactInlineRules);
    assert_eq!(*once.system[0], *format!("a\n{stub}\nb\n{stub}\nc\n{stub}\nd\n{open}"));
}

#[test]
fn a_system_prompt_needs_no_more_tokens_than_pay_for_its_frames() {
    let mut request = request(&[json!({"role": "user", "content": "go"})]);
    // 1,500 tokens at four bytes each; a frame costs this model 1,120.
    request.system = vec![long(400).into()];
    let once = sent(&imaging(SystemImaging::All, false, None), &request, &seeing());
    assert_eq!(said(&once.messages[0])[1..], ["(image)", "go"]);
}

#[test]
fn nothing_is_a_picture_where_it_is_off_or_nobody_sees() {
    let text = json!([{"type": "text", "text": long(4_000)}]);
    let request = request(&[result("old", &text), result("newest", &text)]);
    let off = sent(&imaging(SystemImaging::None, false, None), &request, &seeing());
    assert_eq!(off.messages, request.messages);
    let blind = Model { input: Vec::new(), ..seeing() };
    let unseen = sent(&imaging(SystemImaging::All, true, None), &request, &blind);
    assert_eq!(unseen.messages, request.messages);
}
