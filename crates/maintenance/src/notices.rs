//! What a pass tells the user besides its events.

use longhand_agent::SessionEvent;
use longhand_agent::event::NoticeLevel;
use longhand_agent::handle::SessionHandle;
use longhand_session::MethodId;

/// A warning about compaction. `code` says which, without its prefix.
pub(crate) async fn warn(session: &SessionHandle, code: &str, message: String) {
    emit(session, NoticeLevel::Warning, code, message).await;
}

/// News about compaction that is no warning.
pub(crate) async fn inform(session: &SessionHandle, code: &str, message: String) {
    emit(session, NoticeLevel::Info, code, message).await;
}

/// A method found that it would not help.
pub(crate) async fn blocked(session: &SessionHandle, method: &MethodId, why: &str) {
    warn(session, &format!("{method}_blocked"), format!("{method}: {why}")).await;
}

async fn emit(session: &SessionHandle, level: NoticeLevel, code: &str, message: String) {
    session
        .emit(SessionEvent::Notice {
            level,
            message,
            source: "compaction".into(),
            code: Some(format!("compaction.{code}")),
        })
        .await;
}
