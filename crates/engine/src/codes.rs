//! Diagnostics of loading, plans and runs. Those of checks are in [`check::codes`](crate::check).

// Dialects find some of these themselves.
pub use dialects::codes::{MISSING_VARIABLE, NAME_COLLISION, UNDECLARED_VARIABLE, UNSUPPORTED_FEATURE};

diag::codes! {
    UNKNOWN_DIALECT = Error "unknown-dialect": "no dialect recognises this document";
    ABSENT_EXPORT = Warning "absent-export": "export left out, source is absent";
    DESCRIPTION_UNRESOLVED = Warning "description-unresolved": "description shown unfilled";
    EACH_KEY_DUPLICATE = Error "each-key-duplicate": "two instances share a key";
    DATA_SOURCE_EMPTY = Error "data-source-empty": "nothing matches";
    SEVERAL_MATCHES = Note "several-matches": "first of several taken";
    TRANSFORM_FAILED = Error "transform-failed": "a transform gave up";
    PLAN_STALE = Error "plan-stale": "state has moved on";
    INPUT_CHANGED = Error "input-changed": "frozen input differs at apply";
    EXTERNAL_CHANGED = Error "external-changed": "a thing made here would be one that exists elsewhere";
    RESTRICTED_ACTION = Error "restricted-action": "what would be done is forbidden for the resource";
    PROTECTED = Error "protected": "would delete a protected resource";
    RETAINED = Note "retained": "left in the world, unmanaged";
    REMOVED_BUT_NEEDED = Error "removed-but-needed": "survivor out of target uses it";
    DRIFT_REFUSED = Error "drift-refused": "drift found, policy refuses";
    IMPORT_FAILED = Error "import-failed": "nothing there, or already managed";
    MOVE_CONFLICT = Error "move-conflict": "source or target still in use";
    REPLACE_ORDER_CHANGED = Warning "replace-order-changed": "create-first not possible";
    SECRETS_NEED_KEY = Error "secrets-need-key": "store cannot seal secrets";
    UNKNOWN_INSTANCE = Error "unknown-instance": "no such instance";
    INSTANCE_DOCUMENT_DIFFERS = Error "instance-document-differs": "the name belongs to another document";
    DOCUMENT_MOVED = Error "document-moved": "the document of an instance is gone";
    INSTANCE_BUSY = Error "instance-busy": "another operation holds it";
    LEASE_LOST = Error "lease-lost": "somebody else has taken it over meanwhile";
    UNKNOWN_ADDRESS = Error "unknown-address": "no such element in state or document";
    NO_PROVIDER = Error "no-provider": "types are known, but nothing here manages them";
    PROVIDER_FAILED = Error "provider-failed": "provider refused; its words below";
    PROVIDER_BROKE_CONTRACT = Error "provider-broke-contract": "answer not as declared";
    PROMISE_BROKEN = Error "promise-broken": "planned value changed";
    RETRIES_EXHAUSTED = Error "retries-exhausted": "still failing after retries";
    NOT_STABLE = Error "not-stable": "not ready in time";
    INTERRUPTED = Note "interrupted": "outcome unknown";
    NEEDS_ATTENTION = Error "needs-attention": "a person must choose";
    ROLLBACK_INCOMPLETE = Error "rollback-incomplete": "not everything could be undone";
}
