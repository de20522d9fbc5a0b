//! What values a key takes.

use toml::Value;

/// What values a key takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `true` or `false`.
    Flag,
    /// A whole number of at least this.
    Whole {
        /// The least.
        min: i64,
    },
    /// Any number.
    Number,
    /// Text.
    Text,
    /// One of these texts. Where they include `none` and `all`, `false` and `true` say the same.
    Choice(&'static [&'static str]),
    /// A list of texts.
    Texts,
    /// Request headers: a table of texts. Names that carry keys are refused.
    Headers,
    /// A list of models.
    Models,
}

/// Headers that carry a key.
const KEY_HEADERS: &[&str] =
    &["authorization", "proxy-authorization", "x-api-key", "api-key", "x-goog-api-key", "cookie"];

impl Kind {
    /// What is expected, to follow "must be".
    pub fn expected(self) -> String {
        match self {
            Self::Flag => "`true` or `false`".into(),
            Self::Whole { min } => format!("a whole number of at least {min}"),
            Self::Number => "a number".into(),
            Self::Text => "a text that is not empty".into(),
            Self::Choice(choices) => {
                let quoted: Vec<_> = choices.iter().map(|choice| format!("`{choice}`")).collect();
                format!("one of {}", quoted.join(", "))
            }
            Self::Texts => "a list of texts".into(),
            Self::Headers => "a table of texts, without headers that carry a key".into(),
            Self::Models => "a list of tables, each with an `id` and known members".into(),
        }
    }

    /// The value in the form that is kept, or `None` where it is not of this kind.
    pub(crate) fn accept(self, value: Value) -> Option<Value> {
        let fits = match (self, &value) {
            (Self::Flag, Value::Boolean(_)) => true,
            (Self::Whole { min }, Value::Integer(number)) => *number >= min,
            (Self::Number, Value::Integer(number)) => return Some(Value::Float(*number as f64)),
            (Self::Number, Value::Float(number)) => number.is_finite(),
            (Self::Text, Value::String(text)) => !text.is_empty(),
            (Self::Choice(choices), Value::String(text)) => choices.contains(&text.as_str()),
            (Self::Choice(choices), Value::Boolean(is_on)) => {
                return amount(choices, *is_on).map(Value::from);
            }
            (Self::Texts, Value::Array(items)) => items.iter().all(Value::is_str),
            (Self::Headers, Value::Table(table)) => table.iter().all(|(name, value)| {
                value.is_str() && !KEY_HEADERS.contains(&name.to_ascii_lowercase().as_str())
            }),
            (Self::Models, Value::Array(_)) => {
                value.clone().try_into::<Vec<super::values::ModelSettings>>().is_ok()
            }
            _ => false,
        };
        fits.then_some(value)
    }

    /// A value written on a command line or in a variable: bare text where the kind allows it, else TOML. A list may be
    /// written with commas.
    pub(crate) fn read(self, text: &str) -> Option<Value> {
        let written = toml_value(text);
        let value = match self {
            Self::Choice(choices) => {
                let is_amount = |value: &Value| {
                    value.as_bool().is_some_and(|is_on| amount(choices, is_on).is_some())
                };
                written
                    .filter(|value| value.is_str() || is_amount(value))
                    .unwrap_or_else(|| Value::String(text.into()))
            }
            Self::Text => {
                written.filter(Value::is_str).unwrap_or_else(|| Value::String(text.into()))
            }
            Self::Texts => written.filter(Value::is_array).unwrap_or_else(|| {
                let items = text.split(',').map(str::trim).filter(|item| !item.is_empty());
                Value::Array(items.map(Value::from).collect())
            }),
            Self::Flag | Self::Whole { .. } | Self::Number | Self::Headers | Self::Models => {
                written?
            }
        };
        self.accept(value)
    }

    /// The value as it may be shown. Values of headers may be secrets.
    pub(crate) fn shown(self, value: &Value) -> String {
        match (self, value) {
            (Self::Headers, Value::Table(table)) => {
                let names: Vec<_> = table.keys().map(|name| format!("{name} = \"…\"")).collect();
                format!("{{ {} }}", names.join(", "))
            }
            _ => value.to_string(),
        }
    }
}

/// What a flag says where how much can be chosen: all or nothing.
fn amount(choices: &[&'static str], is_on: bool) -> Option<&'static str> {
    let has_both = choices.contains(&"none") && choices.contains(&"all");
    has_both.then_some(if is_on { "all" } else { "none" })
}

/// A TOML value on its own.
pub(crate) fn toml_value(text: &str) -> Option<Value> {
    toml::from_str::<toml::Table>(&format!("value = {text}")).ok()?.remove("value")
}
