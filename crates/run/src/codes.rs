//! Diagnostic codes of an operation's lease and key.

pub use evaluate::codes::PROVIDER_FAILED;
pub use plan::codes::PLAN_STALE;

diag::codes! {
    SECRETS_NEED_KEY = Error "secrets-need-key": "store cannot seal secrets";
    INSTANCE_BUSY = Error "instance-busy": "another operation holds it";
    LEASE_LOST = Error "lease-lost": "another operation took it over";
}
