//! A session that is told by hand, and frames as text.

use std::sync::Arc;
use std::time::Duration;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use longhand_agent::event::{AssistantMessageEvent, UsageSource};
use longhand_agent::{SessionEvent, ToolOutput};
use longhand_session::message::{StopReason, ThinkingBlock, ToolCall, ToolResult};
use longhand_session::time::Timestamp;
use longhand_session::{AssistantMessage, Block, Entry, EntryKind, Json, Message, ToolCallId};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use serde_json::Value;

use crate::tui::app::{App, Effect, Press};
use crate::tui::moment::Moment;
use crate::tui::render;
use crate::tui::status_line::Surroundings;
use crate::tui::theme::{Palette, SymbolSet, Theme};
use crate::tui::view_state::ViewState;
use crate::tui::width;

/// The program over a session that is told by hand.
pub(super) struct Told {
    pub(super) app: App,
    pub(super) now: Moment,
    calls: usize,
}

impl Told {
    pub(super) fn new() -> Self {
        Self::with_theme(&Theme::new(Palette::Dark, SymbolSet::Unicode))
    }

    pub(super) fn with_theme(theme: &Theme) -> Self {
        let around = Surroundings {
            thinking: "off".into(),
            folder: "~/proj".into(),
            git: Some("main ?2".into()),
            is_compaction_automatic: true,
            ..Surroundings::default()
        };
        let app = App::new(ViewState::default(), around, theme, "");
        let mut told = Self { app, now: Moment::default(), calls: 0 };
        told.event(SessionEvent::ModelChanged { model: "demo/offline".into() });
        told.event(SessionEvent::ContextUsage {
            tokens: Some(5_248),
            window: Some(128_000),
            source: UsageSource::Measured,
        });
        told
    }

    #[expect(clippy::needless_pass_by_value, reason = "tests make events where they tell them")]
    pub(super) fn event(&mut self, event: SessionEvent) -> Vec<Effect> {
        self.app.event(&event, self.now)
    }

    pub(super) fn wait(&mut self, time: Duration) {
        self.now = self.now.after(time);
    }

    /// The user says something, and it is stored.
    pub(super) fn user(&mut self, text: &str) {
        self.message(Message::user(text, 0));
    }

    pub(super) fn message(&mut self, message: Message) {
        let message = Arc::new(message);
        self.event(SessionEvent::MessageStart { message: message.clone() });
        self.event(SessionEvent::MessageEnd { message, entry_id: None });
    }

    /// The model answers in one piece.
    pub(super) fn answer(&mut self, text: &str) {
        self.message(answered(vec![Block::text(text)], StopReason::Stop));
    }

    /// The model's answer grows, one piece an item.
    pub(super) fn stream(&mut self, pieces: &[&str]) {
        self.event(SessionEvent::MessageStart {
            message: Arc::new(answered(Vec::new(), StopReason::Stop)),
        });
        let mut text = String::new();
        for piece in pieces {
            text.push_str(piece);
            let partial = Arc::new(answer(vec![Block::text(text.clone())], StopReason::Stop));
            self.event(SessionEvent::MessageUpdate {
                assistant_message_event: AssistantMessageEvent::TextDelta {
                    content_index: 0,
                    delta: (*piece).into(),
                },
                partial,
            });
        }
    }

    /// The model calls a tool. Returns the call.
    pub(super) fn call(&mut self, text: &str, tool: &str, arguments: Value) -> ToolCallId {
        self.calls += 1;
        let id = ToolCallId::from(format!("call-{}", self.calls));
        let call = ToolCall {
            id: id.clone(),
            name: tool.into(),
            arguments: Json::from(arguments),
            ..ToolCall::default()
        };
        let mut content = Vec::new();
        if !text.is_empty() {
            content.push(Block::text(text));
        }
        content.push(Block::ToolCall(call));
        self.message(answered(content, StopReason::ToolUse));
        id
    }

    /// A call runs and ends.
    pub(super) fn result(&mut self, id: &ToolCallId, tool: &str, text: &str, details: Value) {
        self.started(id, tool);
        self.ended(id, tool, text, details, false);
    }

    pub(super) fn started(&mut self, id: &ToolCallId, tool: &str) {
        let args = self.arguments(id);
        self.event(SessionEvent::ToolExecutionStart {
            tool_call_id: id.clone(),
            tool_name: tool.into(),
            args,
        });
    }

