//! Kills writers of a session at random moments, again and again, and looks whether anything that they were told was written is gone.
//!
//! A round starts one writer or two, which append, change, rename and fork as fast as they can, on a disk that fails now and then.
//! They tell what they try and what came of it through a pipe. After a moment they are killed with SIGKILL, and the session is
//! opened and held against what was told. The same session goes through many rounds, so that each also repairs what the
//! last one left behind.

mod content;
mod faults;
mod kept_in;
mod ledger;
pub(crate) mod writer;

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use fastrand::Rng;
use longhand_session::place::SessionPlace;

use kept_in::KeptIn;
use ledger::Ledger;

/// Rounds before a new session is begun. An old one is mostly copied, which leaves less room for trouble.
const ROUNDS_PER_SESSION: u32 = 40;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// How many times writers are killed
    #[arg(long, default_value_t = 1_000)]
    rounds: u32,
    /// Seed of all chance but the machine's
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// What the sessions are kept in
    #[arg(long, value_enum, default_value = "jsonl")]
    store: KeptIn,
    /// Operations of the disk that fail in every second session, in a thousand; only for files
    #[arg(long, default_value_t = 30)]
    faults: u32,
    /// Most writers at a time; every second round has one
    #[arg(long, default_value_t = 2)]
    writers: u32,
    /// Where the sessions are written; a temporary folder by default
    #[arg(long)]
    folder: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let temporary = tempfile::tempdir().context("cannot make a temporary folder")?;
    let folder = arguments.folder.clone().unwrap_or_else(|| temporary.path().to_path_buf());
    let began = Instant::now();
    let mut rng = Rng::with_seed(arguments.seed);
    let mut totals = ledger::Totals::default();
    let mut round = 0;
    while round < arguments.rounds {
        let session_folder = folder.join(format!("crash-{round}"));
        let session = arguments.store.place(&session_folder);
        let last = (round + ROUNDS_PER_SESSION).min(arguments.rounds);
        let mut ledger = Ledger::default();
        let has_faults = (round / ROUNDS_PER_SESSION) % 2 == 1;
        while round < last {
            let plan = Round {
                session: &session,
                number: round,
                writers: if round % 2 == 0 { 1 } else { arguments.writers },
                faults: if has_faults { arguments.faults } else { 0 },
            };
            plan.play(&mut rng, &mut ledger)?;
            let checked = ledger.check(&session);
            checked.with_context(|| format!("round {round}: {session}"))?;
            round += 1;
        }
        totals.add(&ledger);
        if arguments.folder.is_none() {
            std::fs::remove_dir_all(session_folder).ok();
        }
    }
    println!("{round} rounds in {:.0} s\n{totals}", began.elapsed().as_secs_f64());
    let losses = totals.losses();
    if losses > 0 {
        // The folder stays, so that the loss can be looked at.
        let kept = temporary.keep();
        bail!(
            "{losses} losses; sessions in {}",
            arguments.folder.as_ref().unwrap_or(&kept).display()
        );
    }
    Ok(())
}

/// One round: who writes, and how long.
struct Round<'a> {
    session: &'a SessionPlace,
    number: u32,
    writers: u32,
    faults: u32,
}

impl Round<'_> {
    fn play(&self, rng: &mut Rng, ledger: &mut Ledger) -> Result<()> {
        let mut running = Vec::new();
        for writer in 0..self.writers {
            running.push(self.start(writer, rng.u64(..))?);
        }
        thread::sleep(Duration::from_micros(rng.u64(5_000..90_000)));
        for (child, _) in &mut running {
            child.kill().context("cannot kill a writer")?;
        }
        for (mut child, lines) in running {
            let status = child.wait().context("cannot wait for a writer")?;
            let lines =
                lines.join().map_err(|_| anyhow::anyhow!("the reader of a pipe panicked"))?;
            if status.code().is_some() {
                bail!("a writer ended by itself ({status}): {}", lines.join("\n"));
            }
            ledger.take(&lines)?;
        }
        Ok(())
    }

    fn start(&self, writer: u32, seed: u64) -> Result<(Child, JoinHandle<Vec<String>>)> {
        let program = std::env::current_exe().context("cannot find this program")?;
        let mut child = Command::new(program)
            .arg("crash-writer")
            .arg("--session")
            .arg(self.session.to_string())
            .args(["--round", &self.number.to_string()])
            .args(["--writer", &writer.to_string()])
            .args(["--faults", &self.faults.to_string()])
            .args(["--seed", &seed.to_string()])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot start a writer")?;
        let out = child.stdout.take().context("a writer has no pipe")?;
        Ok((child, thread::spawn(move || told(BufReader::new(out)))))
    }
}

/// The whole lines that a writer told before it was killed.
fn told(mut out: impl BufRead) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    while out.read_line(&mut line).is_ok_and(|bytes| bytes > 0) {
        if line.ends_with('\n') {
            lines.push(line.trim_end().to_owned());
        }
        line.clear();
    }
    lines
}
