//! `cyan eval`.

use std::path::Path;
use std::sync::Arc;

use blueprint::{Expr, ExprKind, Name};
use diag::{Diagnostics, Span, Spanned, TextMap};
use engine::{Document, DocumentSource, Planned, StageRequest, StagedDocument, json};
use serde_json::json;

use super::exports::bare;
use crate::arguments::{Eval, Global};
use crate::exit::{CommandError, Exit};
use crate::open;
use crate::view::report::Report;

/// Replaces a missing document. A document must declare something; this one is only staged, never deployed.
const NO_DOCUMENT: &str = "version: 2023-04-20\nresources: {nothing: {type: random/uuid, spec: {}}}\n";
/// The same as a Heat template.
const NO_TEMPLATE: &str = "heat_template_version: wallaby\n";
/// The name of the expression as an entry of the document's metadata while it is checked.
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
    let session = open::session_in(global, &source.folder, report)?;
    let (sender, parsed) = std::sync::mpsc::channel();
    let examine = move |document: &mut Document| {
        let (expr, found) = parse(document, &typed);
        // The receiver waits until the document is staged.
        let _ = sender.send(expr);
        found
    };
    let request = StageRequest {
        instance: reading.flag.instance.clone(),
        inputs: reading.inputs.0.clone(),
        examine: Some(Box::new(examine)),
        ..StageRequest::new(source)
    };
    let StagedDocument { document, planned } = session.stage(request, report).await?;
    let Planned { shell, mut staged, .. } = planned;
    let Ok(expr) = parsed.recv() else { return Ok(Exit::Unusable) };
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

/// The named document, or the one in the current folder, or a document without meaning.
pub(super) fn source(named: Option<&Path>) -> Result<DocumentSource, CommandError> {
    match named {
        None if open::document_here()?.is_none() => Ok(DocumentSource::of_text("(no document)", NO_DOCUMENT)),
        _ => open::source(named),
    }
}

/// Parses the expression and checks it as the document's own: as one more entry of its metadata.
pub(super) fn parse(document: &mut Document, typed: &str) -> (Expr, Diagnostics) {
    let file = document.files.add("expression", typed);
    let length = u32::try_from(typed.len()).unwrap_or(u32::MAX);
    let span = Span::new(file, 0, length);
    // A dialect may have another form for expressions.
    let own = document.checked.as_ref().and_then(|checked| {
        let dialect = document.library.dialects.get(checked.blueprint.dialect)?;
        let (tree, broken) = syntax::parse(file, typed, syntax::Format::Yaml);
        let context = dialects::LoadContext::NONE;
        let typed = dialects::Document { file, name: "expression", text: typed, tree: &tree, context: &context };
        let (expr, mut found) = dialect.expression(&typed, &checked.blueprint)?;
        found.append(broken);
        Some((expr, found))
    });
    if let Some(own) = own {
        return own;
    }
    // An expression without `${..}` is wrapped in it. Spans refer to the typed text.
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
    let functions = &document.library.functions;
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
        let catalogs = &document.library.catalogs;
        let context = engine::check::CheckContext::new(catalogs, functions, checked.rules);
        engine::check::check_with(Arc::new(blueprint), &children, &context, &mut found);
        // Mistakes in the document itself were reported before.
        found.retain(|diagnostic| diagnostic.span().file == file);
    }
    (expr, found)
}
