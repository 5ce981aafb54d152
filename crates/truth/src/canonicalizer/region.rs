//! Which part of a document a facet is.

use prose_ir::ATOMIC;
use serde_json::Value;

/// The key of a facet's region: `user` for the family `user:<login>`, else the name itself.
pub fn region_key(facet: &str) -> &str {
    family_key(facet).unwrap_or(facet)
}

fn family_key(facet: &str) -> Option<&str> {
    let (key, parameter) = facet.split_once(':')?;
    (parameter.starts_with('<') && parameter.ends_with('>')).then_some(key)
}

/// What a subscriber of `facet` reads of `document`: all of it for the whole truth, the region for
/// a facet or a family, the member for `user:<key>`. `None` where the document does not have it.
pub fn region(document: &Value, facet: &str) -> Option<Value> {
    if facet == ATOMIC {
        return Some(document.clone());
    }
    let whole = document.get(facet).or_else(|| document.get(family_key(facet)?));
    let member = || {
        let (family, member) = facet.split_once(':')?;
        document.get(family)?.get(member)
    };
    whole.or_else(member).cloned()
}
