//! Changes that the user makes to a session besides talking.
//!
//! Whatever moves the leaf needs the session to itself, so that no result of a running call ends up elsewhere
//! than behind its call. Names may change at any time.

use std::sync::Arc;

use longhand_session::entry::{
    BranchSummaryEntry, EntryKind, LabelEntry, PlainEntry, TitleChangeEntry,
};
use longhand_session::store::ChangeSet;
use longhand_session::title_slot::TitleSource;
use longhand_session::tree::{self, UnknownEntry};
use longhand_session::{Entry, EntryId, Header, Json, StoreError, title};
use serde_json::Value;

use super::{Activity, Owner};
use crate::command::UserInput;
use crate::edit::{EditError, LeftBranch, Navigated, Navigation};
use crate::event::SessionEvent;
use crate::mail::Heard;

impl Owner {
    pub(super) async fn navigate(&mut self, to: Navigation) -> Result<Navigated, EditError> {
        self.refuse_while_busy()?;
        let Navigation { target, summary } = to;
        let target = self.read(&target).await?;
        let old_leaf = self.branch.tree().leaf().cloned();
        if old_leaf.as_ref() == Some(&target.id) && !tree::is_request(&target) {
            return Ok(Navigated { leaf: old_leaf, ..Navigated::default() });
        }
        let landing = tree::landing(self.branch.tree(), &target);
        let editor = landing
            .returned
            .map(|returned| UserInput { text: returned.text, images: returned.images });
        let text = editor.as_ref().map(|input| input.text.clone());
        self.move_leaf(landing.leaf.clone(), text).await?;
        let told = summary.filter(|left| !left.summary.is_empty());
        let summary = match told {
            Some(left) => {
                let summary = branch_summary(landing.leaf.as_ref(), old_leaf, left);
                self.append(vec![summary.into()], Heard::Whole).await.pop()
            }
            None => None,
        };
        let leaf = self.branch.tree().leaf().cloned();
        Ok(Navigated { leaf, editor, summary })
    }

    /// Begins afresh for the model; for the user everything stays.
    pub(super) async fn reset(&mut self) -> Result<(), EditError> {
        self.refuse_while_busy()?;
        let boundary = EntryKind::ResetBoundary(PlainEntry::default());
        self.append(vec![boundary.into()], Heard::Whole).await;
        Ok(())
    }

    pub(super) async fn label(
        &mut self,
        target: EntryId,
        label: Option<&str>,
    ) -> Result<(), EditError> {
        self.refuse_unknown(&target)?;
        let label = label.and_then(title::cleaned);
        let label = LabelEntry { target_id: target, label, ..LabelEntry::default() };
        self.append(vec![EntryKind::Label(label).into()], Heard::Whole).await;
        Ok(())
    }

    pub(super) async fn set_title(
        &mut self,
        text: &str,
        source: TitleSource,
    ) -> Result<(), EditError> {
        let title = title::cleaned(text).ok_or(EditError::EmptyTitle)?;
        if !title::may_replace(&self.header, source) {
            return Err(EditError::TitleOfTheUser);
        }
        let change = TitleChangeEntry {
            title: title.clone(),
            previous_title: self.header.title.clone().filter(|previous| !previous.is_empty()),
            source: source.as_str().into(),
            ..TitleChangeEntry::default()
        };
        // A title is worth keeping before anything is said.
        self.journal.begin();
        self.append(vec![EntryKind::TitleChange(change).into()], Heard::Whole).await;
        let header = Header {
            title: Some(title.clone()),
            title_source: Some(source.as_str().into()),
            ..self.header.clone()
        };
        let changes = ChangeSet { header: Some(header.clone()), ..ChangeSet::default() };
        self.journal.rewrite(changes).await?;
        self.take_in_others().await;
        self.header = header;
        self.journal.want_sync();
        self.emit(SessionEvent::TitleChanged { title, source });
        Ok(())
    }

    /// Writes everything, so that another reader of the store finds the session as it is here.
    pub(super) async fn settle(&mut self) -> Result<Option<EntryId>, EditError> {
        let failure = self.journal.flush().await;
        self.tell_of_failure(failure.as_deref());
        self.journal.failure().map_or(Ok(()), Err)?;
        Ok(self.branch.tree().leaf().cloned())
    }

    pub(super) fn refuse_while_busy(&self) -> Result<(), EditError> {
        match self.state.activity {
            Activity::Nobody => Ok(()),
            Activity::Run(_) | Activity::Pass(_) => Err(EditError::Busy),
        }
    }

    fn refuse_unknown(&self, id: &EntryId) -> Result<(), UnknownEntry> {
        let is_known = self.branch.tree().contains(id);
        if is_known { Ok(()) } else { Err(UnknownEntry(id.clone())) }
    }

    pub(super) async fn read(&self, id: &EntryId) -> Result<Arc<Entry>, EditError> {
        self.refuse_unknown(id)?;
        let entry = self.read_all(vec![id.clone()]).await?.pop();
        entry.ok_or_else(|| UnknownEntry(id.clone()).into())
    }

    pub(super) async fn read_all(
        &self,
        ids: Vec<EntryId>,
    ) -> Result<Vec<Arc<Entry>>, Arc<StoreError>> {
        self.journal.reader().run(move |reader| reader.read(&ids)).await.map_err(Arc::new)
    }
}

/// What a branch summary that hangs on `leaf` names as its place.
pub(super) fn branch_point(leaf: Option<&EntryId>) -> EntryId {
    leaf.cloned().unwrap_or_else(|| EntryId::from("root"))
}

fn branch_summary(
    leaf: Option<&EntryId>,
    left_leaf: Option<EntryId>,
    left: LeftBranch,
) -> EntryKind {
    let mut details = left.details;
    if let Some(left_leaf) = left_leaf {
        let mut facts = match details.as_ref().map(Json::value) {
            Some(Value::Object(facts)) => facts.clone(),
            _ => serde_json::Map::new(),
        };
        facts.insert("abandonedLeafId".into(), left_leaf.as_str().into());
        details = Some(Value::Object(facts).into());
    }
    EntryKind::BranchSummary(BranchSummaryEntry {
        from_id: branch_point(leaf),
        summary: left.summary,
        details,
        from_extension: left.from_extension.then_some(true),
        ..BranchSummaryEntry::default()
    })
}
