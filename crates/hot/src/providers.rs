//! The choice of a configuration of a provider: the key `cyan.provider` in the metadata of a
//! resource.
//!
//! Not here: the check that the name belongs to a configuration (`understand`).

use blueprint::{Expr, ExprKind, Name, Value};
use diag::Spanned;

use super::groups::part;
use super::kinds::{RESOURCE_GROUP, SCALING_GROUP, definition_property};
use super::lowering::Lowering;
use dialect::codes::INVALID_ANNOTATION;

/// The key in the metadata.
const KEY: &str = "cyan.provider";

impl Lowering {
    /// The names in the metadata of a resource or child. A child may have several.
    pub(super) fn providers(
        &mut self,
        metadata: Option<&Expr>,
        is_child: bool,
    ) -> Vec<Spanned<Name>> {
        let Some(written) = metadata.and_then(|metadata| part(metadata, KEY)) else {
            return Vec::new();
        };
        let each = match &written.kind {
            ExprKind::List(items) if is_child => items.as_slice(),
            _ => std::slice::from_ref(written),
        };
        let mut names = Vec::with_capacity(each.len());
        for name in each {
            match name
                .as_literal()
                .and_then(Value::as_text)
                .filter(|text| !text.is_empty())
            {
                Some(text) => names.push(Spanned::new(text.into(), name.span)),
                None if matches!(name.kind, ExprKind::Error) => {}
                None => self.report(
                    INVALID_ANNOTATION
                        .new(format!(
                            "`{KEY}` must be the name of a resource of type `cyan/provider`"
                        ))
                        .label(name.span, "cannot be used as that")
                        .help("write the name of a resource of type `cyan/provider`"),
                ),
            }
        }
        names
    }

    /// The names that a group passes to its members: those in the metadata of its members, then
    /// those in its own.
    pub(super) fn providers_of_group(
        &mut self,
        kind: &str,
        spec: &Expr,
        metadata: Option<&Expr>,
    ) -> Vec<Spanned<Name>> {
        let member =
            part(spec, definition_property(kind)).and_then(|member| part(member, "metadata"));
        let has_definition = [RESOURCE_GROUP, SCALING_GROUP].contains(&kind);
        let mut names = self.providers(member.filter(|_| has_definition), true);
        names.extend(self.providers(metadata, true));
        names
    }
}
