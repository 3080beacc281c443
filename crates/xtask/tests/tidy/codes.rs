//! Checks that every diagnostic code has a page, and every page a code.

use std::collections::{BTreeMap, BTreeSet};

/// A code declared in `diag::codes!`.
pub(crate) struct Declared {
    pub(crate) code: String,
    pub(crate) severity: String,
    pub(crate) summary: String,
}

/// Returns the codes that a crate's sources declare: lines
/// `NAME = Severity "code-name": "summary";`.
pub(crate) fn declared(name: &str) -> Vec<Declared> {
    let mut codes = Vec::new();
    for path in crate::files_under(&format!("crates/{name}/src"), "codes.rs") {
        for line in crate::read(&path).lines() {
            let Some((_, rest)) = line.trim().split_once(" = ") else {
                continue;
            };
            let Some((severity, rest)) = rest.split_once(" \"") else {
                continue;
            };
            if ["Error", "Warning", "Note"].contains(&severity)
                && let Some((code, rest)) = rest.split_once("\": \"")
                && let Some(summary) = rest.strip_suffix("\";")
            {
                let (code, severity, summary) =
                    (code.to_owned(), severity.to_lowercase(), summary.to_owned());
                codes.push(Declared {
                    code,
                    severity,
                    summary,
                });
            }
        }
    }
    codes
}

#[test]
fn every_code_has_a_page_and_every_page_a_code() {
    let mut findings = Vec::new();
    let mut seen: BTreeMap<String, String> = BTreeMap::new();
    for name in crate::folders_in("crates") {
        let codes: Vec<String> = declared(&name).into_iter().map(|one| one.code).collect();
        for code in &codes {
            if let Some(other) = seen.insert(code.clone(), name.clone()) {
                findings.push(format!(
                    "`{code}` is declared in `{other}` and again in `{name}`"
                ));
            }
        }
        let codes: BTreeSet<String> = codes.into_iter().collect();
        let pages: BTreeSet<String> = crate::files_under(&format!("crates/{name}/codes"), ".md")
            .iter()
            .filter_map(|path| Some(path.rsplit('/').next()?.strip_suffix(".md")?.to_owned()))
            .collect();
        findings.extend(
            codes
                .difference(&pages)
                .map(|code| format!("crates/{name}/codes/{code}.md is missing")),
        );
        findings.extend(
            pages
                .difference(&codes)
                .map(|code| format!("crates/{name}/codes/{code}.md is of no code")),
        );
    }
    assert!(
        !seen.is_empty(),
        "no code was found at all: the form of `diag::codes!` must have changed"
    );
    crate::none(
        &findings,
        "write the page (or take it away); a code belongs to one crate",
    );
}

#[test]
fn every_page_opens_with_its_code_and_shows_an_example() {
    let mut findings = Vec::new();
    for name in crate::folders_in("crates") {
        for path in crate::files_under(&format!("crates/{name}/codes"), ".md") {
            let page = crate::read(&path);
            let code = path
                .rsplit('/')
                .next()
                .and_then(|file| file.strip_suffix(".md"))
                .unwrap_or_default();
            if page.lines().next() != Some(&format!("# {code}")) {
                findings.push(format!("{path} does not open with `# {code}`"));
            }
            if !page.contains("\n```") {
                findings.push(format!("{path} shows no example"));
            }
        }
    }
    crate::none(
        &findings,
        "a page explains its code with a smallest document, or with what a terminal shows",
    );
}
