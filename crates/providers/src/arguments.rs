//! Reads the arguments of a tool call, which models write as JSON and sometimes write badly.
//!
//! Mends what is certain: a cut-off end, raw control characters and unknown escapes in strings, an object inside a string,
//! closing brackets too many. Never guesses content: what stays unreadable becomes an object that tells the tool's validation, and
//! so the model, what was wrong.

use serde_json::{Map, Value, json};

/// Most of the unreadable text that is shown back to the model.
const MAX_SHOWN_CHARS: usize = 512;

/// The arguments as an object. Empty text is an empty object. Linear in the text.
pub(crate) fn read(text: &str) -> Map<String, Value> {
    let trimmed = text.trim();
    if trimmed.is_empty() {
        return Map::new();
    }
    let problem = match parse(trimmed) {
        Ok(object) => return object,
        Err(problem) => problem,
    };
    mend(trimmed).unwrap_or_else(|| unreadable(&problem, text))
}

fn parse(text: &str) -> Result<Map<String, Value>, String> {
    match serde_json::from_str(text) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(Value::Null) => Ok(Map::new()),
        Ok(Value::String(inner)) => match serde_json::from_str(&inner) {
            Ok(Value::Object(object)) => Ok(object),
            _ => Err("arguments must be a JSON object, not a string".into()),
        },
        Ok(_) => Err("arguments must be a JSON object".into()),
        Err(error) => Err(error.to_string()),
    }
}

fn unreadable(problem: &str, text: &str) -> Map<String, Value> {
    let shown: String = text.chars().take(MAX_SHOWN_CHARS).collect();
    let Value::Object(object) = json!({ "__parseError": problem, "__rawJson": shown }) else {
        return Map::new();
    };
    object
}

/// Text that was read so far, and how it could be ended.
#[derive(Default)]
struct Mended {
    text: String,
    /// Closing brackets that are due, outermost first.
    closers: Vec<char>,
    in_string: bool,
    /// Length and open brackets at the last place where an end would be valid.
    safe: (usize, usize),
}

fn mend(text: &str) -> Option<Map<String, Value>> {
    let mut mended = Mended::default();
    let mut chars = text.chars().peekable();
    while let Some(letter) = chars.next() {
        if mended.in_string {
            mended.string_letter(letter, &mut chars);
        } else if mended.is_complete() {
            // Only closing brackets may follow the whole object: anything else may be a second one.
            if !matches!(letter, '}' | ']') && !letter.is_whitespace() {
                return None;
            }
        } else {
            mended.structure_letter(letter)?;
        }
    }
    mended.endings().into_iter().find_map(|ending| parse(&ending).ok())
}

impl Mended {
    fn is_complete(&self) -> bool {
        self.closers.is_empty() && !self.text.is_empty()
    }

    fn string_letter(&mut self, letter: char, rest: &mut std::iter::Peekable<std::str::Chars<'_>>) {
        match letter {
            '"' => {
                self.in_string = false;
                self.text.push('"');
            }
            '\\' => match rest.peek() {
                Some('"' | '\\' | '/' | 'b' | 'f' | 'n' | 'r' | 't' | 'u') => {
                    self.text.push('\\');
                    self.text.extend(rest.next());
                }
                // An escape that JSON does not have, such as `\d` of a regular expression.
                Some(_) => self.text.push_str("\\\\"),
                None => {}
            },
            control if control < ' ' => {
                // Control characters are below 32: two hexadecimal digits hold them.
                self.text.push_str("\\u00");
                self.text.extend([4, 0].map(|shift| hex_digit(u32::from(control) >> shift)));
            }
            other => self.text.push(other),
        }
    }

    fn structure_letter(&mut self, letter: char) -> Option<()> {
        match letter {
            '"' => self.in_string = true,
            '{' => self.closers.push('}'),
            '[' => self.closers.push(']'),
            '}' | ']' if self.closers.pop() != Some(letter) => return None,
            ',' => self.mark_safe(),
            _ => {}
        }
        self.text.push(letter);
        if matches!(letter, '{' | '[' | '}' | ']') {
            self.mark_safe();
        }
        Some(())
    }

