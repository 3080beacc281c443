//! The pages of all crates: each document gives exactly its expected diagnostics, each code has a
//! page, and each page belongs to a code.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use testkit::pages::blocks;

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// All Markdown files below a folder, sorted.
fn pages_below(folder: &Path) -> Vec<PathBuf> {
    let mut pages = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            pages.extend(pages_below(&path));
        } else if path.extension().is_some_and(|end| end == "md") {
            pages.push(path);
        }
    }
    pages.sort();
    pages
}

/// The folders `codes` of all crates that have one.
fn pages_of_codes() -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = std::fs::read_dir(crates())
        .expect("the crates are there")
        .flatten()
        .map(|entry| entry.path().join("codes"))
        .collect();
    folders.sort();
    folders
        .iter()
        .flat_map(|folder| pages_below(folder))
        .collect()
}

fn read(page: &Path) -> String {
    std::fs::read_to_string(page).expect("a page is text")
}

fn codes() -> Vec<&'static diag::Code> {
    engine::inspect::diagnostic_codes(&testkit::dialects(), cluster_scripts::CODES)
}

/// Runs every document of these pages. Returns the number of documents.
fn run(pages: &[PathBuf]) -> usize {
    let (mut wrong, mut count) = (Vec::new(), 0);
    for page in pages {
        for block in blocks(&read(page)) {
            count += 1;
            if let Err(difference) = block.run() {
                wrong.push(format!("{}:{}\n{difference}", page.display(), block.line));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {count} documents are not as they are marked:\n\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    count
}

#[test]
fn documents_of_codes_give_their_expected_diagnostics() {
    let count = run(&pages_of_codes());
    assert!(count > 150, "only {count} documents");
}

#[test]
fn documents_of_the_specification_give_their_expected_diagnostics() {
    let count = run(&pages_below(&crates().join("blueprint_dialect/spec")))
        + run(&pages_below(&crates().join("hot/spec")));
    assert!(count > 50, "only {count} documents");
}

#[test]
fn every_code_has_a_page_that_shows_it() {
    let mut wrong = Vec::new();
    for code in codes() {
        if !code.page.starts_with(&format!("# {}\n\n", code.name)) {
            wrong.push(format!(
                "{}: the page does not begin with its name",
                code.name
            ));
        }
        let shown = blocks(code.page)
            .iter()
            .any(|block| block.marks().iter().any(|mark| mark.code == code.name))
            || code.page.contains("```text\n");
        if !shown {
            wrong.push(format!("{}: no block of its page shows it", code.name));
        }
        // The summary of a code is for lists. A page shows the message of an actual case.
        if code.page.contains(&format!(
            "{}[{}]: {}\n",
            code.severity.word(),
            code.name,
            code.summary
        )) {
            wrong.push(format!(
                "{}: what its page shows is the summary, not what a person sees",
                code.name
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_page_belongs_to_a_code() {
    let names: BTreeSet<&str> = codes().iter().map(|code| code.name).collect();
    assert_eq!(names.len(), codes().len(), "two codes have one name");
    for page in pages_of_codes() {
        let name = page
            .file_stem()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        assert!(
            names.contains(name),
            "{} is the page of no code",
            page.display()
        );
    }
}

#[test]
fn all_forms_of_expected_diagnostics_are_read() {
    let page = "\
Text.\n\n```yaml blueprint stage\n# anywhere: a, b\n# input: port=80\nx: 1  # error: c, d, note: e\ny: \"# no mark\"\n```\n\n\
````markdown\n```yaml blueprint\nnot: this\n```\n````\n";
    let blocks = blocks(page);
    assert_eq!(blocks.len(), 1);
    let marks: Vec<String> = blocks[0].marks().iter().map(ToString::to_string).collect();
    assert_eq!(
        marks,
        [
            "anywhere: a",
            "anywhere: b",
            "line 3: error c",
            "line 3: error d",
            "line 3: note e"
        ]
    );
    assert_eq!(
        blocks[0].given().text.get("port").map(|it| it.as_ref()),
        Some("80")
    );
    assert!(blocks[0].stage);
}

#[test]
fn wrong_expectation_is_detected() {
    let page = "```yaml blueprint\nversion: 2023-04-20\nresources:\n  a: { type: test/data, spec: { input: 1 } }  # error: cycle\n```\n";
    assert!(blocks(page)[0].run().is_err());
    let page = "```yaml blueprint\nversion: 2023-04-20\nresources:\n  a: { type: test/dat }\n```\n";
    assert!(blocks(page)[0].run().is_err());
}
