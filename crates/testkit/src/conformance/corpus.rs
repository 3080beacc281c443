//! Real programs of Pulumi YAML: the packages that they need, and whether they are sound (see the
//! pack's README). A program whose packages have no schema in the pack must load.
//!
//! Programs that need a compiler are left out.

use std::path::Path;

use super::case::{Case, read_json};
use super::monitor::Behaviours;
use super::{programs, required_packages};
use crate::runtime::in_runtime;

/// The programs.
pub(super) fn cases(pack: &Path) -> Result<Vec<Case>, String> {
    let folder = pack.join("corpus");
    let listed = read_json(&folder.join("cases.json"))?;
    let behaviours = Behaviours::read(&folder.join("schemas"), None)?;
    let all = listed.as_array().cloned().unwrap_or_default();
    let counted = all
        .into_iter()
        .filter(|case| case.get("compiler").is_none());
    let cases = counted.map(|case| {
        let behaviours = behaviours.clone();
        Case {
            id: case["name"].as_str().unwrap_or_default().to_owned(),
            run: Box::new(move || {
                required_packages::compare(&case)?;
                in_runtime(async move { programs::run(&case, &behaviours).await })?
            }),
        }
    });
    Ok(cases.collect())
}
