//! The inputs and exports of the document of a group.

use blueprint::{Export, Expr, ExprKind, Input, Name, ReferenceHead, Type, Value};
use diag::{Span, Spanned};

use super::definition::part;
use super::writer::GroupWriter;
use crate::expressions::{CHILD_PATH, FACADE, INSTANCE, named, reference};
use crate::kinds::{
    ALL, BY_NAME, LoweredKind, RESOURCE_GROUP, SCALING_GROUP, deployment_type, group_attributes,
    member_attribute,
};
use crate::refusal_expressions::refusal_expr;
use dialect::Expanded;

impl GroupWriter<'_> {
    /// Adds inputs and exports, and returns the result.
    pub(super) fn finish(mut self, memory: Value, removed: Value) -> Expanded {
        let mut used: Vec<(Name, Span)> = Vec::new();
        let mut note = |expr: &Expr| {
            expr.references(&mut |reference| {
                if let ReferenceHead::Input(name) = &reference.head
                    && !used.iter().any(|(known, _)| known == name)
                {
                    used.push((name.clone(), reference.head_span));
                }
            });
        };
        note(&self.expansion.member);
        used.push((FACADE.into(), self.expansion.kind.span));
        for (name, span) in used {
            self.blueprint
                .inputs
                .insert(name, Input::optional_untyped(span));
        }
        let span = self.expansion.kind.span;
        let fact = |fact: &str| reference(ReferenceHead::Scoped(fact.into()), span, &[]);
        let id = Expr::call(
            "(group id)",
            span,
            vec![fact(INSTANCE), fact(CHILD_PATH)],
            span,
        );
        self.export("OS::stack_id", id, span);
        let reads = self.expansion.reads.clone();
        for Spanned { item: name, span } in reads {
            let field = self.read(&name, &removed, span);
            self.export(&name, field, span);
        }
        let sample = self.sample();
        Expanded {
            blueprint: self.blueprint,
            text: None,
            is_open: false,
            memory,
            diagnostics: self.found,
            member_document: sample,
        }
    }

    /// The template of the members, if the group has no members.
    pub(super) fn sample(&self) -> Option<Spanned<Name>> {
        let types = part(&self.expansion.member, "type").filter(|_| self.names.is_empty())?;
        let written = types.as_literal()?.as_text()?;
        let (kind, meaning) = crate::context::of(self.place.context).resolve_type(written, "0");
        (kind == LoweredKind::Child).then(|| Spanned::new(meaning, types.span))
    }

    pub(super) fn export(&mut self, name: &str, field: Expr, span: Span) {
        let export = Export {
            span,
            ty: Type::Any,
            field,
            may_fail: false,
            hidden: true,
            by_entry: false,
            description: None,
        };
        self.blueprint.exports.insert(name.into(), export);
    }

    /// The expression for an attribute of the group.
    pub(super) fn read(&mut self, attribute: &str, removed: &Value, span: Span) -> Expr {
        let members = self.names.clone();
        let list = |items: Vec<Expr>| Expr::new(ExprKind::List(items), span);
        let map = |entries: Vec<(Spanned<Name>, Expr)>| Expr::new(ExprKind::Map(entries), span);
        if let Some(rest) = attribute.strip_prefix("resource.") {
            let (name, of_member) = rest
                .split_once('.')
                .map_or((rest, None), |(name, attribute)| (name, Some(attribute)));
            // The members of a scaling group are numbered by age.
            let by_age = self.expansion.kind.item.as_ref() == SCALING_GROUP;
            let member = if by_age {
                name.parse().ok().and_then(|at: usize| members.get(at))
            } else {
                members.iter().find(|(known, _)| known.as_ref() == name)
            };
            let Some((name, kind)) = member.cloned() else {
                // Attributes of members are not checked in an empty group.
                let is_numbered = self.expansion.kind.item.as_ref() == RESOURCE_GROUP;
                if members.is_empty() && is_numbered && of_member.is_some() {
                    return Expr::literal(Value::Null, span);
                }
                let group = self.place.path.last().cloned().unwrap_or_default();
                let words = format!("Member '{name}' not found in group resource '{group}'.");
                let diagnostic = expr::codes::UNKNOWN_FIELD
                    .new(format!("the group has no member `{name}`"))
                    .label(span, "there is no such member")
                    .with_native_message(words);
                return refusal_expr(&diagnostic);
            };
            return match of_member {
                None => self.id_of(&name, kind, span),
                Some(attribute) => self.attribute_of(&name, kind, attribute, span),
            };
        }
        if deployment_type(&self.expansion.kind.item).is_some() && attribute != ALL {
            let of_member = member_attribute(attribute);
            let mut values = Vec::with_capacity(members.len());
            for (name, kind) in members {
                let value = self.attribute_of(&name, kind, of_member, span);
                values.push((named(&name, span), value));
            }
            return map(values);
        }
        if let Some((which, of_member)) = attribute.split_once('.')
            && BY_NAME.contains(&which)
        {
            let mut values = Vec::with_capacity(members.len());
            for (name, kind) in members {
                values.push((
                    named(&name, span),
                    self.attribute_of(&name, kind, of_member, span),
                ));
            }
            return if which == "outputs_list" {
                list(values.into_iter().map(|(_, value)| value).collect())
            } else {
                map(values)
            };
        }
        match attribute {
            ALL => {
                let attributes = group_attributes(&self.expansion.kind.item);
                map(attributes
                    .iter()
                    .map(|name| (named(name, span), self.read(name, removed, span)))
                    .collect())
            }
            other if !group_attributes(&self.expansion.kind.item).contains(&other) => {
                let mut values = Vec::with_capacity(members.len());
                for (name, kind) in members {
                    values.push(self.attribute_of(&name, kind, attribute, span));
                }
                list(values)
            }
            "refs" => list(
                members
                    .iter()
                    .map(|(name, kind)| self.id_of(name, *kind, span))
                    .collect(),
            ),
            "refs_map" => map(members
                .iter()
                .map(|(name, kind)| (named(name, span), self.id_of(name, *kind, span)))
                .collect()),
            "removed_rsrc_list" => Expr::literal(removed.clone(), span),
            _ => Expr::literal(Value::Int(members.len() as i64), span),
        }
    }

    pub(super) fn id_of(&self, name: &Name, kind: LoweredKind, span: Span) -> Expr {
        match kind {
            LoweredKind::Resource => reference(
                ReferenceHead::Resource {
                    name: name.clone(),
                    bare: true,
                },
                span,
                &[],
            ),
            LoweredKind::Child | LoweredKind::Group => {
                reference(ReferenceHead::Child(name.clone()), span, &["OS::stack_id"])
            }
        }
    }

    pub(super) fn attribute_of(
        &mut self,
        name: &Name,
        kind: LoweredKind,
        attribute: &str,
        span: Span,
    ) -> Expr {
        match kind {
            LoweredKind::Resource => reference(
                ReferenceHead::Resource {
                    name: name.clone(),
                    bare: true,
                },
                span,
                &["attributes", attribute],
            ),
            // A nested stack does not show itself.
            LoweredKind::Child | LoweredKind::Group if attribute == "show" => {
                Expr::literal(Value::Null, span)
            }
            LoweredKind::Child => {
                if let Some(inner) = attribute.strip_prefix("resource.")
                    && let Some((inner, of_inner)) = inner.split_once('.')
                {
                    let export = format!("resource.{inner}.");
                    let attributes =
                        reference(ReferenceHead::Child(name.clone()), span, &[&export]);
                    let of_inner = Expr::literal(Value::text(of_inner), span);
                    return Expr::call("get_attr", span, vec![attributes, of_inner], span);
                }
                reference(ReferenceHead::Child(name.clone()), span, &[attribute])
            }
            LoweredKind::Group => {
                if let Some(expansion) = self
                    .blueprint
                    .children
                    .get_mut(name)
                    .and_then(|child| child.expansion.as_mut())
                    && !expansion
                        .reads
                        .iter()
                        .any(|read| read.item.as_ref() == attribute)
                {
                    expansion.reads.push(named(attribute, span));
                }
                reference(ReferenceHead::Child(name.clone()), span, &[attribute])
            }
        }
    }
}
