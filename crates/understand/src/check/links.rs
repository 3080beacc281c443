//! Checks links as far as the document alone shows them (decisions/links#links-of-a-document):
//! their existence (`activation`), the order that they cause (`wires`), the annotations that they
//! read (`annotations`), and their cardinality and guarantees (`guarantees`). Also checks that
//! `link(a, b)` names two resources that are linked in this direction
//! (decisions/functions#bytes-hashes-external-data).
//!
//! Not here: members of resources, values, planning.

pub(crate) mod activation;
pub mod annotations;
pub mod guarantees;
mod wires;

use std::sync::Arc;

use blueprint::{AccessorKind, CallExpr, Expr, ExprKind, ReferenceHead, Type, Value};
use diag::{Diagnostic, Span, Spanned};
use expr::codes as language;

use super::{Checker, ExpressionContext, codes};
use crate::links::Links;
use crate::links::address::plain_name;

impl Checker<'_> {
    /// Finds the links of the document and their edges.
    pub(super) fn links(&mut self) -> Arc<Links> {
        let mut links = self.activate();
        if !links.is_empty() {
            let resources = &self.resources;
            wires::add_link_edges(self.blueprint, &mut links, |at| {
                match resources.get(at as usize) {
                    Some(super::TypeOf::Known(ty)) => Some(ty.as_ref()),
                    _ => None,
                }
            });
        }
        self.guarantees(&links);
        self.links = Arc::new(links);
        self.links.clone()
    }

    /// The type of a call of `link`. Its arguments are names, not values.
    pub(super) fn link_call(
        &mut self,
        call: &CallExpr,
        span: Span,
        place: ExpressionContext<'_>,
    ) -> Type {
        let ends: Vec<Option<usize>> = call
            .arguments
            .iter()
            .map(|argument| self.end(&argument.value, place))
            .collect();
        let [Some(a), Some(b)] = ends[..] else {
            return Type::Error;
        };
        let blueprint = self.blueprint;
        let (Some((a_name, _)), Some((b_name, _))) = (
            blueprint.resources.get_index(a),
            blueprint.resources.get_index(b),
        ) else {
            return Type::Error;
        };
        let links = self.links.clone();
        if self.is_linked(&links, a, b) {
            return Type::Any;
        }
        let diagnostic = codes::UNKNOWN_LINK
            .new(format!("`{a_name}` is not linked to `{b_name}`"))
            .label(span, "there is no such link");
        self.found.push(if self.is_linked(&links, b, a) {
            diagnostic.help(format!("turn it round: `link({b_name}, {a_name})`"))
        } else {
            diagnostic.help(format!(
                "select a label of `{b_name}` in `linkSelector` of `{a_name}`"
            ))
        });
        Type::Error
    }

    /// The position of the resource that an argument refers to.
    fn end(&mut self, expr: &Expr, place: ExpressionContext<'_>) -> Option<usize> {
        let wrong = |span: Span| {
            language::ARGUMENT_TYPE
                .new("`link` takes two resources")
                .label(span, "this is no resource")
                .help(
                    "name a resource: `x`, `resources.x`, `x[0]`, or its name as a string literal",
                )
        };
        let diagnostic: Diagnostic = match &expr.inner().kind {
            ExprKind::Ref(reference) => match &reference.head {
                ReferenceHead::Resource { name, bare } => {
                    match self.blueprint.resources.get_index_of(name) {
                        None => self.unknown_resource(name, *bare, reference.head_span),
                        Some(at) => match reference.path.as_slice() {
                            [] => return self.single_instance(at, name, None, reference.head_span),
                            [index] if matches!(index.kind, AccessorKind::Index(_)) => {
                                return self.single_instance(
                                    at,
                                    name,
                                    Some(index.span),
                                    reference.head_span,
                                );
                            }
                            _ => wrong(expr.span),
                        },
                    }
                }
                _ => wrong(expr.span),
            },
            ExprKind::Literal(Value::Text(text)) => {
                let name = plain_name(text);
                let index = (name.len() < text.len()).then_some(expr.span);
                match self.blueprint.resources.get_index_of(name) {
                    Some(at) => return self.single_instance(at, name, index, expr.span),
                    None => self.unknown_resource(name, false, expr.span),
                }
            }
            ExprKind::Error => return None,
            ExprKind::Literal(_) => wrong(expr.span),
            _ => {
                self.infer(expr, place);
                wrong(expr.span)
            }
        };
        self.found.push(diagnostic);
        None
    }

    /// The resource at a position, if an instance is selected exactly when its `each` requires it
    /// (decisions/blueprint#indexes-of-templates, decisions/blueprint#members-by-position).
    fn single_instance(
        &mut self,
        at: usize,
        name: &str,
        index: Option<Span>,
        span: Span,
    ) -> Option<usize> {
        let (written, resource) = self.blueprint.resources.get_index(at)?;
        self.resolve_name(&Spanned::new(written.clone(), span));
        match super::references::instance_chosen(name, resource, index, span) {
            Ok(()) => Some(at),
            Err(diagnostic) => {
                self.found.push(*diagnostic);
                None
            }
        }
    }

    /// Whether there is a link from a to b. Resources of open types may link to anything.
    fn is_linked(&self, links: &Links, a: usize, b: usize) -> bool {
        self.type_name(a).is_none()
            || self.type_name(b).is_none()
            || links.between(a as u32, b as u32).is_some()
    }
}
