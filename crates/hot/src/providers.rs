//! The choice of a configuration of a provider: the key `cyan.provider` in the metadata of a
//! resource, and the region of an `OS::Heat::Stack`.
//!
//! Not here: the check that the name belongs to a configuration (`understand`).

use blueprint::{Expr, ExprKind, Name, PROVIDER_TYPE, Resource, TypeId, Value};
use diag::{Diagnostic, Span, Spanned};

use super::expressions::named;
use super::groups::part;
use super::kinds::{RESOURCE_GROUP, SCALING_GROUP, definition_property};
use super::lowering::Lowering;
use dialect::codes::{INVALID_ANNOTATION, UNSUPPORTED_FEATURE};

/// The key in the metadata.
const KEY: &str = "cyan.provider";

/// The provider of the resources of Heat.
const OPENSTACK: &str = "openstack";

/// The property of `OS::Heat::Stack` that says where the stack is, and its key for the region.
const CONTEXT: &str = "context";
const REGION: &str = "region_name";

/// The diagnostic for a part of a `context` that `cyan` does not carry out.
fn other_context(what: String, at: Span) -> Diagnostic {
    UNSUPPORTED_FEATURE
        .new(format!("{what} is not supported"))
        .label(at, "only a `region_name` that is written out is used")
        .help(format!(
            "declare a resource of type `{PROVIDER_TYPE}` that signs in there, and name it in the \
             metadata of the stack: `{KEY}: NAME`"
        ))
}

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

/// The configuration for the region of an `OS::Heat::Stack` with this name, which holds for the
/// resources of the stack; `None` if the stack names no region. `is_taken` says which names other
/// resources have. Reports other parts of the `context` of the stack.
pub(super) fn region_of_stack(
    stack: &Name,
    spec: &Expr,
    is_taken: impl Fn(&str) -> bool,
    mut report: impl FnMut(Diagnostic),
) -> Option<(Spanned<Name>, Resource)> {
    let context = part(spec, CONTEXT)?;
    let entries = match &context.kind {
        ExprKind::Map(entries) => entries,
        ExprKind::Literal(Value::Null) | ExprKind::Error => return None,
        _ => {
            report(other_context(
                format!("a computed `{CONTEXT}`"),
                context.span,
            ));
            return None;
        }
    };
    let is_unset = |value: &Expr| value.as_literal().is_some_and(Value::is_null);
    let mut region = None;
    for (key, value) in entries {
        match key.item.as_ref() {
            _ if is_unset(value) => {}
            REGION => region = Some(value),
            // A key that the type does not have is reported with the other properties.
            "credential_secret_id" | "ca_cert" | "insecure" => {
                report(other_context(format!("`{CONTEXT}.{}`", key.item), key.span))
            }
            _ => {}
        }
    }
    let region = region?;
    let at = region.span;
    let map = |entries: Vec<(&str, Expr)>| {
        let entries = entries.into_iter();
        let entries = entries.map(|(key, value)| (named(key, at), value));
        Expr::new(ExprKind::Map(entries.collect()), at)
    };
    let spec = map(vec![
        ("namespace", Expr::literal(Value::text(OPENSTACK), at)),
        ("settings", map(vec![("region", region.clone())])),
    ]);
    let type_name = Spanned::new(TypeId::from(Name::from(PROVIDER_TYPE)), at);
    let mut name = format!("{stack}-region");
    while is_taken(&name) {
        name.push_str("-region");
    }
    let configuration = Resource::new(at, type_name, at, spec);
    Some((Spanned::new(name.as_str().into(), at), configuration))
}
