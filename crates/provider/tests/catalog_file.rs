//! Catalogues are read, and contradictions in them are refused.

use blueprint::{Kind, ReplaceOrder, Type, Value};
use provider::{FilterType, Side, read_catalog};

const TEST: &str = include_str!("../../../conformance/blueprint/catalog.json");
const EXAMPLES: &str = include_str!("../../../conformance/blueprint/spec-examples/catalog.json");

#[test]
fn the_catalogue_of_the_simulated_cloud_is_read() {
    let catalog = read_catalog(TEST).unwrap();
    assert_eq!(catalog.resource_types.len(), 11);
    let record = &catalog.resource_types["test/record"];
    assert_eq!(record.id_field.as_deref(), Some("id"));
    assert_eq!(
        record.field("size").unwrap().default,
        Some(Value::from("small"))
    );
    assert_eq!(
        record.field("rules").unwrap().keyed_by.as_deref(),
        Some("key")
    );
    assert!(matches!(record.field("target").unwrap().kind, Kind::Union(ref of) if of.len() == 2));
    assert_eq!(
        record
            .unique_fields()
            .map(AsRef::as_ref)
            .collect::<Vec<&str>>(),
        ["serial"]
    );
    assert_eq!(
        catalog.resource_types["test/cluster"].replace_order,
        ReplaceOrder::CreateFirst
    );
    let network = &catalog.data_source_types["test/network"];
    assert_eq!(network.filters["vpcId"].push_down.len(), 1);
    assert_eq!(network.filters["tags"].ty, FilterType::Map(Type::Text));
    assert_eq!(network.rows.len(), 3);
    assert_eq!(
        catalog.variable_types["test/size"].options[1].value,
        Value::from("s-2")
    );
    assert_eq!(
        catalog
            .functions
            .iter()
            .map(|f| f.signature())
            .next()
            .unwrap(),
        "test_double(n: integer) -> integer"
    );
    assert_eq!(catalog.link_kinds.len(), 8);
    assert_eq!(catalog.link_kinds[0].first, Some(Side::B));
    assert_eq!(catalog.link_kinds[0].per_a, (0, Some(2)));
    assert_eq!(catalog.transforms.len(), 2);
    assert_eq!(read_catalog(EXAMPLES).unwrap().namespaces.len(), 2);
}

