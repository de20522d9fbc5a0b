//! The tool `bash`: runs a command line and answers with what it wrote.
//!
//! The answer comes when the command itself has ended; what it left in the background does not delay it. A command that is stopped or
//! runs out of time is ended with its whole process group. Memory does not grow with the output.

mod capture;
mod plain_text;
mod process;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use longhand_agent::ToolSpec;
use longhand_agent::tool::{Invocation, Tier, Tool, ToolOutput};
use longhand_session::Json;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until, timeout_at};

use self::capture::Capture;
pub use self::process::Shell;
use self::process::{Happening, Leftovers, Process};
use crate::tools::ToolContext;
use crate::tools::arguments;
use crate::tools::shown::with_notices;

/// Seconds a command may take when the call names none, and the most it may name.
const DEFAULT_SECONDS: f64 = 300.0;
const MOST_SECONDS: f64 = 3600.0;

/// After the command's own end: how long its output may still come in all, and how long it may be silent.
const DRAIN: Duration = Duration::from_millis(500);
const DRAIN_SILENCE: Duration = Duration::from_millis(100);

/// Time between two live updates.
const UPDATE_EVERY: Duration = Duration::from_millis(100);

pub(crate) struct Bash {
    context: Arc<ToolContext>,
    spec: ToolSpec,
    leftovers: Leftovers,
}

#[derive(Deserialize)]
struct Arguments {
    command: String,
    timeout: Option<f64>,
    cwd: Option<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    #[serde(default)]
    background: bool,
}

/// How a command came to its end.
enum End {
    Exit(i32),
    TimedOut(f64),
    Cancelled,
    /// Its end could not be learnt.
    Unknown(std::io::Error),
}

impl Bash {
    pub(crate) fn new(context: Arc<ToolContext>) -> Self {
        let spec = arguments::tool_spec(
            "bash",
            context.prompts.text(longhand_prompts::Prompt::ToolBash),
            &["command"],
            json!({
                "command": {"type": "string", "minLength": 1},
                "timeout": {"type": "number", "minimum": 0},
                "cwd": {"type": "string"},
                "env": {"type": "object", "additionalProperties": {"type": "string"}},
                "background": {"type": "boolean", "default": false},
            }),
        );
        Self { context, spec, leftovers: Leftovers::default() }
    }

    /// The seconds a call may take; `None` is without end.
    fn allowed_seconds(&self, asked: Option<f64>) -> Option<f64> {
        let seconds = match asked {
            None => DEFAULT_SECONDS,
            Some(0.0) => f64::INFINITY,
            Some(seconds) => seconds.clamp(1.0, MOST_SECONDS),
        };
        let most =
            self.context.options.most_seconds.map_or(f64::INFINITY, |most| most.as_secs_f64());
        Some(seconds.min(most)).filter(|seconds| seconds.is_finite())
    }

    /// Follows a command to its end, which it gives with the process while that is still there.
    async fn follow(
        &self,
        process: &mut Process,
        capture: &mut Capture<'_>,
        call: &Invocation<'_>,
        allowed_seconds: Option<f64>,
    ) -> End {
        let deadline =
            allowed_seconds.map(|seconds| Instant::now() + Duration::from_secs_f64(seconds));
        let mut ticks = interval(UPDATE_EVERY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let (mut is_open, mut has_news) = (true, false);
        let mut buffer = vec![0; 64 * 1024];
        loop {
            tokio::select! {
                biased;
                () = call.cancel.cancelled() => return End::Cancelled,
                () = async { sleep_until(deadline.unwrap_or_else(Instant::now)).await }, if deadline.is_some() => {
                    return End::TimedOut(allowed_seconds.unwrap_or_default());
                }
                _ = ticks.tick(), if has_news => {
                    call.updates.update(ToolOutput::text(capture.live()));
                    has_news = false;
                }
                happening = process.next(&mut buffer, is_open) => match happening {
                    Happening::Wrote(0) => is_open = false,
                    Happening::Wrote(length) => {
                        capture.push(&buffer[..length]);
                        has_news = true;
                    }
                    Happening::Exited(code) => {
                        if is_open {
                            drain(process, capture, &mut buffer).await;
                        }
                        return code.map_or_else(End::Unknown, End::Exit);
                    }
                },
            }
        }
    }
}

/// Takes what is left in the pipe after the command's own end.
async fn drain(process: &mut Process, capture: &mut Capture<'_>, buffer: &mut [u8]) {
    let end = Instant::now() + DRAIN;
    loop {
        let silence_ends = end.min(Instant::now() + DRAIN_SILENCE);
        match timeout_at(silence_ends, process.read(buffer)).await {
            Ok(length) if length > 0 => capture.push(&buffer[..length]),
            // The end of the pipe, or silence.
            Ok(_) | Err(_) => return,
        }
        if Instant::now() >= end {
            return;
        }
    }
}

#[async_trait]
impl Tool for Bash {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn tier(&self, _arguments: &Value) -> Tier {
        Tier::Exec
    }

