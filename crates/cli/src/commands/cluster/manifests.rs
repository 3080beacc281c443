//! `cyan cluster manifests`.

use controller::install::{Installation, definitions, dockerfile, manifests};
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
