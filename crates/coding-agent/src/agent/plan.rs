//! Maintenance of a session that does not run: what each method would do, and one compaction of a file.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use longhand_agent::compaction::{
    CompactionMethod, CompactionResult, Job, Needs, Prepare, Thinking, Trigger,
};
use longhand_agent::maintenance::{Maintenance, MaintenanceError, ManualRequest};
use longhand_agent::{Branch, ModelClient};
use longhand_compaction::Preparer;
use longhand_maintenance::nothing_to_do;
use longhand_session::conversion::{self, CopyError};
use longhand_session::place::SessionPlace;
use longhand_session::store::StoreError;
use longhand_session::tokens::{self, EncryptedReasoning};
use longhand_session::{ByteEstimate, Entry, EntryId, Epoch, Generation, Header};

use super::CodingAgent;
use super::open::OpenError;
use super::request::{OpenRequest, SessionChoice};
use crate::inspect::MethodRow;
use crate::session_file::SessionFile;

/// A compaction of a session that does not run.
#[derive(Debug, Clone)]
pub struct FileCompaction {
    /// The session.
    pub session: SessionPlace,
    /// The file where the result goes; `None` changes the session itself.
    pub out: Option<PathBuf>,
    /// Method and focus.
    pub request: ManualRequest,
    /// Model of the conversation; `None` takes that of the session, or of the settings.
    pub model: Option<String>,
}

/// What a compaction of a file did.
#[derive(Debug, Clone)]
pub struct Compacted {
    /// Where it lies.
    pub session: SessionPlace,
    /// The entry that was appended.
    pub entry: Arc<Entry>,
    /// What the method made.
    pub result: CompactionResult,
    /// What the user should know, one line each.
    pub notices: Vec<String>,
}