    async fn run(&self, call: Invocation<'_>) -> ToolOutput {
        let given: Arguments = match arguments::parse(&self.spec, call.arguments) {
            Ok(given) => given,
            Err(failure) => return failure.into(),
        };
        if given.background {
            return ToolOutput::error(
                "Background jobs are not available yet. Leave `background` out, or end the command with `&` and send its output to a file.",
            );
        }
        let workspace = &self.context.workspace;
        let cwd = given
            .cwd
            .as_deref()
            .map_or_else(|| workspace.cwd().to_owned(), |cwd| workspace.resolve(cwd));
        if !cwd.is_dir() {
            return ToolOutput::error(format!("`{}` is no directory", cwd.display()));
        }
        let start = Instant::now();
        let shell = &self.context.options.shell;
        let mut process = match Process::start(shell, &given.command, &cwd, &given.env) {
            Ok(process) => process,
            Err(error) => {
                return ToolOutput::error(format!(
                    "cannot start `{}`: {error}",
                    shell.program.display()
                ));
            }
        };
        let mut capture = Capture::new(&self.context.options.shown, &*self.context.artifacts);
        let end = self
            .follow(&mut process, &mut capture, &call, self.allowed_seconds(given.timeout))
            .await;
        match end {
            End::Exit(_) => process.release(&self.leftovers),
            End::TimedOut(_) | End::Cancelled | End::Unknown(_) => {
                process.stop(|piece| capture.push(piece)).await;
            }
        }
        answer(capture, &end, start.elapsed())
    }
}

fn answer(capture: Capture<'_>, end: &End, wall: Duration) -> ToolOutput {
    let (mut shown, lines) = capture.finish();
    if shown.text.is_empty() {
        shown.text = "(no output)".into();
    }
    let (exit_code, last_line) = match end {
        End::Exit(0) => (Some(0), None),
        End::Exit(code) => (Some(*code), Some(format!("Command exited with code {code}"))),
        End::TimedOut(seconds) => {
            (None, Some(format!("Command timed out after {seconds} seconds")))
        }
        End::Cancelled => (None, Some("Command was cancelled".into())),
        End::Unknown(error) => {
            (None, Some(format!("The end of the command could not be learnt: {error}")))
        }
    };
    let mut text = with_notices(shown.text, &shown.notices);
    text.truncate(text.trim_end_matches('\n').len());
    let _ = write!(text, "\n\nWall time: {:.2} seconds", wall.as_secs_f64());
    let is_error = last_line.is_some();
    if let Some(line) = last_line {
        text.push('\n');
        text.push_str(&line);
    }
    let mut details = json!({
        "exitCode": exit_code,
        "timedOut": matches!(end, End::TimedOut(_)),
        "wallMs": u64::try_from(wall.as_millis()).unwrap_or(u64::MAX),
        "lines": lines,
    });
    if let Some(meta) = shown.meta {
        if let Some(id) = meta["truncation"].get("artifactId") {
            details["artifactId"] = id.clone();
        }
        details["meta"] = meta;
    }
    ToolOutput { details: Some(Json::from(details)), is_error, ..ToolOutput::text(text) }
}
