//! One record of a Claude Code transcript, as far as an import looks at it.

use serde_json::value::RawValue;

use crate::import::fields::{is_true, millis, pick, text, words};

/// A record. Its message is not read yet.
pub(super) struct Record<'a> {
    /// Number of its line, from 1.
    pub(super) line: u64,
    pub(super) kind: Kind,
    pub(super) uuid: Option<String>,
    /// The record that it follows; `None` for the first of a conversation.
    pub(super) parent: Option<String>,
    /// What it follows where a compaction cut the chain.
    pub(super) logical_parent: Option<String>,
    /// Milliseconds since the epoch.
    pub(super) millis: Option<i64>,
    pub(super) message: Option<&'a RawValue>,
    /// Facts about a failed request.
    pub(super) failure: Failure,
    /// Tokens of the context before a compaction.
    pub(super) compacted_tokens: u64,
}

/// What a record is to an import.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    User,
    Assistant,
    /// Here the other program compacted.
    CompactBoundary,
    /// The summary that stands for what came before.
    CompactSummary,
    /// A title that the user gave.
    CustomTitle(String),
    /// A title that a model gave.
    AiTitle(String),
    /// Nothing of a conversation. The name says what it is.
    Skipped(String),
}

/// What a record says about a request that failed.
#[derive(Debug, Clone, Default)]
pub(super) struct Failure {
    pub(super) is_error: bool,
    pub(super) message: Option<String>,
    pub(super) status: Option<u64>,
}

impl<'a> Record<'a> {
    pub(super) fn read(line: u64, object: &'a RawValue) -> Self {
        let [
            kind,
            uuid,
            parent,
            logical_parent,
            timestamp,
            message,
            is_sidechain,
            is_meta,
            is_api_error,
            error,
            status,
        ] = pick(
            object.get(),
            [
                "type",
                "uuid",
                "parentUuid",
                "logicalParentUuid",
                "timestamp",
                "message",
                "isSidechain",
                "isMeta",
                "isApiErrorMessage",
                "error",
                "apiErrorStatus",
            ],
        );
        let [subtype, metadata, is_summary, custom_title, ai_title] = pick(
            object.get(),
            ["subtype", "compactMetadata", "isCompactSummary", "customTitle", "aiTitle"],
        );
        let kind = match text(kind).unwrap_or_default().as_str() {
            "user" | "assistant" if is_true(is_sidechain) => Kind::Skipped("sidechain".into()),
            "user" | "assistant" if is_true(is_meta) => Kind::Skipped("meta".into()),
            "user" if is_true(is_summary) => Kind::CompactSummary,
            "user" => Kind::User,
            "assistant" => Kind::Assistant,
            "system" if text(subtype).as_deref() == Some("compact_boundary") => {
                Kind::CompactBoundary
            }
            "custom-title" => Kind::CustomTitle(text(custom_title).unwrap_or_default()),
            "ai-title" => Kind::AiTitle(text(ai_title).unwrap_or_default()),
            other => Kind::Skipped(other.to_owned()),
        };
        let [compacted_tokens] = metadata.map_or([None], |raw| pick(raw.get(), ["preTokens"]));
        Self {
            line,
            kind,
            uuid: words(uuid),
            parent: words(parent),
            logical_parent: words(logical_parent),
            millis: millis(timestamp),
            message,
            failure: Failure {
                is_error: is_true(is_api_error),
                message: words(error),
                status: status.and_then(|raw| raw.get().parse().ok()),
            },
            compacted_tokens: crate::import::fields::count(compacted_tokens),
        }
    }
}

/// Facts about the session that any record may tell.
pub(super) fn session_facts(object: &RawValue) -> (Option<String>, Option<String>) {
    let [cwd, session_id] = pick(object.get(), ["cwd", "sessionId"]);
    (words(cwd), words(session_id))
}
