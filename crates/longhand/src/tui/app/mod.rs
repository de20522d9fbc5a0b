//! The interactive program without a terminal: keys, events and replies go in, effects come out.
//!
//! Nothing here waits, draws or reads a clock, so that every press of a key can be tested as a value. What must be done about an effect is
//! [`mod@super::run`]'s.

mod escape;
mod key;
mod submit;

use std::sync::Arc;

use longhand_agent::compaction::{CompactionResult, Trigger};
use longhand_agent::event::NoticeLevel;
use longhand_agent::maintenance::{MaintenanceError, ManualRequest};
use longhand_agent::tool::ApprovalAnswer;
use longhand_agent::{SessionEvent, UserInput};
use longhand_session::context::SessionContext;
use longhand_session::{Entry, EntryId, StoreError, ToolCallId};

use super::approval::Approval;
use super::completion::Menu;
use super::editor::Editor;
use super::look::{Detail, Look};
use super::moment::Moment;
use super::render::transcript::Transcript;
use super::status_line::Surroundings;
use super::theme::Theme;
use super::view_state::{PassEnd, ViewState};
use super::viewer::Opening;
use super::viewer::source::Which;

pub(crate) use self::key::Press;

/// Something to be done that only the outside can do.
#[derive(Debug)]
pub(crate) enum Effect {
    /// Deliver before the next request; starts a run where none is going on.
    Steer(UserInput),
    /// Deliver after the run.
    FollowUp(UserInput),
    /// Stop what runs.
    Abort,
    /// Take back what is queued.
    TakeQueue,
    /// Start a run with what is queued.
    DeliverQueue,
    /// Make the context shorter.
    Compact(ManualRequest),
    /// Answer a question about a call.
    Answer(ToolCallId, ApprovalAnswer),
    /// Let the model begin afresh.
    Reset,
    /// Give the session a title.
    Rename(String),
    /// Leave this session for another one.
    Switch(Switch),
    /// Read the transcript of the branch that is active now.
    LoadTranscript,
    /// Read entries that were changed in place.
    ReadEntries(Vec<EntryId>),
    /// Show the pictures of a compaction.
    Frames(Which, Opening),
    /// Draw everything anew.
    Repaint,
    /// Give the terminal back until the program is resumed.
    Suspend,
    /// Leave.
    Quit,
}

/// For which session this one is left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Switch {
    /// One that is picked from a list, or the one that these words mean.
    Resume(String),
    /// A new one.
    New,
    /// A copy of this one.
    Fork,
}

/// What came of an effect.
#[derive(Debug)]
pub(crate) enum Reply {
    /// What was queued.
    Queue(Vec<UserInput>),
    /// A pass that the user asked for has ended.
    Compacted(Result<CompactionResult, MaintenanceError>),
    /// Entries as they are now.
    Entries(Vec<Arc<Entry>>),
    /// Something small was done, or could not be.
    Done(Result<String, String>),
    /// The transcript was read.
    Transcript(Result<SessionContext, Arc<StoreError>>),
}

/// What covers the editor, or everything.
#[derive(Debug)]
pub(crate) enum Modal {
    /// Whether to stop the turn for a compaction.
    AbortAndCompact(ManualRequest),
    /// Commands and keys, from this row on.
    Help {
        /// The first row that is shown.
        from: usize,
    },
}

/// The interactive program.
pub(crate) struct App {
    pub(super) view: ViewState,
    pub(super) transcript: Transcript,
    pub(super) editor: Editor,
    pub(super) around: Surroundings,
    pub(super) theme: Theme,
    pub(super) modal: Option<Modal>,
    pub(super) approval: Approval,
    /// The chosen row of the menu.
    pub(super) menu_chosen: usize,
    /// The text for which the menu was closed.
    menu_closed_for: Option<String>,
    /// What is queued is to be delivered as soon as the run that is being stopped has ended.
    is_delivering: bool,
    /// An unknown command that is sent as text if it is entered again.
    doubted: Option<String>,
    /// When Ctrl+C last cleared or could have cleared the draft.
    cleared_at: Option<Moment>,
    /// The next character is where to jump.
    is_jumping: bool,
    /// Rows and columns of the transcript, as it was last drawn.
    pub(super) transcript_size: (usize, usize),
}

impl App {
    /// The program over a session.
    pub(crate) fn new(view: ViewState, around: Surroundings, theme: &Theme, draft: &str) -> Self {
        Self {
            view,
            transcript: Transcript::default(),
            editor: Editor::with_text(draft),
            around,
            theme: *theme,
            modal: None,
            approval: Approval::default(),
            menu_chosen: 0,
            menu_closed_for: None,
            is_delivering: false,
            doubted: None,
            cleared_at: None,
            is_jumping: false,
            transcript_size: (1, 1),
        }
    }

