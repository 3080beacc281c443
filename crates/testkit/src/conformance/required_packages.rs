//! The packages that a program of Pulumi YAML needs, with their versions.

use std::collections::BTreeMap;

use dialect::{Companion, Dialect as _, Document, LoadContext, Wanted};
use serde_json::Value as Json;
use syntax::{Format, Tree};

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
    let (trees, mut context) = ([tree], LoadContext::default());
    let locks = lock_files(&case["files"]);
    let companions: Vec<Companion<'_>> = locks
        .iter()
        .map(|(name, tree)| Companion {
            file,
            name,
            folder: "sdks",
            tree,
            is_check: true,
        })
        .collect();
    let alone = Document::new(file, &name, &text, &trees, &context);
    if let Some(read) = pulumi::PulumiDialect::LOCKED.read_companions(&alone, &companions) {
        context = read.context;
    }
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

/// The lock files of a case, by name.
fn lock_files(files: &Json) -> Vec<(&str, Tree)> {
    let all = files.as_object().into_iter().flatten();
    let mut locks: Vec<(&str, Tree)> = all
        .filter(|(name, _)| name.starts_with("sdks/"))
        .filter_map(|(name, text)| {
            let (tree, _) = syntax::parse(diag::FileId::new(1), text.as_str()?, Format::Yaml);
            Some((name.as_str(), tree))
        })
        .collect();
    locks.sort_by_key(|(name, _)| *name);
    locks
}

/// A version without its `v`.
fn plain(version: &str) -> String {
    version.trim_start_matches('v').to_owned()
}