/// Why a file was not compacted. Nothing of the conversation was changed.
#[derive(Debug, thiserror::Error)]
pub enum CompactFileError {
    /// The session cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// Maintenance committed nothing.
    #[error(transparent)]
    Maintenance(#[from] MaintenanceError),
    /// The session cannot be copied.
    #[error(transparent)]
    Conversion(#[from] CopyError),
    /// The copy cannot be made.
    #[error("cannot write `{}`", path.display())]
    Copy {
        /// The copy.
        path: PathBuf,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// The transcript could not be written.
    #[error("the compaction was not written to `{session}`")]
    NotWritten {
        /// The session.
        session: SessionPlace,
    },
}

impl CodingAgent {
    /// The model that a session was last used with, to count and plan with; `None` where it names none, or one that is not known
    /// here without asking somebody far away.
    ///
    /// # Errors
    /// The session cannot be read.
    pub async fn model_of(
        &self,
        file: &SessionFile,
    ) -> Result<Option<Arc<dyn ModelClient>>, StoreError> {
        let stored = file.settings(&file.path(None)?)?;
        match stored.models.get("default") {
            Some(name) => Ok(self.models().nearby(name).await),
            None => Ok(None),
        }
    }

    /// What each compaction method would do with a session, at its leaf or as if `at` were the newest entry. Calls no model
    /// and writes nothing. System prompt and tools are not counted: they belong to a running agent.
    ///
    /// # Errors
    /// The session cannot be read, or `at` is not in it.
    pub async fn plan_methods(
        &self,
        file: &SessionFile,
        at: Option<&EntryId>,
        client: Option<Arc<dyn ModelClient>>,
    ) -> Result<Vec<MethodRow>, StoreError> {
        let branch = branch(file, at)?;
        let now_tokens =
            tokens::count_messages(&ByteEstimate, &branch.live, EncryptedReasoning::Counted);
        let job = client.map(|client| self.job(branch, client));
        let mut rows = Vec::new();
        for method in self.methods() {
            rows.push(row(&*method, job.as_ref(), now_tokens).await);
        }
        Ok(rows)
    }

    fn job(&self, branch: Branch, client: Arc<dyn ModelClient>) -> Job {
        let preparer = Preparer::new(self.compaction(), Arc::new(ByteEstimate));
        let model = client.model().clone();
        Job {
            preparation: preparer.prepare(&branch, Some(&model), 0).map(Arc::new),
            branch: Arc::new(branch),
            system: Arc::from([]),
            tools: Arc::from([]),
            model,
            counter: client.counter(),
            candidates: vec![client],
            trigger: Trigger::Manual,
            focus: None,
            non_message_tokens: 0,
            extra_context: Arc::from([]),
            thinking: Thinking::default(),
        }
    }

    /// Compacts a file once, as the running agent would.
    ///
    /// # Errors
    /// See [`CompactFileError`].
    pub async fn compact_file(
        &self,
        compaction: FileCompaction,
    ) -> Result<Compacted, CompactFileError> {
        self.maintainer().check(&compaction.request)?;
        let Some(out) = compaction.out.clone() else {
            return self.compact_in_place(compaction).await;
        };
        self.copy_to(&compaction.session, &out)?;
        let session = SessionPlace::File(out.clone());
        let compacted = self.compact_in_place(FileCompaction { session, ..compaction }).await;
        if compacted.is_err() {
            // What was asked for is a compacted session; the plain copy is of no use to anybody.
            let _ = std::fs::remove_file(&out);
        }
        compacted
    }

    fn copy_to(&self, session: &SessionPlace, out: &Path) -> Result<(), CompactFileError> {
        match session {
            SessionPlace::File(path) => copy(path, out),
            SessionPlace::Database { .. } => {
                let sources = self.store_sources();
                let place = SessionPlace::File(out.to_owned());
                let make = |header: &Header| sources.create(&place, header.clone());
                conversion::copy(&mut *sources.resume(session), make)?;
                Ok(())
            }
        }
    }

    /// A session with nothing to compact is not opened for writing: it stays as it is.
    fn refuse_without_work(&self, session: &SessionPlace) -> Result<(), CompactFileError> {
        let store = self.store_sources().resume(session);
        let session = SessionFile::open(store).map_err(OpenError::Store)?;
        let branch = branch(&session, None).map_err(OpenError::Store)?;
        let preparer = Preparer::new(self.compaction(), Arc::new(ByteEstimate));
        match preparer.prepare(&branch, None, 0) {
            Some(_) => Ok(()),
            None => Err(nothing_to_do(&branch).into()),
        }
    }

    async fn compact_in_place(
        &self,
        compaction: FileCompaction,
    ) -> Result<Compacted, CompactFileError> {
        let session = compaction.session;
        self.refuse_without_work(&session)?;
        let opened = self
            .open(OpenRequest {
                session: SessionChoice::At(session.clone()),
                model: compaction.model,
                ..OpenRequest::default()
            })
            .await?;
        let result = opened.session.compact(compaction.request).await;
        let entry = opened.session.snapshot().latest_compaction().cloned();
        let closed = opened.session.close().await;
        let result = result?;
        match (entry, closed) {
            (Some(entry), Ok(())) => {
                Ok(Compacted { session, entry, result, notices: opened.notices })
            }
            _ => Err(CompactFileError::NotWritten { session }),
        }
    }
}

/// A copy that did not exist before.
fn copy(from: &Path, to: &Path) -> Result<(), CompactFileError> {
    let failed = |source| CompactFileError::Copy { path: to.to_owned(), source };
    let mut source = std::fs::File::open(from).map_err(failed)?;
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut copy = options.open(to).map_err(failed)?;
    io::copy(&mut source, &mut copy).map(drop).map_err(|error| {
        // Half a session would open as a damaged one.
        let _ = std::fs::remove_file(to);
        failed(error)
    })
}

fn branch(file: &SessionFile, at: Option<&EntryId>) -> Result<Branch, StoreError> {
    let path = file.path(at)?;
    let context = file.context(&path)?;
    Ok(Branch {
        session: file.header.id.clone(),
        leaf: path.last().map(|row| row.id.clone()),
        epoch: Epoch::default(),
        generation: Generation::default(),
        entries: file.read(file.working_path(&path)?)?.into(),
        live: context.messages.into(),
    })
}

async fn row(method: &dyn CompactionMethod, job: Option<&Job>, now_tokens: u64) -> MethodRow {
    let traits = method.traits();
    let plan = match job {
        None => Err("no model is configured".to_owned()),
        Some(job) if traits.prepares && job.preparation.is_none() => {
            Err("there is nothing to compact".to_owned())
        }
        Some(job) => match method.usable(job) {
            Err(skip) => Err(skip.to_string()),
            Ok(()) => method.plan(job).await.map_err(|error| error.to_string()),
        },
    };
    let tokens_after = plan.as_ref().ok().and_then(|plan| plan.tokens_after);
    MethodRow {
        method: method.id().to_string(),
        available: plan.is_ok(),
        tokens_after,
        freed: tokens_after.map(|after| now_tokens.saturating_sub(after)),
        needs: match traits.needs {
            Needs::Nothing => "none",
            Needs::Model => "model",
            Needs::Vision => "vision",
        },
        exact: plan.as_ref().is_ok_and(|plan| plan.is_exact),
        frames: plan.as_ref().map_or(0, |plan| plan.frames),
        reason: plan.err(),
    }
}
