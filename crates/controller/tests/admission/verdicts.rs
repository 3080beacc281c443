//! The recorded objects that webhooks of the original accept and refuse.

use std::path::{Path, PathBuf};

use cartographer::validation::{FaultClass, faults};
use controller::admission::AdmissionVerdict;
use kubernetes::json::from_json;
use serde_json::Value as Json;

/// The recorded cases; `None`, said aloud, if they are missing.
fn cases() -> Option<Vec<Json>> {
    let folder = match std::env::var_os("CYAN_CONFORMANCE_CARTOGRAPHER") {
        Some(folder) => PathBuf::from(folder),
        None => {
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/conformance/cartographer")
        }
    };
    let path = folder.join("validation/cases.json");
    if !path.is_file() {
        let path = path.display();
        println!("cartographer conformance: {path} is missing, nothing runs");
        return None;
    }
    let text = std::fs::read_to_string(&path).unwrap();
    Some(serde_json::from_str(&text).unwrap())
}

#[test]
fn verdicts_are_those_of_the_original() {
    let Some(cases) = cases() else {
        return;
    };
    let mut wrong = Vec::new();
    let mut warned = 0;
    for case in &cases {
        let verdict = AdmissionVerdict::of(&case["object"]);
        let found = faults(&from_json(&case["object"]));
        let is_prefix = |class| class == FaultClass::SelectorOwnerPrefix;
        // The one rule that is a warning here (decisions/cartographer#validation).
        let is_lenient = !found.is_empty() && found.iter().all(|fault| is_prefix(fault.class));
        let accepted = case["webhook"]["accepted"].as_bool().unwrap() || is_lenient;
        if is_lenient {
            warned += 1;
            assert!(!verdict.warnings.is_empty(), "{}", case["id"]);
        }
        if verdict.refused.is_none() != accepted {
            wrong.push(format!("{}: {verdict:?}", case["id"]));
        }
        for fault in found.iter().filter(|fault| !is_prefix(fault.class)) {
            let message = verdict.refused.as_deref().unwrap_or_default();
            let place = format!("{}: ", fault.path);
            assert!(message.contains(&place), "{}: {message}", case["id"]);
        }
    }
    println!("{} cases, {warned} with a warning only", cases.len());
    assert!(cases.len() >= 98);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
