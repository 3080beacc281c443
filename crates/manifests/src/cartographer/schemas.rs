//! Checks objects of Cartographer by the schemas of their kinds.

use blueprint::{FieldPath, IndexMap, PathStep};
use cartographer::definitions::schema;
use cartographer::kinds::CartoKind;
use diag::Diagnostic;
use dialect::codes::{MISSING_FIELD, UNKNOWN_KEY, WRONG_SHAPE};
use kubernetes::structural::{AdmittedObject, SchemaViolation, StructuralSchema, ViolationReason};

use super::platform::CartoObject;
use super::written::{key_at, place_at};

/// The schemas of the kinds, each read when it is first needed.
#[derive(Default)]
pub(super) struct KindSchemas(IndexMap<CartoKind, Option<StructuralSchema>>);

impl KindSchemas {
    /// The object as its schema admits it: with defaults, and with what does not fit. The object as it
    /// is if its kind has no schema.
    pub(super) fn admit(&mut self, object: &CartoObject) -> AdmittedObject {
        let schema = self.0.entry(object.kind).or_insert_with(|| {
            // A test reads all of them.
            StructuralSchema::read(&schema(object.kind)).ok()
        });
        match schema {
            Some(schema) => schema.admit(&object.value),
            None => AdmittedObject {
                object: object.value.clone(),
                dropped: Vec::new(),
                violations: Vec::new(),
            },
        }
    }
}

/// Reports the fields that the schema of an object does not have.
pub(super) fn unknown_field(object: &CartoObject, path: &FieldPath) -> Diagnostic {
    let place = key_at(&object.written, &path.0);
    let place = place.unwrap_or_else(|| place_at(&object.written, &path.0));
    UNKNOWN_KEY
        .new(format!(
            "{} has no field `{}`",
            object.kind.name(),
            written_path(path)
        ))
        .label(place, format!("in `{}`", object.shown()))
}

/// Reports what the schema of an object refuses.
pub(super) fn refused_field(object: &CartoObject, violation: &SchemaViolation) -> Diagnostic {
    let field = violation.field();
    let (code, message) = match violation.reason {
        ViolationReason::Required => (&MISSING_FIELD, format!("`{field}` is missing")),
        _ => {
            let message = format!("`{field}` is not valid: {}", violation.message);
            (&WRONG_SHAPE, message)
        }
    };
    let place = place_at(&object.written, &violation.path.0);
    code.new(message)
        .label(place, format!("in `{}`", object.shown()))
}

/// A path for people: `spec.resources[0].name`.
fn written_path(path: &FieldPath) -> String {
    let mut text = String::new();
    for step in &path.0 {
        match step {
            PathStep::Index(index) => text.push_str(&format!("[{index}]")),
            PathStep::Field(name) | PathStep::Key(name) => {
                if !text.is_empty() {
                    text.push('.');
                }
                text.push_str(name);
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schema_of_every_kind_can_be_read() {
        for kind in CartoKind::ALL {
            assert!(StructuralSchema::read(&schema(kind)).is_ok(), "{kind:?}");
        }
    }
}
