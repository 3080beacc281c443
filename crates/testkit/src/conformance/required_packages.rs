//! The packages that a program of Pulumi YAML needs, with their versions.

use std::collections::BTreeMap;

use dialect::{Dialect as _, Document, LoadContext, Wanted};
use serde_json::Value as Json;
use syntax::Format;

use super::case::case_program;

/// The packages that are built in.
const BUILT_IN: [&str; 2] = ["pulumi", "std"];

/// Compares the packages that the program names with the recorded ones, with their versions.
pub(super) fn compare(case: &Json) -> Result<(), String> {
    let wanted = &case["expect"]["packages"];
    if wanted["ok"] != true {
        return Ok(());
    }
    let (name, text) = case_program(case)?;
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
