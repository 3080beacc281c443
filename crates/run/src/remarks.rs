//! Remarks of providers on their settings, reported when their sessions were opened.
//!
//! A session is shared, and all its users get the same diagnostics, so each remark is kept once.
//! Not here: reporting them (`plan::provider_diagnostics`).

use std::sync::{Arc, Mutex, PoisonError};

use evaluate::question::SettingsRemark;

/// The remarks of a run. A shell and its clones share them.
#[derive(Clone, Debug, Default)]
pub struct Remarks(Arc<Mutex<Noted>>);

#[derive(Debug, Default)]
struct Noted {
    all: Vec<SettingsRemark>,
    /// The number of remarks that were taken.
    taken: usize,
}

impl Remarks {
    /// Adds remarks that are not there yet.
    pub(crate) fn note(&self, remarks: impl IntoIterator<Item = SettingsRemark>) {
        let mut noted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for remark in remarks {
            if !noted.all.contains(&remark) {
                noted.all.push(remark);
            }
        }
    }

    /// Returns the remarks that were not taken before.
    pub(crate) fn take(&self) -> Vec<SettingsRemark> {
        let mut noted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let new = noted.all[noted.taken..].to_vec();
        noted.taken = noted.all.len();
        new
    }
}
