//! Why something is no receipt or head.

/// What is wrong with a receipt or a head, or with the bytes of one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReceiptError {
    /// A number that canonical JSON cannot hold.
    #[error("`{0}` is beyond 2^53-1")]
    NumberRange(&'static str),
    /// The fields contradict each other.
    #[error("it breaks the rule that {0}")]
    Inconsistent(&'static str),
    /// Not the JSON of a receipt or head.
    #[error("malformed: {0}")]
    Malformed(String),
    /// The right JSON in other bytes than the canonical ones.
    #[error("the bytes are not in canonical form")]
    NotCanonical,
}

impl ReceiptError {
    /// Stable code for people and programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NumberRange(_) => "receipt_number_range",
            Self::Inconsistent(_) => "receipt_inconsistent",
            Self::Malformed(_) => "receipt_malformed",
            Self::NotCanonical => "receipt_not_canonical",
        }
    }
}
