//! Templates of Heat across several operations: immutable parameters, external resources, refusals.

use std::path::Path;
use std::sync::Arc;

use blueprint::{IndexMap, Name, Value};
use engine::{Given, Options};
use testkit::harness::{Harness, heat_environment, run_with_paused_clock, settings};

/// The result of a stage: the codes of errors, or the exports after the following deploy.
type DeployResult = Result<IndexMap<Name, Value>, Vec<String>>;

/// A template without its version, its parameters, and its environment.
type Step<'s> = (&'s str, &'s [(&'s str, &'s str)], &'s str);

/// Stages and deploys templates one after the other.
fn deploy_all(files: &[(&str, &str)], steps: &[Step<'_>]) -> Vec<DeployResult> {
    let folder = tempfile::tempdir().expect("a folder can be made");
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).expect("it can be written");
    }
    run_with_paused_clock(run_steps(folder.path(), steps))
}

async fn run_steps(folder: &Path, steps: &[Step<'_>]) -> Vec<DeployResult> {
    let mut harness = Harness::with(
        folder.to_owned(),
        Vec::new(),
        vec![Arc::new(openstack::heat::provider())],
    );
    let mut all = Vec::new();
    for (text, given, environment) in steps {
        let text = format!("heat_template_version: wallaby\n{text}");
        harness.context = heat_environment("main.yaml", &text, "env.yaml", environment);
        let given = given
            .iter()
            .map(|(name, value)| (Name::from(*name), Name::from(*value)))
            .collect();
        let given = Given {
            text: given,
            ..Given::default()
        };
        let stage = harness
            .stage("main.yaml", &text, given, Options::default())
            .await;
        all.push(match stage.staged {
            Some(staged) => {
                harness
                    .run(staged, false, Vec::new(), settings(None, false))
                    .await;
                Ok(harness.snapshot().await.exports)
            }
            None => {
                let errors = stage.diagnostics.iter().filter(|one| one.is_error());
                Err(errors.map(|one| one.code.name.to_owned()).collect())
            }
        });
    }
    all
}

fn codes(came: &DeployResult) -> Vec<&str> {
    came.as_ref()
        .err()
        .into_iter()
        .flatten()
        .map(String::as_str)
        .collect()
}

fn output<'c>(came: &'c DeployResult, name: &str) -> &'c Value {
    &came.as_ref().unwrap_or_else(|codes| panic!("{codes:?}"))[name]
}

#[test]
fn an_immutable_parameter_keeps_its_value() {
    let text = "parameters: {p: {type: string, immutable: true}}\n\
                resources: {v: {type: OS::Heat::Value, properties: {value: {get_param: p}}}}\n";
    let all = deploy_all(
        &[],
        &[
            (text, &[("p", "a")], ""),
            (text, &[("p", "b")], ""),
            (text, &[("p", "a")], ""),
        ],
    );
    assert!(all[0].is_ok() && all[2].is_ok(), "{all:?}");
    assert_eq!(codes(&all[1]), ["immutable-changed"]);
}

#[test]
fn restricted_actions_are_refused_before_anything_changes() {
    let text = "parameters: {p: {type: string}}\n\
                resources: {v: {type: OS::Heat::Value, properties: {value: {get_param: p}}}}\n\
                outputs: {o: {value: {get_attr: [v, value]}}}\n";
    let restricted = "resource_registry: {resources: {v: {restricted_actions: update}}}\n";
    let steps = [
        (text, &[("p", "a")][..], restricted),
        (text, &[("p", "b")], restricted),
        (text, &[("p", "b")], ""),
    ];
    let all = deploy_all(&[], &steps);
    assert_eq!(output(&all[0], "o").as_text(), Some("a"));
    assert_eq!(codes(&all[1]), ["restricted-action"]);
    assert_eq!(output(&all[2], "o").as_text(), Some("b"));
}

#[test]
fn external_resources_are_never_created() {
    let text = "resources:\n  a: {type: OS::Heat::Value, external_id: theirs, properties: {value: 1}}\n\
                outputs: {o: {value: {get_resource: a}}}\n";
    let own = "resources: {a: {type: OS::Heat::Value, properties: {value: 1}}}\n";
    let all = deploy_all(&[], &[(text, &[], "")]);
    assert_eq!(output(&all[0], "o").as_text(), Some("theirs"));
    assert_eq!(
        codes(&deploy_all(&[], &[(own, &[], ""), (text, &[], "")])[1]),
        ["external-changed"]
    );
}

#[test]
fn a_computed_reference_follows_the_inputs() {
    let text = "parameters: {which: {type: string}}\n\
                resources:\n  a: {type: OS::Heat::Value, properties: {value: 1}}\n  \
                b: {type: OS::Heat::Value, properties: {value: 2}}\n  \
                c: {type: OS::Heat::Value, properties: {value: {get_attr: [{get_param: which}, value]}}}\n\
                outputs: {o: {value: {get_attr: [c, value]}}}\n";
    let all = deploy_all(
        &[],
        &[
            (text, &[("which", "a")], ""),
            (text, &[("which", "b")], ""),
            (text, &[("which", "x")], ""),
        ],
    );
    assert_eq!(
        (output(&all[0], "o"), output(&all[1], "o")),
        (&Value::Int(1), &Value::Int(2))
    );
    assert_eq!(codes(&all[2]), ["unknown-resource"]);
}

#[test]
fn stack_is_created_from_the_text_of_a_file() {
    let inner = "heat_template_version: wallaby\nparameters: {n: {type: string}}\noutputs: {said: {value: {get_param: n}}}\n";
    let text = "resources:\n  c: {type: OS::Heat::Stack, properties: {template: {get_file: i.yaml}, parameters: {n: hi}}}\n\
                outputs: {o: {value: {get_attr: [c, outputs, said]}}}\n";
    assert_eq!(
        output(
            &deploy_all(&[("i.yaml", inner)], &[(text, &[], "")])[0],
            "o"
        )
        .as_text(),
        Some("hi")
    );
}

#[test]
fn templates_nest_as_deep_as_in_heat() {
    let name = |level: usize| format!("l{level}.yaml");
    let nested = |levels: usize| {
        let texts: Vec<(String, String)> = (1..=levels)
            .map(|level| {
                let inner = if level < levels {
                    format!("resources: {{n: {{type: {}}}}}\n", name(level + 1))
                } else {
                    String::new()
                };
                (
                    name(level),
                    format!("heat_template_version: wallaby\n{inner}"),
                )
            })
            .collect();
        let files: Vec<(&str, &str)> = texts
            .iter()
            .map(|(name, text)| (name.as_str(), text.as_str()))
            .collect();
        deploy_all(&files, &[("resources: {n: {type: l1.yaml}}\n", &[], "")]).remove(0)
    };
    assert!(nested(5).is_ok(), "{:?}", nested(5));
    assert!(codes(&nested(6)).contains(&"child-depth"));
}
