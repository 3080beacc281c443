//! Cases about documents that include others; each is a folder.

use std::path::{Path, PathBuf};

use engine::Options;
use serde_json::{Value as Json, json};

use super::case::{Case, differences, read, read_json};
use super::deploying::finish;
use super::staging::{compare, options};
use super::written::{letter, working_directory};
use crate::harness::{Harness, settings};
use crate::json_values::given;
use crate::runtime::in_runtime;

/// The cases of `modules/`.
pub(super) fn cases(pack: &Path) -> Result<Vec<Case>, String> {
    let folder = pack.join("cases/modules");
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let entries = std::fs::read_dir(&folder).map_err(|error| error.to_string())?;
    let mut names: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.is_dir())
        .collect();
    names.sort();
    let case = |path: PathBuf| {
        let id = path
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default()
            .to_owned();
        Case {
            id,
            run: Box::new(move || module(&path)),
        }
    };
    Ok(names.into_iter().map(case).collect())
}

fn module(folder: &Path) -> Result<(), String> {
    let expect = read_json(&folder.join("expect.json"))?;
    let text = read(&folder.join("main.yaml"))?;
    in_runtime(async {
        let mut harness = Harness::new(folder.to_path_buf(), Vec::new());
        working_directory(&mut harness, expect.get("cwd"), folder);
        let inputs = || given(expect.get("inputs"), expect.get("vars"));
        if expect["run"] == "check" {
            let read = harness
                .read_all("main.yaml", &text, &given(None, None), false)
                .await;
            return differences(&against(&read.diagnostics, &read.files, &expect));
        }
        let options = options(&expect["options"])?;
        let stage = harness.stage("main.yaml", &text, inputs(), options).await;
        let mut wrong = Vec::new();
        if expect.get("diagnostics").is_some() {
            wrong.extend(against(&stage.diagnostics, &stage.files, &expect));
        }
        match (stage.staged, expect["run"].as_str()) {
            (None, _) if expect["refused"] == true => {}
            (None, Some("stage")) if expect.get("plan").is_none() => {}
            (None, _) => wrong.push("no plan was made".to_owned()),
            (Some(_), _) if expect["refused"] == true => wrong.push("a plan was made".to_owned()),
            (Some(staged), Some("deploy")) => {
                let run = harness
                    .run(staged, false, Vec::new(), settings(None, false))
                    .await;
                let mut expect = expect.clone();
                if expect.get("outcome").is_none() {
                    expect["outcome"] = json!("ready");
                }
                finish(
                    &harness,
                    &json!({"expect": expect}),
                    Vec::new(),
                    run,
                    &mut wrong,
                )
                .await?;
                let again = harness
                    .stage("main.yaml", &text, inputs(), Options::default())
                    .await;
                if !again.staged.is_some_and(|staged| staged.plan.is_empty()) {
                    wrong.push("stage is not empty afterwards".to_owned());
                }
            }
            (Some(staged), _) if expect.get("plan").is_some() => {
                compare(&staged, &expect, &mut wrong)
            }
            _ => {}
        }
        differences(&wrong)
    })?
}

/// The differences between diagnostics and the expected `[file, code, severity, line, column]`.
fn against(found: &diag::Diagnostics, files: &diag::Files, expect: &Json) -> Vec<String> {
    let mut got: Vec<Json> = found
        .iter()
        .map(|it| {
            let span = it.span();
            let (name, position) = match files.get(span.file) {
                Some(file) => (file.name(), Some(file.position(span.start))),
                None => ("", None),
            };
            let (line, column) = position
                .map(|position| (position.line, position.column))
                .unzip();
            json!([name, it.code.name, letter(it.severity), line, column])
        })
        .collect();
    let mut wrong = Vec::new();
    for wanted in expect["diagnostics"].as_array().into_iter().flatten() {
        let fits = |it: &Json| {
            (0..3).all(|at| it[at] == wanted[at])
                && (3..5).all(|at| wanted[at].is_null() || it[at] == wanted[at])
        };
        match got.iter().position(fits) {
            Some(found) => drop(got.remove(found)),
            None => wrong.push(format!("missing {wanted}")),
        }
    }
    if expect["atLeast"] != true {
        wrong.extend(got.iter().map(|it| format!("unexpected {it}")));
    }
    wrong
}
