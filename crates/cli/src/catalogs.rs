//! `--simulate` and `--catalog`, from the command line or from `cyan.toml`: what they put at hand, and what is wrong with a
//! catalogue file.
//!
//! Not here: what a simulation does (`providers::fake`), what a catalogue may say (`provider`).

use std::path::Path;
use std::sync::Arc;

use diag::{Diagnostic, Diagnostics, FileId, Files, Span};
use provider::codes::INVALID_CATALOG;
use provider::{Catalog, CatalogError};
use syntax::{Content, Format, Node, Tree};

use crate::arguments::Global;
use crate::config::Config;
use crate::exit::CommandError;
use crate::registry::{self, Offer};
use crate::setup::{read_text, whole};
use crate::view::report::Report;

/// What is at hand for a command: by its flags, else by the configuration. What is wrong with a catalogue is said here.
pub(crate) fn offer(flags: &Global, config: &Config, report: &mut Report) -> Result<Offer, CommandError> {
    let simulated = flags.simulate.unwrap_or(config.simulate);
    if let Some(first) = flags.catalog.first()
        && !simulated
        && !report.takes_catalogs
    {
        return Err(CommandError::Usage {
            message: format!(
                "`--catalog` goes with commands that change nothing and with `--simulate`, not with `{}` alone",
                report.command
            ),
            help: Some(format!(
                "`{}` describes types and manages nothing: say `--simulate` to rehearse with them",
                first.display()
            )),
        });
    }
    if simulated {
        let by = if flags.simulate.is_none() { config.file() } else { "" };
        report.set_simulated(by);
    }
    let mut files = Files::new();
    let mut found = Diagnostics::new();
    let mut more: Vec<(FileId, Arc<Catalog>)> = Vec::new();
    let named = if flags.catalog.is_empty() { &config.catalog } else { &flags.catalog };
    for path in named {
        if let Some(read) = read(path, &more, &mut files, &mut found)? {
            more.push(read);
        }
    }
    if !found.has_errors() {
        contradictions(&more, simulated, &files, &mut found);
    }
    report.diagnostics(&found, &files);
    if found.has_errors() {
        return Err(CommandError::Said);
    }
    let mut offer =
        Offer { simulated, more: more.into_iter().map(|(_, catalog)| catalog).collect(), ..Offer::default() };
    offer.settings = config.dialects()?;
    offer.limits = config.limits(|namespace| offer.knows(namespace))?;
    Ok(offer)
}

/// What is at hand for a command without a document.
pub(crate) fn offer_here(flags: &Global, report: &mut Report) -> Result<Offer, CommandError> {
    let config = Config::load(flags.config.as_deref(), &whole(Path::new("")))?;
    offer(flags, &config, report)
}

/// The catalogue in a file; what is wrong with it goes to `found`.
fn read(
    path: &Path,
    before: &[(FileId, Arc<Catalog>)],
    files: &mut Files,
    found: &mut Diagnostics,
) -> Result<Option<(FileId, Arc<Catalog>)>, CommandError> {
    // As seen from here, where it lies below.
    let here = whole(Path::new(""));
    let shown = path.strip_prefix(&here).unwrap_or(path).display().to_string();
    let text = read_text(Path::new(&shown))?;
    let file = files.add(shown.clone(), text.as_str());
    let before: Vec<Arc<Catalog>> = before.iter().map(|(_, catalog)| catalog.clone()).collect();
    match provider::read_catalog_over(&text, Arc::new(registry::beneath(&before))) {
        Ok(catalog) => return Ok(Some((file, Arc::new(catalog)))),
        Err(error) => found.push(diagnostic(&error, file, &shown, &text)),
    }
    Ok(None)
}

/// A mistake in a catalogue, at its place in the file.
fn diagnostic(error: &CatalogError, file: FileId, shown: &str, text: &str) -> Diagnostic {
    let diagnostic = INVALID_CATALOG.new(format!("`{shown}` is no catalogue that can be used: {}", error.message));
    let span = match error.position {
        Some((line, column)) => at_position(file, text, line, column),
        None => {
            let (tree, _) = syntax::parse(file, text, Format::Json);
            at_path(&tree, &error.place)
        }
    };
    let diagnostic = match span {
        Some(span) => diagnostic.label(span, "here"),
        None => diagnostic.note(format!("at {}", error.place)),
    };
    diagnostic.help("the form of a catalogue is described in `docs/catalogues.md`")
}