    /// What the screen shows of the session.
    pub(crate) fn view(&self) -> &ViewState {
        &self.view
    }

    /// Opens something over the editor, or over everything.
    pub(crate) fn open(&mut self, modal: Modal) {
        self.modal = Some(modal);
    }

    /// Takes an event of the session.
    pub(crate) fn event(&mut self, event: &SessionEvent, now: Moment) -> Vec<Effect> {
        let had_question = self.view.approvals.front().map(|(id, _)| id.clone());
        self.view.apply(event, now);
        if self.view.approvals.front().map(|(id, _)| id) != had_question.as_ref() {
            self.approval = Approval::default();
        }
        match event {
            SessionEvent::LeafChanged { .. } => vec![Effect::LoadTranscript],
            SessionEvent::EntriesRewritten { ids } => vec![Effect::ReadEntries(ids.clone())],
            SessionEvent::AgentEnd { .. } if std::mem::take(&mut self.is_delivering) => {
                vec![Effect::DeliverQueue]
            }
            _ => Vec::new(),
        }
    }

    /// Takes what came of an effect.
    pub(crate) fn reply(&mut self, reply: Reply, now: Moment) {
        match reply {
            Reply::Queue(inputs) => self.take_back(&inputs),
            Reply::Compacted(result) => self.end_manual_pass(result, now),
            Reply::Entries(entries) => {
                for entry in &entries {
                    self.view.replace_entry(entry);
                }
            }
            Reply::Done(Ok(text)) => self.view.notify(NoticeLevel::Info, text, now),
            Reply::Done(Err(text)) => self.view.notify(NoticeLevel::Error, text, now),
            Reply::Transcript(Ok(context)) => {
                self.view.show_transcript(&context);
                self.transcript.reset();
            }
            Reply::Transcript(Err(error)) => {
                let text = format!("the transcript could not be read: {error}");
                self.view.notify(NoticeLevel::Error, text, now);
            }
        }
    }

    /// What stands in the editor.
    pub(crate) fn draft(&self) -> String {
        self.editor.text()
    }

    /// Says something for a while.
    pub(crate) fn tell(&mut self, level: NoticeLevel, text: impl Into<String>, now: Moment) {
        self.view.notify(level, text, now);
    }

    /// The session's title, id and place.
    pub(crate) fn about_session(&self) -> String {
        self.around.about.clone()
    }

    /// Begins a pass that the user asked for.
    pub(crate) fn compact(&mut self, request: ManualRequest, now: Moment) -> Vec<Effect> {
        let action = request.method.as_ref().map_or("", |method| method.as_str()).to_owned();
        self.view.start_pass(Trigger::Manual, &action, now);
        vec![Effect::Compact(request)]
    }

    /// Whether something on the screen moves by itself.
    pub(crate) fn is_animated(&self) -> bool {
        self.view.is_busy()
    }

    /// The menu for what is typed now.
    pub(super) fn menu(&self) -> Option<Menu> {
        if !self.editor.is_at_end() {
            return None;
        }
        let text = self.editor.typed_line()?;
        let is_closed = self.menu_closed_for.as_ref() == Some(&text);
        if is_closed { None } else { Menu::for_text(&text) }
    }

    /// How the transcript is laid out.
    pub(super) fn transcript_look(&self) -> Look<'_> {
        let (_, columns) = self.transcript_size;
        Look { theme: &self.theme, columns, detail: Detail::Collapsed, phase: 0 }
    }

    fn end_manual_pass(&mut self, result: Result<CompactionResult, MaintenanceError>, now: Moment) {
        let end = match result {
            Ok(_) => PassEnd::Done,
            Err(MaintenanceError::Cancelled) => PassEnd::Cancelled,
            Err(error) if error.is_noop() => {
                self.view.notify(NoticeLevel::Info, error.to_string(), now);
                PassEnd::NothingToDo
            }
            Err(error) => PassEnd::Failed(error.to_string()),
        };
        self.view.end_pass(end, now);
    }

    /// Puts queued input back into the editor, before the draft.
    fn take_back(&mut self, inputs: &[UserInput]) {
        let texts = inputs.iter().map(|input| input.text.as_str());
        let texts: Vec<&str> = texts.filter(|text| !text.is_empty()).collect();
        if !texts.is_empty() {
            self.editor.prepend(&texts.join("\n\n"));
        }
    }
}
