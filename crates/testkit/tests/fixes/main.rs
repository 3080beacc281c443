//! What diagnostics advise works: a fix is applied, and the mistake is gone without another one.
//!
//! The documents are those of `documents.md` beside this file, and all of the pages of codes.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use diag::{Diagnostic, Diagnostics, Files, Fix};
use dialect::{ForeignWords, WordPlace};
use testkit::pages::{PageBlock, blocks};

const DOCUMENTS: &str = include_str!("documents.md");

/// The document after the edits of a fix; `None` if the fix edits another file.
fn fixed(block: &PageBlock, files: &Files, fix: &Fix) -> Option<PageBlock> {
    let root = files
        .iter()
        .find(|(_, file)| **file.text() == *block.text)?
        .0;
    let mut edits: Vec<_> = fix.edits.iter().collect();
    if edits.iter().any(|(span, _)| span.file != root) {
        return None;
    }
    edits.sort_by_key(|(span, _)| (span.start, span.end));
    let mut text = block.text.clone();
    for (span, new) in edits.into_iter().rev() {
        text.replace_range(span.start as usize..span.end as usize, new);
    }
    Some(PageBlock {
        text,
        ..block.clone()
    })
}

/// Code and message of each error.
fn errors(found: &Diagnostics) -> Vec<String> {
    let of_one = |one: &Diagnostic| format!("{}: {}", one.code.name, one.message);
    found
        .iter()
        .filter(|one| one.is_error())
        .map(of_one)
        .collect()
}

/// What a fix leaves wrong: the same diagnostic, or an error that was not reported before.
fn wrong_after(
    block: &PageBlock,
    one: &Diagnostic,
    fix: &Fix,
    files: &Files,
    before: &Diagnostics,
) -> Vec<String> {
    let Some(fixed) = fixed(block, files, fix) else {
        return Vec::new();
    };
    let (_, after) = fixed.diagnostics().unwrap();
    let same = |found: &Diagnostics| {
        found
            .iter()
            .filter(|other| other.code.name == one.code.name && other.message == one.message)
            .count()
    };
    let mut wrong = Vec::new();
    if same(&after) >= same(before) {
        wrong.push(format!("`{}` is still there", one.message));
    }
    let known = errors(before);
    wrong.extend(
        errors(&after)
            .into_iter()
            .filter(|error| !known.contains(error))
            .map(|error| format!("the fix leads to {error}")),
    );
    if !wrong.is_empty() {
        wrong.push(format!("after `{}`:\n{}", fix.text, fixed.text));
    }
    wrong
}

fn has_words(found: &Diagnostics, words: &str) -> bool {
    found.iter().any(|one| {
        one.message.contains(words)
            || one.help.iter().any(|help| help.contains(words))
            || one.fixes.iter().any(|fix| fix.text.contains(words))
    })
}

#[test]
fn fix_of_each_document_leaves_nothing_wrong() {
    let (mut wrong, mut fixes) = (Vec::new(), 0);
    for block in blocks(DOCUMENTS) {
        let place = format!("line {}", block.line);
        if let Err(difference) = block.run() {
            wrong.push(format!("{place}: {difference}"));
            continue;
        }
        let (files, found) = block.diagnostics().unwrap();
        let words = block
            .text
            .lines()
            .find_map(|line| block.directive(line, "help"));
        if let Some(words) = words
            && !has_words(&found, words)
        {
            wrong.push(format!("{place}: no help has `{words}`: {found:#?}"));
        }
        let offered: Vec<_> = found
            .iter()
            .flat_map(|one| one.fixes.iter().map(move |fix| (one, fix)))
            .collect();
        if offered.is_empty() && words.is_none() && found.iter().next().is_some() {
            wrong.push(format!("{place}: no fix and no expected help"));
        }
        for (one, fix) in offered {
            fixes += 1;
            let left = wrong_after(&block, one, fix, &files, &found);
            if !left.is_empty() {
                wrong.push(format!("{place}: {}", left.join("\n")));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    assert!(fixes > 30, "only {fixes} fixes");
}

#[test]
fn fix_on_a_page_of_a_code_leads_to_no_other_error() {
    let (mut wrong, mut fixes) = (Vec::new(), 0);
    for code in engine::inspect::diagnostic_codes(&testkit::dialects(), cluster_scripts::CODES) {
        for block in blocks(code.page) {
            let (files, found) = block.diagnostics().unwrap();
            for one in found.iter() {
                for fix in &one.fixes {
                    fixes += 1;
                    let left = wrong_after(&block, one, fix, &files, &found);
                    if !left.is_empty() {
                        wrong.push(format!("{}: {}", code.name, left.join("\n")));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    assert!(fixes > 10, "only {fixes} fixes");
}

/// The word of a table exists where the word of another tool is written.
#[test]
fn word_for_a_word_of_another_tool_exists() {
    let dialects = testkit::dialects();
    for (dialect, words) in [
        ("blueprint", ForeignWords::BLUEPRINT),
        ("hot", ForeignWords::HEAT),
        ("pulumi", ForeignWords::PULUMI),
    ] {
        let shape = dialects.get(dialect).unwrap().shape();
        for row in words.rows().filter(|row| !row.ours.is_empty()) {
            if let WordPlace::Key(name) = row.place {
                let section = shape.sections.iter().find(|section| section.name == name);
                assert!(
                    section.is_some_and(|it| it.key(row.ours).is_some()),
                    "{row:?}"
                );
            }
        }
    }
}

/// A fix that does not help is noticed.
#[test]
fn fix_that_leads_to_an_error_is_noticed() {
    let page = "```yaml blueprint local\nversion: 2023-04-20\nresources:\n  a: {type: file, spec: {path: a, content: a}}\n```\n";
    let block = &blocks(page)[0];
    let (files, found) = block.diagnostics().unwrap();
    let one = found.iter().find(|one| !one.fixes.is_empty()).unwrap();
    let mut fix = one.fixes[0].clone();
    assert!(wrong_after(block, one, &fix, &files, &found).is_empty());
    fix.edits[0].1 = "local/fil".into();
    let left = wrong_after(block, one, &fix, &files, &found);
    assert!(left[0].contains("unknown-resource-type"), "{left:?}");
}
