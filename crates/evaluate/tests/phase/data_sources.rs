//! Data sources: filters of every operator on every kind of field, exports, and when they are read
//! (decisions/documents#filters-of-data-sources, decisions/blueprint#reading-of-data-sources).

use blueprint::{Address, Value};
use engine::run::Operated;
use engine::{Event, Given};
use testkit::harness::{Harness, RunResult, run_with_paused_clock, settings};
use testkit::single_document::{codes, exports, given, harness, stage};

/// The names of the networks that a filter finds, or the codes of its errors.
fn found(filter: &str) -> Vec<String> {
    run_with_paused_clock(async {
        let text = format!(
            "version: 2025-11-02
datasources:
  net:
    type: test/network
    filter: {filter}
    exports: {{ name: {{ type: string }} }}
resources:
  r: {{ type: test/data, spec: {{ input: 1 }} }}
exports:
  name: {{ type: string, field: datasources.net.name }}
"
        );
        let staged = stage(&harness(&[]), &text, Given::default()).await;
        let mut reported: Vec<String> = staged
            .diagnostics
            .iter()
            .map(|it| it.code.name.to_owned())
            .filter(|code| code != "several-matches")
            .collect();
        if staged.staged.is_some() {
            reported.push(
                exports(&staged)["name"]
                    .as_text()
                    .unwrap_or_default()
                    .to_owned(),
            );
        }
        reported
    })
}

#[test]
fn filter_operators_follow_the_table() {
    for (field, operator, search, expected) in [
        // Text.
        ("name", "=", "side", "side"),
        ("name", "=", "Side", "data-source-empty"),
        ("name", "!=", "main", "side"),
        ("name", "in", "[side, x]", "side"),
        ("name", "in", "[]", "data-source-empty"),
        ("name", "not in", "[main]", "side"),
        ("name", "not in", "[]", "main"),
        ("name", "contains", "'-'", "Main-old"),
        ("name", "not contains", "a", "side"),
        ("name", "starts with", "M", "Main-old"),
        ("name", "not starts with", "m", "side"),
        ("name", "ends with", "de", "side"),
        ("name", "not ends with", "n", "side"),
        ("name", "starts with", "''", "main"),
        ("name", ">", "main", "side"),
        ("name", "<", "main", "Main-old"),
        ("name", ">=", "side", "side"),
        ("name", "<=", "Main-old", "Main-old"),
        ("name", "has key", "x", "filter-kind-mismatch"),
        ("name", "=", "5", "filter-kind-mismatch"),
        ("name", "contains", "[main]", "filter-kind-mismatch"),
        ("name", "in", "[side, 5]", "filter-kind-mismatch"),
        // A missing field satisfies no operator and every negated one.
        ("zone", "not in", "[z1, z2]", "Main-old"),
        ("zone", "!=", "z1", "side"),
        ("zone", "contains", "x", "data-source-empty"),
        // Numbers.
        ("size", "=", "24", "side"),
        ("size", "!=", "16", "side"),
        ("size", ">", "16", "side"),
        ("size", "<=", "16", "main"),
        ("size", "in", "[1, 24]", "side"),
        ("size", "=", "24.0", "filter-kind-mismatch"),
        ("size", "contains", "2", "filter-kind-mismatch"),
        ("ratio", "=", "2", "side"),
        ("ratio", "=", "2.0", "side"),
        ("ratio", ">=", "1", "side"),
        ("ratio", "<", "1", "main"),
        ("ratio", "in", "[1.0]", "Main-old"),
        ("ratio", "in", "[1]", "filter-kind-mismatch"),
        // Booleans.
        ("isDefault", "=", "false", "side"),
        ("isDefault", "!=", "false", "main"),
        ("isDefault", "in", "[false]", "side"),
        ("isDefault", ">", "false", "filter-kind-mismatch"),
        ("isDefault", "=", "'false'", "filter-kind-mismatch"),
        // Lists of primitives.
        ("ports", "contains", "443", "main"),
        ("ports", "not contains", "80", "side"),
        ("ports", "=", "[80, 443]", "main"),
        ("ports", "=", "[443, 80]", "data-source-empty"),
        ("ports", "=", "[]", "side"),
        ("ports", "!=", "[80, 443]", "side"),
        ("ports", "contains", "80.0", "filter-kind-mismatch"),
        ("ports", "in", "[80]", "filter-kind-mismatch"),
        ("ports", "=", "80", "filter-kind-mismatch"),
        ("subnets", "contains", "sn-3", "side"),
        ("subnetDetails", "contains", "x", "filter-kind-mismatch"),
        ("subnetDetails", "=", "[]", "filter-kind-mismatch"),
        // Maps.
        ("tags", "has key", "team", "main"),
        ("tags", "not has key", "team", "side"),
        ("tags", "contains", "dev", "side"),
        ("tags", "not contains", "prod", "side"),
        ("tags", "=", "dev", "filter-kind-mismatch"),
        ("tags", "has key", "5", "filter-kind-mismatch"),
        ("limits", "contains", "9", "Main-old"),
        ("limits", "has key", "peers", "main"),
        ("limits", "contains", "'9'", "filter-kind-mismatch"),
        ("extra", "has key", "n", "main"),
        ("extra", "contains", "a", "filter-kind-mismatch"),
        // Paths.
        ("gateway.host", "=", "gw3", "Main-old"),
        ("subnetDetails[].zone", "=", "z2", "side"),
        ("subnetDetails[0].zone", "=", "z1", "main"),
        ("subnetDetails[1].zone", "=", "z2", "main"),
        ("subnetDetails[7].zone", "=", "z2", "data-source-empty"),
        ("subnetDetails[7].zone", "!=", "z2", "main"),
        ("subnetDetails[].id", "=", "x", "unsupported-filter-field"),
        // Filters that the provider evaluates.
        ("vpcId", "=", "vpc-2", "side"),
        ("vpcId", "in", "[vpc-3]", "Main-old"),
        ("vpcId", "!=", "vpc-1", "side"),
    ] {
        let filter =
            format!("{{ field: \"{field}\", operator: \"{operator}\", search: {search} }}");
        assert_eq!(found(&filter), [expected], "{filter}");
    }
}

