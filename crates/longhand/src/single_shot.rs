//! One run without a terminal: prompts in, an answer or events out.

use std::io::{self, Write};
use std::time::Duration;

use anyhow::Result;
use longhand_agent::command::{PromptError, RunEnd};
use longhand_agent::event::NoticeLevel;
use longhand_agent::{Ending, SessionEvent, SessionHandle, Subscription, UserInput};
use longhand_session::message::StopReason;
use longhand_session::{AssistantMessage, Block, Header};
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use crate::exit::Exit;
use crate::signals;

/// What is written to standard output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Output {
    /// The answer of each prompt.
    Text,
    /// The answer of each prompt, with the reasoning before it.
    TextWithThoughts,
    /// The header, then one event a line.
    Json,
}

/// Sends the prompts one after another, each after the one before has settled, and closes the session.
///
/// # Errors
/// Standard output cannot be written.
pub(crate) async fn run(
    session: &SessionHandle,
    header: &Header,
    prompts: Vec<UserInput>,
    output: Output,
    max_time: Option<Duration>,
) -> Result<Exit> {
    let Some(events) = session.subscribe().await else { return Ok(Exit::Failure) };
    let writer = tokio::spawn(write_events(events, header.clone(), output));
    let exit = tokio::select! {
        exit = all(session, prompts, output) => exit,
        number = signals::ending() => Exit::Signal(number),
        () = expiry(max_time) => Exit::TimedOut,
    };
    finish(session, writer, exit).await
}

async fn all(session: &SessionHandle, prompts: Vec<UserInput>, output: Output) -> Exit {
    let mut exit = Exit::Success;
    for prompt in prompts {
        exit = match session.prompt(prompt).await {
            Ok(end) => report(&end, output),
            Err(PromptError::Closed) => return Exit::Failure,
            Err(error) => {
                eprintln!("Error: {error}");
                Exit::Usage
            }
        };
        if exit != Exit::Success {
            break;
        }
    }
    exit
}

/// Writes the answer of one prompt, and says how it went.
fn report(end: &RunEnd, output: Output) -> Exit {
    let last = end.last.as_ref().and_then(|message| message.as_assistant());
    if let Some(message) = last
        && output != Output::Json
        && write_answer(message, output).is_err()
    {
        return Exit::Failure;
    }
    match last {
        Some(message) if message.is_unfinished() => {
            eprintln!(
                "Error: {}",
                message.error_message.as_deref().unwrap_or("the turn did not finish")
            );
            if end.approval_was_needed { Exit::ApprovalNeeded } else { Exit::Failure }
        }
        Some(message) if end.approval_was_needed && message.stop_reason != StopReason::Stop => {
            Exit::ApprovalNeeded
        }
        Some(_) => Exit::Success,
        None => Exit::Failure,
    }
}

fn write_answer(message: &AssistantMessage, output: Output) -> io::Result<()> {
    let mut out = io::stdout().lock();
    for block in &message.content {
        match block {
            Block::Thinking(thinking) if output == Output::TextWithThoughts => {
                writeln!(out, "{}\n", thinking.thinking)?;
            }
            Block::Text(text) => writeln!(out, "{}", text.text)?,
            _ => {}
        }
    }
    out.flush()
}

/// Writes events as they come. After a failed write nothing more is written, and the session goes on to its end.
async fn write_events(mut events: Subscription, header: Header, output: Output) -> io::Result<()> {
    let mut written =
        if output == Output::Json { write_line(&header_line(&header)) } else { Ok(()) };
    while let Some(event) = events.next().await {
        match output {
            Output::Json if written.is_ok() => written = write_line(&json_of(&event)),
            Output::Json => {}
            Output::Text | Output::TextWithThoughts => tell(&event.event),
        }
    }
    written
}

fn header_line(header: &Header) -> Value {
    let mut line = json!({"type": "session", "schema": 1});
    if let (Some(line), Ok(Value::Object(members))) =
        (line.as_object_mut(), serde_json::to_value(header))
    {
        line.extend(members);
    }
    line
}

/// An event as JSON, without the opaque state of providers.
fn json_of(event: &longhand_agent::Sequenced) -> Value {
    let mut value = serde_json::to_value(event)
        .unwrap_or_else(|error| json!({"type": "error", "message": error.to_string()}));
    strip_payloads(&mut value);
    value
}

fn strip_payloads(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.remove("providerPayload");
            members.values_mut().for_each(strip_payloads);
        }
        Value::Array(items) => items.iter_mut().for_each(strip_payloads),
        _ => {}
    }
}

fn write_line(value: &Value) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{value}")?;
    out.flush()
}

/// What a text run says beside the answer: warnings, and what maintenance did.
fn tell(event: &SessionEvent) {
    match event {
        SessionEvent::Notice {
            level: NoticeLevel::Warning | NoticeLevel::Error, message, ..
        }
        | SessionEvent::PersistenceError { message } => eprintln!("{message}"),
        SessionEvent::AutoCompactionEnd { error_message: Some(message), .. } => {
            eprintln!("{message}");
        }
        SessionEvent::EntryAppended { entry } => {
            if let Some(compaction) = entry.compaction() {
                let after = compaction
                    .tokens_after
                    .map_or_else(|| "?".to_owned(), |tokens| tokens.to_string());
                eprintln!("compacted: {} -> {after} tokens", compaction.tokens_before);
            }
        }
        _ => {}
    }
}

async fn expiry(max_time: Option<Duration>) {
    match max_time {
        Some(time) => tokio::time::sleep(time).await,
        None => std::future::pending().await,
    }
}

/// Closes the session, which stops what runs and ends the events, and waits until the last line is out.
async fn finish(
    session: &SessionHandle,
    writer: JoinHandle<io::Result<()>>,
    exit: Exit,
) -> Result<Exit> {
    let ending = match exit {
        Exit::Signal(_) => Ending::Signal,
        Exit::TimedOut => Ending::ProcessExit,
        Exit::Success
        | Exit::Failure
        | Exit::Usage
        | Exit::NothingToDo
        | Exit::NoModel
        | Exit::NoSession
        | Exit::ApprovalNeeded => Ending::Normal,
    };
    let closed = session.close_as(ending).await;
    let written = writer.await?;
    if let Err(error) = closed {
        eprintln!("Error: {:#}", anyhow::Error::from(error));
        return Ok(Exit::Failure);
    }
    match written {
        Err(_) if exit == Exit::Success => Ok(Exit::Failure),
        _ => Ok(exit),
    }
}
