//! Diagnostics about catalogues and hosted packages.

diag::codes! {
    PLUGIN_UNAVAILABLE = Error "plugin-unavailable": "the plugin of a package cannot be used";
    INVALID_CATALOG = Error "invalid-catalog": "a provider's catalogue contradicts itself or another";
}
