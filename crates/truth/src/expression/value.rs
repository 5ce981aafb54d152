//! Values as expressions see them, and what they cost.

use std::collections::HashMap;

use cel::Value as Cel;
use serde_json::Value as Json;

/// JSON as an expression sees it. Every integer is `int`: the conversion through serde makes
/// `uint` of some, and `self.total + 1` would have no overload.
pub(super) fn from_json(value: &Json) -> Cel {
    match value {
        Json::Null => Cel::Null,
        Json::Bool(value) => Cel::Bool(*value),
        Json::Number(number) => match number.as_i64() {
            Some(integer) => Cel::Int(integer),
            None => Cel::Float(number.as_f64().unwrap_or(f64::NAN)),
        },
        Json::String(text) => text.as_str().into(),
        Json::Array(items) => Cel::List(items.iter().map(from_json).collect::<Vec<_>>().into()),
        Json::Object(members) => {
            let members = members.iter().map(|(key, value)| (key.clone(), from_json(value)));
            Cel::Map(members.collect::<HashMap<_, _>>().into())
        }
    }
}

/// A map as the sorted list of its keys, so that ranging over it has one order; others as is.
pub(super) fn ordered(value: Cel) -> Cel {
    let Cel::Map(map) = value else { return value };
    let mut keys: Vec<_> = map.map.keys().collect();
    keys.sort();
    Cel::List(keys.into_iter().map(Cel::from).collect::<Vec<_>>().into())
}

/// Bytes of text that cost one step.
const TEXT_BYTES_PER_STEP: usize = 64;

/// Steps that passing `value` on costs: its size, since it may be copied.
pub(super) fn cost(value: &Cel) -> i64 {
    let parts = match value {
        Cel::String(text) => steps(text.len() / TEXT_BYTES_PER_STEP),
        Cel::Bytes(bytes) => steps(bytes.len() / TEXT_BYTES_PER_STEP),
        Cel::List(items) => items.iter().map(cost).sum(),
        #[expect(clippy::iter_over_hash_type, reason = "a sum has no order")]
        Cel::Map(map) => {
            let mut sum = 0;
            for value in map.map.values() {
                sum += 1 + cost(value);
            }
            sum
        }
        _ => 0,
    };
    1 + parts
}

fn steps(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
