//! JSON as this system reads and writes it: one strict reader for text from outside, one canonical
//! form for everything that is hashed.

mod error;
pub mod strict;

pub use error::{JsonError, Problem};

/// The deepest nesting of arrays and objects that is read; a bare number has depth 0.
pub const MAX_DEPTH: usize = 64;

/// The largest integer that a double holds together with both its neighbours, 2^53 - 1.
pub const MAX_SAFE_INTEGER: u64 = (1 << 53) - 1;

/// The canonical bytes of `value` (RFC 8785): equal values give equal bytes.
#[expect(
    clippy::missing_panics_doc,
    reason = "writing a JSON value to memory fails only for numbers or keys that it cannot hold"
)]
pub fn canonical(value: &serde_json::Value) -> Vec<u8> {
    serde_json_canonicalizer::to_vec(value).expect("a JSON value has finite numbers and text keys")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn canonical_form_sorts_by_utf16_and_writes_numbers_as_doubles() {
        let value = strict::parse(
            "{\"\u{fb33}\":1.0,\"\u{1f600}\":-0,\"b\":[1e2,0.1],\"a\":\"\u{0}\u{7f}\\/\"}"
                .as_bytes(),
        );
        assert!(value.is_err(), "a bare control character is not JSON");
        let value = strict::parse(
            "{\"\u{fb33}\":1.0,\"\u{1f600}\":-0,\"b\":[1e2,0.1],\"a\":\"\\u0000\u{7f}\\/\"}"
                .as_bytes(),
        )
        .unwrap();
        assert_eq!(
            String::from_utf8(canonical(&value)).unwrap(),
            "{\"a\":\"\\u0000\u{7f}/\",\"b\":[100,0.1],\"\u{1f600}\":0,\"\u{fb33}\":1}"
        );
    }
}
