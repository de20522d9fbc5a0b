//! What a session costs as an archive of snapcompact, for four models, against the same text as text.
//!
//! The whole path to the newest entry is archived, up to the method's own default of frames. Bills are by rectangle.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use anyhow::Result;
use longhand_prompts::Prompts;
use longhand_session::digits::grouped;
use longhand_session::tiktoken::O200k;
use longhand_session::{
    ByteEstimate, EntryId, EntryReader, FileOperations, Fragment, JsonlStore, Message,
    SessionStore, TokenCounter, context, llm,
};
use longhand_snapcompact::compact::{Compacted, Input, Options, compact};
use longhand_snapcompact::model_class::ModelClass;
use longhand_snapcompact::serialize::Reasoning;
use longhand_snapcompact::{Family, Renderer};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Session file
    session: PathBuf,
    /// Most frames
    #[arg(long, default_value_t = 17)]
    frames: usize,
}

/// API and id of the models.
const MODELS: [(&str, &str); 4] = [
    ("anthropic-messages", "claude-opus-4-8"),
    ("openai-responses", "gpt-5.5"),
    ("google-generative-ai", "gemini-3.5-flash"),
    ("openai-completions", "kimi-k3"),
];

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let messages = messages(&arguments.session)?;
    println!("{} messages", messages.len());
    println!(
        "\n| model | frames | drawn, ms | bytes | characters in frames | billed tokens | as text, o200k | as text, bytes/4 | saving, o200k |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- | --- |"
    );
    for (api, model_id) in MODELS {
        println!("{}", row(api, model_id, &messages, arguments.frames)?);
    }
    Ok(())
}

/// What was said, in the roles that a provider takes. Compactions in the file are not applied.
fn messages(path: &Path) -> Result<Vec<Arc<Message>>> {
    let mut store = JsonlStore::resume(path);
    let ids: Vec<EntryId> = store.open()?.rows.into_iter().map(|row| row.id).collect();
    let entries = store.read(&ids)?;
    let said: Vec<Arc<Message>> =
        entries.iter().filter_map(|entry| context::message_of(entry)).collect();
    Ok(llm::convert(&said, &Prompts::default()))
}

fn row(api: &str, model_id: &str, messages: &[Arc<Message>], frames: usize) -> Result<String> {
    let mut options = Options::default();
    options.max_frames = frames;
    if ModelClass::of(model_id).is_anthropic {
        options.serialize.reasoning = Reasoning::Excluded;
    }
    let mut file_operations = FileOperations::default();
    file_operations.add_messages(messages);
    let input = Input {
        messages,
        previous_summary: None,
        previous_preserve_data: None,
        file_operations: &file_operations,
        extra_context: &[],
        api,
        model_id,
    };
    let started = Instant::now();
    let made = compact(&input, &options, &Renderer::default(), &Prompts::default())?;
    let millis = started.elapsed().as_millis();
    Ok(cells(api, model_id, &made, millis))
}

fn cells(api: &str, model_id: &str, made: &Compacted, millis: u128) -> String {
    let archive = &made.archive;
    let bytes: usize = archive.frames.iter().map(|frame| frame.data.len() / 4 * 3).sum();
    let chars: u64 = archive.frames.iter().map(|frame| frame.chars).sum();
    let family = Family::of_api(api);
    let billed: u64 = archive
        .frames
        .iter()
        .map(|frame| {
            let edge = |px: Option<u64>| px.unwrap_or_default() as usize;
            family.frame_tokens(edge(frame.width), edge(frame.height))
        })
        .sum();
    let imaged = imaged_text(made);
    let (exact, estimate) =
        (O200k.count(Fragment::Text(&imaged)), ByteEstimate.count(Fragment::Text(&imaged)));
    let saving = 100.0 * (1.0 - billed as f64 / exact.max(1) as f64);
    format!(
        "| {model_id} | {} | {millis} | {} | {} | {} | {} | {} | {saving:.0} % |",
        archive.frames.len(),
        grouped(bytes as u64),
        grouped(chars),
        grouped(billed),
        grouped(exact),
        grouped(estimate),
    )
}

/// The text between the edges, as it would stand in a request.
fn imaged_text(made: &Compacted) -> String {
    let archive = &made.archive;
    let whole = archive.text.as_deref().unwrap_or_default();
    let head = archive.text_head.as_deref().unwrap_or_default();
    let tail = archive.text_tail.as_deref().unwrap_or_default();
    let rest = whole.strip_prefix(head).unwrap_or(whole);
    let middle = rest.strip_suffix(tail).unwrap_or(rest);
    middle.replace('\u{2588}', "\n").replace(['\u{e}', '\u{f}'], "")
}
