//! The `run: check` cases of the conformance pack: exactly the expected diagnostics, at the
//! expected places.
//!
//! `SKIPPED_CASES` names the cases that need another crate, with the reason. A case that passes
//! must leave the list.

#[expect(dead_code, reason = "this file uses a part")]
mod checking;

use checking::{Checked, check_text};

/// Cases that need another crate, with the reason.
const SKIPPED_CASES: &[(&str, &str)] = &[(
    "include-not-there-quoted",
    "loading: an include is read there",
)];

#[test]
fn conformance_pack_validation_cases_pass() {
    let folder = checking::conformance().join("cases/validation");
    let mut names: Vec<_> = std::fs::read_dir(&folder)
        .expect("the project keeps its conformance pack")
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter_map(|name| Some(name.strip_suffix(".expect.json")?.to_owned()))
        .collect();
    names.sort();
    let (mut passed, mut ran, mut wrong) = (0, 0, Vec::new());
    for name in names {
        let expected = std::fs::read_to_string(folder.join(format!("{name}.expect.json")))
            .expect("it was listed");
        let expected: serde_json::Value =
            serde_json::from_str(&expected).expect("the pack is JSON");
        if expected["run"] != "check" || expected.get("catalog").is_some() {
            continue;
        }
        let file = ["yaml", "json", "jsonc"]
            .map(|ending| format!("{name}.{ending}"))
            .into_iter()
            .find(|file| folder.join(file).exists());
        let file = file.expect("each case has a document");
        let text = std::fs::read_to_string(folder.join(&file))
            .expect("documents of these cases are UTF-8");
        let Checked { mut found, .. } = check_text(&file, &text);
        let mut wanted: Vec<String> = expected["diagnostics"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|line| {
                let position = match (line[2].as_u64(), line[3].as_u64()) {
                    (Some(line), Some(column)) => format!(" {line}:{column}"),
                    _ => String::new(),
                };
                format!(
                    "{} {}{position}",
                    line[0].as_str().unwrap_or_default(),
                    line[1].as_str().unwrap_or_default()
                )
            })
            .collect();
        found.sort();
        wanted.sort();
        ran += 1;
        let at_least = expected["atLeast"] == true;
        let fits = if at_least {
            wanted
                .iter()
                .all(|wanted| found.iter().any(|found| found.starts_with(wanted.as_str())))
        } else {
            found == wanted
        };
        match (
            fits,
            SKIPPED_CASES.iter().find(|(waiting, _)| *waiting == name),
        ) {
            (true, None) => passed += 1,
            (false, Some(_)) => {}
            (true, Some((_, reason))) => {
                wrong.push(format!("{name}: passes now and need not wait for {reason}"))
            }
            (false, None) => wrong.push(format!("{name}: wanted {wanted:?}, found {found:?}")),
        }
    }
    println!("checked cases of the pack: {passed} of {ran}");
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}
