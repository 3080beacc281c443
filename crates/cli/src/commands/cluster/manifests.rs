//! `cyan cluster manifests`.

use std::path::Path;

use controller::install::{Installation, WebhookTrust, definitions, dockerfile, manifests};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use serde_json::json;

use crate::exit::{CommandError, Exit};
use crate::view::manifests::yaml_stream;
use crate::view::report::Report;

/// What is printed.
pub(super) enum Wanted {
    /// All that an installation needs.
    Installation(Installation),
    /// Only the definitions of the kinds.
    Definitions,
    /// The Dockerfile.
    Dockerfile,
}

pub(super) fn run(wanted: &Wanted, report: &mut Report) -> Result<Exit, CommandError> {
    let objects = match wanted {
        Wanted::Dockerfile => {
            report.set_result(json!({"dockerfile": dockerfile()}));
            if !report.is_json() {
                report.terminal.write_result(dockerfile());
            }
            return Ok(Exit::Done);
        }
        Wanted::Definitions => definitions(),
        Wanted::Installation(installation) => manifests(installation),
    };
    if !report.is_json() {
        report.terminal.write_result(&yaml_stream(&objects)?);
    }
    report.set_result(json!({"objects": objects}));
    Ok(Exit::Done)
}

/// The certificates that the API server trusts: those of a file, else those of cert-manager.
///
/// # Errors
/// If the file cannot be read, or has no certificate in PEM.
pub(super) fn webhook_trust(authority: Option<&Path>) -> Result<WebhookTrust, CommandError> {
    let Some(path) = authority else {
        return Ok(WebhookTrust::CertManager);
    };
    let name = || path.display().to_string();
    let text = std::fs::read_to_string(path).map_err(|source| CommandError::Unreadable {
        name: name(),
        source,
    })?;
    let mut certificates = CertificateDer::pem_slice_iter(text.as_bytes());
    match certificates.next() {
        Some(Ok(_)) => Ok(WebhookTrust::Authority(text)),
        _ => Err(CommandError::Usage {
            message: format!("`{}` contains no certificate in PEM", name()),
            help: None,
        }),
    }
}
