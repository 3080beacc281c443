//! Checks the table that maps the specification to code and tests: it has every section and names
//! existing files and tests.

/// The headings of the Blueprint Specification v2023-04-20 with requirements, in its order, then
/// its two companion texts.
const SECTIONS: &[&str] = &[
    "Specification",
    "Spec",
    "version (required)",
    "transform",
    "variables",
    "values",
    "datasources",
    "resources (required)",
    "include",
    "exports",
    "metadata",
    "Spec Data Types",
    "variableDefinition",
    "valueDefinition",
    "datasourceDefinition",
    "dataSourceMetadataDefinition",
    "dataSourceFilterDefinition",
    "dataSourceExportDefinition",
    "resourceDefinition",
    "resourceMetadataDefinition",
    "conditionDefinition",
    "linkSelectorDefinitions",
    "includeDefinition",
    "exportDefinition",
    "Spec Behaviours",
    "Operator Behaviours",
    "References & Substitutions",
    "Accessing Nested Fields",
    "Variable References",
    "Value References",
    "Resource References",
    "Data Source References",
    "Current Element References (each)",
    "Child Blueprint References",
    "Functions",
    "Core Function Definitions",
    "Complex Return Types",
    "Complex Types",
    "`${..}` Substitution Reference Usage",
    "Keys/Property Names",
    "Transforms",
    "Variables",
    "Values",
    "Resources",
    "Child Blueprint Includes",
    "Data Sources",
    "Blueprint Exports",
    "Blueprint Metadata",
    "Substitution Grammar",
    "Caveats",
    "Dealing with environment variables",
    "YAML Tags and Aliases",
    "Modular Blueprints",
    "Using Include",
    "In the Same Directory",
    "Relative to the Current Working Directory",
    "From a Remote Source",
    "With Blueprint Resources",
    "The function document",
    "The links guide",
];

/// The abbreviations of folders of cases at the start of a name.
const CASES: [(&str, &str); 4] = [
    ("V/", "conformance/blueprint/cases/validation/"),
    ("S/", "conformance/blueprint/cases/stage/"),
    ("D/", "conformance/blueprint/cases/deploy/"),
    ("M/", "conformance/blueprint/cases/modules/"),
];

#[test]
fn every_section_of_the_specification_has_code_and_tests() {
    let page = crate::read("docs/specification.md");
    let rows: Vec<Vec<&str>> = page
        .lines()
        .filter(|line| line.starts_with("| ") && !line.starts_with("| section |"))
        .map(|line| line.trim_matches('|').split(" | ").map(str::trim).collect())
        .collect();
    let mut findings = Vec::new();
    let titles: Vec<&str> = rows.iter().filter_map(|row| row.first().copied()).collect();
    findings.extend(
        SECTIONS
            .iter()
            .filter(|one| !titles.contains(one))
            .map(|one| format!("`{one}` has no row")),
    );
    findings.extend(
        titles
            .iter()
            .filter(|one| !SECTIONS.contains(one))
            .map(|one| format!("`{one}` is no section")),
    );
    for row in &rows {
        let [title, code, tests] = row.as_slice() else {
            findings.push(format!("not three cells: {row:?}"));
            continue;
        };
        for (what, cell, holds) in [
            ("code", code, is_code as fn(&str) -> bool),
            ("tests", tests, is_test),
        ] {
            // Every second part is between backticks.
            let names: Vec<&str> = cell.split('`').skip(1).step_by(2).collect();
            if names.is_empty() {
                findings.push(format!("`{title}` names no {what}"));
            }
            findings.extend(
                names
                    .iter()
                    .filter(|name| !holds(name))
                    .map(|name| format!("`{title}`: `{name}`")),
            );
        }
    }
    crate::none(
        &findings,
        "correct the row in docs/specification.md; what it names must be there, and be a test",
    );
}

/// Whether a path names an existing file or folder.
fn is_code(path: &str) -> bool {
    crate::root().join(path).exists()
}