    fn mark_safe(&mut self) {
        self.safe = (self.text.len(), self.closers.len());
    }

    /// The text with an end: first with all that came, then without the piece that was cut.
    fn endings(&self) -> [String; 2] {
        let mut whole = self.text.clone();
        if self.in_string {
            let cut_escape =
                whole.rfind("\\u").filter(|at| whole.len() - at < 6 && is_escape(&whole, *at));
            whole.truncate(cut_escape.unwrap_or(whole.len()));
            whole.push('"');
        }
        whole.extend(self.closers.iter().rev());
        let (len, open) = self.safe;
        let mut safe = self.text[..len].to_owned();
        // Brackets opened after the safe place were cut off with it, and none was closed since: it would have been safer.
        safe.extend(self.closers.iter().take(open).rev());
        [whole, safe]
    }
}

fn hex_digit(value: u32) -> char {
    char::from_digit(value & 0xf, 16).unwrap_or('0')
}

/// Whether the backslash at `at` begins an escape, and is not the second half of an escaped backslash.
fn is_escape(text: &str, at: usize) -> bool {
    text[..at].bytes().rev().take_while(|byte| *byte == b'\\').count() % 2 == 0
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::read;

    #[test]
    fn damaged_arguments_are_mended_where_that_is_certain() {
        for (text, expected) in [
            (r#"{"a":1}"#, json!({"a": 1})),
            ("", json!({})),
            (" \n", json!({})),
            ("null", json!({})),
            (r#""{\"a\":1}""#, json!({"a": 1})),
            (r#"{"a":"b"#, json!({"a": "b"})),
            (r#"{"a":"b\"#, json!({"a": "b"})),
            (r#"{"a":"b\u00"#, json!({"a": "b"})),
            (r#"{"a":"b\\u00"#, json!({"a": "b\\u00"})),
            (r#"{"a":[1,2"#, json!({"a": [1, 2]})),
            (r#"{"a":[1,{"b":"#, json!({"a": [1, {}]})),
            (r#"{"a":"x","b"#, json!({"a": "x"})),
            (r#"{"a":"x","b":"#, json!({"a": "x"})),
            (r#"{"a":"x","b":tru"#, json!({"a": "x"})),
            (r#"{"a":"x","#, json!({"a": "x"})),
            (r#"{"a":"#, json!({})),
            ("{\"a\":\"x\ny\tz\"}", json!({"a": "x\ny\tz"})),
            (r#"{"re":"\d+"}"#, json!({"re": "\\d+"})),
            (r#"{"a":1}}]"#, json!({"a": 1})),
        ] {
            assert_eq!(Value::Object(read(text)), expected, "{text}");
        }
    }

    #[test]
    fn unreadable_arguments_are_told_to_the_model() {
        for text in ["ls -la", "[1]", "3", r#"{"a":1}{"b":2}"#, r#"{"a":1]"#, "{a:1}", r#""text""#]
        {
            let object = read(text);
            assert_eq!(object["__rawJson"], text, "{text}");
            assert!(!object["__parseError"].as_str().unwrap().is_empty(), "{text}");
        }
        let long = "x".repeat(10_000);
        assert_eq!(read(&long)["__rawJson"].as_str().unwrap().len(), 512);
    }

    #[test]
    fn no_prefix_of_a_call_is_unreadable() {
        let text = r#"{"path":"ü/a.rs","edits":[{"old":"a\n\"b\"","new":"\u00e4","n":-1.5e3},true,null],"x":{}}"#;
        for (at, _) in text.char_indices() {
            assert!(!read(&text[..at]).contains_key("__parseError"), "cut at {at}");
        }
    }

    #[test]
    fn deep_nesting_is_refused_and_not_a_crash() {
        assert!(read(&"[".repeat(200_000)).contains_key("__parseError"));
    }
}
