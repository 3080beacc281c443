//! Tests of the faults and lints of single objects.

use serde_json::json;

use super::*;

fn value(json: serde_json::Value) -> Value {
    match json {
        serde_json::Value::Null => Value::Null,
        serde_json::Value::Bool(flag) => Value::Bool(flag),
        serde_json::Value::Number(number) => Value::Int(number.as_i64().unwrap_or_default()),
        serde_json::Value::String(text) => Value::text(text),
        serde_json::Value::Array(items) => Value::list(items.into_iter().map(value)),
        serde_json::Value::Object(entries) => {
            Value::map(entries.into_iter().map(|(key, entry)| (key, value(entry))))
        }
    }
}

fn object(kind: CartoKind, spec: Value) -> Value {
    Value::map([
        ("apiVersion", Value::from(crate::kinds::API_VERSION)),
        ("kind", Value::from(kind.name())),
        ("spec", spec),
    ])
}

/// Class and path of each fault, one on each line.
fn shown(faults: &[Fault]) -> String {
    let lines: Vec<String> = faults
        .iter()
        .map(|fault| format!("{} {}", fault.class.as_str(), fault.path))
        .collect();
    lines.join("\n")
}

fn faults_of(kind: CartoKind, spec: serde_json::Value) -> String {
    shown(&faults(&object(kind, value(spec))))
}

fn lints_of(kind: CartoKind, spec: serde_json::Value) -> String {
    shown(&lints(&object(kind, value(spec))))
}

#[test]
fn all_faults_of_a_blueprint_are_found_in_the_order_of_the_tests() {
    let found = faults_of(
        CartoKind::ClusterSupplyChain,
        json!({
            "selector": {"-a": "b", "c": "d "},
            "selectorMatchFields": [
                {"key": "spec.nope", "operator": "In"},
                {"key": "metadata.{", "operator": "Exists"},
            ],
            "params": [{"name": "p"}, {"name": "q", "value": 1}],
            "resources": [
                {"name": "a", "params": [{"name": "r", "value": 1, "default": 2}],
                 "templateRef": {"kind": "ClusterSourceTemplate"}},
                {"name": "a", "templateRef": {"kind": "ClusterImageTemplate", "name": "t"},
                 "sources": [{"name": "s", "resource": "x"}],
                 "images": [{"name": "s", "resource": "a"}]},
            ],
        }),
    );
    assert_eq!(
        found,
        "param spec.params[0]\n\
         param spec.resources[0].params[0]\n\
         label-selector spec.selector.-a\n\
         label-selector spec.selector.c\n\
         field-values spec.selectorMatchFields[0].values\n\
         field-path spec.selectorMatchFields[0].key\n\
         field-path spec.selectorMatchFields[1].key\n\
         duplicate-resource spec.resources[1].name\n\
         template-ref spec.resources[0].templateRef\n\
         input-unknown spec.resources[1].sources[0].resource\n\
         input-kind spec.resources[1].images[0].resource"
    );
}

#[test]
fn options_are_checked_one_by_one_and_against_each_other() {
    let option =
        |name: &str| json!({"name": name, "selector": {"matchLabels": {"a": "b", "c": "d"}}});
    let found = faults_of(
        CartoKind::ClusterDelivery,
        json!({
            "selector": {"a": "b"},
            "resources": [
                {"name": "a", "templateRef": {"kind": "ClusterSourceTemplate", "options": [
                    option("x"),
                    {"name": "y", "selector": {"matchLabels": {"c": "d", "a": "b"}}},
                    option("x"),
                    {"name": "z", "selector": {}},
                    {"name": "v", "passThrough": "in", "selector": {"matchLabels": {"e": "f"}}},
                ]}},
                {"name": "b", "templateRef": {"kind": "ClusterTemplate", "options": [
                    {"passThrough": "in", "selector": {"matchLabels": {"e": "f"}}},
                ]}},
            ],
        }),
    );
    assert_eq!(
        found,
        "duplicate-option spec.resources[0].templateRef.options[2].name\n\
         option-selector-empty spec.resources[0].templateRef.options[3].selector\n\
         option-shape spec.resources[0].templateRef.options[4]\n\
         duplicate-option-selector spec.resources[0].templateRef.options[1].selector\n\
         single-option spec.resources[1].templateRef.options\n\
         pass-through-unknown spec.resources[0].templateRef.options[4].passThrough\n\
         pass-through-kind spec.resources[1].templateRef.options[0].passThrough"
    );
}

