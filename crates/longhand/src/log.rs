//! The log goes to a file, never to the screen, and holds no session content above debug level.

use std::path::Path;

use anyhow::{Context, Result};
use tracing_appender::non_blocking::WorkerGuard;
use tracing_appender::rolling::{RollingFileAppender, Rotation};
use tracing_subscriber::EnvFilter;

/// How many days of logs are kept.
const KEPT_FILES: usize = 7;

/// Starts logging into a folder. What the guard holds back is written when it is dropped.
///
/// # Errors
/// The folder cannot be written.
pub(crate) fn start(folder: &Path, filter: Option<&str>) -> Result<WorkerGuard> {
    longhand_coding_agent::places::create_private_dir(folder)
        .with_context(|| format!("cannot create `{}`", folder.display()))?;
    let file = RollingFileAppender::builder()
        .rotation(Rotation::DAILY)
        .filename_prefix("longhand")
        .filename_suffix("log")
        .max_log_files(KEPT_FILES)
        .build(folder)
        .with_context(|| format!("cannot write logs to `{}`", folder.display()))?;
    let (writer, guard) = tracing_appender::non_blocking(file);
    let filter = filter
        .and_then(|text| EnvFilter::try_new(text).ok())
        .unwrap_or_else(|| EnvFilter::new("info"));
    tracing_subscriber::fmt().with_writer(writer).with_ansi(false).with_env_filter(filter).init();
    Ok(guard)
}
