//! A case of a conformance pack, and how cases are read and compared.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde_json::Value as Json;

/// A case that is ready to run.
pub(super) struct Case {
    pub(super) id: String,
    /// Fails with the differences from what the case expects.
    pub(super) run: Box<dyn FnOnce() -> Result<(), String> + Send>,
}

pub(super) fn read(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

pub(super) fn read_json(path: &Path) -> Result<Json, String> {
    serde_json::from_str(&read(path)?).map_err(|error| format!("{}: {error}", path.display()))
}

/// The cases in a folder of `NAME.yaml` and `NAME.expect.json`: name, path of the document if there
/// is one, expectation.
pub(super) fn folder(
    pack: &Path,
    kind: &str,
) -> Result<Vec<(String, Option<PathBuf>, Json)>, String> {
    let folder = pack.join("cases").join(kind);
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let entries =
        std::fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter_map(|name| name.strip_suffix(".expect.json").map(str::to_owned))
        .collect();
    names.sort();
    let mut cases = Vec::new();
    for name in names {
        let expect = read_json(&folder.join(format!("{name}.expect.json")))?;
        let document = ["yaml", "json", "jsonc", "hujson"]
            .iter()
            .map(|end| folder.join(format!("{name}.{end}")))
            .find(|path| path.is_file());
        cases.push((name, document, expect));
    }
    Ok(cases)
}

/// `Err` with the first four differences in one line.
pub(super) fn differences(list: &[String]) -> Result<(), String> {
    if list.is_empty() {
        return Ok(());
    }
    let mut text = String::new();
    for (at, difference) in list.iter().take(4).enumerate() {
        let _ = write!(text, "{}{difference}", if at == 0 { "" } else { "; " });
    }
    Err(text)
}

/// The name and the text of the program.
pub(super) fn case_program(case: &Json) -> Result<(String, String), String> {
    let names = ["Main.json", "Main.yaml", "Pulumi.yaml"];
    let folder = case["programDir"].as_str().unwrap_or_default();
    let folder = folder.trim_start_matches("./").trim_end_matches('/');
    let inside = names.iter().map(|name| format!("{folder}/{name}"));
    let found = inside
        .chain(names.iter().map(|name| (*name).to_owned()))
        .find(|name| case["files"].get(name).is_some());
    let name = found.ok_or("the case has no program")?;
    let mut text = case["files"][&name].as_str().unwrap_or_default().to_owned();
    if let Some(compiler) = case["runtimeOptions"]["compiler"].as_str() {
        let runtime = serde_json::json!({"name": "yaml", "options": {"compiler": compiler}});
        text = text.replace("runtime: yaml", &format!("runtime: {runtime}"));
    }
    Ok((name, text))
}
