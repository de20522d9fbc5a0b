//! The `longhand` program: command line and terminal. Decides nothing about sessions; that is the library's part.

mod arguments;
mod commands;
mod exit;
mod interactive;
mod launch;
mod log;
mod output;
mod prompt_input;
mod setup;
mod signals;
mod single_shot;
mod table;
mod tui;

use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Parser;
use clap::error::ErrorKind;
use longhand_agent::client::ModelsError;
use longhand_coding_agent::agent::{CompactFileError, NoModel, OpenError};
use longhand_coding_agent::import::ForeignError;
use longhand_session::StoreError;
use longhand_session::import::ImportError;
use longhand_session::lookup::LookupError;

use crate::arguments::{Arguments, Command};
use crate::exit::Exit;

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return refuse(&error).into(),
    };
    match run(arguments) {
        Ok(exit) => exit.into(),
        Err(error) => {
            eprintln!("Error: {error:#}");
            exit_of(&error).into()
        }
    }
}

fn run(arguments: Arguments) -> Result<Exit> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .context("cannot start the runtime")?;
    let exit = runtime.block_on(dispatch(arguments));
    // A blocked read of standard input must not hold up the end.
    runtime.shutdown_background();
    exit
}

async fn dispatch(arguments: Arguments) -> Result<Exit> {
    match arguments.command {
        Some(Command::Inspect(inspect)) => {
            commands::inspect::run(&setup::agent(&inspect.common, Vec::new())?, &inspect).await
        }
        Some(Command::Context(context)) => {
            commands::context::run(&setup::agent(&context.common, Vec::new())?, &context).await
        }
        Some(Command::Compact(compact)) => {
            commands::compact::run(&setup::agent(&compact.common, Vec::new())?, &compact).await
        }
        Some(Command::Frames(frames)) => {
            commands::frames::run(&setup::agent(&frames.common, Vec::new())?, &frames).await
        }
        Some(Command::Export(export)) => {
            commands::export::run(&setup::agent(&export.common, Vec::new())?, &export)
        }
        Some(Command::Tree(tree)) => {
            commands::tree::run(&setup::agent(&tree.common, Vec::new())?, &tree)
        }
        Some(Command::Sessions(sessions)) => {
            commands::sessions::run(&setup::agent(sessions.common(), Vec::new())?, &sessions)
        }
        Some(Command::Import(import)) => {
            commands::import::run(&setup::agent(&import.common, Vec::new())?, &import)
        }
        None => launch::run(arguments.launch).await,
    }
}

/// Help and version are answers; anything else is a wrong command line.
fn refuse(error: &clap::Error) -> Exit {
    if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        // A closed pipe is no failure of ours.
        let _ = error.print();
        return Exit::Success;
    }
    if let (ErrorKind::UnknownArgument, Some(flag)) =
        (error.kind(), error.get(clap::error::ContextKind::InvalidArg))
    {
        eprintln!("Error: unknown flag: {flag}\nSee `longhand --help`.");
    } else {
        let _ = error.print();
    }
    Exit::Usage
}

/// The code that tells a script what kind of failure it was.
fn exit_of(error: &anyhow::Error) -> Exit {
    for cause in error.chain() {
        if cause.is::<ModelsError>() || cause.is::<NoModel>() {
            return Exit::NoModel;
        }
        let is_of_a_session = cause.is::<StoreError>()
            || cause.is::<LookupError>()
            || cause.is::<ForeignError>()
            || cause.is::<ImportError>();
        if is_of_a_session {
            return Exit::NoSession;
        }
        if let Some(error) = cause.downcast_ref::<OpenError>() {
            return exit_of_opening(error);
        }
        if let Some(CompactFileError::Open(error)) = cause.downcast_ref::<CompactFileError>() {
            return exit_of_opening(error);
        }
    }
    Exit::Failure
}

fn exit_of_opening(error: &OpenError) -> Exit {
    match error {
        OpenError::NoModel(_) | OpenError::Model(_) => Exit::NoModel,
        OpenError::Lookup(_) | OpenError::Store(_) | OpenError::Fork(_) => Exit::NoSession,
        OpenError::UnknownTool { .. } | OpenError::Directory { .. } => Exit::Usage,
        _ => Exit::Failure,
    }
}
