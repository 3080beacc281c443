//! The pack: its folder, its files as JSON, and the steps that are judged otherwise.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde_json::Value as Json;

/// The folder of an area such as `cluster/kuttl`; `None`, said aloud, if it is missing.
pub(crate) fn area(area: &str) -> Option<PathBuf> {
    let folder = folder()?.join(area);
    if !folder.is_dir() {
        println!("cartographer conformance: {area} is missing, nothing runs");
        return None;
    }
    Some(folder)
}

/// The folder of the pack; `None`, said aloud, if there is none.
pub(crate) fn folder() -> Option<PathBuf> {
    let folder = match std::env::var_os("CYAN_CONFORMANCE_CARTOGRAPHER") {
        Some(folder) => PathBuf::from(folder),
        None => {
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/conformance/cartographer")
        }
    };
    if folder.is_dir() {
        return Some(folder);
    }
    let path = folder.display();
    println!("cartographer conformance: {path} is missing, nothing runs");
    None
}

/// The entries of a folder, by name.
pub(crate) fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder);
    let entries = entries.unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

/// The name of a file or folder.
pub(crate) fn file_name(path: &Path) -> &str {
    path.file_name().and_then(|name| name.to_str()).unwrap()
}

/// A file of JSON.
pub(crate) fn read_json(path: &Path) -> Json {
    let text = read_text(path);
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The documents of a file of YAML, without empty ones.
pub(crate) fn read_yaml(path: &Path) -> Vec<Json> {
    let text = read_text(path);
    // As in the recordings, `y` is a text.
    let options = serde_saphyr::options! { strict_booleans: true };
    let documents: Result<Vec<Json>, _> = serde_saphyr::from_multiple_with_options(&text, options);
    let documents = documents.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    documents
        .into_iter()
        .filter(|document| !document.is_null())
        .map(|document| with_yaml_1_1_keys(&document))
        .collect()
}

/// The programs of Kubernetes read `yes` as a boolean. As a key it becomes the text `true`.
fn with_yaml_1_1_keys(json: &Json) -> Json {
    match json {
        Json::Object(entries) => {
            let entries = entries.iter().map(|(name, entry)| {
                let name = match name.as_str() {
                    "yes" | "on" => "true",
                    "no" | "off" => "false",
                    other => other,
                };
                (name.to_owned(), with_yaml_1_1_keys(entry))
            });
            Json::Object(entries.collect())
        }
        Json::Array(items) => items.iter().map(with_yaml_1_1_keys).collect(),
        other => other.clone(),
    }
}

fn read_text(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The steps that the decisions of the project change in every mode, by case. Those with a lint are
/// not among them: the setting `compat` brings the old behaviour back.
pub(crate) fn deviations() -> BTreeMap<String, BTreeSet<u64>> {
    let file = folder().map(|folder| folder.join("DEVIATIONS.json"));
    let Some(file) = file.filter(|file| file.is_file()) else {
        return BTreeMap::new();
    };
    let all = read_json(&file);
    let all = all.as_object().expect("the deviations are a map");
    let changed = all.iter().filter(|(_, entry)| entry.get("lint").is_none());
    let steps = changed.filter_map(|(case, entry)| {
        let steps = entry["steps"].as_array()?.iter().filter_map(Json::as_u64);
        Some((case.clone(), steps.collect()))
    });
    steps.collect()
}

/// Whether a case was chosen.
pub(crate) fn is_chosen(case: &str) -> bool {
    match std::env::var("CYAN_CASES") {
        Ok(chosen) => chosen.split(',').any(|one| one == case),
        Err(_) => true,
    }
}

/// The steps of a recording, by their number.
pub(crate) fn recorded_steps(path: &Path) -> BTreeMap<u64, Json> {
    let recorded = read_json(path);
    let steps = recorded["steps"].as_array().expect("a recording has steps");
    let numbered = steps.iter().map(|step| {
        let number = step["step"].as_u64().expect("a step has a number");
        (number, step.clone())
    });
    numbered.collect()
}
