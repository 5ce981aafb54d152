//! Canonical bytes with and without a signature.
//!
//! Sealing is on the path of every event, so the general canonicalizer, which sorts and copies
//! every object, is kept for what needs it. A property test holds both ways equal.

use std::collections::BTreeMap;

use prose_ir::Fingerprint;
use serde::{Serialize, Serializer, de::DeserializeOwned};

use crate::{Receipt, ReceiptError, Sig};

/// The canonical bytes of a receipt without its signature.
pub(crate) fn receipt(receipt: &Receipt) -> Result<Vec<u8>, ReceiptError> {
    let free_form = receipt.failure.as_ref().is_some_and(|failure| failure.needs.is_some());
    let bytes = if free_form {
        serde_json_canonicalizer::to_vec(receipt)
    } else {
        serde_json::to_vec(receipt)
    };
    bytes.map_err(|error| ReceiptError::Malformed(error.to_string()))
}

/// Writes a map in the order of canonical JSON, which compares UTF-16 units. It differs from that
/// of text only beyond the basic plane, so sorting is rarely needed.
pub(crate) fn by_utf16<S: Serializer>(
    map: &BTreeMap<String, Fingerprint>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    const FIRST_BYTE_BEYOND_BASIC_PLANE: u8 = 0xf0;
    let is_plain = |key: &String| key.bytes().all(|b| b < FIRST_BYTE_BEYOND_BASIC_PLANE);
    if map.keys().all(is_plain) {
        return serializer.collect_map(map);
    }
    let mut entries: Vec<_> = map.iter().collect();
    entries.sort_by(|(a, _), (b, _)| a.encode_utf16().cmp(b.encode_utf16()));
    serializer.collect_map(entries)
}

/// Where the signature belongs in canonical bytes: before the member that sorts after `sig`.
///
/// `after` is how that member begins, such as `,"status":"`. Looking from the end is exact,
/// because inside text a quotation mark is escaped, and no object behind that member has one of
/// its name.
fn place(bytes: &[u8], after: &[u8]) -> Option<usize> {
    bytes.windows(after.len()).rposition(|window| window == after)
}

/// Puts `sig` into the canonical bytes of an object without one.
pub(crate) fn with_sig(body: &[u8], after: &[u8], sig: &Sig) -> Result<Vec<u8>, ReceiptError> {
    let malformed = |text: &str| ReceiptError::Malformed(text.to_owned());
    let place = place(body, after).ok_or_else(|| malformed("a member is missing"))?;
    let sig = serde_json::to_vec(sig).map_err(|error| malformed(&error.to_string()))?;
    let mut bytes = Vec::with_capacity(body.len() + SIG.len() + sig.len());
    bytes.extend_from_slice(&body[..place]);
    bytes.extend_from_slice(SIG);
    bytes.extend_from_slice(&sig);
    bytes.extend_from_slice(&body[place..]);
    Ok(bytes)
}

const SIG: &[u8] = b",\"sig\":";

/// Takes canonical bytes apart into the object without signature, its bytes, and the signature.
///
/// What `write` makes of the object must give the same bytes again: there is one form only.
pub(crate) fn take_apart<T: DeserializeOwned>(
    bytes: &[u8],
    after: &[u8],
    write: impl Fn(&T) -> Result<Vec<u8>, ReceiptError>,
) -> Result<(T, Vec<u8>, Sig), ReceiptError> {
    let split = place(bytes, after)
        .and_then(|end| Some((place(&bytes[..end], SIG)?, end)))
        .ok_or_else(|| not_canonical_or("`sig` is not where it belongs", bytes))?;
    let (start, end) = split;
    let sig: Sig = serde_json::from_slice(&bytes[start + SIG.len()..end])
        .map_err(|error| not_canonical_or(&format!("`sig`: {error}"), bytes))?;
    let body = [&bytes[..start], &bytes[end..]].concat();
    let value: T = serde_json::from_slice(&body)
        .map_err(|error| ReceiptError::Malformed(error.to_string()))?;
    if write(&value)? != body || with_sig(&body, after, &sig)? != bytes {
        return Err(ReceiptError::NotCanonical);
    }
    Ok((value, body, sig))
}

/// Tells bytes that only look different from bytes that are something else.
fn not_canonical_or(problem: &str, bytes: &[u8]) -> ReceiptError {
    match prose_truth::json::strict::parse(bytes) {
        Ok(value) if prose_truth::json::canonical(&value) != bytes => ReceiptError::NotCanonical,
        Ok(_) => ReceiptError::Malformed(problem.to_owned()),
        Err(error) => ReceiptError::Malformed(error.to_string()),
    }
}

/// Canonical bytes of a value whose members stand in order.
pub(crate) fn in_order(value: &impl Serialize) -> Result<Vec<u8>, ReceiptError> {
    serde_json::to_vec(value).map_err(|error| ReceiptError::Malformed(error.to_string()))
}
