//! Diagnostics of parameters and their constraints.

diag::codes! {
    INVALID_CONSTRAINT = Error "invalid-constraint": "a constraint is malformed, or not for this type";
    UNKNOWN_CONSTRAINT = Error "unknown-constraint": "there is no such custom constraint";
    CONSTRAINT_IGNORED = Warning "constraint-ignored": "of several kinds in one constraint only one counts";
    INVALID_DEFAULT = Error "invalid-default": "a default does not fit its own parameter";
    NOT_CHECKED_OFFLINE = Note "not-checked-offline": "a constraint that only the cloud can check";
}
