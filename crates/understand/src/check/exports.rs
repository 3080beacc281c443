//! Checks that exports have their declared types (decisions/blueprint#declared-types-must-match),
//! and checks the metadata of the document.

use blueprint::Type;
use expr::codes as language;

use super::types::{fits_declared, refined, with_article};
use super::{Checker, ExpressionContext};

impl Checker<'_> {
    /// Checks every export. Returns their types.
    pub(super) fn exports(&mut self) -> Vec<Type> {
        let mut types = Vec::with_capacity(self.blueprint.exports.len());
        for export in self.blueprint.exports.values() {
            let place = ExpressionContext::outside("an export");
            let ty = self.infer(&export.field, place);
            if !fits_declared(&ty, &export.ty) {
                let diagnostic = language::TYPE_MISMATCH
                    .new(format!(
                        "the export is declared as {}",
                        with_article(&export.ty)
                    ))
                    .label(export.field.span, format!("this is {}", with_article(&ty)));
                self.found.push(match ty {
                    Type::Union(_) => diagnostic,
                    _ => diagnostic.help(format!("declare it as `{}`", declared_word(&ty))),
                });
            }
            types.push(if ty == Type::Error {
                Type::Error
            } else {
                refined(&export.ty, &ty)
            });
            self.description(export.description.as_ref(), place);
        }
        types
    }

    /// Checks the free metadata of the document.
    pub(super) fn document_metadata(&mut self) {
        if let Some(metadata) = &self.blueprint.metadata {
            self.examine(
                metadata,
                ExpressionContext::outside("metadata of the document"),
            );
        }
    }
}

/// A type in the spelling of a declaration.
fn declared_word(ty: &Type) -> String {
    match ty {
        Type::List(_) => "array".into(),
        Type::Map(_) | Type::Object(_) => "object".into(),
        other => other.to_string(),
    }
}
