//! What can be set for templates.
//!
//! Not here: what comes of it.

use crate::Setting;

/// The settings of templates of Heat.
pub(super) const SETTINGS: [Setting; 8] = [
    ("document-bytes", Some((1, i64::MAX))),
    ("resources", Some((1, i64::MAX))),
    ("nesting", Some((1, 16))),
    ("yaql-items", Some((1, 10_000_000))),
    ("yaql-bytes", Some((1, 1 << 40))),
    ("yaql-steps", Some((1, i64::MAX))),
    // Deeper ones would need more room than a thread has.
    ("yaql-depth", Some((1, 200))),
    ("yaql-format", None),
];
