//! How values of the store become values of SQLite.

use prose_ir::Address;

use crate::Error;

/// SQLite counts to 2^63 only; nothing we count gets there, but a bound of a range may be `MAX`.
pub(super) fn int(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// Back from [`int`]; a negative number is never written.
pub(super) fn count(value: i64) -> u64 {
    u64::try_from(value).unwrap_or_default()
}

/// The 32 bytes of an address.
pub(super) fn address_bytes(address: &Address) -> Result<[u8; 32], Error> {
    let digits = address.as_str().rsplit(':').next().unwrap_or_default();
    let hash =
        blake3::Hash::from_hex(digits).map_err(|error| Error::Failed { source: error.into() })?;
    Ok(*hash.as_bytes())
}

/// The address of 32 bytes.
pub(super) fn address_of(bytes: [u8; 32]) -> Address {
    Address::from_hash(blake3::Hash::from_bytes(bytes))
}

/// The start of an address, by which the indexes find it.
pub(super) fn short(address: &[u8; 32]) -> &[u8] {
    &address[..4]
}

/// The lowest and highest address that starts with these hexadecimal digits, `blake3:` before
/// them or not; `None` when the text is no such prefix.
pub(super) fn prefix_range(prefix: &str) -> Option<([u8; 32], [u8; 32])> {
    let digits = prefix.strip_prefix("blake3:").unwrap_or(prefix);
    if digits.is_empty() || digits.len() > 64 {
        return None;
    }
    let (mut low, mut high) = ([0u8; 32], [0xFFu8; 32]);
    for (place, digit) in digits.bytes().enumerate() {
        let value = match digit {
            b'0'..=b'9' => digit - b'0',
            b'a'..=b'f' => digit - b'a' + 10,
            _ => return None,
        };
        let (shift, keep) = if place % 2 == 0 { (4, 0x0F) } else { (0, 0xF0) };
        for bound in [&mut low, &mut high] {
            bound[place / 2] = bound[place / 2] & keep | value << shift;
        }
    }
    Some((low, high))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_is_a_range_of_addresses() {
        let (low, high) = prefix_range("blake3:ab1").unwrap();
        assert_eq!((low[0], low[1], low[2]), (0xAB, 0x10, 0x00));
        assert_eq!((high[0], high[1], high[2]), (0xAB, 0x1F, 0xFF));
        let address = Address::of(b"x");
        let whole = prefix_range(address.as_str()).unwrap();
        assert_eq!(whole.0, whole.1);
        assert_eq!(address_of(address_bytes(&address).unwrap()), address);
        for bad in ["", "blake3:", "xyz", "AB", "é", &"0".repeat(65)] {
            assert_eq!(prefix_range(bad), None, "{bad}");
        }
    }
}
