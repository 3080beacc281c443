//! Diagnostics of the language and of its functions.

diag::codes! {
}
