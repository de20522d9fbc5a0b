//! Warnings about limits that cannot work: said when a session opens, before they cost anything.

use longhand_agent::handle::Live;
use longhand_compaction::{Options, threshold};
use longhand_session::MethodId;

/// What is wrong with the window, the threshold and the order of methods, one line each.
pub(super) fn warnings(live: &Live, options: &Options, built_in: &[MethodId]) -> Vec<String> {
    if !options.enabled || options.method_order.is_empty() {
        return Vec::new();
    }
    let mut warnings = Vec::new();
    if !options.method_order.iter().any(|method| built_in.contains(method)) {
        let names: Vec<_> = built_in.iter().map(|method| format!("`{method}`")).collect();
        warnings.push(format!(
            "`compaction.methodOrder` names no method that there is: the context will not be compacted; there are: {}",
            names.join(", ")
        ));
    }
    let model = live.client.model();
    let Some(window) = model.context_window.filter(|window| *window > 0) else {
        warnings.push(format!(
            "the context window of `{}` is not known: it will not be compacted by itself; set `contextWindow` in `models.toml`",
            model.reference()
        ));
        return warnings;
    };
    if options.threshold_tokens >= window as f64 {
        warnings.push(format!(
            "`compaction.thresholdTokens` is not below the context window of `{}`, {window} tokens",
            model.reference()
        ));
    }
    let threshold = threshold::resolve(window, options);
    if threshold <= live.non_message_tokens {
        warnings.push(format!(
            "system prompt and tools take {} tokens, and compaction starts above {threshold}: it cannot help; choose fewer tools, a larger window or another threshold",
            live.non_message_tokens
        ));
    }
    warnings
}
