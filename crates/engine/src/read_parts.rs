//! The parts of objects that documents read, for the simulation: a catalogue does not know the
//! names in a map or the number of items in a list, but a document that reads `ids.reader` expects
//! that name.

use blueprint::{
    Accessor, AccessorKind, Blueprint, Expr, ExprKind, FieldPath, PathStep, ReferenceHead, TypeId,
    Value,
};

use provider::{Attribute, Catalogs, TypeRef};

use crate::phases::Documents;

/// A part of the objects of a type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ReadPart {
    /// The type of the resource or of the data source.
    pub type_name: TypeId,
    /// The path from the object's fields.
    pub path: FieldPath,
}

/// The depth to which local values are followed.
const MAX_LOCALS: u32 = 16;

/// Returns the parts that documents read by a name or position that is written out. Parts that are
/// computed are not known before the operation.
pub(crate) fn read_parts(documents: &Documents, catalogs: &Catalogs) -> Vec<ReadPart> {
    let mut parts = blueprint::IndexMap::default();
    for checked in documents.distinct() {
        let blueprint = &checked.blueprint;
        blueprint.expressions(&mut |expr| {
            expr.walk(&mut |part| {
                if let Some(part) = part_of(part, blueprint, catalogs, 0)
                    && part.path.0.len() > 1
                {
                    parts.insert(part, ());
                }
            });
        });
    }
    parts.into_iter().map(|(part, ())| part).collect()
}

/// The part of an object that an expression is.
fn part_of(
    expr: &Expr,
    blueprint: &Blueprint,
    catalogs: &Catalogs,
    depth: u32,
) -> Option<ReadPart> {
    let (mut part, steps): (ReadPart, Vec<PathStep>) = match &expr.kind {
        ExprKind::Substitution(inner) => return part_of(inner, blueprint, catalogs, depth),
        ExprKind::Access(inner, path) => (
            part_of(inner, blueprint, catalogs, depth)?,
            path.iter().map(step).collect(),
        ),
        ExprKind::Ref(reference) => {
            let mut path = reference.path.as_slice();
            let type_name = match &reference.head {
                ReferenceHead::Resource { name, .. } => {
                    let type_name = &blueprint.resources.get(name)?.type_name.item;
                    if let Some((first, rest)) = attribute_of(path, type_name, catalogs) {
                        let steps = std::iter::once(first).chain(rest.iter().map(step));
                        return Some(ReadPart {
                            type_name: type_name.clone(),
                            path: FieldPath(steps.collect()),
                        });
                    }
                    path = fields_of(path);
                    type_name
                }
                ReferenceHead::DataSource(name) => {
                    &blueprint.data_sources.get(name)?.type_name.item
                }
                ReferenceHead::Local(name) if depth < MAX_LOCALS => {
                    let local = &blueprint.locals.get(name)?.value;
                    let mut part = part_of(local, blueprint, catalogs, depth + 1)?;
                    part.path.0.extend(path.iter().map(step));
                    return Some(part);
                }
                _ => return None,
            };
            let part = ReadPart {
                type_name: type_name.clone(),
                path: FieldPath::default(),
            };
            (part, path.iter().map(step).collect())
        }
        // A function that reads a part takes the value and then the steps. For any other function
        // the part is one more that nobody reads.
        ExprKind::Call(call) => {
            let (first, rest) = call.arguments.split_first()?;
            let steps = rest.iter().map_while(|one| literal_step(&one.value));
            let steps: Vec<PathStep> = steps.collect();
            if steps.is_empty() {
                return None;
            }
            (part_of(&first.value, blueprint, catalogs, depth)?, steps)
        }
        _ => return None,
    };
    part.path.0.extend(steps);
    Some(part)
}

/// The field that holds the attribute that a path of a resource begins with, and the rest of the
/// path: an attribute of Heat may have another name than its field.
fn attribute_of<'a>(
    path: &'a [Accessor],
    type_name: &TypeId,
    catalogs: &Catalogs,
) -> Option<(PathStep, &'a [Accessor])> {
    let [first, second, rest @ ..] = path else {
        return None;
    };
    let (AccessorKind::Name(first), AccessorKind::Name(name)) = (&first.kind, &second.kind) else {
        return None;
    };
    match catalogs.resource_type(type_name) {
        TypeRef::Known(ty) if &**first == "attributes" => match ty.attribute(name)? {
            Attribute::Field(field) => Some((PathStep::Field(field.into()), rest)),
            Attribute::Nothing => None,
        },
        _ => None,
    }
}

/// The steps of a path of a resource without the one that leads to its fields.
fn fields_of(path: &[Accessor]) -> &[Accessor] {
    match path.split_first() {
        Some((first, rest)) => match &first.kind {
            AccessorKind::Name(name) if matches!(&**name, "spec" | "state" | "attributes") => rest,
            _ => path,
        },
        None => path,
    }
}

fn step(accessor: &Accessor) -> PathStep {
    match &accessor.kind {
        AccessorKind::Name(name) => PathStep::Field(name.clone()),
        AccessorKind::Index(index) => PathStep::Index(*index),
    }
}

fn literal_step(expr: &Expr) -> Option<PathStep> {
    match expr.inner().as_literal()? {
        Value::Text(name) => Some(PathStep::Key(name.clone())),
        Value::Int(index) => u64::try_from(*index).ok().map(PathStep::Index),
        _ => None,
    }
}
