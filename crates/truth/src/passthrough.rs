//! What a gateway without a render body publishes for an event.

use prose_ir::Contract;
use serde_json::{Map, Value};

use crate::region_key;

/// The key of an event that the contract gives no place of its own.
const DEFAULT_KEY: &str = "event";

/// The document that `event` becomes under `contract`.
///
/// An object whose keys are all declared (fields, facets, families by the key of their region) is
/// taken as it is. Any other event, the empty object included, is put under the one declared
/// field, or where there is none, the one declared facet that is no family; else under `event`.
pub fn admit(contract: &Contract, event: Value) -> Value {
    if let Value::Object(members) = &event
        && !members.is_empty()
        && members.keys().all(|key| is_declared(contract, key))
    {
        return event;
    }
    let mut document = Map::new();
    document.insert(place(contract).to_owned(), event);
    Value::Object(document)
}

fn is_declared(contract: &Contract, key: &str) -> bool {
    let mut regions = contract.facets.iter().map(|facet| region_key(facet));
    contract.fields.iter().any(|field| field == key) || regions.any(|region| region == key)
}

fn place(contract: &Contract) -> &str {
    match (&contract.fields[..], &contract.facets[..]) {
        ([field], _) => field,
        ([], [facet]) if region_key(facet) == facet => facet,
        _ => DEFAULT_KEY,
    }
}
