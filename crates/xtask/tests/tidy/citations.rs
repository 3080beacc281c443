//! Checks that cited decisions exist: `decision S48` in a comment names a heading of
//! `docs/decisions/`.

use std::collections::BTreeSet;

use crate::rust_source::{self, Comment};

const FOLDER: &str = "docs/decisions";

/// The words that begin a citation. One or more labels follow.
const OPENINGS: [&str; 6] = [
    "decision",
    "decisions",
    "ruling",
    "rulings",
    "reference",
    "references",
];

#[test]
fn cited_decisions_exist() {
    let headings: BTreeSet<String> = crate::files_under(FOLDER, ".md")
        .iter()
        .flat_map(|path| headings(&crate::read(path)))
        .collect();
    let mut findings = Vec::new();
    for file in rust_source::all() {
        for (line, text) in blocks(&file.comments) {
            for label in cited(&text)
                .into_iter()
                .filter(|label| !headings.contains(label))
            {
                findings.push(format!(
                    "{}:{line}: no heading `{label}` in {FOLDER}",
                    file.path
                ));
            }
        }
    }
    crate::none(
        &findings,
        "cite a label that is a heading in docs/decisions, or write the reason out",
    );
}

/// Joins comments of neighbouring lines, since a citation may continue on the next line. Each text
/// has its first line.
fn blocks(comments: &[Comment]) -> Vec<(usize, String)> {
    let mut found: Vec<(usize, String)> = Vec::new();
    let mut last = None;
    for comment in comments {
        let text = comment.text.trim_start_matches(['/', '!']);
        match found.last_mut() {
            Some((_, whole)) if last == Some(comment.line - 1) => whole.push_str(text),
            _ => found.push((comment.line, text.to_owned())),
        }
        last = Some(comment.line);
    }
    found
}

/// Returns the labels at the beginning of the headings of a page: `### S48`,
/// `### 5.3: Time limits`, `### S34 to S36`.
fn headings(page: &str) -> BTreeSet<String> {
    let lines = page.lines().filter_map(|line| line.strip_prefix('#'));
    lines
        .flat_map(|line| labels(line.trim_start_matches('#')))
        .collect()
}

/// Returns the labels that a text cites.
fn cited(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let words: Vec<&str> = text.split_whitespace().collect();
    for (at, word) in words.iter().enumerate() {
        let opening = word
            .trim_start_matches(|letter: char| !letter.is_alphabetic())
            .to_lowercase();
        if OPENINGS.contains(&opening.as_str()) {
            found.extend(labels(&words[at + 1..].join(" ")));
        }
    }
    found
}

/// Returns the labels at the beginning of a text, which may be joined: `S34, S35 and A2`,
/// `S34 to S36`, `Heat 5.6`.
fn labels(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut prefix = "";
    for word in text.split_whitespace() {
        let bare = word.trim_matches(|letter: char| !letter.is_ascii_alphanumeric());
        if bare == "Heat" && prefix.is_empty() {
            prefix = "Heat ";
            continue;
        }
        let numbered = !prefix.is_empty() && bare.bytes().all(|byte| byte.is_ascii_digit());
        if is_label(bare) || numbered && !bare.is_empty() {
            found.push(format!("{prefix}{bare}"));
            prefix = "";
        } else if found.is_empty() || !prefix.is_empty() || !["and", "to", "or"].contains(&word) {
            break;
        }
        if word.ends_with([')', '.', ';', ':']) {
            break;
        }
    }
    found
}

/// Whether a word has the form `S48` or `5.3`.
fn is_label(word: &str) -> bool {
    let number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let lettered = word
        .strip_prefix(|letter: char| letter.is_ascii_uppercase())
        .is_some_and(number);
    lettered || word.contains('.') && word.split('.').all(number)
}

#[test]
fn citations_and_headings_are_understood() {
    let text = "The value (rulings S34 to S36, A2; see decision 5.3). A reference to S1, reference 7, a ruling of old, \
                decisions Heat 3 and Heat 5.6.";
    assert_eq!(
        cited(text).into_iter().collect::<Vec<_>>(),
        ["5.3", "A2", "Heat 3", "Heat 5.6", "S34", "S36"]
    );
    let file = rust_source::parse("a.rs", "/// A rule (ruling\n/// S7).\nstruct A;\n");
    assert_eq!(
        blocks(&file.comments),
        [(1, " A rule (ruling S7).".to_owned())]
    );
    let page = "# Links\n\n### S34 to S36\n\nS99\n\n## 5.3: Limits\n";
    assert_eq!(
        headings(page).into_iter().collect::<Vec<_>>(),
        ["5.3", "S34", "S36"]
    );
}
