//! Files of a truth as JSON values.

use serde_json::{Value, json};

/// The JSON that `content` is, where the name says so and it is; else its text, or how many bytes
/// it has.
pub(crate) fn json_or_text(path: &str, content: &[u8]) -> Value {
    if path.ends_with(".json")
        && let Ok(value) = serde_json::from_slice(content)
    {
        return value;
    }
    match std::str::from_utf8(content) {
        Ok(text) => json!(text),
        Err(_) => json!(format!("({} bytes)", content.len())),
    }
}
