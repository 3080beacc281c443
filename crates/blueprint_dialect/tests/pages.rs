//! The pages of codes and of the specification, checked by the shape of their documents: each block
//! gives exactly the marked diagnostics.

use std::path::{Path, PathBuf};

use blueprint_dialect::BlueprintDialect;
use diag::Files;
use dialect::Dialect as _;
use syntax::Format;

/// A mark: line, severity and code.
type Mark = (u32, String, String);

/// The marks of all diagnostics of reading and lowering a document.
fn reported(text: &str) -> Vec<Mark> {
    let mut files = Files::new();
    let file = files.add("page.yaml", text);
    let (tree, mut found) = syntax::parse(file, text, Format::Yaml);
    let context = dialect::LoadContext::NONE;
    let document = dialect::Document::new(
        file,
        "page.yaml",
        text,
        std::slice::from_ref(&tree),
        &context,
    );
    found.append(
        BlueprintDialect
            .lower(&document, expr::core_functions(), &Default::default())
            .diagnostics,
    );
    let file = files.get(file).expect("it was added");
    let mut list: Vec<_> = found
        .iter()
        .map(|one| {
            (
                file.position(one.span().start).line,
                one.severity.word().to_owned(),
                one.code.name.to_owned(),
            )
        })
        .collect();
    list.sort();
    list
}

/// The expected marks: comments `# error: code`, `# warning: code`, `# note: code` at the end of a
/// line; `# error: a, b, note: c` is three marks.
fn marked(text: &str) -> Vec<Mark> {
    let mut list = Vec::new();
    for (line, text) in (1..).zip(text.lines()) {
        let Some((_, comment)) = text.rsplit_once("# ") else {
            continue;
        };
        let mut severity = "";
        for mark in comment.split(", ") {
            let code = match mark.split_once(": ") {
                Some((word, code)) if ["error", "warning", "note"].contains(&word) => {
                    severity = word;
                    code
                }
                _ if severity.is_empty() => break,
                _ => mark,
            };
            list.push((line, severity.to_owned(), code.trim().to_owned()));
        }
    }
    list.sort();
    list
}

fn blocks(page: &str) -> Vec<String> {
    let mut blocks = Vec::new();
    let mut block: Option<String> = None;
    for line in page.lines() {
        match &mut block {
            None if line == "```yaml blueprint" => block = Some(String::new()),
            Some(text) if line == "```" => blocks.push(std::mem::take(text)),
            Some(text) => {
                text.push_str(line);
                text.push('\n');
            }
            None => {}
        }
        if line == "```" {
            block = None;
        }
    }
    blocks
}

fn pages(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut pages: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("the folder is there")
        .map(|entry| entry.expect("it can be listed").path())
        .collect();
    pages.sort();
    assert!(!pages.is_empty());
    pages
}

fn run(folder: &str, is_true: impl Fn(&[Mark], &[Mark]) -> bool) {
    let mut wrong = Vec::new();
    for page in pages(folder) {
        let text = std::fs::read_to_string(&page).expect("a page is text");
        let blocks = blocks(&text);
        assert!(!blocks.is_empty(), "{} has no examples", page.display());
        for block in blocks {
            let (found, wanted) = (reported(&block), marked(&block));
            if !is_true(&found, &wanted) {
                wrong.push(format!(
                    "{}\n{block}\n  found  {found:?}\n  marked {wanted:?}",
                    page.display()
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn specification_pages_give_their_diagnostics() {
    // Diagnostics that need types, values or other documents are missing here. Another test checks
    // all marks of each page.
    run("spec", |found, wanted| {
        found.iter().all(|mark| wanted.contains(mark))
    });
}