#[test]
fn deployments_are_for_deployment_templates_only() {
    let found = faults_of(
        CartoKind::ClusterDelivery,
        json!({
            "selector": {"a": "b"},
            "resources": [
                {"name": "a", "templateRef": {"kind": "ClusterDeploymentTemplate", "name": "t"},
                 "configs": []},
                {"name": "b", "templateRef": {"kind": "ClusterTemplate", "name": "t"},
                 "deployment": {"resource": "a"}},
            ],
        }),
    );
    assert_eq!(
        found,
        "deployment spec.resources[0].deployment\n\
         deployment spec.resources[1].deployment\n\
         deployment spec.resources[0].configs"
    );
}

#[test]
fn a_template_states_one_object_with_a_kind() {
    let of = |spec| faults_of(CartoKind::ClusterTemplate, spec);
    assert_eq!(of(json!({"ytt": "a: b"})), "");
    assert_eq!(of(json!({"template": null})), "template-or-ytt spec");
    assert_eq!(
        of(json!({"template": [], "ytt": "a"})),
        "template-or-ytt spec\ntemplate-not-an-object spec.template"
    );
    assert_eq!(
        of(json!({"template": {"metadata": {"namespace": "n"}}})),
        "template-not-an-object spec.template.kind\n\
         template-namespace spec.template.metadata.namespace"
    );
    let of = |spec| faults_of(CartoKind::ClusterRunTemplate, spec);
    assert_eq!(of(json!({})), "template-not-an-object spec.template");
    assert_eq!(
        of(json!({"template": {"kind": "Job"}})),
        "run-template-spec spec.template.spec"
    );
}

#[test]
fn a_health_rule_says_one_thing() {
    let of = |rule| {
        let spec = json!({"ytt": "a", "healthRule": rule});
        faults_of(CartoKind::ClusterTemplate, spec)
    };
    assert_eq!(of(json!({"alwaysHealthy": {}})), "");
    assert_eq!(of(json!({})), "health-rule spec.healthRule");
    assert_eq!(
        of(json!({"singleConditionType": "Ready", "multiMatch": {"healthy": {}}})),
        "health-rule spec.healthRule\n\
         health-rule spec.healthRule.multiMatch.unhealthy\n\
         health-rule spec.healthRule.multiMatch.healthy"
    );
}

#[test]
fn a_mutable_template_retains_nothing() {
    let kind = CartoKind::ClusterTemplate;
    let spec = |lifecycle: &serde_json::Value, rule: &serde_json::Value| {
        let policy = json!({"maxFailedRuns": 1, "maxSuccessfulRuns": 1});
        json!({"ytt": "a", "retentionPolicy": policy, "lifecycle": lifecycle, "healthRule": rule})
    };
    let (rule, none) = (json!({"alwaysHealthy": {}}), json!(null));
    for (lifecycle, rule, fault, lint) in [
        (
            json!("mutable"),
            &none,
            "retention spec.retentionPolicy",
            "",
        ),
        (
            json!("mutable"),
            &rule,
            "",
            "retention-on-mutable spec.retentionPolicy",
        ),
        (
            json!(null),
            &none,
            "",
            "retention-on-mutable spec.retentionPolicy",
        ),
        (json!("immutable"), &none, "", ""),
    ] {
        assert_eq!(
            faults_of(kind, spec(&lifecycle, rule)),
            fault,
            "{lifecycle}"
        );
        assert_eq!(lints_of(kind, spec(&lifecycle, rule)), lint, "{lifecycle}");
    }
}

#[test]
fn inputs_have_an_order_and_a_producer() {
    let resource = |name: &str, inputs: &[&str]| {
        let inputs: Vec<_> = inputs
            .iter()
            .map(|input| json!({"name": input, "resource": input}))
            .collect();
        json!({"name": name, "sources": inputs,
               "templateRef": {"kind": "ClusterSourceTemplate", "name": "t"}})
    };
    let spec = json!({
        "selector": {"a": "b"},
        "resources": [
            resource("a", &["b"]),
            resource("b", &["c", "b"]),
            resource("c", &["b", "d", "d"]),
            resource("d", &["x"]),
        ],
    });
    assert_eq!(
        lints_of(CartoKind::ClusterDelivery, spec.clone()),
        "duplicate-input spec.resources[2].sources[2].name\n\
         unknown-input spec.resources[3].sources[0].resource\n\
         input-after-use spec.resources[0].sources[0].resource\n\
         input-cycle spec.resources[1].sources[0].resource\n\
         self-reference spec.resources[1].sources[1].resource\n\
         input-after-use spec.resources[2].sources[1].resource\n\
         input-after-use spec.resources[2].sources[2].resource"
    );
    assert_eq!(
        faults_of(CartoKind::ClusterSupplyChain, spec),
        "input-unknown spec.resources[3].sources[0].resource"
    );
}

