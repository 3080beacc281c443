//! When existing objects are read.

/// Whether a plan reads the recorded objects, if the user has not said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reads {
    /// Every plan reads them, so it shows what others have changed.
    BeforePlans,
    /// They are read only on request, as the dialect's original tool does.
    OnRequest,
}
