//! Reads the golden cases of `tests/data/`.

use std::path::Path;

use serde_json::Value;

/// The cases under `key` of a file.
pub(crate) fn cases(file: &str, key: &str) -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data/compaction")
        .join(file)
        .with_extension("json");
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let mut data: Value = serde_json::from_str(&text).unwrap();
    let Value::Array(cases) = data[key].take() else { panic!("{file} has no list `{key}`") };
    assert!(!cases.is_empty(), "{file}: `{key}` is empty");
    cases
}
