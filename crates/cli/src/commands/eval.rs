//! `cyan eval`.

use std::path::Path;
use std::sync::Arc;

use blueprint::{Expr, ExprKind, Name};
use diag::{Diagnostics, Span, Spanned, TextMap};
use serde_json::json;

use super::exports::bare;
use crate::arguments::{Eval, Global};
use crate::commands::stage::{Ready, ready_with};
use crate::exit::{CommandError, Exit};
use crate::json;
use crate::setup::{Document, Setup, Source, whole};
use crate::view::report::Report;

/// What stands for a document where there is none. A document declares something; this is only staged, never made.
const NO_DOCUMENT: &str = "version: 2023-04-20\nresources: {nothing: {type: random/uuid, spec: {}}}\n";
/// The same where a template of Heat is needed.
const NO_TEMPLATE: &str = "heat_template_version: wallaby\n";
/// The name under which the expression stands in the document's metadata while it is checked.
const ENTRY: &str = "cyan eval";

pub(crate) async fn run(arguments: Eval, global: &Global, report: &mut Report) -> Result<Exit, CommandError> {
    let reading = &arguments.reading;
    let mut source = source(reading.file.as_deref())?;
    let mut typed = arguments.expression.clone();
    if arguments.yaql {
        typed = json!({"yaql": {"expression": typed, "data": {}}}).to_string();
        if &*source.text == NO_DOCUMENT {
            source.text = NO_TEMPLATE.into();
        }
    }
    let setup = Setup::beside(global, &source.folder, report)?;
    let mut parsed = None;
    let add = |document: &mut Document| {
        let (expr, found) = parse(document, &typed);
        parsed = Some(expr);
        found
    };
    let ready = ready_with(setup, source, &reading.which, &reading.inputs, None, report, add).await?;
    let Ready { document, shell, mut staged, .. } = match ready {
        Ok(ready) => ready,
        Err(exit) => return Ok(exit),
    };
    let Some(expr) = parsed else { return Ok(Exit::Unusable) };
    let mut found = Diagnostics::new();
    let value = staged.evaluate(&expr, &shell, &mut found).await;
    report.diagnostics(&found, &document.files);
    let Some(value) = value.filter(|_| !found.has_errors()) else { return Ok(Exit::Unusable) };
    report.set_result(json!({"value": json::value(&value, reading.secrets.reveal), "known": !value.has_unknown()}));
    if !report.is_json() {
        let value = if reading.secrets.reveal { value.revealed() } else { value };
        report.terminal.raw(&format!("{}\n", bare(&value)));
    }
    Ok(Exit::Done)
}

/// The document that is named or lies here; where there is none, one that declares nothing to speak of.
pub(super) fn source(named: Option<&Path>) -> Result<Source, CommandError> {
    let source = match named {
        None if Source::here()?.is_none() => None,
        _ => Some(Source::find(named)?),
    };
    Ok(source.unwrap_or_else(|| Source {
        shown: "(no document)".to_owned(),
        path: None,
        folder: whole(Path::new("")),
        text: NO_DOCUMENT.into(),
        beside: Vec::new(),
    }))
}

/// Parses the expression and checks it as the document's own: as one more entry of its metadata.
pub(super) fn parse(document: &mut Document, typed: &str) -> (Expr, Diagnostics) {
    let file = document.files.add("expression", typed);
    let length = u32::try_from(typed.len()).unwrap_or(u32::MAX);
    let span = Span::new(file, 0, length);
    // A dialect may have another form for expressions.
    let own = document.checked.as_ref().and_then(|checked| {
        let dialect = dialects::Dialects::BUILT_IN.get(checked.blueprint.dialect)?;
        let (tree, broken) = syntax::parse(file, typed, syntax::Format::Yaml);
        let around = dialects::Surroundings::NONE;
        let typed = dialects::Document { file, name: "expression", text: typed, tree: &tree, around: &around };
        let (expr, mut found) = dialect.expression(&typed, &checked.blueprint)?;
        found.append(broken);
        Some((expr, found))
    });
    if let Some(own) = own {
        return own;
    }
    // What is typed without `${..}` gets it around; places stay those of what was typed.
    let bare = !typed.contains("${");
    let text = if bare { format!("${{{typed}}}") } else { typed.to_owned() };
    let mut map = TextMap::builder(file, 0);
    if bare {
        map.made(0, 0, 2);
    }
    map.copied(0, length);
    if bare {
        map.made(length, 0, 1);
    }
    let mut found = Diagnostics::new();
    let functions = &document.registry.functions;
    let expr = expr::parse_text(&text, &map, span, functions, &mut found);
    if let Some(checked) = &document.checked {
        let mut blueprint = checked.blueprint.as_ref().clone();
        let mut entries = match blueprint.metadata.take() {
            Some(Expr { kind: ExprKind::Map(entries), .. }) => entries,
            _ => Vec::new(),
        };
        entries.push((Spanned::new(Name::from(ENTRY), span), expr.clone()));
        blueprint.metadata = Some(Expr::new(ExprKind::Map(entries), span));
        let children = document.documents.as_ref().map(|documents| documents.children_of(0)).unwrap_or_default();
        let catalogs = &document.registry.catalogs;
        let context = engine::check::CheckContext::new(catalogs, functions, checked.rules);
        engine::check::check_with(Arc::new(blueprint), &children, &context, &mut found);
        // What is wrong with the document itself has been found already.
        found.retain(|diagnostic| diagnostic.span().file == file);
    }
    (expr, found)
}
