//! A command in a process group of its own, both of its output streams in one pipe.
//!
//! The group is ended when the command is stopped or this value is dropped before the command's end; what a finished command left
//! running in the background lives on, see [`Leftovers`].

use std::ffi::OsStr;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process, kill_process_group, test_kill_process_group};
use tokio::io::AsyncReadExt;
use tokio::process::{Child, ChildStdout, Command};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, sleep_until, timeout};

/// How long a group has to end by itself after it was asked to.
const GRACE: Duration = Duration::from_secs(2);

/// How often a group that was asked to end is looked at. Its members are not our children, so that nothing tells of their end.
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// The shell that runs commands, and the environment it is given.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Shell {
    /// The program; takes a command line after `-c`.
    pub program: PathBuf,
    /// A program that starts another one in a session without a terminal; `None` where there is none. Without it a command that asks a
    /// question on the terminal is halted until its time is over; with it the question fails at once.
    pub setsid: Option<PathBuf>,
    /// Variables that commands do not inherit: the keys of model providers.
    pub hidden_variables: Vec<String>,
}

impl Default for Shell {
    /// `bash` where it is, else `sh`; the variables that providers are known to read their keys from are hidden.
    fn default() -> Self {
        let first = |places: &[&str]| places.iter().map(PathBuf::from).find(|path| path.is_file());
        Self {
            program: first(&["/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash"])
                .unwrap_or_else(|| "/bin/sh".into()),
            setsid: first(&["/usr/bin/setsid", "/bin/setsid"]),
            hidden_variables: PROVIDER_KEYS.iter().map(|&name| name.into()).collect(),
        }
    }
}

const PROVIDER_KEYS: &[&str] = &[
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "ANTHROPIC_OAUTH_TOKEN",
    "AZURE_OPENAI_API_KEY",
    "CEREBRAS_API_KEY",
    "DEEPSEEK_API_KEY",
    "FIREWORKS_API_KEY",
    "GEMINI_API_KEY",
    "GOOGLE_API_KEY",
    "GROQ_API_KEY",
    "MISTRAL_API_KEY",
    "MOONSHOT_API_KEY",
    "OPENAI_API_KEY",
    "OPENROUTER_API_KEY",
    "TOGETHER_API_KEY",
    "XAI_API_KEY",
    "ZAI_API_KEY",
];

