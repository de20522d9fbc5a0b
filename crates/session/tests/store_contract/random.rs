//! Whatever is done to a session, it is the same session in every store.

use std::sync::Arc;

use longhand_session::store::{ChangeSet, Receipt};
use longhand_session::{Entry, Header, StoreError};
use proptest::prelude::*;

use crate::{KINDS, Session, entry, header};

#[derive(Debug, Clone)]
enum Step {
    Append(Vec<Arc<Entry>>),
    Rewrite(Box<ChangeSet>),
    Reopen,
}

/// Few ids, so that some are taken, some unknown, and some come twice.
fn any_entry() -> impl Strategy<Value = Arc<Entry>> {
    let id = "[a-h]";
    (id, proptest::option::of(id), ".{0,12}")
        .prop_map(|(id, parent, text)| entry(&id, parent.as_deref(), &text))
}

fn any_entries(most: usize) -> impl Strategy<Value = Vec<Arc<Entry>>> {
    proptest::collection::vec(any_entry(), 0..=most)
}

fn any_step() -> impl Strategy<Value = Step> {
    let removed = proptest::collection::vec("[a-h]".prop_map(|id| id.as_str().into()), 0..3);
    let title = proptest::option::of(proptest::option::of("[a-z ]{1,8}"));
    let rewrite = (any_entries(2), removed, any_entries(2), title).prop_map(
        |(replace, remove, append, title)| {
            let header = title.map(|title| Header { title, ..header() });
            Step::Rewrite(Box::new(ChangeSet { replace, remove, append, header }))
        },
    );
    prop_oneof![
        4 => any_entries(3).prop_map(Step::Append),
        3 => rewrite,
        1 => Just(Step::Reopen),
    ]
}

/// What a step did, without what only one store knows.
fn outcome(result: Result<Receipt, StoreError>) -> Result<(), String> {
    match result {
        Ok(receipt) => {
            assert!(receipt.adopted.is_empty(), "nobody else writes");
            Ok(())
        }
        Err(StoreError::UnknownEntry(_) | StoreError::DuplicateEntry(_)) => {
            Err("refused".to_owned())
        }
        Err(other) => Err(other.to_string()),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn the_same_steps_make_the_same_session_in_every_store(
        steps in proptest::collection::vec(any_step(), 1..12)
    ) {
        let mut sessions: Vec<Session> = KINDS.iter().map(|kind| Session::new(*kind)).collect();
        for session in &mut sessions {
            session.store.rewrite(&ChangeSet::default()).expect("a new session");
        }
        for step in steps {
            let outcomes: Vec<_> = sessions.iter_mut().map(|session| match &step {
                Step::Append(entries) => outcome(session.store.append(entries)),
                Step::Rewrite(changes) => outcome(session.store.rewrite(changes)),
                Step::Reopen => { session.reopen(); Ok(()) }
            }).collect();
            prop_assert!(outcomes.iter().all(|one| *one == outcomes[0]), "{step:?}: {outcomes:?}");
        }
        let observed: Vec<_> = sessions.iter_mut().map(Session::observe).collect();
        for other in &observed[1..] {
            prop_assert_eq!(&observed[0], other);
        }
    }
}
