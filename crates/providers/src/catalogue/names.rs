//! Which model a name means. Pure.

use std::sync::Arc;

use longhand_session::Model;

/// The models that a name fits.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Match {
    One(Arc<Model>),
    Many(Vec<Arc<Model>>),
    None,
}

/// Least likeness, from 0 to 1, of a name that is offered instead.
const LEAST_LIKENESS: f64 = 0.6;

/// Models whose full name, or else whose id, is exactly that.
pub(super) fn exact(name: &str, models: &[Arc<Model>]) -> Match {
    match select(models, |model| model.reference().to_string() == name) {
        Match::None => select(models, |model| model.id == name),
        found => found,
    }
}

/// Models that the name fits: exactly, or as a part of the full name in any case.
pub(super) fn find(name: &str, models: &[Arc<Model>]) -> Match {
    match exact(name, models) {
        Match::None if !name.trim().is_empty() => {
            let part = name.trim().to_lowercase();
            select(models, |model| model.reference().to_string().to_lowercase().contains(&part))
        }
        found => found,
    }
}

/// The full name that is most like a name that fits none.
pub(super) fn closest(name: &str, models: &[Arc<Model>]) -> Option<String> {
    let name = name.to_lowercase();
    let likeness = |model: &Arc<Model>| {
        let full = model.reference().to_string();
        let by_id = strsim::jaro_winkler(&name, &model.id.to_lowercase());
        (strsim::jaro_winkler(&name, &full.to_lowercase()).max(by_id), full)
    };
    models
        .iter()
        .map(likeness)
        .filter(|(likeness, _)| *likeness >= LEAST_LIKENESS)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, full)| full)
}

fn select(models: &[Arc<Model>], fits: impl Fn(&Model) -> bool) -> Match {
    let mut found: Vec<Arc<Model>> = models.iter().filter(|model| fits(model)).cloned().collect();
    match found.len() {
        0 => Match::None,
        1 => Match::One(found.remove(0)),
        _ => Match::Many(found),
    }
}
