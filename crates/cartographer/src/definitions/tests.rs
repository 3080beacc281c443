//! Tests of the definitions: their schemas, names and defaults.

use kubernetes::structural::StructuralSchema;

use super::*;

fn schema_of(kind: CartoKind) -> StructuralSchema {
    StructuralSchema::of_definition(&definition(kind), VERSION).expect("the schema is well formed")
}

#[test]
fn every_definition_has_a_schema_and_the_names_of_its_kind() {
    for (kind, definition) in CartoKind::ALL.into_iter().zip(definitions()) {
        schema_of(kind);
        let name = definition.get("metadata").and_then(|own| own.get("name"));
        let wanted = format!("{}.carto.run", kind.plural());
        assert_eq!(name.and_then(Value::as_text), Some(wanted.as_str()));
    }
}

#[test]
fn a_template_is_mutable_and_a_runnable_keeps_ten_runs() {
    let of = |kind: CartoKind| {
        let object = Value::map([("spec", Value::map::<&str>([]))]);
        let object = schema_of(kind).default(&object);
        object.get("spec").cloned().unwrap_or_default()
    };
    assert_eq!(
        of(CartoKind::ClusterImageTemplate).get("lifecycle"),
        Some(&Value::from("mutable"))
    );
    let policy = of(CartoKind::Runnable);
    let policy = policy.get("retentionPolicy");
    assert_eq!(
        policy.and_then(|policy| policy.get("maxFailedRuns")),
        Some(&Value::Int(10))
    );
}
