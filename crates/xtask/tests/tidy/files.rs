//! Checks of files: first line, length, forbidden contents, links.

use std::process::Command;

/// The largest number of lines of a source file.
const MOST_LINES: usize = 900;

/// Longer files that must not be split, with the reason.
const LONGER: [(&str, &str); 0] = [];

#[test]
fn every_module_says_what_it_is_for() {
    let findings: Vec<String> = crate::files_under("crates", ".rs")
        .into_iter()
        .filter(|path| !path.contains("/tests/data/") && !crate::read(path).starts_with("//!"))
        .collect();
    crate::none(
        &findings,
        "open the file with `//!`: what it is for, and what it deliberately does not do",
    );
}

#[test]
fn source_files_hold_one_idea() {
    let mut findings = Vec::new();
    for path in crate::files_under("crates", ".rs")
        .into_iter()
        .filter(|path| path.contains("/src/"))
    {
        let lines = crate::read(&path).lines().count();
        if lines > MOST_LINES && !LONGER.iter().any(|(file, _)| *file == path) {
            findings.push(format!("{path} has {lines} lines"));
        }
    }
    crate::none(
        &findings,
        "move one of its responsibilities into a file of its own; or list the file with a reason",
    );
}

#[test]
fn no_file_names_a_path_of_the_machine_it_was_written_on() {
    let Some(listed) = listed() else { return };
    // The texts are composed here, so that this file does not contain them itself.
    let mut signs: Vec<String> = ["home", "root", "Users", "work"]
        .iter()
        .map(|folder| format!("/{folder}/"))
        .collect();
    let root = crate::root().to_string_lossy().into_owned();
    // The path of a checkout at the root of the file system is too short to be distinctive.
    if root.matches('/').count() > 1 {
        signs.push(root);
    }
    let mut findings = Vec::new();
    for path in &listed {
        let Ok(text) = std::fs::read_to_string(crate::root().join(path)) else {
            continue;
        };
        for (number, line) in (1..).zip(text.lines()) {
            if let Some(sign) = signs.iter().find(|sign| starts_a_path(line, sign)) {
                findings.push(format!("{path}:{number} names `{sign}`"));
            }
        }
    }
    crate::none(
        &findings,
        "write the path relative to the project, or to a temporary folder",
    );
}

/// Whether the line has the text at the start of a path.
fn starts_a_path(line: &str, sign: &str) -> bool {
    line.match_indices(sign).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        !before
            .is_some_and(|character| character.is_alphanumeric() || "./_-}~*)".contains(character))
    })
}

/// Returns the files that belong to the project; `None`, with a message, outside of a git checkout.
#[expect(clippy::print_stderr, reason = "a check that is skipped says so")]
fn listed() -> Option<Vec<String>> {
    let output = Command::new("git")
        .current_dir(crate::root())
        .args(["ls-files", "-z"])
        .output()
        .ok()?;
    if !output.status.success() {
        eprintln!("skipped: this is no git checkout, so the files of the project are unknown");
        return None;
    }
    let paths = String::from_utf8_lossy(&output.stdout).into_owned();
    Some(
        paths
            .split('\0')
            .filter(|path| !path.is_empty())
            .map(str::to_owned)
            .collect(),
    )
}

#[test]
fn links_between_pages_lead_somewhere() {
    let Some(listed) = listed() else { return };
    let mut findings = Vec::new();
    // The pages of the conformance packs stay as they were delivered.
    for path in listed
        .iter()
        .filter(|path| path.ends_with(".md") && !path.starts_with("conformance/"))
    {
        let Ok(text) = std::fs::read_to_string(crate::root().join(path)) else {
            continue;
        };
        let whole = crate::root().join(path);
        let folder = whole.parent().expect("a file lies in a folder");
        for (at, _) in text.match_indices("](") {
            let target = text[at + 2..]
                .split([')', ' ', '\n'])
                .next()
                .unwrap_or_default();
            let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
            if file.contains("://") {
                continue;
            }
            let there = if file.is_empty() {
                whole.clone()
            } else {
                folder.join(file)
            };
            let has_anchor = || {
                std::fs::read_to_string(&there)
                    .is_ok_and(|text| anchors(&text).any(|one| one == anchor))
            };
            if !there.exists() || !anchor.is_empty() && !has_anchor() {
                findings.push(format!("{path}: `{target}`"));
            }
        }
    }
    crate::none(&findings, "correct the link, or take it away");
}

/// Returns the anchors of the headings of a page, as code hosts generate them.
pub(crate) fn anchors(page: &str) -> impl Iterator<Item = String> {
    page.lines()
        .filter(|line| line.starts_with('#'))
        .map(|line| {
            let words = line.trim_start_matches('#').trim().to_lowercase();
            words
                .chars()
                .filter(|letter| letter.is_alphanumeric() || "-_ ".contains(*letter))
                .collect::<String>()
                .replace(' ', "-")
        })
}