/// What catalogues contradict in each other, and in what this program has itself.
fn contradictions(more: &[(FileId, Arc<Catalog>)], simulated: bool, files: &Files, found: &mut Diagnostics) {
    let mut say = |number: usize, error: &CatalogError| {
        let Some(((file, _), text)) = more.get(number).and_then(|one| Some((one, files.get(one.0)?))) else {
            return;
        };
        found.push(diagnostic(error, *file, text.name(), text.text()));
    };
    if !simulated {
        for (number, (_, catalog)) in more.iter().enumerate() {
            for namespace in catalog.namespaces.iter().filter(|namespace| registry::is_managed(namespace)) {
                let message = format!(
                    "`{namespace}` has a provider, whose types are its own; `--simulate` takes others in their place"
                );
                say(number, &CatalogError { place: "$.namespace".to_owned(), message, position: None });
            }
        }
    }
    let catalogs: Vec<Arc<Catalog>> = more.iter().map(|(_, catalog)| catalog.clone()).collect();
    for (number, error) in provider::twice(&catalogs) {
        say(number, &error);
    }
    if !catalogs.is_empty() && !found.has_errors() {
        for message in registry::contradictions(&catalogs) {
            found.push(INVALID_CATALOG.new(message).help("leave one of the catalogues out, or rename what both offer"));
        }
    }
}

/// The place of a line and a column in bytes, both from 1.
fn at_position(file: FileId, text: &str, line: usize, column: usize) -> Option<Span> {
    let start: usize = text.split_inclusive('\n').take(line.checked_sub(1)?).map(str::len).sum();
    let at = start.checked_add(column.saturating_sub(1))?.min(text.len());
    let at = u32::try_from((0..=at).rev().find(|at| text.is_char_boundary(*at))?).ok()?;
    Some(Span::new(file, at, at))
}

/// The place of a path such as `$.resourceTypes["shop/shelf"].fields.id`, or of the part of it that is there.
fn at_path(tree: &Tree, path: &str) -> Option<Span> {
    let mut node = tree.root.as_ref()?;
    let mut span = None;
    for step in steps(path) {
        let next: Option<(&Node, Span)> = match (&node.content, step) {
            (Content::Map(entries), Step::Key(key)) => entries
                .iter()
                .find(|entry| entry.key.text() == Some(key.as_str()))
                .map(|entry| (&entry.value, entry.key.span)),
            (Content::List(items), Step::Index(index)) => items.get(index).map(|item| (item, item.span.head())),
            _ => None,
        };
        let Some((inner, place)) = next else { break };
        (node, span) = (inner, Some(place));
    }
    Some(match (&node.content, span) {
        // What is wrong with a scalar is its value.
        (Content::Scalar(_), Some(_)) => node.span,
        (_, Some(span)) => span,
        (_, None) => node.span.head(),
    })
}

enum Step {
    Key(String),
    Index(usize),
}

/// The steps of a path as `CatalogError` writes it.
fn steps(path: &str) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut rest = path.strip_prefix('$').unwrap_or(path);
    loop {
        if let Some(after) = rest.strip_prefix('.') {
            let end = after.find(['.', '[']).unwrap_or(after.len());
            let (key, more) = after.split_at(end);
            steps.push(Step::Key(key.to_owned()));
            rest = more;
        } else if let Some(quoted) = rest.strip_prefix('[').filter(|after| after.starts_with('"')) {
            let mut values = serde_json::Deserializer::from_str(quoted).into_iter::<String>();
            let Some(Ok(key)) = values.next() else { return steps };
            let end = values.byte_offset();
            steps.push(Step::Key(key));
            rest = quoted.get(end + 1..).unwrap_or("");
        } else if let Some((index, more)) = rest.strip_prefix('[').and_then(|after| after.split_once(']')) {
            let Ok(index) = index.parse() else { return steps };
            steps.push(Step::Index(index));
            rest = more;
        } else {
            return steps;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_leads_to_its_place() {
        let text = r#"{"resourceTypes": {"x/a b": {"rejects": [{"field": 1}]}}}"#;
        let file = FileId::new(0);
        let (tree, _) = syntax::parse(file, text, Format::Json);
        let at = |path: &str| at_path(&tree, path).map(|span| &text[span.range()]);
        assert_eq!(at(r#"$.resourceTypes["x/a b"].rejects[0].field"#), Some("1"));
        assert_eq!(at(r#"$.resourceTypes["x/a b"].fields.id"#), Some("\"x/a b\""));
        assert_eq!(at(r#"$.resourceTypes["x/a b"].rejects"#), Some("\"rejects\""));
        assert!(at("$").is_some() && at("").is_some() && at("$[").is_some() && at("$[\"").is_some());
    }

    #[test]
    fn a_position_is_within_the_text() {
        let file = FileId::new(0);
        let at = |line, column| at_position(file, "ab\ncé\n", line, column).map(|span| span.start);
        assert_eq!(at(1, 2), Some(1));
        assert_eq!(at(2, 1), Some(3));
        assert_eq!(at(2, 3), Some(4), "not inside a character");
        assert_eq!(at(9, 9), Some(7));
        assert_eq!(at(0, 0), None);
    }
}
