//! One resource of the chain of an owner, and references to what it makes.

use blueprint::{Expr, ExprKind, FieldPath, Name, PathStep, Ref, ReferenceHead, Value};
use cartographer::kinds::CartoKind;
use diag::Span;

use super::platform::CartoObject;
use super::written::place_at;

/// One resource of the chain of an owner.
pub(super) struct ChainResource<'r> {
    /// The owner.
    pub(super) owner: &'r CartoObject,
    /// The chain.
    pub(super) chain: &'r CartoObject,
    /// The entry of the chain.
    pub(super) entry: &'r Value,
    /// The path of the entry in the chain.
    pub(super) path: FieldPath,
    /// The name in the chain.
    pub(super) name: Name,
    /// The beginning of the names of all resources of the owner, with a `/`.
    pub(super) prefix: &'r str,
}

impl ChainResource<'_> {
    /// The name of a resource of the same owner in the blueprint.
    pub(super) fn local_name(&self, resource: &str) -> Name {
        format!("{}{resource}", self.prefix).into()
    }

    pub(super) fn path_of(&self, fields: &[&str]) -> FieldPath {
        let steps = fields.iter().map(|name| PathStep::Field((*name).into()));
        FieldPath(self.path.0.iter().cloned().chain(steps).collect())
    }

    /// The place of a part of the entry.
    pub(super) fn place(&self, fields: &[&str]) -> Span {
        place_at(&self.chain.written, &self.path_of(fields).0)
    }

    /// The inputs of one sort, such as `sources`: the name of the input and that of its producer.
    pub(super) fn inputs(&self, sort: &str) -> Vec<(Name, Name)> {
        let list = self.entry.get(sort).and_then(Value::as_list);
        let inputs = list.unwrap_or_default().iter().filter_map(|input| {
            match (input.get("name")?, input.get("resource")?) {
                (Value::Text(name), Value::Text(producer)) => {
                    Some((name.clone(), producer.clone()))
                }
                _ => None,
            }
        });
        inputs.collect()
    }

    /// The producer of the deployment that this resource passes on.
    pub(super) fn deployment(&self) -> Option<Name> {
        match self.entry.get("deployment")?.get("resource")? {
            Value::Text(name) => Some(name.clone()),
            _ => None,
        }
    }

    /// The producer of an input that options pass through.
    pub(super) fn producer(&self, input: &str) -> Option<Name> {
        let kind = self.entry.get("templateRef")?.get("kind")?.as_text()?;
        let sort = CartoKind::of_name(kind)?.inputs_field()?;
        let inputs = self.inputs(sort);
        let found = inputs.into_iter().find(|(name, _)| **name == *input);
        found.map(|(_, producer)| producer)
    }
}

/// The path of fields.
pub(super) fn field_path<const N: usize>(names: [&str; N]) -> FieldPath {
    FieldPath(names.map(|name| PathStep::Field(name.into())).into())
}

/// A reference to the output of a resource.
pub(super) fn local(name: &Name, span: Span) -> Expr {
    reference(ReferenceHead::Local(name.clone()), span, Vec::new())
}

/// A reference to all fields of the object of a resource.
pub(super) fn whole_object(name: &Name, span: Span) -> Expr {
    fields_of(name, span, &["spec"])
}

/// A reference to the newest healthy run of a resource.
pub(super) fn newest_healthy(name: &Name, span: Span) -> Expr {
    fields_of(name, span, &["spec", "object"])
}

fn fields_of(name: &Name, span: Span, path: &[&str]) -> Expr {
    let head = ReferenceHead::Resource {
        name: name.clone(),
        bare: true,
    };
    let steps = path.iter().map(|name| blueprint::Accessor {
        kind: blueprint::AccessorKind::Name((*name).into()),
        span,
    });
    reference(head, span, steps.collect())
}

fn reference(head: ReferenceHead, span: Span, path: Vec<blueprint::Accessor>) -> Expr {
    let reference = Ref {
        head,
        head_span: span,
        path,
    };
    Expr::new(ExprKind::Ref(Box::new(reference)), span)
}