/// Whether the test command runs the named test: a test function, a page with documents, a case, a
/// script, an example of the specification. The name of a whole file does not count, because a test
/// that is removed from it would go unnoticed.
pub(crate) fn is_test(name: &str) -> bool {
    if let Some(script) = name.strip_prefix("C/") {
        return crate::root()
            .join("crates/testkit/scenarios")
            .join(script)
            .with_extension("txt")
            .exists();
    }
    if let Some((file, function)) = name.split_once('#') {
        return std::fs::read_to_string(crate::root().join(file))
            .is_ok_and(|text| has_test(&text, function));
    }
    if let Some(page) = name.strip_prefix("P/") {
        let page = crate::root()
            .join("crates/blueprint_dialect/spec")
            .join(page);
        return std::fs::read_to_string(page).is_ok_and(|text| text.contains("```yaml blueprint"));
    }
    if let Some(example) = name.strip_prefix("E/") {
        let expected: serde_json::Value = serde_json::from_str(&crate::read(
            "conformance/blueprint/spec-examples/expected.json",
        ))
        .expect("it is JSON");
        return expected.get(example).is_some();
    }
    let case = CASES
        .iter()
        .find_map(|(short, folder)| Some((*folder, name.strip_prefix(short)?)));
    case.is_some_and(|(folder, name)| is_case(folder, name))
}

/// Whether a source text has a test with this name: the function with its attribute right above it.
fn has_test(text: &str, function: &str) -> bool {
    let lines: Vec<&str> = text.lines().map(str::trim_start).collect();
    let declared = |line: &str| {
        ["fn ", "async fn "].iter().any(|begin| {
            line.strip_prefix(begin).is_some_and(|rest| {
                rest.strip_prefix(function)
                    .is_some_and(|end| end.starts_with('('))
            })
        })
    };
    let attributes = |at: usize| {
        lines[..at]
            .iter()
            .rev()
            .take_while(|line| line.starts_with("#["))
            .copied()
    };
    let is_test = |line: &str| line.starts_with("#[test]") || line.starts_with("#[tokio::test");
    lines
        .iter()
        .enumerate()
        .any(|(at, line)| declared(line) && attributes(at).any(is_test))
}

/// Whether the folder has a case with this name, or, for a name that ends in `*`, a case whose name
/// begins with it. A case is a file with an expectation.
fn is_case(folder: &str, name: &str) -> bool {
    let (name, open) = name
        .strip_suffix('*')
        .map_or((name, false), |begin| (begin, true));
    let Ok(entries) = std::fs::read_dir(crate::root().join(folder)) else {
        return false;
    };
    entries.flatten().any(|entry| {
        let found = entry.file_name().to_string_lossy().into_owned();
        let case = match entry.path().join("expect.json").exists() {
            true => Some(found.as_str()),
            false => found.strip_suffix(".expect.json"),
        };
        case.is_some_and(|case| case == name || open && case.starts_with(name))
    })
}

#[test]
fn names_in_a_row_are_resolved_by_their_form() {
    assert!(is_code("crates/understand/src/links") && !is_code("crates/nowhere"));
    assert!(
        is_test("P/document.md")
            && is_test("V/valid-*")
            && is_test("M/two-modules*")
            && is_test("E/variables")
    );
    assert!(is_test("V/valid-smallest.1*") || is_test("V/valid-smallest*"));
    for nothing in [
        "P/nothing.md",
        "V/bogus-*",
        "M/two*s",
        "E/nothing",
        "crates/understand/tests/check.rs",
        "conformance/blueprint/cases",
    ] {
        assert!(!is_test(nothing), "{nothing}");
    }
    let here = "crates/xtask/tests/tidy/specification.rs";
    assert!(is_test(&format!(
        "{here}#names_in_a_row_are_resolved_by_their_form"
    )));
    assert!(!is_test(&format!("{here}#is_case")), "no test");
    assert!(
        !is_test(&format!("{here}#what_a_row_names")),
        "not all of the name"
    );
}
