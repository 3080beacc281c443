//! Checks metadata of resources and data sources: a display name must be text, annotations must be
//! scalars (decisions/blueprint#annotations-and-labels), and annotations with a reader must have
//! its type and allowed values (decisions/links#annotations).
//!
//! Not here: labels and reserved keys (the dialect); the annotations that links read (`links`).

use blueprint::{Expr, ExprKind, Name, ResourceMetadata, Type, TypeId};
use diag::Span;
use dialect::codes as document;
use expr::{ValueOrigin, codes as language};
use provider::Annotation;

use super::limits::same;
use super::links::annotations::KnownAnnotations;
use super::types::{fits_declared, is_scalar, with_article};
use super::{Checker, ExpressionContext};

impl Checker<'_> {
    /// Checks the metadata of one element, whose name is at `name`.
    pub(super) fn resource_metadata(
        &mut self,
        metadata: &ResourceMetadata,
        known: &KnownAnnotations,
        type_name: &TypeId,
        name: Span,
        place: ExpressionContext<'_>,
    ) {
        if let Some(name) = &metadata.display_name {
            let ty = self.infer(name, place);
            self.scalar("the display name", &ty, name.span);
        }
        for (key, value) in &metadata.annotations {
            let ty = self.infer(value, place);
            if self.scalar(&format!("the annotation `{}`", key.item), &ty, value.span) {
                for wanted in known.by_key.get(&key.item).into_iter().flatten() {
                    self.known_annotation(&key.item, wanted, value, &ty);
                }
            }
            let unread = self.unread_annotation(key, type_name, known);
            self.found.extend(unread);
        }
        if !known.required.is_empty() {
            self.required_annotations(metadata, known, name);
        }
        let trigger = metadata.replacement_trigger.as_deref();
        for value in metadata.custom.iter().chain(trigger) {
            self.examine(value, place);
        }
    }

    fn required_annotations(
        &mut self,
        metadata: &ResourceMetadata,
        known: &KnownAnnotations,
        name: Span,
    ) {
        let written: std::collections::HashSet<&Name, foldhash::fast::FixedState> = metadata
            .annotations
            .iter()
            .map(|(key, _)| &key.item)
            .collect();
        for (keys, ty) in &known.required {
            let Some(first) = keys
                .first()
                .filter(|_| !keys.iter().any(|key| written.contains(key)))
            else {
                continue;
            };
            self.found.push(
                document::INVALID_ANNOTATION
                    .new(format!("the annotation `{first}` is missing"))
                    .label(name, "its type, or a link of it, needs this annotation")
                    .help(format!("add it: {}", with_article(ty))),
            );
        }
    }

    /// Checks the type and value of an annotation that a type or link reads.
    fn known_annotation(&mut self, key: &str, wanted: &Annotation, value: &Expr, ty: &Type) {
        let literal = match &value.inner().kind {
            ExprKind::Literal(literal) if !literal.is_null() => Some(literal),
            _ => None,
        };
        let fits = match literal {
            Some(literal) => expr::convert(literal, &wanted.ty, ValueOrigin::Literal).is_ok(),
            None => fits_declared(ty, &wanted.ty),
        };
        let listed = literal.is_none_or(|literal| {
            wanted.allowed.is_empty() || wanted.allowed.iter().any(|allowed| same(allowed, literal))
        });
        if fits && listed {
            return;
        }
        let diagnostic = document::INVALID_ANNOTATION
            .new(format!("`{key}` must be {}", with_article(&wanted.ty)));
        self.found.push(if fits {
            let allowed: Vec<String> = wanted.allowed.iter().map(ToString::to_string).collect();
            diagnostic
                .label(value.span, "not an allowed value")
                .help(format!("use one of: {}", allowed.join(", ")))
        } else {
            diagnostic.label(value.span, format!("this is {}", with_article(ty)))
        });
    }

    /// Whether a type is scalar. Reports other types.
    fn scalar(&mut self, what: &str, ty: &Type, span: Span) -> bool {
        let fits = ty.alternatives().iter().any(is_scalar);
        if !fits {
            self.found.push(
                language::TYPE_MISMATCH
                    .new(format!("{what} must be a scalar"))
                    .label(span, format!("this is {}", with_article(ty)))
                    .help("turn it into text with `jsonencode(..)`"),
            );
        }
        fits
    }
}
