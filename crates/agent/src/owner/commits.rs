//! The one write door: whatever changes the entries of a session passes here.
//!
//! A change is written, then taken into memory, then published, then heard of, in this order and with nothing in between. What
//! could not be written is kept in memory and told of; only a change in place is refused when the store refuses it.

use std::sync::Arc;

use longhand_session::block::ToolCall;
use longhand_session::entry::{
    BranchSummaryEntry, CompactionEntry, CustomEntry, EntryKind, ModelChangeEntry,
};
use longhand_session::id_source::fresh_entry_id;
use longhand_session::message::StopReason;
use longhand_session::store::{Adopted, ChangeSet, EntryTag};
use longhand_session::time::Timestamp;
use longhand_session::tokens::{EncryptedReasoning, MessageCounts};
use longhand_session::{Entry, EntryId, Message, StoreError, tree};
use serde_json::json;

use super::edits::branch_point;
use super::{Activity, Owner};
use crate::client::ModelClient;
use crate::commit::{
    Change, Commit, CommitError, Committed, CompactionDraft, EntryDraft, PatchSet,
};
use crate::event::{AssistantMessageEvent, NoticeLevel, SessionEvent, UsageSource};
use crate::handle::Live;
use crate::journal::persistence_error;
use crate::mail::Heard;
use crate::maintenance::MaintenanceRecord;
use crate::window;

impl Owner {
    /// Makes a change whose expectations hold.
    pub(super) async fn commit(&mut self, commit: Commit) -> Result<Committed, CommitError> {
        self.branch.check(&commit.expect)?;
        let entries = match commit.change {
            Change::Append(drafts) => self.append(drafts, Heard::Whole).await,
            Change::AppendWhole(drafts) => self.append_whole(drafts).await?,
            Change::Compaction(draft) => self.append_compaction(*draft).await,
            Change::Patch(patch) => self.patch(patch).await?,
            Change::MoveLeaf(_) if self.has_running_calls() => {
                return Err(CommitError::CallsRunning);
            }
            Change::MoveLeaf(leaf) => self.move_leaf(leaf, None).await.map(|()| Vec::new())?,
        };
        Ok(Committed { entries, epoch: self.branch.epoch() })
    }

    /// Appends entries at the leaf.
    pub(super) async fn append(
        &mut self,
        drafts: Vec<EntryDraft>,
        heard: Heard,
    ) -> Vec<Arc<Entry>> {
        let entries = self.chained(drafts);
        self.append_entries(&entries, heard).await;
        entries
    }

    /// Appends entries at the leaf, or none of them.
    async fn append_whole(
        &mut self,
        drafts: Vec<EntryDraft>,
    ) -> Result<Vec<Arc<Entry>>, CommitError> {
        let entries = self.chained(drafts);
        let changes = ChangeSet { append: entries.clone(), ..ChangeSet::default() };
        self.journal.rewrite(changes).await?;
        self.take_in(&entries).await;
        self.tell_of(&entries, Heard::Whole);
        Ok(entries)
    }

    /// Whether calls of the run that is going on have no results yet.
    pub(super) fn has_running_calls(&self) -> bool {
        matches!(self.state.activity, Activity::Run(_)) && !self.open_calls().is_empty()
    }

    /// The calls at the end of the branch that have no results.
    pub(super) fn open_calls(&self) -> Vec<ToolCall> {
        // What came before the last reply has no part in it.
        tree::open_calls_in(&self.since_last(EntryTag::Assistant))
    }

    /// The end of the branch from the last entry of a kind on; all of the window where there is none.
    pub(super) fn since_last(&self, tag: EntryTag) -> Vec<Arc<Entry>> {
        let entries = self.branch.entries();
        let last = entries.iter().rev().position(|entry| EntryTag::of(&entry.kind) == tag);
        let since = last.map_or(0, |from_end| entries.len() - 1 - from_end);
        entries.skip(since).into_iter().collect()
    }

    async fn append_compaction(&mut self, draft: CompactionDraft) -> Vec<Arc<Entry>> {
        let CompactionDraft { result, method, from_extension, tokens_after, warning, record } =
            draft;
        let compaction = CompactionEntry {
            summary: result.summary,
            short_summary: result.short_summary,
            first_kept_entry_id: result.first_kept_entry_id,
            tokens_before: result.tokens_before,
            tokens_after,
            method: method.map(|method| method.as_str().into()),
            details: result.details,
            preserve_data: result.preserve_data,
            from_extension: from_extension.then_some(true),
            warning,
            ..CompactionEntry::default()
        };
        let mut entries = self.chained(vec![EntryKind::Compaction(Box::new(compaction)).into()]);
        if let Some(record) = record {
            let made = entries[0].id.clone();
            let record = record_kind(MaintenanceRecord { entry_id: Some(made.clone()), ..record });
            entries.push(self.entry(record.into(), Some(made), &entries));
        }
        self.append_entries(&entries, Heard::Whole).await;
        self.journal.want_sync();
        entries
    }