#[test]
fn a_delivery_takes_sources_from_deployments() {
    let resource = |name: &str, kind: &str, inputs: serde_json::Value| {
        let mut resource = json!({"name": name, "templateRef": {"kind": kind, "name": "t"}});
        for (key, entry) in inputs.as_object().into_iter().flatten() {
            resource[key] = entry.clone();
        }
        resource
    };
    let (source, deploys) = ("ClusterSourceTemplate", "ClusterDeploymentTemplate");
    let input = |name: &str| json!([{"name": "in", "resource": name}]);
    let spec = json!({"selector": {"a": "b"}, "resources": [
        resource("a", source, json!({})),
        resource("b", deploys, json!({"deployment": {"resource": "a"}})),
        resource("c", source, json!({"sources": input("b")})),
        resource("d", "ClusterTemplate", json!({"configs": input("a")})),
    ]});
    assert_eq!(
        lints_of(CartoKind::ClusterDelivery, spec),
        "unknown-input spec.resources[3].configs[0].resource"
    );
}

#[test]
fn requirements_that_unset_fields_fulfil_are_named() {
    let found = lints_of(
        CartoKind::ClusterDelivery,
        json!({
            "resources": [],
            "selectorMatchFields": [
                {"key": "spec.serviceAccountName", "operator": "Exists"},
                {"key": "spec.source.image", "operator": "NotIn", "values": ["x"]},
                {"key": "spec.source.image", "operator": "Exists"},
                {"key": "metadata.labels.a", "operator": "NotIn", "values": ["x"]},
            ],
        }),
    );
    assert_eq!(
        found,
        "zero-value-exists spec.selectorMatchFields[0].key\n\
         zero-value-exists spec.selectorMatchFields[1].key"
    );
}

#[test]
fn keys_that_the_webhook_reads_otherwise_are_named() {
    let spec = |key: &str| json!({"resources": [], "selectorMatchFields": [{"key": key, "operator": "Exists"}]});
    let kind = CartoKind::ClusterSupplyChain;
    for (key, fault, lint) in [
        ("metadata.labels['a']", "", ""),
        (
            "metadata.{",
            "field-path spec.selectorMatchFields[0].key",
            "",
        ),
        (
            "spec.params[",
            "",
            "selector-key spec.selectorMatchFields[0].key",
        ),
        (
            "spec.params[?(@.name==\"x\"].value",
            "",
            "selector-key spec.selectorMatchFields[0].key",
        ),
    ] {
        assert_eq!(faults_of(kind, spec(key)), fault, "{key}");
        assert_eq!(lints_of(kind, spec(key)), lint, "{key}");
    }
    let found = lints(&object(kind, value(spec("spec.params["))));
    assert!(found[0].inside.is_some());
}

#[test]
fn unknown_parts_have_no_fault_and_secrets_are_not_shown() {
    let unknown = || Value::unknown(None, None);
    for kind in CartoKind::ALL {
        assert_eq!(faults(&object(kind, unknown())), [], "{kind:?}");
        assert_eq!(lints(&object(kind, unknown())), [], "{kind:?}");
    }
    let spec = Value::map([
        ("template", unknown()),
        ("ytt", unknown()),
        ("healthRule", unknown()),
        ("observedMatches", unknown()),
    ]);
    let template = object(CartoKind::ClusterDeploymentTemplate, spec);
    assert_eq!(faults(&template), []);
    let spec = Value::map([(
        "selector",
        Value::map([("a", Value::from("hidden!"))]).secret(),
    )]);
    let chain = object(CartoKind::ClusterSupplyChain, spec);
    let found = faults(&chain);
    assert_eq!(shown(&found), "label-selector spec.selector.a");
    assert!(!found[0].message.contains("hidden"), "{}", found[0].message);
    let key = json!({"key": "metadata.hidden{", "operator": "Exists"});
    let fields = Value::list([value(key)]).secret();
    let spec = Value::map([("selectorMatchFields", fields)]);
    let found = faults(&object(CartoKind::ClusterSupplyChain, spec));
    assert_eq!(found[0].class, FaultClass::FieldPath);
    assert!(!found[0].message.contains("hidden"), "{}", found[0].message);
}

#[test]
fn class_names_are_unique() {
    let names: std::collections::BTreeSet<&str> =
        FaultClass::ALL.iter().map(|class| class.as_str()).collect();
    assert_eq!(names.len(), FaultClass::ALL.len());
}
