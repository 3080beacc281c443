//! How large a document may be.

/// Bytes of text beyond which a document is not read at all: 32 MiB.
pub const MAX_BYTES: usize = 32 << 20;

/// Nodes that a tree may have, copies made by aliases included.
pub const MAX_NODES: usize = 1_000_000;

/// Nodes that aliases may add to those that are written: a small text must not become a huge tree.
pub const MAX_COPIED: usize = 250_000;

/// Lists and maps that may stand inside each other.
pub const MAX_DEPTH: usize = 255;
