//! Diagnostics that only calls of Heat's functions cause.

diag::codes! {
    PLACEHOLDER_MISSING = Error "placeholder-missing": "a placeholder that does not occur in its template";
    EMPTY_VALUE = Error "empty-value": "a placeholder's value is null or empty where it must not be";
    KEY_COLLISION = Error "key-collision": "two entries would have one key";
}