/// Returns the error of a catalogue with one resource type with these parts.
fn refused(more: &str, fields: &str) -> String {
    let text = format!(
        r#"{{"format": 1, "namespace": "x", {more} "resourceTypes": {{"x/a": {{"fields": {{"id": {{"kind": "string", "computed": true}}, {fields}}}}},
            "x/b": {{"fields": {{"id": {{"kind": "string", "computed": true}}, "name": {{"kind": "string"}}}}}}}}}}"#
    );
    match read_catalog(&text) {
        Ok(_) => "accepted".into(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn contradictions_are_refused_at_their_path() {
    let field = |field: &str| refused("", &format!(r#""f": {field}"#));
    let at = |rest: &str| format!(r#"$.resourceTypes["x/a"].fields.f{rest})"#);
    for (text, place) in [
        (r#"{"kind": "sting"}"#, ".kind"),
        (r#"{"kind": "string", "requird": true}"#, ".requird"),
        (
            r#"{"kind": "string", "required": true, "computed": true}"#,
            ".required",
        ),
        (r#"{"kind": "string", "optional": true}"#, ".optional"),
        (r#"{"kind": "string", "default": 3}"#, ".default"),
        (
            r#"{"kind": "string", "default": "c", "allowed": ["a", "b"]}"#,
            ".default",
        ),
        (r#"{"kind": "string", "allowed": ["a", 1]}"#, ".allowed[1]"),
        (r#"{"kind": "string", "pattern": "(a"}"#, ".pattern"),
        (
            r#"{"kind": "string", "pattern": "((a{1000}){1000}){1000}"}"#,
            ".pattern",
        ),
        (
            r#"{"kind": "integer", "computed": true, "value": "three"}"#,
            ".value",
        ),
        (
            r#"{"kind": "integer", "computed": true, "value": "{hash}"}"#,
            ".value",
        ),
        (
            r#"{"kind": "string", "computed": true, "value": "{updates}"}"#,
            ".value",
        ),
        (
            r#"{"kind": "array", "items": {"kind": "string"}, "computed": true, "value": ["a", 1]}"#,
            ".value",
        ),
        (r#"{"kind": "string", "min": 1}"#, ".min"),
        (r#"{"kind": "integer", "min": 2, "max": 1}"#, ".min"),
        (
            r#"{"kind": "array", "items": {"kind": "string"}, "keyedBy": "k"}"#,
            ".keyedBy",
        ),
        (
            r#"{"kind": "array", "items": {"kind": "object", "fields": {"k": {"kind": "string"}}}, "keyedBy": "j"}"#,
            ".keyedBy",
        ),
        (
            r#"{"kind": "string", "computed": true, "mustRecreate": true}"#,
            ".mustRecreate",
        ),
        (r#"{"kind": "string", "trackDrift": true}"#, ".trackDrift"),
        (r#"{"kind": "string", "items": {"kind": "any"}}"#, ".items"),
        (r#"{"kind": "object"}"#, ""),
        (r#"{"kind": "string", "open": true}"#, ".open"),
        (r#"{"kind": "string", "whole": true}"#, ".whole"),
        (r#"{"kind": "string", "modulo": [2, 1]}"#, ".modulo"),
        (r#"{"kind": "integer", "modulo": [0, 1]}"#, ".modulo"),
        (r#"{"kind": "integer", "modulo": [2]}"#, ".modulo"),
        (
            r#"{"kind": "integer", "mustRecreate": true, "immutable": true}"#,
            ".immutable",
        ),
        (
            r#"{"kind": "string", "supportStatus": "old"}"#,
            ".supportStatus",
        ),
        (r#"{"kind": "string", "minItems": 1}"#, ".minItems"),
        (
            r#"{"kind": "string", "standsFor": {"field": "g"}}"#,
            ".standsFor",
        ),
        (
            r#"{"kind": "string", "standsFor": {"field": "f"}}"#,
            ".standsFor",
        ),
    ] {
        let found = field(text);
        assert!(found.contains(&at(place)), "{text}: {found}");
    }
    assert_eq!(field(r#"{"kind": "string"}"#), "accepted");
    assert_eq!(
        refused(r#""variableType": {},"#, r#""f": {"kind": "any"}"#),
        "unknown key `variableType`; did you mean `variableTypes`? (at $.variableType)"
    );
    assert!(refused("", r#""f": {"kind": "any"}, "f": {"kind": "any"}"#).contains("written twice"));
}

#[test]
fn link_kinds_are_checked_against_their_types() {
    let kind = |rest: &str| {
        refused(
            &format!(r#""linkKinds": [{{"a": "x/a", "b": "x/b", {rest}}}],"#),
            r#""f": {"kind": "any"}, "name": {"kind": "string"}"#,
        )
    };
    for text in [
        r#""order": "none""#,
        r#""effects": [{"into": "a", "set": "f", "value": "${b.spec.id}"}, {"into": "b", "set": "name", "value": "${a.spec.id}", "when": "after"}]"#,
        r#""effects": [{"into": "a", "set": "f", "value": "${b.spec.name}"}, {"into": "b", "set": "name", "value": "${a.spec.id}"}]"#,
    ] {
        assert_eq!(kind(text), "accepted", "{text}");
    }
    for (text, part) in [
        (r#""order": "first""#, "linkKinds[0].order"),
        (
            r#""effects": [{"into": "c", "set": "f", "value": 1}]"#,
            "effects[0].into",
        ),
        (
            r#""effects": [{"into": "a", "set": "g", "value": 1}]"#,
            "there is no field `g`",
        ),
        (
            r#""effects": [{"into": "a", "set": "id", "value": "x"}]"#,
            "filled in by the provider",
        ),
        (
            r#""effects": [{"into": "a", "value": "x"}]"#,
            "exactly one of",
        ),
        (
            r#""effects": [{"into": "a", "set": "f", "key": "k", "value": "x"}]"#,
            "effects[0].key",
        ),
        (
            r#""use": {"r": {"of": "a", "field": "role", "type": "x/b"}}"#,
            "there is no field `role`",
        ),
        (
            r#""parts": {"p": {"type": "x/c", "spec": {}}}"#,
            "there is no resource type `x/c`",
        ),
        (r#""perA": {"min": 2, "max": 1}"#, "perA.max"),
        (
            r#""annotations": [{"as": "n", "side": "a", "key": "x.<a>.n", "type": "string"}]"#,
            "annotations[0].key",
        ),
        (r#""needs": [{"side": "c", "name": "n"}]"#, "needs[0].side"),
        (
            r#""data": {"n": "${note.n}"}"#,
            "`note.n` is not known to this link kind (at $.linkKinds[0].data.n)",
        ),
        (r#""data": "${a.id}""#, "`a.id` is not known"),
        (
            r#""data": "${variables.v}""#,
            "begins with one of a, b, note, part, use",
        ),
        (r#""data": "${a.spec.name""#, "linkKinds[0].data"),
        (
            r#""effects": [{"into": "a", "set": "f", "value": "${b.spec.id}"}, {"into": "b", "set": "name", "value": "${a.spec.id}"}]"#,
            "each other's computed fields",
        ),
        (
            r#""effects": [{"into": "a", "set": "f", "value": "${a.spec.id}"}]"#,
            "a computed field of a itself",
        ),
        (
            r#""parts": {"p": {"type": "x/b", "spec": {"name": "${a.spec.id}"}}}, "effects": [{"into": "a", "set": "f", "value": "${part.p.spec.id}"}]"#,
            "a part that reads a computed field of a",
        ),
        (
            r#""parts": {"p": {"type": "x/b", "spec": {"name": "${part.q.spec.id}"}}, "q": {"type": "x/b", "spec": {"name": "${part.p.spec.id}"}}}"#,
            "the part `p` needs itself",
        ),
        (
            r#""parts": {"a": {"type": "x/b", "spec": {}}}"#,
            "may not be called `a` or `b`",
        ),
        (r#""handler": "provider""#, "linkKinds[0].handler"),
    ] {
        let found = kind(text);
        assert!(found.contains(part), "{text}: {found}");
    }
    let twice = r#""linkKinds": [{"a": "x/a", "b": "x/b"}, {"a": "x/a", "b": "x/b"}],"#;
    assert!(refused(twice, r#""f": {"kind": "any"}"#).contains("linkKinds[1]"));
}

#[test]
fn types_lie_in_the_namespace_and_name_existing_types() {
    for (text, part) in [
        (r#"{"format": 2, "namespace": "x"}"#, "$.format"),
        (r#"{"format": 1}"#, "`namespace` is missing"),
        (
            r#"{"format": 1, "namespace": "x", "resourceTypes": {"y/a": {}}}"#,
            "outside the namespace",
        ),
        (
            r#"{"format": 1, "namespace": "x", "resourceTypes": {"x": {}}}"#,
            "no name of a type",
        ),
        (
            r#"{"format": 1, "namespace": "x", "resourceTypes": {"x/a": {"idField": "id"}}}"#,
            r#"$.resourceTypes["x/a"].idField"#,
        ),
        (
            r#"{"format": 1, "namespace": "x", "resourceTypes": {"x/a": {"needsStable": ["x/b"]}}}"#,
            "needsStable[0]",
        ),
        (
            r#"{"format": 1, "namespace": "x", "dataSourceTypes": {"x/a": {"exclusive": [["n"]]}}}"#,
            "exclusive[0][0]",
        ),
        (
            r#"{"format": 1, "namespace": "x", "dataSourceTypes": {"x/a": {"rows": [{"n": 1}]}}}"#,
            "rows[0].n",
        ),
        (
            r#"{"format": 1, "namespace": "x", "dataSourceTypes": {"x/a": {"filter": {"n": {"type": "text"}}}}}"#,
            "filter.n.type",
        ),
        (
            r#"{"format": 1, "namespace": "x", "variableTypes": {"x/a": {"kind": "string", "options": [{"label": "l", "value": 1}]}}}"#,
            "options[0].value",
        ),
        (
            r#"{"format": 1, "namespace": "x", "functions": {"x_f": {"returns": "number"}}}"#,
            "functions.x_f.returns",
        ),
        ("{", "not a catalogue in JSON"),
    ] {
        let found = match read_catalog(text) {
            Ok(_) => "accepted".into(),
            Err(error) => error.to_string(),
        };
        assert!(found.contains(part), "{text}: {found}");
    }
}

/// Reads a catalogue with only these parts.
fn paced(more: &str) -> Result<provider::Catalog, String> {
    read_catalog(&format!(r#"{{"format": 1, "namespace": "x"{more}}}"#))
        .map_err(|error| error.to_string())
}

#[test]
fn rate_limits_and_retry_policies_are_read() {
    use std::time::Duration;
    let plain = paced("").unwrap();
    assert_eq!(
        (plain.rate, plain.retries),
        (None, provider::RetryPolicy::default())
    );
    let own = paced(
        r#", "callsPerSecond": 2.5, "burst": 4,
            "retries": {"attempts": 8, "first": "500ms", "throttled": {"attempts": 20, "longest": "10m"}}"#,
    )
    .unwrap();
    assert_eq!(
        own.rate,
        Some(provider::Rate {
            interval: Duration::from_millis(400),
            burst: 4
        })
    );
    let first = Duration::from_millis(500);
    let transient = provider::Retries {
        max_retries: 8,
        first_pause: first,
        max_pause: Duration::from_secs(300),
    };
    let throttled = provider::Retries {
        max_retries: 20,
        first_pause: first,
        max_pause: Duration::from_secs(600),
    };
    assert_eq!(
        own.retries,
        provider::RetryPolicy {
            transient,
            throttled
        }
    );
    for (more, wrong) in [
        (
            r#", "callsPerSecond": 0"#,
            "must be more than 0 (at $.callsPerSecond)",
        ),
        (
            r#", "burst": 3"#,
            "has no meaning without `callsPerSecond` (at $.burst)",
        ),
        (
            r#", "callsPerSecond": 1, "burst": 0"#,
            "must be at least 1 (at $.burst)",
        ),
        (
            r#", "retries": {"first": "soon"}"#,
            "`soon` is no length of time such as `2s` or `1m30s` (at $.retries.first)",
        ),
        (
            r#", "retries": {"first": "0s"}"#,
            "must be at least `1ms` (at $.retries.first)",
        ),
        (
            r#", "retries": {"longest": "1s"}"#,
            "must be at least as long as `first` (at $.retries.longest)",
        ),
        (
            r#", "retries": {"attempts": 1001}"#,
            "must be at most 1000 (at $.retries.attempts)",
        ),
        (
            r#", "retries": {"throttled": {"attempt": 1}}"#,
            "unknown key `attempt`; did you mean `attempts`? (at $.retries.throttled.attempt)",
        ),
    ] {
        assert_eq!(paced(more).err().as_deref(), Some(wrong), "{more}");
    }
    // A user's catalogue on top of another one adds missing values.
    let below = std::sync::Arc::new(plain);
    let merged = provider::overlay([below], &[std::sync::Arc::new(own)]);
    assert_eq!(
        (
            merged[0].rate.map(|rate| rate.burst),
            merged[0].retries.transient.max_retries
        ),
        (Some(4), 8)
    );
}

#[test]
fn a_hosted_catalogue_takes_any_token_behind_its_name() {
    let text = r#"{"format": 1, "namespace": "aws", "package": {"family": "pulumi", "version": "6.2.0"},
        "resourceTypes": {"aws/s3/bucket:Bucket": {"fields": {}}, "aws/a.b//c d": {"fields": {}}}}"#;
    let catalog = read_catalog(text).unwrap();
    let hosted = catalog.hosted.clone().unwrap();
    assert_eq!(
        (hosted.family.as_ref(), hosted.version.as_deref()),
        ("pulumi", Some("6.2.0"))
    );
    let (catalogs, _) = provider::Catalogs::new([std::sync::Arc::new(catalog)]);
    let id = catalogs.packages().resolve("aws/s3/bucket:Bucket");
    assert_eq!(id.package().map(|package| &*package.name), Some("aws"));
    assert!(matches!(
        catalogs.resource_type(&id),
        provider::TypeRef::Known(_)
    ));
    for (package, types, wrong) in [
        (
            r#"{"family": "Helm 3"}"#,
            "",
            "must be the word of a family, such as `pulumi` (at $.package.family)",
        ),
        (r#"{}"#, "", "`family` is missing (at $.package)"),
        (
            r#"{"family": "pulumi", "parameters": 1}"#,
            "",
            "must be an object (at $.package.parameters)",
        ),
        (
            r#"{"family": "pulumi"}"#,
            r#""x/": {"fields": {}}"#,
            "`x/` is no name of a type, such as `x/TOKEN`",
        ),
    ] {
        let text = format!(
            r#"{{"format": 1, "namespace": "x", "package": {package}, "resourceTypes": {{{types}}}}}"#
        );
        let found = read_catalog(&text)
            .err()
            .map(|error| error.to_string())
            .unwrap_or_default();
        assert!(found.contains(wrong), "{package}: {found}");
    }
}

#[test]
fn the_name_of_a_provider_and_the_results_of_simulations_are_checked() {
    let field = r#""n": {"kind": "string"}"#;
    for name in ["", "a/b", "OS::Shop", "two words"] {
        assert_eq!(
            refused(&format!(r#""name": "{name}","#), field),
            format!("`{name}` is no name of a provider (at $.name)")
        );
    }
    assert_eq!(
        refused(
            r#""functions": {"f": {"returns": "integer", "simulated": "many"}},"#,
            field
        ),
        "must be integer (at $.functions.f.simulated)"
    );
    let text = r#"{"format": 1, "namespace": "x", "resourceTypes": {
        "x/a": {"capabilities": {"stateOnly": true}}, "x/b": {}}}"#;
    let catalog = read_catalog(text).unwrap();
    let types = &catalog.resource_types;
    assert!(types["x/a"].capabilities.state_only && !types["x/b"].capabilities.state_only);
}