    async fn patch(&mut self, patch: PatchSet) -> Result<Vec<Arc<Entry>>, CommitError> {
        let PatchSet { replace, record } = patch;
        let records = self.chained(record.map(|r| record_kind(*r).into()).into_iter().collect());
        let (replaced, append) = (replace.clone(), records.clone());
        let changes = ChangeSet { replace: replaced, append, ..ChangeSet::default() };
        self.journal.rewrite(changes).await?;
        self.take_in_others().await;
        self.branch.extend(&records);
        self.branch.replace(&replace);
        self.publish();
        self.emit(SessionEvent::EntriesRewritten {
            ids: replace.iter().map(|entry| entry.id.clone()).collect(),
        });
        self.tell_of(&records, Heard::Whole);
        self.tell_usage(None);
        Ok(replace.into_iter().chain(records).collect())
    }

    /// Moves the leaf. `editor_text` are words of the user that it goes before.
    pub(super) async fn move_leaf(
        &mut self,
        leaf: Option<EntryId>,
        editor_text: Option<String>,
    ) -> Result<(), Arc<StoreError>> {
        let unknown = |id: EntryId| Arc::new(StoreError::UnknownEntry(id));
        if let Some(id) = leaf.as_ref().filter(|id| !self.branch.tree().contains(id)) {
            return Err(unknown(id.clone()));
        }
        let path = self.branch.path(leaf.as_ref());
        let read = self.journal.reader().run(move |reader| window::read(&path, reader)).await;
        let entries = read.map_err(Arc::new)?;
        self.branch.move_leaf(leaf.as_ref(), entries).map_err(|error| unknown(error.0))?;
        self.state.has_bare_move = true;
        self.publish();
        self.emit(SessionEvent::LeafChanged { leaf, editor_text });
        self.tell_usage(None);
        Ok(())
    }

    /// Uses another model from the next request on, and notes it in the session.
    pub(super) async fn set_model(&mut self, client: Arc<dyn ModelClient>) {
        let model = client.model().reference().to_string();
        let before = self.live.borrow().clone();
        self.counts = MessageCounts::new(client.counter());
        self.live.send_replace(Arc::new(Live::new(
            client,
            &before.system,
            &before.tools,
            before.thinking,
        )));
        let change = ModelChangeEntry { model: model.clone(), ..ModelChangeEntry::default() };
        self.append(vec![EntryKind::ModelChange(change).into()], Heard::Whole).await;
        self.emit(SessionEvent::ModelChanged { model });
    }

    /// An empty branch summary at the leaf, which makes a move survive a restart: the leaf of a file is its last entry.
    pub(super) fn navigation_mark(&self) -> EntryKind {
        let leaf = self.branch.tree().leaf().cloned();
        EntryKind::BranchSummary(BranchSummaryEntry {
            from_id: branch_point(leaf.as_ref()),
            details: Some(json!({ "kind": "navigation" }).into()),
            ..BranchSummaryEntry::default()
        })
    }

    async fn append_entries(&mut self, entries: &[Arc<Entry>], heard: Heard) {
        let failure = self.store(entries).await;
        self.tell_of(entries, heard);
        self.tell_of_failure(failure.as_deref());
    }

    /// Writes entries and takes them in. Nobody has heard of them yet, nor of the failure to write them that is returned.
    pub(super) async fn store(&mut self, entries: &[Arc<Entry>]) -> Option<Arc<StoreError>> {
        let failure = self.journal.append(entries).await;
        self.take_in(entries).await;
        failure
    }

    /// Takes in entries that follow the leaf, after they were written.
    async fn take_in(&mut self, entries: &[Arc<Entry>]) {
        self.take_in_others().await;
        self.branch.extend(entries);
        self.state.has_bare_move &= entries.is_empty();
        self.publish();
    }

    /// Takes in what other processes wrote. It hangs where they put it, and the branch goes on as it was; entries of the branch that
    /// they changed are read again.
    pub(super) async fn take_in_others(&mut self) {
        let Adopted { rows, changed } = self.journal.take_adopted();
        if rows.is_empty() && changed.is_empty() {
            return;
        }
        self.branch.adopt(rows);
        let changed = self.branch.held(&changed);
        match self.journal.reader().run(move |reader| reader.read(&changed)).await {
            Ok(entries) if entries.is_empty() => {}
            Ok(entries) => self.branch.replace(&entries),
            Err(error) => self.emit(persistence_error(&error)),
        }
        if !std::mem::replace(&mut self.state.is_shared, true) {
            self.emit(SessionEvent::Notice {
                level: NoticeLevel::Warning,
                message: "another process writes this session too; both keep their branches".into(),
                source: "session".into(),
                code: Some("session.shared".into()),
            });
        }
    }

