//! Catalogue files of the user: reading them, and diagnostics at the places of mistakes.
//!
//! Not here: the format of a catalogue (`provider`).

use std::path::{Path, PathBuf};
use std::sync::Arc;

use diag::{Diagnostic, Diagnostics, FileId, Files, Span};
use provider::codes::INVALID_CATALOG;
use provider::{Catalog, CatalogError, Catalogs};
use syntax::{Content, Format, Node, Tree};

use crate::config::Config;
use crate::error::Error;
use crate::findings::Findings;
use crate::installed::Installed;
use crate::paths::absolute;
use crate::text::read_text;

/// Reads catalogue files that are used together. A mistake that concerns a whole file names the
/// place in `config` that lists the file, if there is one.
pub(crate) fn read_all(
    paths: &[PathBuf],
    simulated: bool,
    config: &Config,
    installed: &Installed,
) -> Result<Vec<Arc<Catalog>>, Error> {
    let mut files = Files::new();
    let mut found = Diagnostics::new();
    let mut catalogs: Vec<(FileId, Arc<Catalog>)> = Vec::new();
    for path in paths {
        if let Some((file, catalog)) = read(path, &catalogs, installed, &mut files, &mut found)? {
            if let Some(taken) =
                takes_built_in_namespace(path, file, &catalog, config, installed, &files)
            {
                found.push(taken);
            }
            catalogs.push((file, catalog));
        }
    }
    if !found.has_errors() {
        contradictions(&catalogs, simulated, installed, &files, &mut found);
    }
    if found.has_errors() {
        return Err(Error::Catalogs(Findings {
            diagnostics: found,
            files,
        }));
    }
    Ok(catalogs.into_iter().map(|(_, catalog)| catalog).collect())
}

/// Reads the catalogue in a file. Adds its mistakes to `found`.
fn read(
    path: &Path,
    before: &[(FileId, Arc<Catalog>)],
    installed: &Installed,
    files: &mut Files,
    found: &mut Diagnostics,
) -> Result<Option<(FileId, Arc<Catalog>)>, Error> {
    // Show the path relative to the current folder if the file is below it.
    let here = absolute(Path::new(""));
    let shown = path
        .strip_prefix(&here)
        .unwrap_or(path)
        .display()
        .to_string();
    let text = read_text(Path::new(&shown))?;
    let file = files.add(shown.clone(), text.as_str());
    let before: Vec<Arc<Catalog>> = before.iter().map(|(_, catalog)| catalog.clone()).collect();
    match provider::read_catalog_over(
        &text,
        Arc::new(Catalogs::new(provider::overlay(installed.all_catalogs(), &before)).0),
    ) {
        Ok(catalog) => return Ok(Some((file, Arc::new(catalog)))),
        Err(error) => found.push(diagnostic(&error, file, &shown, &text)),
    }
    Ok(None)
}

