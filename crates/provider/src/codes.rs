//! Diagnostics about catalogues.

diag::codes! {
}
