//! Checks that every kind of event in `docs/json/operation.schema.json` occurs and matches the
//! schema (`Place::run` checks the latter).

use std::collections::BTreeSet;

use serde_json::Value as Json;

use crate::machine::FOLDER;
use crate::place::Place;

/// A document with a call that prints and is retried, a step that proves unnecessary, a resource
/// that cannot be read, and a resource that depends on it.
const MANY: &str = "version: 2023-04-20
datasources:
  later:
    type: local/command
    filter: {field: command, operator: '=', search: \"${noisy.spec.stdout}\"}
    exports: {stdout: {type: string}}
resources:
  noisy: {type: local/command, spec: {create: echo exit 1}}
  cluster: {type: test/cluster, spec: {name: c}}
  off: {type: test/data, condition: \"${eq(noisy.spec.stdout, \\\"yes\\\")}\", spec: {input: 1}}
  reader: {type: test/data, spec: {input: \"${datasources.later.stdout}\"}}
  needs: {type: test/data, spec: {input: \"${reader.spec.input}\"}}
  unreachable: {type: http/request, spec: {url: 'http://127.0.0.1:PORT/'}}
";
/// A document in which a step fails while another one runs.
const DRAINING: &str = "version: 2023-04-20
resources:
  slow: {type: local/command, spec: {create: touch begun; sleep 0.5}}
  broken: {type: local/command, spec: {create: 'until [ -e begun ]; do sleep 0.01; done; exit 1'}}
";
const GROUP: &str = "heat_template_version: 2018-08-31
parameters: {v: {type: string, default: a}}
resources:
  web:
    type: OS::Heat::ResourceGroup
    update_policy: {rolling_update: {min_in_service: 1, pause_time: 0.01}}
    properties:
      count: 2
      resource_def: {type: OS::Heat::Value, properties: {value: {get_param: v}}}
";
const HOOK: &str = "resource_registry: {resources: {web: {hooks: pre-create}}}\n";

/// Returns a port without a listener.
fn closed_port() -> String {
    std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port()
        .to_string()
}

/// Runs an operation and returns the kinds of its events.
#[track_caller]
fn kinds(place: &Place, code: i32, arguments: &[&str]) -> BTreeSet<String> {
    let out = place
        .ends(code, &[arguments, &["--yes", "--json"]].concat())
        .out;
    let lines = out
        .lines()
        .map(|line| serde_json::from_str::<Json>(line).unwrap());
    lines
        .map(|line| line["event"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn every_kind_of_event_occurs_and_fits_its_schema() {
    let mut seen = BTreeSet::new();
    let mut run = |place: &Place, code: i32, arguments: &[&str], expected: &[&str]| {
        let kinds = kinds(place, code, arguments);
        for kind in expected {
            assert!(
                kinds.contains(*kind),
                "cyan {arguments:?}: no `{kind}` among {kinds:?}"
            );
        }
        seen.extend(kinds);
    };
    let many = Place::with("blueprint.yaml", &MANY.replace("PORT", &closed_port()));
    many.write(
        "cyan.toml",
        "[limits.http]\nretries = { attempts = 1, first = \"10ms\" }\n",
    );
    let expected = [
        "progress",
        "configured",
        "retrying",
        "unneeded",
        "unread",
        "skipped",
        "failed",
        "diagnostic",
    ];
    run(
        &many,
        4,
        &["deploy", "--on-failure", "keep-going"],
        &expected,
    );
    run(&many, 0, &["state", "move", "noisy", "loud"], &["recorded"]);
    let draining = Place::with("blueprint.yaml", DRAINING);
    run(
        &draining,
        4,
        &["deploy", "--on-failure", "rollback"],
        &["draining", "rolling-back"],
    );
    let group = Place::with("web.yaml", GROUP);
    group.write("hook.yaml", HOOK);
    run(
        &group,
        0,
        &["deploy", "-i", "web", "-e", "hook.yaml"],
        &["waiting"],
    );
    run(
        &group,
        0,
        &["deploy", "-i", "web"],
        &["began", "started", "done", "finished"],
    );
    run(
        &group,
        0,
        &["deploy", "-i", "web", "--var", "v=b"],
        &["pausing"],
    );

    let schema = std::fs::read_to_string(format!("{FOLDER}/operation.schema.json")).unwrap();
    let schema: Json = serde_json::from_str(&schema).unwrap();
    let documented = schema["oneOf"].as_array().unwrap().iter();
    let documented: BTreeSet<String> = documented
        .map(|event| {
            event["properties"]["event"]["const"]
                .as_str()
                .unwrap()
                .to_owned()
        })
        .collect();
    assert_eq!(seen, documented);
}