#[test]
fn types_of_filter_values_are_checked_at_stage() {
    assert_eq!(
        found("{ field: size, operator: \"=\", search: \"${test_settings('24')}\" }"),
        ["filter-kind-mismatch"]
    );
    assert_eq!(
        found("{ field: size, operator: \"=\", search: \"${test_double(12)}\" }"),
        ["side"]
    );
    assert_eq!(
        found("{ field: name, operator: in, search: [\"${to_lower('SIDE')}\", x] }"),
        ["side"]
    );
}

#[test]
fn all_filters_must_hold() {
    let filter = "[{ field: size, operator: \"=\", search: 16 }, { field: isDefault, operator: \"=\", search: false }]";
    assert_eq!(found(filter), ["Main-old"]);
    let filter = "[{ field: vpcId, operator: \"=\", search: vpc-1 }, { field: name, operator: \"=\", search: side }]";
    assert_eq!(found(filter), ["data-source-empty"]);
}

const EXPORTS: &str = "version: 2025-11-02
datasources:
  net:
    type: test/network
    filter: { field: vpcId, operator: \"=\", search: vpc-3 }
    exports:
      called: { type: string, aliasFor: name }
      ratio: { type: float }
      ports: { type: array }
      open: { type: boolean, aliasFor: isDefault }
      token: { type: string }
      zone: { type: string }
  all:
    type: test/network
    filter: { field: vpcId, operator: \"=\", search: vpc-1 }
    exports: \"*\"
  image:
    type: test/image
    filter: { field: family, operator: \"=\", search: linux }
    exports: { meta.arch: { type: string }, v: { type: integer, aliasFor: version } }
resources:
  r: { type: test/data, spec: { input: 1 } }
exports:
  called: { type: string, field: datasources.net.called }
  ratio: { type: float, field: datasources.net.ratio }
  ports: { type: array, field: datasources.net.ports }
  open: { type: boolean, field: datasources.net.open }
  token: { type: string, field: datasources.net.token }
  port: { type: integer, field: datasources.all.gateway.port }
  second: { type: string, field: \"datasources.all.subnetDetails[1].id\" }
  env: { type: string, field: datasources.all.tags.env }
  whole: { type: object, field: datasources.all.limits }
  arch: { type: string, field: 'datasources.image[\"meta.arch\"]' }
  v: { type: integer, field: datasources.image.v }
  zone: { type: string, field: datasources.net.zone }
";

#[test]
fn exports_have_names_aliases_kinds_and_secrets() {
    run_with_paused_clock(async {
        let staged = stage(&harness(&[]), EXPORTS, Given::default()).await;
        // The export of a field that the candidate does not have is left out.
        assert_eq!(codes(&staged), ["several-matches 17", "absent-export 35"]);
        let exports = exports(&staged);
        assert_eq!(exports["called"], Value::from("Main-old"));
        assert_eq!(exports["ratio"], Value::Float(1.0));
        assert_eq!(exports["ports"], Value::list([Value::Int(80)]));
        assert_eq!(exports["open"], Value::Bool(false));
        assert_eq!(exports["token"], Value::from("tok-three").secret());
        assert_eq!(exports["port"], Value::Int(53));
        assert_eq!(exports["second"], Value::from("sn-2"));
        assert_eq!(exports["env"], Value::from("prod"));
        assert_eq!(exports["whole"], Value::map([("peers", Value::Int(4))]));
        assert_eq!(exports["arch"], Value::from("arm64"));
        assert_eq!(exports["v"], Value::Int(3));
        assert!(!exports.contains_key("zone"));
        let plan = staged.staged.expect("a plan").plan;
        assert_eq!(plan.answers.data_sources.len(), 3);
        assert!(
            plan.answers
                .data_sources
                .values()
                .all(|pinned| pinned.at == plan.answers.now)
        );
    });
}

#[test]
fn only_referenced_data_sources_are_read() {
    run_with_paused_clock(async {
        let text = "version: 2025-11-02
datasources:
  dead: { type: test/network, filter: { field: name, operator: \"=\", search: nowhere }, exports: { name: { type: string } } }
  chained: { type: test/network, filter: { field: name, operator: \"=\", search: \"${datasources.dead.name}\" }, exports: { name: { type: string } } }
  live: { type: test/network, filter: { field: name, operator: \"=\", search: side }, exports: { name: { type: string } } }
values:
  unread: { type: string, value: \"${datasources.chained.name}\" }
  read: { type: string, value: \"${datasources.live.name}\" }
resources:
  r: { type: test/data, spec: { input: \"${values.read}\" } }
  gone: { type: test/data, condition: \"${eq(1, 2)}\", spec: { input: \"${datasources.dead.name}\" } }
";
        let staged = stage(&harness(&[]), text, Given::default()).await;
        assert_eq!(codes(&staged), Vec::<String>::new());
        let plan = staged.staged.expect("a plan").plan;
        assert_eq!(
            plan.answers
                .data_sources
                .keys()
                .map(|name| name.to_string())
                .collect::<Vec<_>>(),
            ["live"]
        );
    });
}

const LATER: &str = "version: 2025-11-02
variables:
  name: { type: string, default: side }
datasources:
  net:
    type: test/network
    filter: { field: name, operator: \"=\", search: \"${holder.spec.output.name}\" }
    exports: { vpc: { type: string, aliasFor: vpcId }, size: { type: integer }, token: { type: string } }
  next:
    type: test/network
    filter: { field: vpcId, operator: \"=\", search: \"${datasources.net.vpc}\" }
    exports: { zone: { type: string } }
values:
  zone: { type: string, value: \"in ${datasources.next.zone}\" }
  doubled: { type: integer, value: \"${test_double(datasources.net.size)}\" }
resources:
  holder: { type: later/holder, spec: { name: \"${variables.name}\" } }
  reader: { type: test/data, spec: { input: \"${datasources.net.vpc}\" } }
  zoned: { type: test/data, spec: { input: \"${values.zone}\" } }
  there: { type: test/data, condition: \"${eq(datasources.next.zone, 'z2')}\", spec: { input: 1 } }
exports:
  vpc: { type: string, field: datasources.net.vpc }
  doubled: { type: integer, field: values.doubled }
  token: { type: string, field: datasources.net.token }
";

/// A type whose output is known only after its creation.
const HOLDER: &str = r#"{"format": 1, "namespace": "later", "resourceTypes": {"later/holder": {"idField": "id", "fields": {
    "name": {"kind": "string", "required": true},
    "output": {"kind": "object", "computed": true, "changesOnUpdate": true, "fields": {"name": {"kind": "string", "computed": true, "value": "side"}}},
    "id": {"kind": "string", "computed": true, "value": "holder-{hash}"}}}}}"#;

async fn run(harness: &Harness, text: &str, inputs: Given) -> RunResult {
    let staged = stage(harness, text, inputs).await;
    let reported = codes(&staged);
    let Some(staged) = staged.staged else {
        panic!("no plan: {reported:?}")
    };
    harness
        .run(staged, false, Vec::new(), settings(None, false))
        .await
}

fn outcome_codes(run: &RunResult) -> Vec<&'static str> {
    match &run.operated {
        Some(Operated::Done(outcome)) => {
            outcome.diagnostics.iter().map(|it| it.code.name).collect()
        }
        other => panic!("it did not run: {}", other.is_some()),
    }
}

#[test]
fn data_source_with_an_unknown_filter_is_read_on_deploy() {
    run_with_paused_clock(async {
        let harness = harness(&[HOLDER]);
        let staged = stage(&harness, LATER, Given::default()).await;
        assert_eq!(codes(&staged), Vec::<String>::new());
        let planned = exports(&staged);
        assert!(planned["vpc"].is_unknown() && planned["doubled"].is_unknown());
        assert!(
            planned["token"].has_secret(),
            "what is sensitive is so before it is read"
        );
        let plan = &staged.staged.as_ref().expect("a plan").plan;
        assert!(plan.answers.data_sources.is_empty());
        let waits = |name: &str| {
            let step = plan
                .steps
                .iter()
                .find(|step| step.address.to_string() == name)
                .expect("a step");
            step.waits_on
                .iter()
                .map(|at| plan.steps[*at as usize].address.to_string())
                .collect::<Vec<_>>()
        };
        assert_eq!(waits("reader"), ["datasources.net"]);
        assert_eq!(waits("datasources.net"), ["holder"]);
        assert_eq!(waits("zoned"), ["datasources.next"]);
        assert_eq!(waits("datasources.next"), ["datasources.net"]);

        let run = run(&harness, LATER, Given::default()).await;
        assert_eq!(outcome_codes(&run), Vec::<&str>::new());
        let snapshot = harness.snapshot().await;
        assert_eq!(snapshot.exports["vpc"], Value::from("vpc-2"));
        assert_eq!(snapshot.exports["doubled"], Value::Int(48));
        assert_eq!(snapshot.exports["token"], Value::from("tok-two").secret());
        let inputs = |name: &str| {
            snapshot.records[&Address::root(name)]
                .inputs
                .get("input")
                .cloned()
        };
        assert_eq!(inputs("reader"), Some(Value::from("vpc-2")));
        assert_eq!(inputs("zoned"), Some(Value::from("in z2")));
        assert_eq!(inputs("there"), Some(Value::Int(1)));
        // After the creation the data source is read while planning, and nothing is left to do.
        let again = stage(&harness, LATER, Given::default()).await;
        let plan = again.staged.expect("a plan").plan;
        assert!(plan.is_empty(), "{:?}", plan.steps);
        assert_eq!(plan.answers.data_sources.len(), 2);
    });
}

#[test]
fn missing_data_source_on_deploy_fails_only_its_readers() {
    run_with_paused_clock(async {
        let harness = harness(&[&HOLDER.replace("\"value\": \"side\"", "\"value\": \"nowhere\"")]);
        let run = run(&harness, LATER, Given::default()).await;
        let reported = outcome_codes(&run);
        assert!(reported.contains(&"data-source-empty"), "{reported:?}");
        assert_eq!(
            reported
                .iter()
                .filter(|code| **code == "data-source-empty")
                .count(),
            1
        );
        let unread = run
            .events
            .iter()
            .filter(|event| matches!(event, Event::Unread { .. }))
            .count();
        assert_eq!(unread, 1);
        let snapshot = harness.snapshot().await;
        assert_eq!(
            snapshot
                .records
                .keys()
                .map(ToString::to_string)
                .collect::<Vec<_>>(),
            ["holder"]
        );
        assert!(snapshot.exports.is_empty());
    });
}

#[test]
fn functions_are_called_on_deploy_with_new_values() {
    run_with_paused_clock(async {
        let harness = harness(&[]);
        let text = "version: 2025-11-02
resources:
  r: { type: test/record, spec: { title: r } }
  s: { type: test/data, spec: { input: \"${test_tag(r.spec.id, 7)}\" } }
values:
  tags: { type: array, value: \"${map(list(r.spec.id, r.spec.arn), test_tag)}\" }
exports:
  tags: { type: array, field: values.tags }
";
        let run = run(&harness, text, given(&[])).await;
        assert_eq!(outcome_codes(&run), Vec::<&str>::new());
        let snapshot = harness.snapshot().await;
        let id = snapshot.records[&Address::root("r")].id.to_string();
        let input = snapshot.records[&Address::root("s")]
            .inputs
            .get("input")
            .cloned();
        assert_eq!(input, Some(Value::text(format!("{id}#7"))));
        let tags = Value::list([
            Value::text(format!("{id}#0")),
            Value::text(format!("arn:test:{id}#1")),
        ]);
        assert_eq!(snapshot.exports["tags"], tags);
        let again = stage(&harness, text, given(&[])).await;
        assert!(again.staged.expect("a plan").plan.is_empty());
    });
}
