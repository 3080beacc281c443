//! Translates between the field names of documents and those of CloudFormation.
//!
//! The translation uses the compact form, so nesting has no limit. Names outside the catalogue,
//! such as the content of policies, stay unchanged.

use blueprint::{Name, Value};

use super::format::{ShapeKind, UnpackedBlock};
use super::types::PackedTypes;

/// The direction of the translation.
#[derive(Clone, Copy)]
enum Spelling {
    /// To the names of documents.
    Ours,
    /// To the names of CloudFormation.
    Original,
}

impl PackedTypes {
    /// CloudFormation's name of a type: `AWS::S3::Bucket`.
    pub fn original_name(&self, name: &str) -> Option<&str> {
        let (block, position) = self.block_of(self.find(name)?)?;
        Some(block.ty(position).ok()?.original)
    }

    /// The paths that together identify a resource of this type, in CloudFormation's names, with
    /// `/` as separator.
    pub fn identifier(&self, name: &str) -> Vec<&str> {
        let found = self.find(name).and_then(|at| self.block_of(at));
        found
            .and_then(|(block, position)| block.ty(position).ok())
            .map(|ty| ty.identifier)
            .unwrap_or_default()
    }

    /// Translates the fields of a resource to CloudFormation's names.
    pub fn to_original(&self, name: &str, fields: &Value) -> Value {
        self.renamed(name, fields, Spelling::Original)
    }

    /// Translates the fields of a resource to the names of documents.
    pub fn from_original(&self, name: &str, fields: &Value) -> Value {
        self.renamed(name, fields, Spelling::Ours)
    }

    fn renamed(&self, name: &str, fields: &Value, wanted: Spelling) -> Value {
        let found = self.find(name).and_then(|at| self.block_of(at));
        let shape =
            found.and_then(|(block, position)| Some((block, block.ty(position).ok()?.shape)));
        shape.map_or_else(
            || fields.clone(),
            |(block, shape)| renamed(block, shape, fields, wanted),
        )
    }
}

fn renamed(block: &UnpackedBlock, shape: usize, value: &Value, wanted: Spelling) -> Value {
    match value {
        Value::Secret(inner) => return Value::Secret(renamed(block, shape, inner, wanted).into()),
        Value::Map(_) | Value::List(_) | Value::Set(_) => {}
        plain => return plain.clone(),
    }
    let Ok(known) = block.shape(shape) else {
        return value.clone();
    };
    match (known.kind, value) {
        (ShapeKind::Array(item), Value::List(items)) => Value::list(
            items
                .iter()
                .map(|value| renamed(block, item, value, wanted))
                .collect::<Vec<_>>(),
        ),
        (ShapeKind::Array(item), Value::Set(items)) => Value::Set(
            items
                .iter()
                .map(|value| renamed(block, item, value, wanted))
                .collect::<Vec<_>>()
                .into(),
        ),
        (ShapeKind::Map(inside), Value::Map(entries)) => Value::map(
            entries
                .iter()
                .map(|(key, value)| (key.clone(), renamed(block, inside, value, wanted))),
        ),
        (ShapeKind::Object(members), Value::Map(entries)) => {
            Value::map(entries.iter().map(|(key, value)| {
                let member = members.iter().find(|member| match wanted {
                    Spelling::Original => member.name == key.as_ref(),
                    Spelling::Ours => member.original == key.as_ref(),
                });
                let Some(member) = member else {
                    return (key.clone(), value.clone());
                };
                let name: Name = match wanted {
                    Spelling::Original => member.original.into(),
                    Spelling::Ours => member.name.as_ref().into(),
                };
                (name, renamed(block, member.shape, value, wanted))
            }))
        }
        // The branch with the most matching names; the first one on a tie.
        (ShapeKind::Union(branches), value) => {
            let best = branches
                .iter()
                .rev()
                .max_by_key(|branch| fit(block, **branch, value, wanted));
            best.map_or_else(
                || value.clone(),
                |branch| renamed(block, *branch, value, wanted),
            )
        }
        _ => value.clone(),
    }
}

/// The number of names in a value that a shape has; 0 if the shape does not match.
fn fit(block: &UnpackedBlock, shape: usize, value: &Value, wanted: Spelling) -> usize {
    match (block.shape(shape).map(|shape| shape.kind), value) {
        (Ok(ShapeKind::Object(members)), Value::Map(entries)) => {
            let knows = |key: &Name| {
                members.iter().any(|member| match wanted {
                    Spelling::Original => member.name == key.as_ref(),
                    Spelling::Ours => member.original == key.as_ref(),
                })
            };
            1 + entries.keys().filter(|key| knows(key)).count()
        }
        (Ok(ShapeKind::Map(_)), Value::Map(_))
        | (Ok(ShapeKind::Array(_)), Value::List(_) | Value::Set(_)) => 1,
        _ => 0,
    }
}
