//! The ways on which agents get their deployments.

use ::provider::{CheckFindings, ProviderDiagnostic, ProviderSeverity};

use super::super::signals::need_object_store;
use crate::managed::CloudCall;

/// The property with the way on which an agent gets its deployments.
pub(in crate::types) const TRANSPORT: &str = "software_config_transport";

/// The transport through temporary URLs of Swift.
const POLL_TEMP_URL: &str = "POLL_TEMP_URL";

/// Checks how the agent of a server gets its deployments. Transports that need Heat or Zaqar are
/// refused; the default uses Swift, and a note says so.
pub(in crate::types) fn check_server_transport(
    on: Option<CloudCall<'_>>,
    transport: &str,
    found: &mut CheckFindings,
) {
    let service = match transport {
        "POLL_SERVER_HEAT" => "Heat",
        "ZAQAR_MESSAGE" => "Zaqar",
        POLL_TEMP_URL => {
            let way_out = "remove the property, and the deployments for the server";
            return need_object_store(on, TRANSPORT, way_out, found);
        }
        _ => {
            let message = "`POLL_SERVER_CFN` uses a temporary URL of Swift in place of one of Heat: \
                           the agent reads it with its collector `request`";
            found.diagnostics.push(ProviderDiagnostic {
                severity: ProviderSeverity::Note,
                ..ProviderDiagnostic::warning(TRANSPORT, message)
            });
            return;
        }
    };
    let reason = format!(
        "`{transport}` needs {service}, which has no part in this deployment; use `{POLL_TEMP_URL}`"
    );
    found.refuse(TRANSPORT, reason);
}
