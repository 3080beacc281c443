//! Diagnostic codes of plans.

pub use dialect::codes::UNSUPPORTED_FEATURE;
pub use evaluate::codes::{NEEDS_ATTENTION, PROVIDER_FAILED, RETRIES_EXHAUSTED};

diag::codes! {
    ABSENT_EXPORT = Warning "absent-export": "export left out, source is absent";
    EACH_KEY_DUPLICATE = Error "each-key-duplicate": "two instances share a key";
    PLAN_STALE = Error "plan-stale": "state has moved on";
    INPUT_CHANGED = Error "input-changed": "frozen input differs at apply";
    OBSERVATION_CHANGED = Error "observation-changed": "an object is not as the plan saw it";
    PRECONDITION_FAILED = Error "precondition-failed": "something stands in the way of an operation";
    CLAIMED_TWICE = Error "claimed-twice": "one object would be managed twice";
    EXTERNAL_CHANGED = Error "external-changed": "a resource created here is now declared as external";
    EXTERNAL_MISSING = Error "external-missing": "an external object does not exist";
    RESTRICTED_ACTION = Error "restricted-action": "what would be done is forbidden for the resource";
    PROTECTED = Error "protected": "would delete a protected resource";
    RETAINED = Note "retained": "left in the world, unmanaged";
    REMOVED_BUT_NEEDED = Error "removed-but-needed": "survivor out of target uses it";
    EXCLUDED_BUT_NEEDED = Error "excluded-but-needed": "an excluded resource does not exist yet";
    DRIFT_REFUSED = Error "drift-refused": "drift found, policy refuses";
    IMPORT_FAILED = Error "import-failed": "nothing there, or already managed";
    MOVE_CONFLICT = Error "move-conflict": "source or target still in use";
    REPLACE_ORDER_CHANGED = Warning "replace-order-changed": "create-first not possible";
    UNKNOWN_ADDRESS = Error "unknown-address": "no such element in state or document";
    INTERRUPTED = Note "interrupted": "outcome unknown";
    ROLLBACK_INCOMPLETE = Error "rollback-incomplete": "not everything could be undone";
}

/// Codes about the actions of a plan and not about a document: such a diagnostic does not make an
/// include fail.
pub const OF_ACTIONS: &[&diag::Code] = &[
    &PROTECTED,
    &PROVIDER_FAILED,
    &RETRIES_EXHAUSTED,
    &UNSUPPORTED_FEATURE,
];
