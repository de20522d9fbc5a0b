//! Which methods a pass tries, in which order.

use std::sync::Arc;

use longhand_agent::compaction::{CompactionMethod, FocusUse, ManualUse};
use longhand_agent::maintenance::{MaintenanceError, ManualRequest};
use longhand_compaction::Options;
use longhand_session::MethodId;

/// The registered methods in the configured order, each once. Names without a method are passed over.
pub(crate) fn configured(
    methods: &[Arc<dyn CompactionMethod>],
    options: &Options,
) -> Vec<Arc<dyn CompactionMethod>> {
    let mut order: Vec<Arc<dyn CompactionMethod>> = Vec::new();
    for name in &options.method_order {
        let is_new = order.iter().all(|method| method.id() != *name);
        if let (true, Some(method)) = (is_new, find(methods, name)) {
            order.push(method.clone());
        }
    }
    order
}

/// The methods for a pass that the user asked for: the named one, or the configured order without those that must be named, and
/// without those that cannot dwell on what the user asks for.
/// With an empty order every registered method may run: who asks by hand wants a compaction.
pub(crate) fn manual(
    methods: &[Arc<dyn CompactionMethod>],
    options: &Options,
    request: &ManualRequest,
) -> Result<Vec<Arc<dyn CompactionMethod>>, MaintenanceError> {
    if let Some(name) = &request.method {
        let method =
            find(methods, name).ok_or_else(|| MaintenanceError::UnknownMethod(name.clone()))?;
        if has_focus(request) && method.traits().focus == FocusUse::Refused {
            return Err(MaintenanceError::FocusRejected(name.clone()));
        }
        return Ok(vec![method.clone()]);
    }
    let mut order = configured(methods, options);
    if order.is_empty() {
        order = methods.to_vec();
    }
    order.retain(|method| {
        let traits = method.traits();
        traits.manual == ManualUse::InOrder
            && (traits.focus == FocusUse::Taken || !has_focus(request))
    });
    if order.is_empty() {
        return Err(MaintenanceError::NoMethod(
            "none of `compaction.methodOrder` runs by hand".into(),
        ));
    }
    Ok(order)
}

fn has_focus(request: &ManualRequest) -> bool {
    request.focus.as_deref().is_some_and(|focus| !focus.trim().is_empty())
}

fn find<'a>(
    methods: &'a [Arc<dyn CompactionMethod>],
    name: &MethodId,
) -> Option<&'a Arc<dyn CompactionMethod>> {
    methods.iter().find(|method| method.id() == *name)
}

/// What events call a method. `soft` has a name of its own there.
pub(crate) fn action(method: &MethodId) -> String {
    if *method == "soft" { "context-full".to_owned() } else { method.to_string() }
}