/// Returns the diagnostic of a mistake in a catalogue, at its place in the file.
fn diagnostic(error: &CatalogError, file: FileId, shown: &str, text: &str) -> Diagnostic {
    let diagnostic = INVALID_CATALOG.new(format!(
        "`{shown}` is no catalogue that can be used: {}",
        error.message
    ));
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

/// Returns a diagnostic if a catalogue of hosted packages uses a built-in namespace: types of that
/// namespace would have two providers, in a simulation too.
fn takes_built_in_namespace(
    path: &Path,
    file: FileId,
    catalog: &Catalog,
    config: &Config,
    installed: &Installed,
    files: &Files,
) -> Option<Diagnostic> {
    let hosted = catalog.hosted.as_ref()?;
    let namespace = catalog
        .namespaces
        .iter()
        .find(|namespace| installed.has(namespace))?;
    let message =
        format!("the namespace `{namespace}` is built in, a hosted package cannot have it");
    let text = files.get(file)?.text();
    let position = catalog
        .namespaces
        .iter()
        .position(|name| name == namespace)?;
    let (tree, _) = syntax::parse(file, text, Format::Json);
    let span = at_path(&tree, &format!("$.namespace[{position}]"))?;
    let host = installed
        .hosts
        .iter()
        .find(|host| host.family == hosted.family.as_ref());
    let prefix = host.map_or(hosted.family.as_ref(), |host| host.prefix);
    let diagnostic = INVALID_CATALOG.new(message).label(span, "this namespace");
    let diagnostic = match config.catalog_place(path) {
        Some(place) => diagnostic.note(format!("`{place}` lists the catalogue")),
        None => diagnostic,
    };
    Some(diagnostic.help(format!(
        "give the package another name, such as `{prefix}-{namespace}`"
    )))
}

/// Reports contradictions between these catalogues, and between them and the catalogues of this
/// program.
fn contradictions(
    more: &[(FileId, Arc<Catalog>)],
    simulated: bool,
    installed: &Installed,
    files: &Files,
    found: &mut Diagnostics,
) {
    let mut report = |number: usize, error: &CatalogError| {
        let Some(((file, _), text)) = more
            .get(number)
            .and_then(|one| Some((one, files.get(one.0)?)))
        else {
            return;
        };
        found.push(diagnostic(error, *file, text.name(), text.text()));
    };
    if !simulated {
        for (number, (_, catalog)) in more.iter().enumerate() {
            for namespace in catalog
                .namespaces
                .iter()
                .filter(|namespace| installed.manages(namespace))
            {
                let message = format!(
                    "`{namespace}` is a built-in namespace: a catalogue can replace its types only with `--simulate`"
                );
                report(
                    number,
                    &CatalogError {
                        place: "$.namespace".to_owned(),
                        message,
                        position: None,
                    },
                );
            }
        }
    }
    let catalogs: Vec<Arc<Catalog>> = more.iter().map(|(_, catalog)| catalog.clone()).collect();
    for (number, error) in provider::conflicting_names(&catalogs) {
        report(number, &error);
    }
    if !catalogs.is_empty() && !found.has_errors() {
        for message in provider::combine(provider::overlay(installed.all_catalogs(), &catalogs)).2 {
            found.push(
                INVALID_CATALOG
                    .new(message)
                    .help("leave one of the catalogues out, or rename what both offer"),
            );
        }
    }
}

/// Returns the place of a line and a column. Both count from 1; the column counts bytes.
fn at_position(file: FileId, text: &str, line: usize, column: usize) -> Option<Span> {
    let start: usize = text
        .split_inclusive('\n')
        .take(line.checked_sub(1)?)
        .map(str::len)
        .sum();
    let at = start.checked_add(column.saturating_sub(1))?.min(text.len());
    let at = u32::try_from((0..=at).rev().find(|at| text.is_char_boundary(*at))?).ok()?;
    Some(Span::new(file, at, at))
}

/// Returns the place of a path such as `$.resourceTypes["shop/rack"].fields.id`, or of its longest
/// prefix that exists.
fn at_path(tree: &Tree, path: &str) -> Option<Span> {
    let mut node = tree.root.as_ref()?;
    let mut span = None;
    for step in steps(path) {
        let next: Option<(&Node, Span)> = match (&node.content, step) {
            (Content::Map(entries), JsonStep::Key(key)) => entries
                .iter()
                .find(|entry| entry.key.text() == Some(key.as_str()))
                .map(|entry| (&entry.value, entry.key.span)),
            (Content::List(items), JsonStep::Index(index)) => {
                items.get(index).map(|item| (item, item.span.head()))
            }
            _ => None,
        };
        let Some((inner, place)) = next else { break };
        (node, span) = (inner, Some(place));
    }
    Some(match (&node.content, span) {
        // A mistake in a scalar is in its value.
        (Content::Scalar(_), Some(_)) => node.span,
        (_, Some(span)) => span,
        (_, None) => node.span.head(),
    })
}

enum JsonStep {
    Key(String),
    Index(usize),
}

/// Parses a path in the format of `CatalogError`.
fn steps(path: &str) -> Vec<JsonStep> {
    let mut steps = Vec::new();
    let mut rest = path.strip_prefix('$').unwrap_or(path);
    loop {
        if let Some(after) = rest.strip_prefix('.') {
            let end = after.find(['.', '[']).unwrap_or(after.len());
            let (key, more) = after.split_at(end);
            steps.push(JsonStep::Key(key.to_owned()));
            rest = more;
        } else if let Some(quoted) = rest
            .strip_prefix('[')
            .filter(|after| after.starts_with('"'))
        {
            let mut values = serde_json::Deserializer::from_str(quoted).into_iter::<String>();
            let Some(Ok(key)) = values.next() else {
                return steps;
            };
            let end = values.byte_offset();
            steps.push(JsonStep::Key(key));
            rest = quoted.get(end + 1..).unwrap_or("");
        } else if let Some((index, more)) = rest
            .strip_prefix('[')
            .and_then(|after| after.split_once(']'))
        {
            let Ok(index) = index.parse() else {
                return steps;
            };
            steps.push(JsonStep::Index(index));
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
        assert_eq!(
            at(r#"$.resourceTypes["x/a b"].rejects[0].field"#),
            Some("1")
        );
        assert_eq!(
            at(r#"$.resourceTypes["x/a b"].fields.id"#),
            Some("\"x/a b\"")
        );
        assert_eq!(
            at(r#"$.resourceTypes["x/a b"].rejects"#),
            Some("\"rejects\"")
        );
        assert!(
            at("$").is_some() && at("").is_some() && at("$[").is_some() && at("$[\"").is_some()
        );
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
