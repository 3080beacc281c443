//! `link(a, b)` names two resources that are linked, in this direction (reference 2.6, 3.1).
//!
//! Not here: making links, and what selectors match besides.

use blueprint::{AccessorKind, Call, Expr, ExprKind, Head, Name, Resource, Type, Value};
use diag::{Diagnostic, Span};
use expr::codes as language;

use super::{Checker, Place, codes};

impl Checker<'_> {
    /// The type of a call of `link`, whose arguments are names rather than values.
    pub(super) fn link_call(&mut self, call: &Call, span: Span, place: Place<'_>) -> Type {
        let ends: Vec<Option<usize>> = call.arguments.iter().map(|argument| self.end(&argument.value, place)).collect();
        let [Some(a), Some(b)] = ends[..] else { return Type::Error };
        let blueprint = self.blueprint;
        let (Some((a_name, a_resource)), Some((b_name, b_resource))) =
            (blueprint.resources.get_index(a), blueprint.resources.get_index(b))
        else {
            return Type::Error;
        };
        if self.is_linked(a, a_resource, b, b_name, b_resource) {
            return Type::Any;
        }
        let diagnostic = codes::UNKNOWN_LINK
            .new(format!("`{a_name}` is not linked to `{b_name}`"))
            .label(span, "there is no such link");
        self.found.push(if self.is_linked(b, b_resource, a, a_name, a_resource) {
            diagnostic.help(format!("turn it round: `link({b_name}, {a_name})`"))
        } else {
            diagnostic.help(format!("select a label of `{b_name}` in `linkSelector` of `{a_name}`"))
        });
        Type::Error
    }

    /// The position of the resource that an argument names.
    fn end(&mut self, expr: &Expr, place: Place<'_>) -> Option<usize> {
        let wrong = |span: Span| {
            language::ARGUMENT_TYPE
                .new("`link` takes two resources")
                .label(span, "this is no resource")
                .help("name a resource: `x`, `resources.x`, `x[0]`, or its name as a string literal")
        };
        let diagnostic: Diagnostic = match &expr.inner().kind {
            ExprKind::Ref(reference) => match &reference.head {
                Head::Resource { name, bare } => match self.blueprint.resources.get_index_of(name) {
                    None => self.unknown_resource(name, *bare, reference.head_span),
                    Some(at) => match reference.path.as_slice() {
                        [] => return Some(at),
                        [index] if matches!(index.kind, AccessorKind::Index(_)) => return Some(at),
                        _ => wrong(expr.span),
                    },
                },
                _ => wrong(expr.span),
            },
            ExprKind::Literal(Value::Text(text)) => {
                let name = plain_name(text);
                match self.blueprint.resources.get_index_of(name) {
                    Some(at) => return Some(at),
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

    /// Whether a selector of `a`, or a reference in a field that makes links, links it to `b`. Open types may link to anything.
    fn is_linked(&self, a: usize, a_resource: &Resource, b: usize, b_name: &Name, b_resource: &Resource) -> bool {
        let (Some(a_type), Some(b_type)) = (self.type_name(a), self.type_name(b)) else { return true };
        if a == b || self.catalogs.link_kind(a_type, b_type).is_none() {
            return false;
        }
        let selected = a_resource.link_selector.as_ref().is_some_and(|selector| {
            let has = |(key, value): &(diag::Spanned<Name>, diag::Spanned<Name>)| {
                b_resource.metadata.labels.iter().any(|(k, v)| k.item == key.item && v.item == value.item)
            };
            !selector.by_label.is_empty()
                && selector.by_label.iter().all(has)
                && !selector.exclude.iter().any(|name| name.item == *b_name)
        });
        selected || self.referred(a, a_resource, b_name)
    }

    fn type_name(&self, at: usize) -> Option<&str> {
        match &self.resources[at] {
            super::providers::TypeOf::Known(ty) => Some(&ty.name),
            _ => None,
        }
    }

    /// A bare reference in a field that the catalogue marks (section 0, version 2025-11-02).
    fn referred(&self, a: usize, resource: &Resource, b_name: &Name) -> bool {
        let (Some(schema), ExprKind::Map(entries)) = (self.resources[a].schema(), &resource.spec.kind) else {
            return false;
        };
        self.blueprint.version.as_ref() == "2025-11-02"
            && entries.iter().any(|(key, value)| {
                let marked = schema.fields.get(&key.item).is_some_and(|field| field.links);
                let mut bare = false;
                value.references(&mut |reference| {
                    let names_it = matches!(&reference.head, Head::Resource { name, .. } if name == b_name);
                    bare |= names_it
                        && !reference.path.iter().any(|accessor| matches!(accessor.kind, AccessorKind::Name(_)));
                });
                marked && bare
            })
    }
}

/// The name in a text that names an instance: `fns` of `fns[0]`.
pub(super) fn plain_name(text: &str) -> &str {
    match text.strip_suffix(']').and_then(|text| text.rsplit_once('[')) {
        Some((name, _)) => name,
        None => text,
    }
}