    pub(super) fn tell_of_failure(&mut self, failure: Option<&StoreError>) {
        if let Some(error) = failure {
            self.emit(persistence_error(error));
        }
    }

    /// Drafts as entries, each following the one before, the first following the leaf.
    pub(super) fn chained(&self, drafts: Vec<EntryDraft>) -> Vec<Arc<Entry>> {
        let mut parent = self.branch.tree().leaf().cloned();
        let mut entries: Vec<Arc<Entry>> = Vec::with_capacity(drafts.len());
        for draft in drafts {
            let entry = self.entry(draft, parent, &entries);
            parent = Some(entry.id.clone());
            entries.push(entry);
        }
        entries
    }

    /// A draft as an entry, with an id that neither the session nor its own batch has.
    pub(super) fn entry(
        &self,
        draft: EntryDraft,
        parent_id: Option<EntryId>,
        batch: &[Arc<Entry>],
    ) -> Arc<Entry> {
        let id = fresh_entry_id(&*self.ids, |id| {
            self.branch.tree().contains(id) || batch.iter().any(|entry| entry.id == *id)
        });
        let timestamp = draft.timestamp.map_or_else(|| self.now(), Timestamp::from_millis);
        Arc::new(Entry { id, parent_id, timestamp, kind: draft.kind })
    }

    pub(super) fn publish(&mut self) {
        self.published.send_replace(self.branch.snapshot());
    }

    /// Tells of entries that are in the store.
    pub(super) fn tell_of(&mut self, entries: &[Arc<Entry>], heard: Heard) {
        for entry in entries {
            let Some(message) = entry.message() else {
                self.emit(SessionEvent::EntryAppended { entry: entry.clone() });
                if matches!(entry.kind, EntryKind::Compaction(_) | EntryKind::ResetBoundary(_)) {
                    self.tell_usage(None);
                }
                continue;
            };
            if let Activity::Run(run) = &mut self.state.activity {
                run.record.messages.push(message.clone());
            }
            self.tell_of_message(message, Some(entry.id.clone()), heard);
        }
    }

    /// Tells of a message that is complete. One that is not stored has no entry.
    pub(super) fn tell_of_message(
        &mut self,
        message: &Arc<Message>,
        entry_id: Option<EntryId>,
        heard: Heard,
    ) {
        match heard {
            Heard::Whole => self.emit(SessionEvent::MessageStart { message: message.clone() }),
            Heard::End => self.tell_of_end(message),
        }
        self.emit(SessionEvent::MessageEnd { message: message.clone(), entry_id });
        if message.as_assistant().is_some_and(|reply| !reply.is_unfinished()) {
            self.tell_usage(Some(message));
        }
    }

    /// The last update of a message that arrived in pieces.
    fn tell_of_end(&mut self, message: &Message) {
        let Message::Assistant(reply) = message else { return };
        let assistant_message_event = match reply.stop_reason {
            StopReason::Error | StopReason::Aborted => AssistantMessageEvent::Error,
            StopReason::Stop | StopReason::Length | StopReason::ToolUse => {
                AssistantMessageEvent::Done
            }
        };
        let partial = Arc::new((**reply).clone());
        self.emit(SessionEvent::MessageUpdate { assistant_message_event, partial });
    }

    /// Tells how large the context is: as the provider measured it with this reply, else as counted here, each message once.
    pub(super) fn tell_usage(&mut self, reply: Option<&Arc<Message>>) {
        let live = self.live.borrow().clone();
        let window = live.client.model().context_window;
        let measured = reply.and_then(|message| message.as_assistant()?.usage.as_ref());
        let measured = measured.filter(|usage| usage.has_context());
        let (tokens, source) = if let Some(usage) = measured {
            (usage.context(), UsageSource::Measured)
        } else {
            let said = self.counts.count_all(self.branch.live(), EncryptedReasoning::Excluded);
            (said + live.non_message_tokens, UsageSource::Estimated)
        };
        self.emit(SessionEvent::ContextUsage { tokens: Some(tokens), window, source });
    }
}

fn record_kind(record: MaintenanceRecord) -> EntryKind {
    let data = serde_json::to_value(record).expect("a record holds only strings and numbers");
    EntryKind::Custom(CustomEntry {
        custom_type: "maintenance_record".into(),
        data: Some(data.into()),
        ..CustomEntry::default()
    })
}
