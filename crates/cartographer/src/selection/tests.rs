//! Tests of selection beyond the recorded answers.

use blueprint::Value;

use super::{Selected, TemplateChoice, choose_template, select_blueprint};
use crate::compat::Compat;

fn text_map(entries: &[(&'static str, &str)]) -> Value {
    Value::map(
        entries
            .iter()
            .map(|(key, value)| (*key, Value::from(*value))),
    )
}

fn workload(labels: Value) -> Value {
    Value::map([
        ("apiVersion", Value::from("carto.run/v1alpha1")),
        ("kind", Value::from("Workload")),
        (
            "metadata",
            Value::map([("name", Value::from("w")), ("labels", labels)]),
        ),
    ])
}

fn blueprint(kind: &str, spec: Value) -> Value {
    Value::map([
        ("apiVersion", Value::from("carto.run/v1alpha1")),
        ("kind", Value::from(kind)),
        ("spec", spec),
    ])
}

fn selecting(labels: Value) -> Value {
    Value::map([("selector", labels)])
}

fn field(key: &str, operator: &str) -> Value {
    let requirement = text_map(&[("key", key), ("operator", operator)]);
    Value::map([("selectorMatchFields", Value::list([requirement]))])
}

#[test]
fn a_selector_that_cannot_be_evaluated_is_skipped_and_said() {
    let owner = workload(text_map(&[("a", "1")]));
    let bad = blueprint("ClusterSupplyChain", field("spec[", "Exists"));
    let good = blueprint("ClusterSupplyChain", selecting(text_map(&[("a", "1")])));
    let selection = select_blueprint(&owner, &[&bad, &good], Compat::Ours);
    assert_eq!(selection.selected, Selected::One(1));
    assert_eq!(selection.refused[0].candidate, 0);
}

#[test]
fn blueprints_for_other_owners_never_match() {
    let owner = workload(text_map(&[("a", "1")]));
    let delivery = blueprint("ClusterDelivery", selecting(text_map(&[("a", "1")])));
    let selection = select_blueprint(&owner, &[&delivery], Compat::Ours);
    assert_eq!(selection.selected, Selected::None);
}

#[test]
fn keys_may_start_with_the_owner_unless_upstream_counts() {
    let owner = workload(Value::Null);
    let chain = blueprint(
        "ClusterSupplyChain",
        field("workload.metadata.name", "Exists"),
    );
    let selected = |compat| select_blueprint(&owner, &[&chain], compat).selected;
    assert_eq!(selected(Compat::Ours), Selected::One(0));
    assert_eq!(selected(Compat::Upstream), Selected::None);
}

#[test]
fn an_unknown_label_decides_nothing() {
    let owner = workload(Value::map([("a", Value::unknown(None, None))]));
    let chain = blueprint("ClusterSupplyChain", selecting(text_map(&[("a", "1")])));
    let selection = select_blueprint(&owner, &[&chain], Compat::Ours);
    assert_eq!((selection.matches().len(), selection.refused.len()), (0, 1));
}

#[test]
fn a_resource_without_options_has_its_own_template() {
    let resource = Value::map([("templateRef", text_map(&[("name", "t")]))]);
    assert_eq!(
        choose_template(&workload(Value::Null), &resource, Compat::Ours),
        Ok(TemplateChoice::Template("t".into()))
    );
}
