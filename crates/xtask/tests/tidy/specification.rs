//! The table that maps the specification to code and tests names what is there, and every section.

/// The headings of the Blueprint Specification v2023-04-20 that ask for something, in its order, then the two texts that
/// belong to it.
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

/// What stands for a folder at the beginning of a path.
const FOLDERS: [(&str, &str); 5] = [
    ("V/", "conformance/blueprint/cases/validation/"),
    ("S/", "conformance/blueprint/cases/stage/"),
    ("D/", "conformance/blueprint/cases/deploy/"),
    ("M/", "conformance/blueprint/cases/modules/"),
    ("P/", "crates/dialects/spec/blueprint/"),
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
    findings.extend(SECTIONS.iter().filter(|one| !titles.contains(one)).map(|one| format!("`{one}` has no row")));
    findings.extend(titles.iter().filter(|one| !SECTIONS.contains(one)).map(|one| format!("`{one}` is no section")));
    for row in &rows {
        let [title, code, tests] = row.as_slice() else {
            findings.push(format!("not three cells: {row:?}"));
            continue;
        };
        for (what, cell) in [("code", code), ("tests", tests)] {
            // Every second part stands between backticks.
            let paths: Vec<&str> = cell.split('`').skip(1).step_by(2).collect();
            if paths.is_empty() {
                findings.push(format!("`{title}` names no {what}"));
            }
            findings.extend(paths.iter().filter(|path| !is_there(path)).map(|path| format!("`{title}`: `{path}`")));
        }
    }
    crate::none(&findings, "correct the row in docs/specification.md; what is named there must exist");
}

/// Whether a path of the table leads to something: a file or folder, for `*` any with that beginning, for `#name` a
/// test of that name in it.
fn is_there(path: &str) -> bool {
    let folder = FOLDERS.iter().find_map(|(short, whole)| Some(format!("{whole}{}", path.strip_prefix(short)?)));
    let path = folder.unwrap_or_else(|| path.to_owned());
    if let Some((file, test)) = path.split_once('#') {
        return std::fs::read_to_string(crate::root().join(file))
            .is_ok_and(|text| text.contains(&format!("fn {test}(")));
    }
    let Some(beginning) = path.strip_suffix('*') else { return crate::root().join(&path).exists() };
    let (folder, name) = beginning.rsplit_once('/').unwrap_or(("", beginning));
    let Ok(entries) = std::fs::read_dir(crate::root().join(folder)) else { return false };
    entries.flatten().any(|entry| entry.file_name().to_string_lossy().starts_with(name))
}

#[test]
fn paths_are_looked_up_as_they_are_written() {
    assert!(is_there("P/document.md") && is_there("crates/diag/src/*") && is_there("V/valid-*"));
    assert!(!is_there("P/nothing.md") && !is_there("V/bogus-*") && !is_there("crates/nowhere/*"));
    assert!(is_there("crates/xtask/tests/tidy/specification.rs#paths_are_looked_up_as_they_are_written"));
    assert!(!is_there("crates/xtask/tests/tidy/specification.rs#nothing_like_it"));
}
