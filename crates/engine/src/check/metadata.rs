//! Metadata of resources and data sources: a display name is text, annotations are scalars (ruling S49), and those that
//! the type itself knows are as it wants them (section 3.1).
//!
//! Not here: labels, and keys of the house (the dialect), what links read in annotations.

use blueprint::{Expr, ExprKind, ResourceMetadata, Type};
use diag::Span;
use dialects::codes as document;
use expr::{Source, codes as language};
use provider::Annotation;

use super::limits::same;
use super::types::{fits_declared, is_scalar, with_article};
use super::{Checker, Place};

impl Checker<'_> {
    /// Checks the metadata of one element, whose name stands at `name`.
    pub(super) fn resource_metadata(
        &mut self,
        metadata: &ResourceMetadata,
        known: &[Annotation],
        name: Span,
        place: Place<'_>,
    ) {
        if let Some(name) = &metadata.display_name {
            let ty = self.infer(name, place);
            self.scalar("the display name", &ty, name.span);
        }
        for (key, value) in &metadata.annotations {
            let ty = self.infer(value, place);
            if self.scalar(&format!("the annotation `{}`", key.item), &ty, value.span)
                && let Some(wanted) = known.iter().find(|wanted| wanted.key == key.item)
            {
                self.known_annotation(wanted, value, &ty);
            }
        }
        for wanted in known.iter().filter(|wanted| wanted.required && wanted.default.is_none()) {
            if !metadata.annotations.iter().any(|(key, _)| key.item == wanted.key) {
                self.found.push(
                    document::INVALID_ANNOTATION
                        .new(format!("the annotation `{}` is missing", wanted.key))
                        .label(name, "its type needs this annotation")
                        .help(format!("add it: {}", with_article(&wanted.ty))),
                );
            }
        }
        if let Some(custom) = &metadata.custom {
            self.examine(custom, place);
        }
    }

    /// An annotation that the type knows has its kind, and one of its values.
    fn known_annotation(&mut self, wanted: &Annotation, value: &Expr, ty: &Type) {
        let literal = match &value.inner().kind {
            ExprKind::Literal(literal) if !literal.is_null() => Some(literal),
            _ => None,
        };
        let fits = match literal {
            Some(literal) => expr::convert(literal, &wanted.ty, Source::Literal).is_ok(),
            None => fits_declared(ty, &wanted.ty),
        };
        let listed = literal.is_none_or(|literal| {
            wanted.allowed.is_empty() || wanted.allowed.iter().any(|allowed| same(allowed, literal))
        });
        if fits && listed {
            return;
        }
        let diagnostic =
            document::INVALID_ANNOTATION.new(format!("`{}` must be {}", wanted.key, with_article(&wanted.ty)));
        self.found.push(if fits {
            let allowed: Vec<String> = wanted.allowed.iter().map(ToString::to_string).collect();
            diagnostic.label(value.span, "not an allowed value").help(format!("use one of: {}", allowed.join(", ")))
        } else {
            diagnostic.label(value.span, format!("this is {}", with_article(ty)))
        });
    }

    /// Whether a type is that of a scalar; reports it if not.
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
