//! Checks that the values of a document have their declared types
//! (decisions/blueprint#text-of-typed-values, decisions/blueprint#declared-types-must-match).
//!
//! Values are typed in the order of dependency, so that the type of a referenced value is known.
//! Values in a cycle keep their declared types; the cycle is already reported.

use blueprint::{ExprKind, Local, Type};
use diag::Diagnostic;
use dialect::codes as document;
use expr::codes as language;

use super::types::{fits_declared, refined, with_article};
use super::{Checker, ExpressionContext};
use crate::graph::{Graph, GraphNode};

impl Checker<'_> {
    /// Infers the type of every value.
    pub(super) fn locals(&mut self, graph: &Graph) {
        let blueprint = self.blueprint;
        self.local_types = blueprint
            .locals
            .values()
            .map(|local| refined(&local.ty, &local.ty))
            .collect();
        let mut done = vec![false; blueprint.locals.len()];
        let ordered: Vec<u32> = graph
            .order()
            .filter_map(|node| match node {
                GraphNode::Local(at) => Some(at),
                _ => None,
            })
            .collect();
        for at in ordered {
            done[at as usize] = true;
            self.local(at as usize);
        }
        for at in (0..done.len()).filter(|at| !done[*at]).collect::<Vec<_>>() {
            self.local(at);
        }
    }

    fn local(&mut self, at: usize) {
        let Some((_, local)) = self.blueprint.locals.get_index(at) else {
            return;
        };
        let place = ExpressionContext::of(GraphNode::Local(at as u32), "a value");
        let inferred = self.infer(&local.value, place);
        self.local_types[at] = match mismatch(local, &inferred) {
            Some(diagnostic) => {
                self.found.push(diagnostic);
                Type::Error
            }
            None if inferred == Type::Error => Type::Error,
            None => refined(&local.ty, &inferred),
        };
        self.description(local.description.as_ref(), place);
    }
}

/// The diagnostic for a value that does not have its declared type.
fn mismatch(local: &Local, inferred: &Type) -> Option<Diagnostic> {
    let declared = &local.ty;
    if inferred.is_open() || declared.is_open() {
        return None;
    }
    let span = local.value.span;
    let scalar = matches!(declared, Type::Bool | Type::Int | Type::Float);
    if scalar && inferred.alternatives().contains(&Type::Text) {
        // Text is parsed by the declared type. A literal can be parsed now.
        let text = match &local.value.inner().kind {
            ExprKind::Literal(value) => value.as_text()?,
            _ => return None,
        };
        return expr::parse_as(text, declared).is_none().then(|| {
            document::UNPARSABLE_VALUE
                .new(format!("the text is no {declared}"))
                .label(
                    span,
                    format!("`{text}` does not read as {}", with_article(declared)),
                )
        });
    }
    if fits_declared(inferred, declared) {
        return None;
    }
    let diagnostic = language::TYPE_MISMATCH
        .new(format!(
            "the value is declared as {}",
            with_article(declared)
        ))
        .label(span, format!("this is {}", with_article(inferred)));
    Some(match (declared, inferred) {
        (Type::List(_) | Type::Map(_) | Type::Object(_), Type::Text) => {
            diagnostic.help("decode the text: `jsondecode(..)`")
        }
        _ => diagnostic.help(format!(
            "declare it as {}, or change its value",
            with_article(inferred)
        )),
    })
}
