//! The packages that a program of Pulumi YAML needs, with their versions.

use std::collections::{BTreeMap, BTreeSet};

use dialect::{Answer, Dialect as _, Document, FolderEntry, LoadContext, Wanted};
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
    let trees = [tree];
    let mut context = LoadContext::default();
    let requests = loop {
        let document = Document::new(file, &name, &text, &trees, &context);
        let requests = pulumi::PulumiDialect::LOCKED.required_data(&document);
        let files: Vec<(Wanted, Answer)> = requests
            .iter()
            .filter_map(|wanted| Some((wanted.clone(), answer(wanted, &case["files"])?)))
            .collect();
        if files.is_empty() {
            break requests;
        }
        context.answers = context.answers.with(files);
    };
    let found: BTreeMap<String, Option<String>> = requests
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

/// The answer to a request for a file or folder of a case.
fn answer(wanted: &Wanted, files: &Json) -> Option<Answer> {
    let missing = || Answer::Missing("it is not there".into());
    match wanted {
        Wanted::Folder(folder) => {
            let names = files.as_object().into_iter().flatten();
            let inside = names.filter_map(|(name, _)| {
                let rest = name.strip_prefix(&format!("{folder}/"))?;
                let end = rest.find('/').map_or(rest.len(), |at| at + 1);
                Some(rest[..end].to_owned())
            });
            let entries: BTreeSet<String> = inside.collect();
            let listing: Vec<String> = entries.into_iter().collect();
            Some(match listing.is_empty() {
                true => missing(),
                false => Answer::Folder(FolderEntry::of_listing(&listing.join("\n"))),
            })
        }
        Wanted::Text(path) => {
            let text = files[path.as_ref()].as_str();
            let answer = text.map(|text| Answer::Text(diag::FileId::new(1), text.into()));
            Some(answer.unwrap_or_else(missing))
        }
        _ => None,
    }
}

/// A version without its `v`.
fn plain(version: &str) -> String {
    version.trim_start_matches('v').to_owned()
}
