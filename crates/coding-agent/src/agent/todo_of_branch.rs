//! The task list follows the branch: another branch had another one.

use std::sync::Arc;

use longhand_agent::branch::Branch;
use longhand_agent::{SessionEvent, SessionHandle, Subscription};

use crate::tools::TodoList;

/// Restores the list from the part of the branch that a model may see, now and after each move.
pub(super) async fn follow(session: &SessionHandle, list: Arc<TodoList>) {
    restore(&list, &session.snapshot());
    if let Some(events) = session.subscribe().await {
        tokio::spawn(restore_after_moves(session.clone(), events, list));
    }
}

async fn restore_after_moves(
    session: SessionHandle,
    mut events: Subscription,
    list: Arc<TodoList>,
) {
    while let Some(event) = events.next().await {
        if let SessionEvent::LeafChanged { .. } = event.event {
            restore(&list, &session.snapshot());
        }
    }
}

fn restore(list: &TodoList, branch: &Branch) {
    let mut results =
        branch.entries.iter().rev().filter_map(|entry| entry.message()?.as_tool_result());
    let newest = results.find(|result| result.tool_name == "todo" && !result.is_error);
    list.restore(newest.and_then(|result| result.details.as_ref()));
}

#[cfg(test)]
mod tests {
    use longhand_session::{Entry, Epoch, Generation};
    use serde_json::{Value, json};

    use super::*;

    fn result(tool: &str, task: &str, is_error: bool) -> Value {
        let phases =
            json!([{ "name": "Work", "tasks": [{ "content": task, "status": "pending" }] }]);
        json!({ "role": "toolResult", "toolCallId": "c", "toolName": tool, "content": [],
            "isError": is_error, "details": { "phases": phases } })
    }

    fn branch(messages: &[Value]) -> Branch {
        let entries = messages.iter().enumerate().map(|(n, message)| {
            let entry = json!({ "type": "message", "id": n.to_string(), "message": message });
            Arc::new(serde_json::from_value::<Entry>(entry).expect("an entry"))
        });
        Branch {
            session: "s".into(),
            leaf: None,
            epoch: Epoch::default(),
            generation: Generation::default(),
            entries: entries.collect(),
            live: Vec::new().into(),
        }
    }

    #[test]
    fn the_list_is_that_of_the_newest_result_of_the_branch() {
        let list = TodoList::default();
        restore(
            &list,
            &branch(&[
                result("todo", "Dig", false),
                result("todo", "Plant", false),
                result("todo", "Refused", true),
                result("bash", "Another", false),
            ]),
        );
        let shown = format!("{list:?}");
        assert!(shown.contains("Plant") && !shown.contains("Dig"), "{shown}");

        restore(&list, &branch(&[]));
        assert!(!format!("{list:?}").contains("Plant"));
    }
}
