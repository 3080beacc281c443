//! Diagnostics of checks, plans and runs.

diag::codes! {
}
