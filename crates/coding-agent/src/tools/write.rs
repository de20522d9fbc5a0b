//! The tool `write`: makes a file, or puts new content in its place.
//!
//! A file that is overwritten keeps its mode, its byte order mark and the line ending that most of its lines have. A file that the
//! model has read is not overwritten when it has changed since.

use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;

use longhand_agent::tool::Tier;
use longhand_agent::{ToolOutput, ToolSpec};
use longhand_prompts::Prompt;
use longhand_session::Json;
use serde::Deserialize;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::tools::ToolContext;
use crate::tools::arguments;
use crate::tools::failure::Failure;
use crate::tools::file_tool::FileTool;
use crate::tools::line_style::{BOM, Ending};
use crate::tools::read_log::Fingerprint;
use crate::tools::replace_file::{Executable, replace_file};
use crate::tools::shown::with_notices;
use crate::tools::workspace::Workspace;

/// Most bytes of a content.
const MAX_BYTES: usize = 10 * 1024 * 1024;

pub(crate) struct Write {
    context: Arc<ToolContext>,
    spec: ToolSpec,
}

#[derive(Deserialize)]
pub(crate) struct Arguments {
    path: String,
    content: String,
}

impl Write {
    pub(crate) fn new(context: Arc<ToolContext>) -> Self {
        let spec = arguments::tool_spec(
            "write",
            context.prompts.text(Prompt::ToolWrite),
            &["path", "content"],
            json!({"path": {"type": "string", "minLength": 1}, "content": {"type": "string"}}),
        );
        Self { context, spec }
    }

    /// The content of the file as it is now; `None` where there is none. Refuses what must not be overwritten.
    fn existing(&self, path: &Path, real: &Path) -> Result<Option<Vec<u8>>, Failure> {
        if real.is_dir() {
            return Err(Failure(format!("`{}` is a directory", path.display())));
        }
        if fs::metadata(real).is_ok_and(|metadata| !metadata.is_file()) {
            return Err(Failure::irregular(&self.context.workspace.display(path)));
        }
        let before = match fs::read(real) {
            Ok(before) => before,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Failure::file("read", path, &error)),
        };
        if self.context.reads.is_stale(real, Fingerprint::of(&before)) {
            return Err(Failure(format!(
                "`{}` has changed since it was last read. Read it again before overwriting it.",
                self.context.workspace.display(path)
            )));
        }
        Ok(Some(before))
    }
}

impl FileTool for Write {
    type Arguments = Arguments;
    const TIER: Tier = Tier::Write;

    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn tier(&self, arguments: &Arguments) -> Tier {
        let workspace = &self.context.workspace;
        workspace.tier(Self::TIER, &workspace.resolve(&arguments.path))
    }

    fn run(
        &self,
        arguments: Arguments,
        _cancel: &CancellationToken,
    ) -> Result<ToolOutput, Failure> {
        if arguments.content.len() > MAX_BYTES {
            return Err(Failure(format!(
                "the content has {} bytes, at most {MAX_BYTES} can be written at once",
                arguments.content.len()
            )));
        }
        let path = self.context.workspace.resolve(&arguments.path);
        let real = Workspace::real(&path);
        let before = self.existing(&path, &real)?;
        let content = match &before {
            Some(before) => in_style_of(before, arguments.content.as_bytes()),
            None => arguments.content.into_bytes(),
        };
        let executable = if before.is_none() && content.starts_with(b"#!") {
            Executable::Yes
        } else {
            Executable::AsBefore
        };
        if let Some(folder) = real.parent() {
            fs::create_dir_all(folder).map_err(|error| Failure::file("create", folder, &error))?;
        }
        replace_file(&real, &content, executable)
            .map_err(|error| Failure::file("write", &path, &error))?;
        self.context.reads.saw(&real, Fingerprint::of(&content));

        let name = self.context.workspace.display(&path);
        let (verb, notices) = match (&before, executable) {
            (Some(_), _) => ("Overwrote", vec![]),
            (None, Executable::AsBefore) => ("Created", vec![]),
            (None, Executable::Yes) => {
                ("Created", vec!["Notice: Made executable via chmod +x".to_owned()])
            }
        };
        let text = format!("{verb} {name}: {} bytes", content.len());
        let details = json!({"path": name, "bytes": content.len(), "created": before.is_none()});
        Ok(ToolOutput {
            details: Some(Json::from(details)),
            ..ToolOutput::text(with_notices(text, &notices))
        })
    }
}

/// The new content with the byte order mark and the line endings of the old one.
fn in_style_of(before: &[u8], content: &[u8]) -> Vec<u8> {
    let (has_mark, before_text) = match before.strip_prefix(BOM) {
        Some(text) => (true, text),
        None => (false, before),
    };
    let content = content.strip_prefix(BOM).unwrap_or(content);
    let mut out = if has_mark { BOM.to_vec() } else { Vec::new() };
    match Ending::majority(before_text) {
        Some(ending) => out.extend(ending.applied_to(content)),
        None => out.extend_from_slice(content),
    }
    out
}