    pub(super) fn ended(
        &mut self,
        id: &ToolCallId,
        tool: &str,
        text: &str,
        details: Value,
        is_error: bool,
    ) {
        let output = ToolOutput {
            details: Some(Json::from(details.clone())),
            is_error,
            ..ToolOutput::text(text)
        };
        self.event(SessionEvent::ToolExecutionEnd {
            tool_call_id: id.clone(),
            tool_name: tool.into(),
            result: output,
            is_error,
        });
        self.message(Message::ToolResult(ToolResult {
            tool_call_id: id.clone(),
            tool_name: tool.into(),
            content: vec![Block::text(text)],
            details: Some(Json::from(details)),
            is_error,
            ..ToolResult::default()
        }));
    }

    fn arguments(&self, id: &ToolCallId) -> Json {
        use crate::tui::view_state::item::Body;
        let number: usize = id.as_str().trim_start_matches("call-").parse().unwrap();
        let calls = self.app.view().items().iter().filter_map(|item| match &item.body {
            Body::Calls(calls) => Some(calls),
            _ => None,
        });
        calls.flatten().nth(number - 1).map(|call| call.arguments.clone()).unwrap_or_default()
    }

    pub(super) fn entry(&mut self, id: &str, kind: EntryKind) {
        let entry = Arc::new(Entry {
            id: id.into(),
            parent_id: None,
            timestamp: Timestamp::new("2026-11-28T14:03:12.000Z"),
            kind,
        });
        self.event(SessionEvent::EntryAppended { entry });
    }

    /// A key with modifiers, such as `ctrl+o`, `shift+enter`, `x`.
    pub(super) fn key(&mut self, key: &str) -> Vec<Effect> {
        self.app.press(Press::Key(key_event(key)), self.now)
    }

    pub(super) fn type_text(&mut self, text: &str) {
        for c in text.chars() {
            let key = KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE);
            self.app.press(Press::Key(key), self.now);
        }
    }

    pub(super) fn paste(&mut self, text: &str) {
        self.app.press(Press::Paste(text.into()), self.now);
    }

    pub(super) fn screen(&mut self, columns: u16, rows: u16) -> String {
        let frame = render::frame(&mut self.app, Rect::new(0, 0, columns, rows), self.now);
        text_of(&frame.buffer)
    }

    pub(super) fn cursor(&mut self, columns: u16, rows: u16) -> Option<(u16, u16)> {
        render::frame(&mut self.app, Rect::new(0, 0, columns, rows), self.now).cursor
    }
}

pub(super) fn key_event(key: &str) -> KeyEvent {
    let mut modifiers = KeyModifiers::NONE;
    let mut name = key;
    while let Some((modifier, rest)) = name.split_once('+').filter(|(_, rest)| !rest.is_empty()) {
        modifiers |= match modifier {
            "ctrl" => KeyModifiers::CONTROL,
            "alt" => KeyModifiers::ALT,
            "shift" => KeyModifiers::SHIFT,
            other => panic!("no modifier `{other}`"),
        };
        name = rest;
    }
    let code = match name {
        "enter" => KeyCode::Enter,
        "esc" => KeyCode::Esc,
        "tab" => KeyCode::Tab,
        "up" => KeyCode::Up,
        "down" => KeyCode::Down,
        "left" => KeyCode::Left,
        "right" => KeyCode::Right,
        "home" => KeyCode::Home,
        "end" => KeyCode::End,
        "pgup" => KeyCode::PageUp,
        "pgdn" => KeyCode::PageDown,
        "backspace" => KeyCode::Backspace,
        "delete" => KeyCode::Delete,
        one => KeyCode::Char(one.chars().next().unwrap()),
    };
    KeyEvent::new(code, modifiers)
}

pub(super) fn answer(content: Vec<Block>, stop_reason: StopReason) -> AssistantMessage {
    AssistantMessage { content, stop_reason, ..AssistantMessage::default() }
}

/// A stored answer.
pub(super) fn answered(content: Vec<Block>, stop_reason: StopReason) -> Message {
    Message::Assistant(answer(content, stop_reason).into())
}

pub(super) fn thinking(text: &str) -> Block {
    Block::Thinking(ThinkingBlock { thinking: text.into(), ..ThinkingBlock::default() })
}

/// The cells of a buffer as text, blanks at the end of rows left out.
pub(super) fn text_of(buffer: &Buffer) -> String {
    let mut out = String::new();
    for y in 0..buffer.area.height {
        let mut row = String::new();
        let mut x = 0;
        while x < buffer.area.width {
            let symbol = buffer[(x, y)].symbol();
            row.push_str(symbol);
            x += (width::of_cluster(symbol) as u16).max(1);
        }
        out.push_str(row.trim_end());
        out.push('\n');
    }
    out
}
