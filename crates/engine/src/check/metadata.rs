//! Metadata of resources and data sources: annotations are scalars (ruling S49), a display name is text.
//!
//! Not here: labels, and keys of the house (the dialect), what links read in annotations.

use blueprint::{ResourceMetadata, Type};
use expr::codes as language;

use super::types::{is_scalar, with_article};
use super::{Checker, Place};

impl Checker<'_> {
    /// Checks the metadata of one element.
    pub(super) fn resource_metadata(&mut self, metadata: &ResourceMetadata, place: Place<'_>) {
        if let Some(name) = &metadata.display_name {
            let ty = self.infer(name, place);
            self.scalar("the display name", &ty, name.span);
        }
        for (key, value) in &metadata.annotations {
            let ty = self.infer(value, place);
            self.scalar(&format!("the annotation `{}`", key.item), &ty, value.span);
        }
        if let Some(custom) = &metadata.custom {
            self.examine(custom, place);
        }
    }

    fn scalar(&mut self, what: &str, ty: &Type, span: diag::Span) {
        if !ty.alternatives().iter().any(is_scalar) {
            self.found.push(
                language::TYPE_MISMATCH
                    .new(format!("{what} must be a scalar"))
                    .label(span, format!("this is {}", with_article(ty)))
                    .help("turn it into text with `jsonencode(..)`"),
            );
        }
    }
}
