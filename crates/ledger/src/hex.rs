//! Bytes as lower-case hexadecimal digits.

/// `bytes` as text.
pub(crate) fn encode(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        text.push(char::from(DIGITS[usize::from(byte >> 4)]));
        text.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
    text
}

/// The `N` bytes that `text` stands for; `None` for any other text, upper case included.
pub(crate) fn decode<const N: usize>(text: &str) -> Option<[u8; N]> {
    if text.len() != 2 * N {
        return None;
    }
    let mut bytes = [0; N];
    for (byte, pair) in bytes.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
        *byte = digit(pair[0])? << 4 | digit(pair[1])?;
    }
    Some(bytes)
}

fn digit(byte: u8) -> Option<u8> {
    match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_round_trip_in_one_spelling_only() {
        assert_eq!(encode(&[0, 0x1f, 0xa0]), "001fa0");
        assert_eq!(decode("001fa0"), Some([0, 0x1f, 0xa0]));
        for bad in ["001FA0", "001fa", "001fa0 ", "001fag"] {
            assert_eq!(decode::<3>(bad), None);
        }
    }
}
