//! The type `kubernetes/run`.

use std::sync::Arc;

use ::kubernetes::schema;
use ::provider::{Capabilities, ImplicitDependency, Plans, ResourceType};
use blueprint::{Constraint, Field, Kind, Name, Schema, TypeId, Value};
use cartographer::conditions::TRUE;

use super::spec::RUN_TYPE;

/// The type. `object` is the schema of an object of any kind.
pub(crate) fn run_type(object: Arc<Schema>) -> ResourceType {
    let any = schema::any_object();
    // An object does not change after it is made, so what others write into it is no difference.
    let declared = |kind: Kind, required: bool, docs: &str| Field {
        required,
        ignore_drift: true,
        docs: docs.into(),
        ..Field::of(kind)
    };
    let computed = |docs: &str| Field {
        computed: true,
        nullable: true,
        changes_on_update: true,
        docs: docs.into(),
        ..Field::of(Kind::Any)
    };
    let limit = |docs: &str| Field {
        constraint: Constraint {
            min: Some(1.0),
            ..Constraint::default()
        },
        docs: docs.into(),
        ..Field::of(Kind::Integer)
    };
    let retention = Schema {
        fields: [
            ("maxFailedRuns", limit("How many unhealthy runs are kept.")),
            (
                "maxSuccessfulRuns",
                limit("How many healthy runs are kept."),
            ),
        ]
        .into_iter()
        .map(|(name, field)| (Name::from(name), field))
        .collect(),
        open: false,
    };
    let labels = Kind::Map(Arc::new(Field::of(Kind::String)));
    let fields = [
        (
            "template",
            declared(Kind::Object(object), true, "The manifest of each run."),
        ),
        (
            "selector",
            declared(labels, true, "The labels of all runs of the series."),
        ),
        (
            "retention",
            declared(
                Kind::Object(Arc::new(retention)),
                false,
                "How many runs are kept.",
            ),
        ),
        (
            "healthRule",
            declared(Kind::Any, false, "How a run tells whether it is healthy."),
        ),
        ("object", computed("The newest healthy run.")),
        ("newest", computed("The name of the newest run.")),
        (
            "health",
            Field {
                // Nobody runs anything in a simulation.
                simulated_value: Some(Value::map([("status", Value::from(TRUE))])),
                ..computed("The health of the newest run.")
            },
        ),
    ];
    let fields = fields.into_iter();
    ResourceType {
        name: TypeId::from(&Name::from(RUN_TYPE)),
        docs: "Objects that are never changed: a further one is made.".into(),
        schema: Arc::new(Schema {
            fields: fields.map(|(name, field)| (name.into(), field)).collect(),
            open: false,
        }),
        capabilities: Capabilities {
            checks: true,
            plans: Plans::Always,
            exact: false,
            outputs_decide: true,
            // A delete removes the whole series, so a new one never comes before it.
            partial: true,
            complete_when_ready: true,
            adopts: false,
            imports: false,
            finds: true,
            ..any.capabilities
        },
        waits: waits(),
        ..any
    }
}

/// A run waits for its namespace, and for the definition of its kind.
fn waits() -> Vec<ImplicitDependency> {
    let wait = |type_name: &str, own: &str, awaited: &str| ImplicitDependency {
        type_name: type_name.into(),
        own_fields: vec![own.into()],
        awaited_fields: vec![awaited.into()],
        through: None,
    };
    vec![
        wait(
            "kubernetes/core/Namespace",
            "template.metadata.namespace",
            "metadata.name",
        ),
        wait(
            "kubernetes/apiextensions.k8s.io/CustomResourceDefinition",
            "template.kind",
            "spec.names.kind",
        ),
    ]
}
