//! Expressions outside of a document, evaluated as if the document contained them.
//!
//! Not here: their evaluation (`Staged::evaluate`).

use std::sync::Arc;

use blueprint::{Expr, ExprKind, Name};
use diag::{Diagnostics, Span, Spanned, TextMap};

use crate::document::Document;

/// The key of the expression in the document's metadata during its check.
const ENTRY: &str = "cyan eval";

impl Document {
    /// Parses an expression and checks it as an additional entry of the document's metadata. Adds
    /// its text to the files of the document.
    pub fn parse_expression(&mut self, typed: &str) -> (Expr, Diagnostics) {
        match self.parse_own_expression(typed) {
            Some(own) => own,
            None => self.parse_native_expression(typed),
        }
    }

    /// Parses an expression in the syntax of the document's dialect, as YAML. Returns `None` if the
    /// dialect has the native syntax, `${..}`.
    pub(crate) fn parse_own_expression(&mut self, yaml: &str) -> Option<(Expr, Diagnostics)> {
        let checked = self.checked.as_ref()?;
        let dialect = self.library.dialects.get(checked.blueprint.dialect)?;
        let file = self.files.add("expression", yaml);
        let (tree, broken) = syntax::parse(file, yaml, syntax::Format::Yaml);
        let context = dialect::LoadContext::NONE;
        let typed = dialect::Document::new(
            file,
            "expression",
            yaml,
            std::slice::from_ref(&tree),
            &context,
        );
        let (expr, mut found) = dialect.expression(&typed, &checked.blueprint)?;
        found.append(broken);
        Some((expr, found))
    }

    /// As [`Document::parse_expression`], in the native syntax.
    pub(crate) fn parse_native_expression(&mut self, typed: &str) -> (Expr, Diagnostics) {
        let file = self.files.add("expression", typed);
        let length = u32::try_from(typed.len()).unwrap_or(u32::MAX);
        let span = Span::new(file, 0, length);
        // An expression without `${..}` is wrapped in it. Spans refer to the typed text.
        let bare = !typed.contains("${");
        let text = if bare {
            format!("${{{typed}}}")
        } else {
            typed.to_owned()
        };
        let mut map = TextMap::builder(file, 0);
        if bare {
            map.push_decoded(0, 0, 2);
        }
        map.push_copied(0, length);
        if bare {
            map.push_decoded(length, 0, 1);
        }
        let mut found = Diagnostics::new();
        let functions = &self.library.functions;
        let expr = expr::parse_text(&text, &map, span, functions, &mut found);
        if let Some(checked) = &self.checked {
            let mut blueprint = checked.blueprint.as_ref().clone();
            let mut entries = match blueprint.metadata.take() {
                Some(Expr {
                    kind: ExprKind::Map(entries),
                    ..
                }) => entries,
                _ => Vec::new(),
            };
            entries.push((Spanned::new(Name::from(ENTRY), span), expr.clone()));
            blueprint.metadata = Some(Expr::new(ExprKind::Map(entries), span));
            let children = self
                .documents
                .as_ref()
                .map(|documents| documents.children_of(0))
                .unwrap_or_default();
            let catalogs = &self.library.catalogs;
            let context =
                crate::phases::check::CheckContext::new(catalogs, functions, checked.rules);
            crate::phases::check::check_with(Arc::new(blueprint), &children, &context, &mut found);
            // Mistakes in the document itself are already reported.
            found.retain(|diagnostic| diagnostic.span().file == file);
        }
        (expr, found)
    }
}
