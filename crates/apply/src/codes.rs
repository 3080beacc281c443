//! Diagnostic codes of applying a plan.

pub use evaluate::codes::{PROVIDER_BROKE_CONTRACT, PROVIDER_FAILED, RETRIES_EXHAUSTED};
pub use plan::codes::PROTECTED;

diag::codes! {
    PROMISE_BROKEN = Error "promise-broken": "planned value changed";
    NOT_STABLE = Error "not-stable": "not ready in time";
}
