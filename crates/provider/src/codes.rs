//! Diagnostics about catalogues.

diag::codes! {
    INVALID_CATALOG = Error "invalid-catalog": "a provider's catalogue contradicts itself or another";
}
