//! `longhand export`: a session for other eyes.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use longhand_coding_agent::SessionFile;
use longhand_coding_agent::agent::CodingAgent;
use longhand_coding_agent::export::{self, Format, Keys, Options, Theme};
use longhand_session::blob_store::BlobFrames;
use longhand_session::digits::grouped;
use serde_json::json;
use tempfile::NamedTempFile;

use super::named_session;
use crate::arguments::export::{Export, ExportFormat, PageTheme};
use crate::exit::Exit;
use crate::output;

pub(crate) fn run(agent: &CodingAgent, arguments: &Export) -> Result<Exit> {
    let session = named_session::open(agent, arguments.session.as_deref())?;
    let format = match arguments.format {
        ExportFormat::Html => Format::Html,
        ExportFormat::Md => Format::Markdown,
        ExportFormat::Json => Format::Json,
        ExportFormat::Jsonl => Format::Jsonl,
    };
    let frames = BlobFrames(agent.blobs());
    let options = Options {
        keys: if arguments.redact { Keys::Redacted } else { Keys::Kept },
        theme: match arguments.theme {
            PageTheme::Auto => Theme::Auto,
            PageTheme::Light => Theme::Light,
            PageTheme::Dark => Theme::Dark,
        },
        frames: Some(&frames),
    };
    if arguments.out.as_deref() == Some(Path::new("-")) {
        return to_stdout(&session.file, format, &options);
    }
    let target = match &arguments.out {
        Some(path) => agent.directory().join(path),
        None => agent.directory().join(export::file_name(&session.file, format)),
    };
    let bytes = to_file(&session.file, format, &options, &target, arguments.force)?;
    if arguments.json {
        return output::write(&format!("{}\n", json!({ "path": target, "bytes": bytes })));
    }
    output::write(&format!("{}  {} bytes\n", target.display(), grouped(bytes)))
}

fn to_stdout(session: &SessionFile, format: Format, options: &Options<'_>) -> Result<Exit> {
    let mut out = BufWriter::new(std::io::stdout().lock());
    let written = export::write(session, format, options, &mut out)
        .and_then(|()| out.flush().map_err(Into::into));
    match written {
        // Whoever reads has read enough.
        Err(export::ExportError::Write(error))
            if error.kind() == std::io::ErrorKind::BrokenPipe =>
        {
            Ok(Exit::Success)
        }
        written => written.map(|()| Exit::Success).map_err(Into::into),
    }
}

/// Writes a file that appears under its name when it is whole. Gives its length.
pub(crate) fn to_file(
    session: &SessionFile,
    format: Format,
    options: &Options<'_>,
    target: &Path,
    force: bool,
) -> Result<u64> {
    if target.exists() && !force {
        bail!("`{}` exists already; `--force` replaces it", target.display());
    }
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder: PathBuf = folder.unwrap_or(Path::new(".")).to_owned();
    let failed = || format!("cannot write `{}`", target.display());
    let draft = NamedTempFile::new_in(&folder).with_context(failed)?;
    let mut out = BufWriter::new(draft);
    export::write(session, format, options, &mut out).with_context(failed)?;
    let draft =
        out.into_inner().map_err(std::io::IntoInnerError::into_error).with_context(failed)?;
    let bytes = draft.as_file().metadata().with_context(failed)?.len();
    let published = if force {
        draft.persist(target).map(drop)
    } else {
        draft.persist_noclobber(target).map(drop)
    };
    published.map_err(|error| error.error).with_context(failed)?;
    Ok(bytes)
}
