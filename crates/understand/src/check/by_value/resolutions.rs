//! Resolves references in the parts of a document that are checked by their values.
//!
//! Not here: functions, because a dialect makes their calls from other forms.

use blueprint::{AccessorKind, Expr, Field, Ref, ReferenceHead, Type};
use dialect::CheckedBy;
use provider::Attribute;

use crate::check::{Checker, TypeOf};
use crate::graph::GraphNode;

impl Checker<'_> {
    /// Resolves the references in each part that the dialect checks by value.
    pub(crate) fn resolve_by_value(&mut self) {
        let blueprint = self.blueprint;
        let checks = self.rules.checks;
        if checks.locals == CheckedBy::Value {
            blueprint
                .locals
                .values()
                .for_each(|local| self.resolve_in(&local.value, None));
        }
        if checks.resources == CheckedBy::Value {
            for (at, resource) in blueprint.resources.values().enumerate() {
                let owner = Some(GraphNode::Resource(at as u32));
                let optional = [
                    &resource.condition,
                    &resource.removal,
                    &resource.update_policy,
                    &resource.external,
                ]
                .into_iter();
                let optional = optional.filter_map(|expr| expr.as_deref());
                let spec = resource.switched_off.as_deref().unwrap_or(&resource.spec);
                optional
                    .chain(&resource.metadata.custom)
                    .chain([spec])
                    .for_each(|expr| self.resolve_in(expr, owner));
                resource
                    .depends_on
                    .iter()
                    .for_each(|name| self.resolve_name(name));
            }
        }
        if checks.children == CheckedBy::Value {
            for child in blueprint.children.values() {
                child
                    .condition
                    .iter()
                    .for_each(|expr| self.resolve_in(expr, None));
                child
                    .removal
                    .iter()
                    .for_each(|expr| self.resolve_in(expr, None));
                match &child.expansion {
                    // The inputs of a group are parts of its definition.
                    Some(expansion) => {
                        expansion
                            .policy
                            .iter()
                            .chain([&expansion.spec])
                            .for_each(|expr| self.resolve_in(expr, None));
                    }
                    None => child
                        .inputs
                        .iter()
                        .for_each(|(_, expr)| self.resolve_in(expr, None)),
                }
                child
                    .depends_on
                    .iter()
                    .for_each(|name| self.resolve_name(name));
            }
        }
        if checks.exports == CheckedBy::Value {
            blueprint
                .exports
                .values()
                .for_each(|export| self.resolve_in(&export.field, None));
        }
    }

    fn resolve_in(&mut self, expr: &Expr, owner: Option<GraphNode>) {
        expr.references(&mut |reference| {
            let ty = self.declared_type(reference).unwrap_or(Type::Any);
            self.resolve(reference, owner, &ty);
        });
    }

    /// The type that a declaration gives a reference; `None` if the type is known only with the
    /// value.
    fn declared_type(&self, reference: &Ref) -> Option<Type> {
        match &reference.head {
            ReferenceHead::Input(name) => self
                .blueprint
                .inputs
                .get(name)
                .map(|input| input.ty.clone()),
            ReferenceHead::Local(name) => self
                .local_types
                .get(self.blueprint.locals.get_index_of(name)?)
                .cloned(),
            ReferenceHead::Resource { name, .. } => {
                let TypeOf::Known(ty) =
                    &self.resources[self.blueprint.resources.get_index_of(name)?]
                else {
                    return None;
                };
                let field = match reference.path.get(1).map(|accessor| &accessor.kind) {
                    Some(AccessorKind::Name(attribute)) => match ty.attribute(attribute)? {
                        Attribute::Field(field) => field,
                        Attribute::Nothing => return None,
                    },
                    Some(AccessorKind::Index(_)) => return None,
                    None if reference.path.is_empty() => ty.id_field.as_ref()?,
                    None => return None,
                };
                ty.schema.fields.get(field).map(Field::ty)
            }
            ReferenceHead::Child(name) => {
                let checked = &self
                    .child(self.blueprint.children.get_index_of(name)?)?
                    .checked;
                let AccessorKind::Name(export) = &reference.path.first()?.kind else {
                    return None;
                };
                checked
                    .export_types
                    .get(checked.blueprint.exports.get_index_of(export)?)
                    .cloned()
            }
            ReferenceHead::DataSource(_)
            | ReferenceHead::Item
            | ReferenceHead::Position
            | ReferenceHead::Scoped(_) => None,
        }
    }
}