/// For programs that would page, colour or ask: there is nobody at the other end.
const QUIET: &[(&str, &str)] = &[
    ("PAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("MANPAGER", "cat"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("TERM", "dumb"),
];

/// A running command.
pub(super) struct Process {
    child: Child,
    output: ChildStdout,
    group: Group,
}

impl Process {
    /// Starts a command line.
    pub(super) fn start<N: AsRef<OsStr>, V: AsRef<OsStr>>(
        shell: &Shell,
        command_line: &str,
        cwd: &Path,
        variables: impl IntoIterator<Item = (N, V)>,
    ) -> io::Result<Self> {
        let (reader, writer) = io::pipe()?;
        let mut command = Command::new(shell.setsid.as_ref().unwrap_or(&shell.program));
        if shell.setsid.is_some() {
            // It makes a group with the session; given one before, it would have to fork.
            command.arg(&shell.program);
        } else {
            command.process_group(0);
        }
        command.arg("-c").arg(command_line).current_dir(cwd);
        for name in &shell.hidden_variables {
            command.env_remove(name);
        }
        command.envs(QUIET.iter().copied()).envs(variables);
        command.stdin(Stdio::null()).stdout(writer.try_clone()?).stderr(writer);
        let child = command.kill_on_drop(true).spawn()?;
        // The command still holds the writing ends of the pipe; with them open the reader would never see its end.
        drop(command);
        let group = Group(child.id().and_then(|id| Pid::from_raw(id.cast_signed())));
        let output = ChildStdout::from_std(std::process::ChildStdout::from(OwnedFd::from(reader)))?;
        Ok(Self { child, output, group })
    }

    /// What happens next. While `is_open`, output is read into `buffer`; the end of the command goes before output that is still to be
    /// read. May be dropped and asked again.
    pub(super) async fn next(&mut self, buffer: &mut [u8], is_open: bool) -> Happening {
        tokio::select! {
            biased;
            status = self.child.wait() => Happening::Exited(status.map(exit_code)),
            read = self.output.read(buffer), if is_open => Happening::Wrote(read.unwrap_or(0)),
        }
    }

    /// The next piece of output; 0 at its end. May be dropped and asked again.
    pub(super) async fn read(&mut self, buffer: &mut [u8]) -> usize {
        self.output.read(buffer).await.unwrap_or(0)
    }

    /// Ends the command and its group: asks, and after [`GRACE`] kills. What is written meanwhile goes to `sink`.
    pub(super) async fn stop(mut self, mut sink: impl FnMut(&[u8])) {
        self.group.signal(Signal::TERM);
        if let Some(pid) = self.group.0 {
            // Before `setsid` has made the group there is only the child, which is not yet awaited, so that its number is its own.
            let _ = kill_process(pid, Signal::TERM);
        }
        let deadline = Instant::now() + GRACE;
        let mut buffer = [0; 8192];
        let (mut is_open, mut is_running) = (true, true);
        while is_running || self.group.is_alive() {
            tokio::select! {
                read = self.output.read(&mut buffer), if is_open => match read {
                    Ok(length) if length > 0 => sink(&buffer[..length]),
                    Ok(_) | Err(_) => is_open = false,
                },
                _ = self.child.wait(), if is_running => is_running = false,
                () = sleep_until(deadline) => break,
                () = sleep(LOOK_EVERY), if !is_running => {}
            }
        }
        if self.group.is_alive() {
            self.group.signal(Signal::KILL);
        }
        if is_running {
            // Only a process stuck in the kernel outlives the signal; the call returns without it.
            let _ = self.child.start_kill();
            let _ = timeout(GRACE, self.child.wait()).await;
        }
    }

    /// Lets go of a command that has ended; what it left in the background is noted in `leftovers`.
    pub(super) fn release(self, leftovers: &Leftovers) {
        let Self { output, mut group, .. } = self;
        let left = group.0.take().map(|pid| Group(Some(pid)));
        if let Some(left) = left.filter(Group::is_alive) {
            leftovers.add(left, output);
        }
    }
}

/// What a running command did.
pub(super) enum Happening {
    /// It wrote so many bytes; 0 when its output is closed.
    Wrote(usize),
    /// It ended with this exit code.
    Exited(io::Result<i32>),
}

/// The exit code as shells give it: 128 and the signal's number for a command that was killed.
fn exit_code(status: ExitStatus) -> i32 {
    status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0))
}

/// A process group that is killed when this is dropped.
struct Group(Option<Pid>);

impl Group {
    fn signal(&self, signal: Signal) {
        if let Some(pid) = self.0 {
            // A group that is gone is no failure.
            let _ = kill_process_group(pid, signal);
        }
    }

    fn is_alive(&self) -> bool {
        self.0.is_some_and(|pid| test_kill_process_group(pid).is_ok())
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if self.is_alive() {
            self.signal(Signal::KILL);
        }
    }
}

/// What finished commands left running in the background. Ended when this is dropped.
///
/// Their pipe is emptied for them: a server that logs would otherwise be killed by its next line.
#[derive(Default)]
pub(super) struct Leftovers(Mutex<Vec<Leftover>>);

struct Leftover {
    group: Group,
    drain: JoinHandle<()>,
}

impl Leftovers {
    fn add(&self, group: Group, mut output: ChildStdout) {
        let drain = tokio::spawn(async move {
            let mut buffer = [0; 8192];
            while output.read(&mut buffer).await.is_ok_and(|length| length > 0) {}
        });
        let mut list = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // A group without members is forgotten before its number can be given to another.
        list.retain(|leftover| leftover.group.is_alive());
        list.push(Leftover { group, drain });
    }
}

impl Drop for Leftover {
    fn drop(&mut self) {
        self.drain.abort();
        self.group.signal(Signal::TERM);
        self.group.0 = None;
    }
}
