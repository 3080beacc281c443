//! Size limits of documents.

/// The maximum size of a text in bytes that a caller can allow: 32 MiB. Larger texts are not
/// parsed.
pub const MAX_BYTES: usize = 32 << 20;

/// The maximum size of a text in bytes unless a setting says otherwise: 16 MiB.
pub const USUAL_BYTES: usize = 16 << 20;

/// The maximum number of nodes of a tree, including the copies made by aliases.
pub const MAX_NODES: usize = 1_000_000;

/// The maximum number of nodes that aliases may add: a small text must not become a huge tree.
pub const MAX_COPIED: usize = 250_000;

/// The maximum nesting depth of lists and maps.
pub const MAX_DEPTH: usize = 255;
