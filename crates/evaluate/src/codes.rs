//! Diagnostic codes of evaluation: errors of the world and of values.

pub use dialect::codes::{MISSING_VARIABLE, NAME_COLLISION, UNDECLARED_VARIABLE};

diag::codes! {
    DESCRIPTION_UNRESOLVED = Warning "description-unresolved": "description shown with unresolved references";
    DATA_SOURCE_EMPTY = Error "data-source-empty": "nothing matches";
    SEVERAL_MATCHES = Note "several-matches": "first of several taken";
    TRANSFORM_FAILED = Error "transform-failed": "a transform gave up";
    NO_PROVIDER = Error "no-provider": "types are known, but nothing here manages them";
    PROVIDER_FAILED = Error "provider-failed": "provider refused; its words below";
    PROVIDER_BROKE_CONTRACT = Error "provider-broke-contract": "answer not as declared";
    PROVIDER_SETTINGS = Error "provider-settings": "a provider does not accept its settings";
    RETRIES_EXHAUSTED = Error "retries-exhausted": "still failing after retries";
    NEEDS_ATTENTION = Error "needs-attention": "a person must choose";
}
