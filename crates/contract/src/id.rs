//! Contract ids: a UUIDv7 as 26 characters of Crockford base32, two padding bits at the end.

const ALPHABET: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const LENGTH: usize = 26;

/// What an `id` turns out to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// A well-formed id.
    Valid,
    /// What a slip of the hand makes of a minted id. Taking it, or dropping it, would silently
    /// give the node another identity.
    Mistyped,
    /// Nothing that was ever minted (a slug, a label): there is no identity to lose.
    Foreign,
}

pub(crate) fn judge(id: &str) -> Verdict {
    if !id.bytes().all(|b| b.is_ascii_alphanumeric()) {
        return Verdict::Foreign;
    }
    let upper = id.to_ascii_uppercase();
    match upper.len() {
        LENGTH if id.bytes().all(in_alphabet) => Verdict::Valid,
        LENGTH => Verdict::Mistyped,
        // One more character in the right place makes an id.
        n if n + 1 == LENGTH => Verdict::Mistyped,
        n if n == LENGTH + 1 && (0..n).any(|at| is_minted(&without(&upper, at))) => {
            Verdict::Mistyped
        }
        _ => Verdict::Foreign,
    }
}

fn in_alphabet(byte: u8) -> bool {
    ALPHABET.contains(&byte)
}

fn without(text: &str, at: usize) -> String {
    let mut text = text.to_owned();
    text.remove(at);
    text
}

/// Whether the 26 characters decode to a UUID of version 7 with empty padding.
fn is_minted(text: &str) -> bool {
    let mut bits = 0u128;
    for (at, byte) in text.bytes().enumerate() {
        let Some(digit) = ALPHABET.iter().position(|a| *a == byte) else {
            return false;
        };
        if at + 1 < LENGTH {
            bits = bits << 5 | digit as u128;
        } else if digit & 0b11 != 0 {
            return false;
        } else {
            bits = bits << 3 | (digit >> 2) as u128;
        }
    }
    bits >> 76 & 0xf == 7 && bits >> 62 & 0b11 == 0b10
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_minted_id_is_valid() {
        assert!(is_minted("067NC4KG01RG50R40M30E20918"));
        assert_eq!(judge("067NC4KG01RG50R40M30E20918"), Verdict::Valid);
    }

    #[test]
    fn one_slip_from_a_minted_id_is_mistyped() {
        for id in [
            "067NC4KG01RG50R40M30E2091O",
            "067nc4kg01rg50r40m30e20918",
            "067NC4KG01RG50R40M30E2091",
            "067NC4KG01RG550R40M30E20918",
        ] {
            assert_eq!(judge(id), Verdict::Mistyped, "{id}");
        }
    }

    #[test]
    fn what_was_never_minted_is_foreign() {
        for id in ["competitor-monitor", "", "067NC4KG01RG50R40M30E2091ZZ", "x"] {
            assert_eq!(judge(id), Verdict::Foreign, "{id}");
        }
    }
}
