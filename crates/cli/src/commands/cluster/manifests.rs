//! `cyan cluster manifests`.

use controller::install::{Installation, definitions, dockerfile, manifests};
use serde_json::{Value as Json, json};

use crate::exit::{CommandError, Exit};
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
        report.terminal.write_result(&yaml(&objects)?);
    }
    report.set_result(json!({"objects": objects}));
    Ok(Exit::Done)
}

/// Objects as a stream of YAML documents.
///
/// # Errors
/// If an object cannot be written, which is a bug.
pub(super) fn yaml(objects: &[Json]) -> Result<String, CommandError> {
    let mut text = String::new();
    for object in objects {
        let one = serde_saphyr::to_string(object)
            .map_err(|error| CommandError::World(Box::new(error)))?;
        text.push_str("---\n");
        text.push_str(&one);
        if !one.ends_with('\n') {
            text.push('\n');
        }
    }
    Ok(text)
}
