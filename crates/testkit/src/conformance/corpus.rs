//! Real programs of Pulumi YAML: the packages that they need, and whether they are sound (see the
//! pack's README). A program whose packages have no schema in the pack must load.
//!
//! Programs that need a compiler are left out.

use std::collections::BTreeMap;
use std::path::Path;

use dialect::{Dialect as _, Document, LoadContext, Wanted};
use serde_json::Value as Json;
use syntax::Format;

use super::case::{Case, read_json};
use super::monitor::Behaviours;
use super::programs;
use crate::runtime::in_runtime;

/// The packages that are built in.
const BUILT_IN: [&str; 2] = ["pulumi", "std"];

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
                packages(&case)?;
                in_runtime(async move { programs::run(&case, &behaviours).await })?
            }),
        }
    });
    Ok(cases.collect())
}

/// Compares the packages that the program names with the recorded ones, with their versions.
fn packages(case: &Json) -> Result<(), String> {
    let wanted = &case["expect"]["packages"];
    if wanted["ok"] != true {
        return Ok(());
    }
    let (name, text) = programs::program(case)?;
    let format = match name.ends_with(".json") {
        true => Format::Json,
        false => Format::Yaml,
    };
    let file = diag::FileId::new(0);
    let (tree, _) = syntax::parse(file, &text, format);
    let (trees, context) = ([tree], LoadContext::default());
    let document = Document::new(file, &name, &text, &trees, &context);
    let found: BTreeMap<String, Option<String>> = pulumi::PulumiDialect::LOCKED
        .required_data(&document)
        .into_iter()
        .filter_map(|wanted| match wanted {
            Wanted::Package(request) => {
                let name = request.name.strip_prefix("pulumi:")?.to_owned();
                let version = request.version.as_ref().map(|version| plain(version));
                Some((name, version))
            }
            _ => None,
        })
        .collect();
    let listed = wanted["packages"].as_array();
    let wanted: BTreeMap<String, Option<String>> = listed
        .into_iter()
        .flatten()
        .filter_map(|package| {
            let name = package["name"].as_str()?.to_owned();
            Some((name, package["version"].as_str().map(plain)))
        })
        .filter(|(name, _)| !BUILT_IN.contains(&name.as_str()))
        .collect();
    match found == wanted {
        true => Ok(()),
        false => Err(format!("packages {found:?}, wanted {wanted:?}")),
    }
}

/// A version without its `v`.
fn plain(version: &str) -> String {
    version.trim_start_matches('v').to_owned()
}
