//! The area `inputs`: documents of upstream's examples and tutorials. Each file must parse, an API
//! server must admit its objects, and no check may find an error in them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use blueprint::Value;
use cartographer::checks::faults_of_set;
use cartographer::kinds::CartoKind;
use cartographer::validation::{Fault, FaultLevel, faults, lints};

use crate::pack::{Tally, folder, value};
use crate::validation::{schemas, shown};

/// The folders of documents that belong together.
const FOLDERS: [&[&str]; 11] = [
    &["examples/basic-delivery", "examples/shared"],
    &["examples/basic-sc", "examples/shared"],
    &["examples/gitwriter-sc", "examples/shared"],
    &["examples/testing-sc", "examples/shared"],
    &["tutorials/determining-health"],
    &["tutorials/extending-a-supply-chain"],
    &["tutorials/first-supply-chain"],
    &["tutorials/lifecycle"],
    &["tutorials/runnable"],
    &["tutorials/runnable-in-a-supply-chain"],
    &["tutorials/using-params"],
];

/// What was found in each file; `None` if no set has it.
type Findings = BTreeMap<PathBuf, Option<Result<(), String>>>;

#[test]
fn documents_of_upstream_have_no_errors() {
    let Some(folder) = folder().map(|folder| folder.join("inputs")) else {
        return;
    };
    if !folder.is_dir() {
        println!("cartographer conformance: inputs is missing, nothing runs");
        return;
    }
    let mut findings: Findings = files(&folder)
        .into_iter()
        .map(|file| (file, None))
        .collect();
    for set in FOLDERS {
        let files = set.iter().flat_map(|part| files(&folder.join(part)));
        check(&files.collect::<Vec<_>>(), &mut findings);
    }
    let mut tally = Tally::new("inputs");
    for (file, result) in findings {
        let path = file.strip_prefix(&folder).expect("it is below");
        let result = result.unwrap_or_else(|| Err("no set has the file".to_owned()));
        tally.count(&path.display().to_string(), result);
    }
    tally.finish(100);
}

/// All files below a folder, in order.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the folder exists") {
        let path = entry.expect("the folder can be read").path();
        match path.is_dir() {
            true => found.extend(files(&path)),
            false => found.push(path),
        }
    }
    found.sort();
    found
}

/// Checks the files of a set. What an earlier set showed of a file stays.
fn check(files: &[PathBuf], findings: &mut Findings) {
    let mut verdicts: Vec<Result<(), String>> = vec![Ok(()); files.len()];
    let mut objects = Vec::new();
    let mut origins = Vec::new();
    for (at, file) in files.iter().enumerate() {
        match read(file) {
            Ok(documents) => {
                origins.extend(documents.iter().map(|_| at));
                objects.extend(documents);
            }
            Err(why) => verdicts[at] = Err(why),
        }
    }
    let schemas = schemas();
    let mut fail = |object: usize, why: String| {
        let verdict = &mut verdicts[origins[object]];
        *verdict = std::mem::replace(verdict, Ok(())).and(Err(why));
    };
    let is_error = |fault: &Fault| {
        let level = fault.class.level();
        matches!(level, FaultLevel::Rejected | FaultLevel::Error)
    };
    for (at, object) in objects.iter().enumerate() {
        if let Some(kind) = CartoKind::of(object) {
            let admitted = schemas[&kind].admit(object);
            if !admitted.dropped.is_empty() || !admitted.violations.is_empty() {
                let (dropped, violations) = (admitted.dropped, admitted.violations);
                fail(at, format!("is not admitted: {dropped:?} {violations:?}"));
            }
        }
        let found = faults(object).into_iter().chain(lints(object));
        for fault in found.filter(is_error) {
            fail(at, shown(&fault));
        }
    }
    let schema = |version: &str, kind: &str| {
        let kind = CartoKind::of_name(kind).filter(|_| version == "carto.run/v1alpha1")?;
        schemas.get(&kind)
    };
    for found in faults_of_set(&objects, &schema) {
        if is_error(&found.fault) {
            fail(found.object, shown(&found.fault));
        }
    }
    for (file, verdict) in files.iter().zip(verdicts) {
        let finding = findings.get_mut(file).expect("each file is known");
        if !matches!(finding, Some(Err(_))) {
            *finding = Some(verdict);
        }
    }
}

/// The objects of a file. A value that ytt would fill in is some text.
fn read(path: &Path) -> Result<Vec<Value>, String> {
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    let text = text.replace(": #@ ", ": x # ");
    let documents: Vec<serde_json::Value> =
        serde_saphyr::from_multiple(&text).map_err(|error| format!("is no YAML: {error}"))?;
    Ok(documents.iter().map(value).collect())
}
