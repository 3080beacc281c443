//! The setting `compat` of the dialect (decisions/cartographer#the-setting-compat).

/// Whose behaviour counts where a document means something else upstream. Each difference has a
/// lint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compat {
    /// Ours.
    #[default]
    Ours,
    /// That of Cartographer 0.8.
    Upstream,
}

impl Compat {
    /// Whether upstream's behaviour counts.
    pub fn is_upstream(self) -> bool {
        self == Compat::Upstream
    }
}
