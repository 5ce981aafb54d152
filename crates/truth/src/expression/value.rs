//! Values as expressions see them.

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
