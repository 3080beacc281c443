//! Sealing secrets (to be completed): keys, and values sealed for places that outlive the process.

use std::sync::Arc;

/// Seals and opens secrets with one key, or without one cannot.
#[derive(Clone, Default)]
pub struct Sealer {
    key: Option<Arc<[u8; 32]>>,
}

impl Sealer {
    /// Cannot seal: storing a secret fails with `NoKey`.
    pub fn none() -> Sealer {
        Sealer::default()
    }

    /// Seals with this key.
    pub fn with_key(key: [u8; 32]) -> Sealer {
        Sealer { key: Some(Arc::new(key)) }
    }

    /// Whether there is a key.
    pub fn can_seal(&self) -> bool {
        self.key.is_some()
    }
}
