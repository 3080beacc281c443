//! The two views of an owner (decisions/cartographer#views-of-an-owner). The *navigation view* is
//! what paths see: a field that the owner does not set has the zero value of its type. The
//! *serialised view* is what ytt templates get, and what a path gives that ends at a whole part of
//! the owner.

mod quantity;
mod shapes;

use blueprint::Value;
use jsonpath::{Path, PathFailure, ValueShape};

pub(crate) use shapes::{DELIVERABLE, RUNNABLE, WORKLOAD};

/// An owner for paths and templates.
#[derive(Clone, Debug, PartialEq)]
pub struct OwnerView {
    owner: Value,
    shape: &'static ValueShape,
}

impl OwnerView {
    /// The view of a Workload, a Deliverable or a Runnable, given as a whole manifest. An object of
    /// another kind has no zero values.
    pub fn new(owner: &Value) -> OwnerView {
        let shape = match owner.get("kind").and_then(Value::as_text) {
            Some("Workload") => &shapes::WORKLOAD,
            Some("Deliverable") => &shapes::DELIVERABLE,
            Some("Runnable") => &shapes::RUNNABLE,
            _ => &ValueShape::Data,
        };
        OwnerView {
            owner: quantity::with_canonical_quantities(owner),
            shape,
        }
    }

    /// What a path leads to in the navigation view. The failures are those of [`Path::find`].
    pub fn find(&self, path: &Path) -> Result<Value, PathFailure> {
        path.find_in(&self.owner, self.shape)
    }

    /// The serialised view.
    pub fn serialised(&self) -> Value {
        self.shape.serialised(&self.owner)
    }

    /// The value that paths go through, and its shape.
    pub(crate) fn parts(&self) -> (&Value, &'static ValueShape) {
        (&self.owner, self.shape)
    }
}

#[cfg(test)]
mod tests {
    use blueprint::Value;
    use jsonpath::{FailureClass, Path};

    use super::OwnerView;

    fn view(kind: &str, spec: Value) -> OwnerView {
        OwnerView::new(&Value::map([("kind", Value::from(kind)), ("spec", spec)]))
    }

    fn find(view: &OwnerView, path: &str) -> Result<Value, FailureClass> {
        let path = Path::parse(path).expect("a path");
        view.find(&path).map_err(|failure| failure.class)
    }

    #[test]
    fn fields_that_are_not_set_have_zero_values() {
        let workload = view("Workload", Value::Null);
        assert_eq!(
            find(&workload, "spec.serviceAccountName"),
            Ok(Value::from(""))
        );
        assert_eq!(find(&workload, "spec.env"), Ok(Value::Null));
        assert_eq!(find(&workload, "spec.env[0]"), Err(FailureClass::Bounds));
        assert_eq!(find(&workload, "spec.source"), Ok(Value::Null));
        assert_eq!(
            find(&workload, "spec.source.git"),
            Err(FailureClass::Missing)
        );
        assert_eq!(find(&workload, "metadata.generation"), Ok(Value::Int(0)));
        assert_eq!(find(&workload, "spec.nope"), Err(FailureClass::Missing));
        let deliverable = view("Deliverable", Value::Null);
        assert_eq!(find(&deliverable, "spec.build"), Err(FailureClass::Missing));
    }

    #[test]
    fn the_serialised_view_leaves_out_what_is_empty() {
        let build = Value::map([("build", Value::map::<&str>([]))]);
        let workload = view("Workload", Value::map([("env", Value::list([]))]));
        assert_eq!(workload.serialised().get("spec"), Some(&build));
        assert_eq!(find(&workload, "Spec"), Ok(build));
    }

    #[test]
    fn unknown_and_secret_parts_keep_their_marks() {
        let spec = Value::map([
            ("image", Value::unknown(None, None)),
            ("source", Value::map([("image", Value::from("i").secret())])),
        ]);
        let workload = view("Workload", spec);
        assert!(find(&workload, "spec.image").is_ok_and(|image| image.is_unknown()));
        assert_eq!(
            find(&workload, "spec.source.image"),
            Ok(Value::from("i").secret())
        );
        assert!(workload.serialised().has_unknown());
    }
}
