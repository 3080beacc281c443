//! Runs the examples of the specification with `cyan validate --catalog` and
//! `cyan deploy --simulate --catalog`. `conformance/blueprint/spec-examples/expected.json` has the
//! expected results.

use std::path::{Path, PathBuf};

use serde_json::Value as Json;

use crate::place::{Place, Ran, ran};

/// The number of examples with exactly the expected diagnostics. It may only rise.
const VALIDATED: usize = 47;

/// The number of examples that deploy in a simulation with the expected exports and then have no
/// changes. It may only rise.
const DEPLOYED: usize = 26;

fn pack() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/blueprint/spec-examples")
}

fn copy(from: &Path, place: &Place, below: &str) {
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let name = format!("{below}{}", path.file_name().unwrap().to_string_lossy());
        if path.is_dir() {
            copy(&path, place, &format!("{name}/"));
        } else {
            place.write(&name, std::fs::read(&path).unwrap());
        }
    }
}

/// An example in a copy of all examples, with its working directory.
struct Example {
    place: Place,
    /// The working directory, relative to the copy.
    cwd: String,
    /// The document, relative to the working directory.
    file: String,
    catalog: String,
}

impl Example {
    fn new(name: &str, expected: &Json) -> Example {
        let place = Place::new();
        copy(&pack(), &place, "");
        place.ends(0, &["key", "new"]);
        let cwd = expected["cwd"].as_str().unwrap_or_default().to_owned();
        let up = "../".repeat(Path::new(&cwd).components().count());
        let below = name
            .strip_prefix(&cwd)
            .unwrap_or(name)
            .trim_start_matches('/');
        Example {
            file: format!("{below}.yaml"),
            catalog: format!("{up}catalog.json"),
            cwd,
            place,
        }
    }

    fn run(&self, command: &str, more: &[&str]) -> Ran {
        let mut arguments: Vec<&str> =
            vec![command, "--json", "--catalog", &self.catalog, &self.file];
        arguments.extend(more);
        let mut command = self.place.cyan(&arguments);
        command.current_dir(self.place.path().join(&self.cwd));
        ran(command.output().unwrap())
    }

    /// Returns the diagnostics in the format of `expected.json`.
    fn validate(&self) -> Result<Vec<Json>, String> {
        let ran = self.run("validate", &[]);
        let said: Json =
            serde_json::from_str(&ran.out).map_err(|error| format!("{error}: {ran:?}"))?;
        let place = |it: &Json, key: &str| it["place"]["start"][key].clone();
        let letter = |it: &Json| it["severity"].as_str().unwrap_or_default()[..1].to_uppercase();
        let all = said["diagnostics"].as_array().into_iter().flatten();
        Ok(all
            .map(|it| {
                serde_json::json!([
                    it["code"],
                    letter(it),
                    place(it, "line"),
                    place(it, "column")
                ])
            })
            .collect())
    }

    fn deploy(&self, expected: &Json) -> Result<(), String> {
        let mut flags: Vec<String> = vec!["--simulate".into(), "--instance".into(), "case".into()];
        for (name, value) in expected["inputs"].as_object().into_iter().flatten() {
            let value = value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned);
            flags.extend(["--var".to_owned(), format!("{name}={value}")]);
        }
        let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
        let deployed = self.run("deploy", &[&flags[..], &["--yes"]].concat());
        if deployed.code != 0 {
            return Err(format!(
                "deploy ends with {}: {}",
                deployed.code, deployed.out
            ));
        }
        let summary = deployed
            .out
            .lines()
            .next_back()
            .unwrap_or_default()
            .to_owned();
        if !summary.contains("\"simulated\":true") {
            return Err(format!(
                "the output does not announce a rehearsal: {summary}"
            ));
        }
        // The state is in the folder of the document.
        let folder = Path::new(&self.cwd).join(Path::new(&self.file).parent().unwrap());
        let mut command = self
            .place
            .cyan(&["show", "--json", "--simulate", "-i", "case"]);
        let output = command.current_dir(self.place.path().join(folder)).output();
        let shown: Json =
            serde_json::from_str(&ran(output.unwrap()).out).map_err(|error| error.to_string())?;
        if shown["result"]["exports"] != expected["exports"] {
            return Err(format!(
                "expected exports {}, got {}",
                expected["exports"], shown["result"]["exports"]
            ));
        }
        let again = self.run("stage", &flags);
        let said: Json = serde_json::from_str(&again.out).map_err(|error| error.to_string())?;
        match said["result"]["steps"].as_array() {
            Some(steps) if steps.is_empty() => Ok(()),
            steps => Err(format!(
                "stage afterwards: {steps:?} {}",
                said["diagnostics"]
            )),
        }
    }
}

fn sorted(list: &[Json]) -> Vec<String> {
    let mut texts: Vec<String> = list.iter().map(Json::to_string).collect();
    texts.sort();
    texts
}

#[test]
fn the_examples_of_the_specification() {
    let expected = std::fs::read_to_string(pack().join("expected.json")).unwrap();
    let expected: Json = serde_json::from_str(&expected).unwrap();
    let (mut validated, mut deployed, mut to_deploy) = (0, 0, 0);
    let all = expected.as_object().unwrap();
    for (name, expected) in all {
        let example = Example::new(name, expected);
        let wanted = expected["diagnostics"].as_array().unwrap();
        match example.validate() {
            Ok(found) if sorted(&found) == sorted(wanted) => validated += 1,
            Ok(found) => println!(
                "validate {name}: expected {:?}, got {:?}",
                sorted(wanted),
                sorted(&found)
            ),
            Err(error) => println!("validate {name}: {error}"),
        }
        let Some(wanted) = expected.get("deploy") else {
            continue;
        };
        to_deploy += 1;
        match example.deploy(wanted) {
            Ok(()) => deployed += 1,
            Err(error) => println!("deploy {name}: {error}"),
        }
    }
    println!(
        "examples of the specification: {validated} of {} validated, {deployed} of {to_deploy} deployed",
        all.len()
    );
    assert!(
        validated >= VALIDATED,
        "{validated} give what is expected, {VALIDATED} did before"
    );
    assert!(
        deployed >= DEPLOYED,
        "{deployed} deploy as expected, {DEPLOYED} did before"
    );
}
