//! Signals from guests: handles, to whose URLs guests write, and conditions, which wait for signals.
//!
//! A handle is an object of Swift with old versions, in a container of its own, and a temporary URL
//! for it: each write is a signal. A condition polls the object. Nothing listens, so a run that was
//! killed goes on where it was.
//!
//! `signal_object.rs` has the object, `received.rs` the meaning of signals, `handle.rs` and
//! `condition.rs` the types.

mod condition;
mod handle;
mod received;
mod signal_object;

use ::provider::{CheckFindings, ProviderDiagnostic, ProviderSeverity};

use crate::client::Service;
use crate::managed::{CloudCall, Handler};

pub(super) use self::signal_object::SignalObject;

/// The types.
pub(super) static TYPES: &[&dyn Handler] = &[
    &handle::HEAT,
    &handle::HEAT_UPDATE,
    &handle::CLOUD_FORMATION,
    &handle::SWIFT,
    &condition::HEAT,
    &condition::CLOUD_FORMATION,
    &condition::SWIFT,
];

/// The transport without signals.
pub(super) const NO_SIGNAL: &str = "NO_SIGNAL";

/// The transport whose URLs are temporary URLs of Swift.
pub(super) const TEMP_URL_SIGNAL: &str = "TEMP_URL_SIGNAL";

/// Checks the transport of signals at a property. Transports that need Heat or Zaqar are refused;
/// those with a URL of Heat use a URL of Swift, and a note says so.
pub(super) fn check_transport(
    on: Option<CloudCall<'_>>,
    property: &'static str,
    transport: &str,
    found: &mut CheckFindings,
) {
    match transport {
        NO_SIGNAL => return,
        "HEAT_SIGNAL" | "ZAQAR_SIGNAL" => {
            let service = if transport == "HEAT_SIGNAL" {
                "Heat"
            } else {
                "Zaqar"
            };
            let reason = format!(
                "`{transport}` needs {service}, which has no part in this deployment; use \
                 `{TEMP_URL_SIGNAL}`, or `{NO_SIGNAL}` to wait for nothing"
            );
            return found.refuse(property, reason);
        }
        "TOKEN_SIGNAL" | "CFN_SIGNAL" => {
            let message = format!(
                "`{transport}` uses a temporary URL of Swift, to which guests send `PUT`, in place \
                 of one of Heat"
            );
            found.diagnostics.push(ProviderDiagnostic {
                severity: ProviderSeverity::Note,
                ..ProviderDiagnostic::warning(property, message)
            });
        }
        _ => {}
    }
    let way_out = format!("set `{property}: {NO_SIGNAL}` to wait for nothing");
    need_object_store(on, property, &way_out, found);
}

/// Refuses what needs Swift on a cloud without it.
pub(super) fn need_object_store(
    on: Option<CloudCall<'_>>,
    property: &'static str,
    way_out: &str,
    found: &mut CheckFindings,
) {
    if on.is_some_and(|on| !on.cloud.has(Service::ObjectStore)) {
        let reason = format!("signals need Swift, and the cloud has no object store; {way_out}");
        found.refuse(property, reason);
    }
}
