//! Checks that cited decisions exist: `decisions/apply#cut-off-runs` in a comment names a heading
//! of `docs/decisions/apply.md` by its anchor.

use std::collections::{BTreeMap, BTreeSet};

use crate::files::anchors;
use crate::rust_source;

const FOLDER: &str = "docs/decisions";

/// The beginning of a citation. The name of a page, `#` and an anchor follow.
const OPENING: &str = "decisions/";

#[test]
fn cited_decisions_exist() {
    let pages: BTreeMap<String, BTreeSet<String>> = pages()
        .into_iter()
        .map(|(name, anchors)| (name, anchors.into_iter().collect()))
        .collect();
    let mut findings = Vec::new();
    for file in rust_source::all() {
        for comment in &file.comments {
            for citation in cited(&comment.text) {
                let exists = citation.split_once('#').is_some_and(|(page, anchor)| {
                    pages
                        .get(page)
                        .is_some_and(|anchors| anchors.contains(anchor))
                });
                if !exists {
                    findings.push(format!(
                        "{}:{}: {FOLDER} has no heading for `{OPENING}{citation}`",
                        file.path, comment.line
                    ));
                }
            }
        }
    }
    crate::none(
        &findings,
        "cite `decisions/PAGE#ANCHOR` with the anchor of a heading, or write the reason out",
    );
}

#[test]
fn each_heading_of_a_page_has_its_own_anchor() {
    let mut findings = Vec::new();
    for (page, anchors) in pages() {
        let mut seen = BTreeSet::new();
        findings.extend(
            anchors
                .into_iter()
                .filter(|anchor| !seen.insert(anchor.clone()))
                .map(|anchor| format!("{FOLDER}/{page}.md: `{anchor}`")),
        );
    }
    crate::none(&findings, "give each heading of the page another title");
}

/// Returns the pages of decisions: each name with the anchors of its headings, in order.
fn pages() -> Vec<(String, Vec<String>)> {
    crate::files_under(FOLDER, ".md")
        .iter()
        .map(|path| {
            let name = path
                .strip_prefix(&format!("{FOLDER}/"))
                .and_then(|name| name.strip_suffix(".md"))
                .expect("the path is in the folder and has the ending");
            (name.to_owned(), anchors(&crate::read(path)).collect())
        })
        .collect()
}

/// Returns the citations in a comment without their opening: `apply#cut-off-runs`. The path of a
/// page (`docs/decisions/apply.md`) is not a citation.
fn cited(text: &str) -> Vec<&str> {
    text.match_indices(OPENING)
        .filter(|(at, _)| !text[..*at].ends_with('/'))
        .map(|(at, _)| {
            let rest = &text[at + OPENING.len()..];
            let end = rest
                .find(|letter: char| !(letter.is_alphanumeric() || "_-#".contains(letter)))
                .unwrap_or(rest.len());
            &rest[..end]
        })
        .collect()
}

#[test]
fn citations_are_found_in_comments() {
    let text = "The value (decisions/plan#drift, decisions/heat#get_attr-with-text). See \
                docs/decisions/plan.md, decisions/links and decisions of old.";
    assert_eq!(
        cited(text),
        ["plan#drift", "heat#get_attr-with-text", "links"]
    );
}
