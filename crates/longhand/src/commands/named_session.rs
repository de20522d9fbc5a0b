//! The session that a command is about: a file, an id, a title, standard input, or the newest of the directory.

use std::io::{Read, Write};
use std::sync::Arc;

use anyhow::{Context, Result};
use longhand_agent::ModelClient;
use longhand_coding_agent::SessionFile;
use longhand_coding_agent::agent::CodingAgent;
use longhand_coding_agent::stores::StoreSources;
use longhand_session::SequentialIds;
use longhand_session::place::SessionPlace;
use longhand_session::time::SystemClock;
use tempfile::NamedTempFile;

/// A session that is only read.
pub(crate) struct ReadSession {
    pub(crate) file: SessionFile,
    /// Holds what came through standard input for as long as it is read.
    _stdin: Option<NamedTempFile>,
}

/// Opens a session for reading, and says on standard error what of it could not be read.
///
/// # Errors
/// There is no such session, or it cannot be read.
pub(crate) fn open(agent: &CodingAgent, name: Option<&str>) -> Result<ReadSession> {
    let stdin = (name == Some("-")).then(stdin_as_file).transpose()?;
    let place = match &stdin {
        Some(file) => SessionPlace::File(file.path().to_path_buf()),
        None => place(agent, name)?,
    };
    // Entries of old files have no ids. Counted ones are the same at each look, so that they can be named.
    let sources = StoreSources {
        ids: Arc::<SequentialIds>::default(),
        clock: Arc::new(SystemClock),
        blobs: Some(agent.blobs()),
    };
    let mut file = SessionFile::open(sources.resume(&place))?;
    if stdin.is_some() {
        file.place = None;
    }
    if !file.damage.lines.is_empty() {
        let lines: Vec<String> =
            file.damage.lines.iter().take(10).map(ToString::to_string).collect();
        let more = if file.damage.lines.len() > 10 { ", …" } else { "" };
        eprintln!(
            "{} damaged lines were skipped or only partly read: {}{more}",
            file.damage.lines.len(),
            lines.join(", ")
        );
    }
    Ok(ReadSession { file, _stdin: stdin })
}

/// Where a session lies.
///
/// # Errors
/// There is no such session, or the name is ambiguous.
pub(crate) fn place(agent: &CodingAgent, name: Option<&str>) -> Result<SessionPlace> {
    let directory = agent.directory();
    if let Some(name) = name {
        Ok(agent.sessions().find(name, directory)?)
    } else {
        let newest = agent.sessions().newest(directory)?;
        let newest =
            newest.with_context(|| format!("there is no session of `{}`", directory.display()))?;
        Ok(newest.place)
    }
}

/// The model that a command counts and plans with: the named one, else the one that the session was last used with, where it can be
/// used here.
///
/// # Errors
/// The named model cannot be used, or the session cannot be read.
pub(crate) async fn model(
    agent: &CodingAgent,
    file: &SessionFile,
    name: Option<&str>,
) -> Result<Option<Arc<dyn ModelClient>>> {
    match name {
        Some(name) => Ok(Some(agent.models().resolve(name).await?)),
        None => Ok(agent.model_of(file).await?),
    }
}

fn stdin_as_file() -> Result<NamedTempFile> {
    let mut file = NamedTempFile::new().context("cannot make a file for standard input")?;
    let mut bytes = Vec::new();
    std::io::stdin().lock().read_to_end(&mut bytes).context("cannot read standard input")?;
    file.write_all(&bytes).context("cannot keep standard input in a file")?;
    Ok(file)
}
