//! The ways on which signals come: which ones there are, and what needs Swift.

use ::provider::{CheckFindings, ProviderDiagnostic, ProviderSeverity};

use crate::client::Service;
use crate::managed::CloudCall;

/// The transport without signals.
pub(in crate::types) const NO_SIGNAL: &str = "NO_SIGNAL";

/// The transport whose URLs are temporary URLs of Swift.
pub(in crate::types) const TEMP_URL_SIGNAL: &str = "TEMP_URL_SIGNAL";

/// Checks the transport of signals at a property. Transports that need Heat or Zaqar are refused;
/// those with a URL of Heat use a URL of Swift, and a note says so.
pub(in crate::types) fn check_transport(
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
pub(in crate::types) fn need_object_store(
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
