//! Why a patch cannot be applied.

/// Why a patch cannot be applied.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PatchFailure {
    /// The patch does not have the form of its type.
    #[error("{0}")]
    Malformed(String),
    /// The patch does not fit the object.
    #[error("{0}")]
    Unfit(String),
}
