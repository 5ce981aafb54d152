//! The material form of a value: what does not count dropped, what is equal made the same.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Number, Value};

use super::rules::{Mode, Rules};
use crate::json::{MAX_SAFE_INTEGER, canonical};

impl Rules {
    /// The material form of a region; `None` when nothing in it counts.
    ///
    /// `name` is the member that the region is, where it is one: a rule for that name reaches it.
    /// Applying it to its own result changes nothing.
    pub(super) fn apply(&self, region: &Value, name: Option<&str>) -> Option<Value> {
        let is_named = |only: &BTreeSet<String>| name.is_some_and(|name| only.contains(name));
        let pick = match self.only() {
            Some(only) if !is_named(only) => Pick::Named,
            _ => Pick::All,
        };
        let mode = name.map_or(self.top(), |name| self.at_member(name, self.top()));
        self.value(region, mode, pick)
    }

    fn value(&self, value: &Value, mode: Mode, pick: Pick) -> Option<Value> {
        match value {
            Value::Object(members) => self.object(members, mode, pick),
            Value::Array(items) => self.array(items, mode, pick),
            _ if pick == Pick::Named => None,
            Value::String(text) => Some(Value::String(normal_text(text, mode))),
            Value::Number(number) => Some(Value::Number(normal_number(number, mode))),
            Value::Null | Value::Bool(_) => Some(value.clone()),
        }
    }

    fn object(&self, members: &Map<String, Value>, mode: Mode, pick: Pick) -> Option<Value> {
        let mut form = Map::new();
        for (name, value) in members {
            if self.is_immaterial(name) {
                continue;
            }
            let pick = match (pick, self.only()) {
                (Pick::Named, Some(only)) if !only.contains(name) => Pick::Named,
                _ => Pick::All,
            };
            if let Some(value) = self.value(value, self.at_member(name, mode), pick) {
                form.insert(name.clone(), value);
            }
        }
        (pick == Pick::All || !form.is_empty()).then_some(Value::Object(form))
    }

    fn array(&self, items: &[Value], mode: Mode, pick: Pick) -> Option<Value> {
        let forms = items.iter().filter_map(|item| self.value(item, mode, pick));
        let forms: Vec<Value> = if mode.unordered {
            let set: BTreeMap<Vec<u8>, Value> =
                forms.map(|form| (canonical(&form), form)).collect();
            set.into_values().collect()
        } else {
            forms.collect()
        };
        (pick == Pick::All || !forms.is_empty()).then_some(Value::Array(forms))
    }
}

/// Whether everything at a place counts, or only what lies in a member named by `only`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pick {
    All,
    Named,
}

fn normal_text(text: &str, mode: Mode) -> String {
    if mode.exact {
        return text.to_owned();
    }
    let mut normal = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !normal.is_empty() {
            normal.push(' ');
        }
        normal.push_str(word);
    }
    if mode.case_insensitive {
        // Through upper case first, which joins what lower case alone keeps apart (ß and ss).
        normal = normal.to_uppercase().to_lowercase();
    }
    normal
}

fn normal_number(number: &Number, mode: Mode) -> Number {
    match (mode.quantum, number.as_f64()) {
        (Some(quantum), Some(value)) => {
            let rounded = to_nearest(value, quantum);
            number_of(rounded).unwrap_or_else(|| number.clone())
        }
        _ => number.clone(),
    }
}

/// Beyond this many steps a nudge by rounding error would be felt.
const NUDGED_STEPS_MAX: f64 = (1u64 << 40) as f64;

/// From here on a double cannot tell steps apart, so there is nothing to round.
const STEPS_MAX: f64 = (1u64 << 49) as f64;

/// The multiple of `quantum` nearest to `value`, halves away from zero.
///
/// Decimal halves count as halves although a double only comes near them: 0.15 to the nearest 0.1
/// is 0.2, so the number of steps is nudged away from zero by a few units in the last place.
fn to_nearest(value: f64, quantum: f64) -> f64 {
    let steps = value / quantum;
    if steps.abs() >= STEPS_MAX {
        return value;
    }
    let nudged =
        if steps.abs() < NUDGED_STEPS_MAX { steps * (1.0 + 4.0 * f64::EPSILON) } else { steps };
    nudged.round() * quantum
}

fn number_of(value: f64) -> Option<Number> {
    if value.fract() == 0.0 && value.abs() <= MAX_SAFE_INTEGER as f64 {
        Some((value as i64).into())
    } else {
        Number::from_f64(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use prose_ir::{Rule, RuleKind};

    #[test]
    fn halves_round_away_from_zero_also_where_a_double_misses_them() {
        for (value, quantum, rounded) in [
            (0.15, 0.1, 0.2),
            (-0.15, 0.1, -0.2),
            (1.005, 0.01, 1.01),
            (2.5, 1.0, 3.0),
            (-2.5, 1.0, -3.0),
            (0.149, 0.1, 0.1),
            (1_249.0, 500.0, 1_000.0),
            (1_250.0, 500.0, 1_500.0),
            (0.04, 0.1, 0.0),
        ] {
            let got = to_nearest(value, quantum);
            assert!((got - rounded).abs() < 1e-12, "{value} to {quantum}: {got}");
        }
        assert_eq!(to_nearest(1e300, 1e-300), 1e300);
        assert_eq!(number_of(to_nearest(-0.04, 0.1)), Some(0.into()));
    }

    fn any_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<i32>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            (-10.0..10.0f64).prop_map(Value::from),
            ".{0,6}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 24, 4, |inner| {
            let key = prop::sample::select(vec!["a", "b", "c", "d"]).prop_map(str::to_owned);
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::vec((key, inner), 0..4)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    fn any_rules() -> impl Strategy<Value = Rules> {
        let field = prop::sample::select(vec![None, Some("a"), Some("b"), Some("c")]);
        let kind = prop_oneof![
            Just(RuleKind::Unordered),
            Just(RuleKind::CaseInsensitive),
            Just(RuleKind::Exact),
            prop::sample::select(vec![1e-300, 0.01, 0.1, 0.3, 1.0, 7.0, 1e300])
                .prop_map(RuleKind::Quantum),
        ];
        let rule =
            (field, kind).prop_map(|(field, kind)| Rule { field: field.map(str::to_owned), kind });
        let only = prop::option::of(Just(vec!["a".to_owned(), "c".to_owned()]));
        (prop::collection::vec(rule, 0..4), only).prop_map(|(rules, only)| {
            let immaterial = ["d".to_owned()];
            Rules::new(immaterial.iter(), only.as_deref(), &rules).unwrap()
        })
    }

    proptest! {
        #[test]
        fn normalizing_twice_changes_nothing(
            value in any_value(),
            rules in any_rules(),
            name in prop::sample::select(vec![None, Some("a"), Some("b")]),
        ) {
            if let Some(once) = rules.apply(&value, name) {
                let twice = rules.apply(&once, name).map(|form| canonical(&form));
                prop_assert_eq!(twice, Some(canonical(&once)));
            }
        }
    }
}
