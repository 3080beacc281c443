//! Functions of packages are called in expressions, each with the configuration that the call names
//! or that its document inherits.

use blueprint::Value;

use super::regions::Setup;
use crate::{run_with_paused_clock, stage};

/// A root with a configuration with these settings, and a host named after an expression.
fn calling(settings: &str, expression: &str) -> String {
    format!(
        "version: 2023-04-20\nresources:\n  \
         far: {{ type: cyan/provider, spec: {{ namespace: site, settings: {settings} }} }}\n  \
         a: {{ type: site/host, spec: {{ name: '${{{expression}}}' }} }}\n"
    )
}

/// The recorded names of hosts.
async fn names(setup: &Setup) -> Vec<Value> {
    let snapshot = setup.harness.snapshot().await;
    let hosts = snapshot
        .records
        .values()
        .filter(|record| record.type_name.as_ref() == "site/host");
    hosts
        .filter_map(|record| record.inputs.get("name").cloned())
        .collect()
}

#[test]
fn call_uses_the_configuration_that_it_names_and_its_answer_is_part_of_the_plan() {
    run_with_paused_clock(async {
        let setup = Setup::new();
        let text = calling(
            "{ region: north }",
            "invoke(\"site/find\", object(name=\"there\"), far).region",
        );
        setup.deploy(&text).await;
        assert_eq!(
            setup.calls(),
            ["create a in default", "invoke find there in north"]
        );
        assert_eq!(names(&setup).await, [Value::from("north")]);
        let text = text.replace(", far)", ")");
        setup.deploy(&text).await;
        assert_eq!(
            setup.calls(),
            ["invoke find there in default", "update a in default"]
        );
    });
}

#[test]
fn sensitive_field_of_a_result_is_secret_and_a_missing_one_is_none() {
    run_with_paused_clock(async {
        let setup = Setup::new();
        let find = "invoke(\"site/find\", object(name=\"there\"))";
        let text = calling("{}", &format!("coalesce({find}.rest, {find}.key)"));
        setup.deploy(&text).await;
        assert_eq!(names(&setup).await, [Value::from("k").secret()]);
    });
}

#[test]
fn call_waits_for_arguments_and_settings_that_are_known_on_deploy() {
    run_with_paused_clock(async {
        let first = "  first: { type: site/host, spec: { name: first } }\n";
        for (settings, expression, called) in [
            (
                "{ region: \"${first.spec.id}\" }",
                "invoke(\"site/find\", object(name=\"x\"), far).region",
                "invoke find x in first-default",
            ),
            (
                "{ region: north }",
                "invoke(\"site/find\", object(name=first.spec.id), far).region",
                "invoke find first-default in north",
            ),
        ] {
            let setup = Setup::new();
            let text = calling(settings, expression) + first;
            let planned = stage(&setup.harness, &text).await;
            assert!(planned.staged.is_some(), "{:?}", planned.diagnostics);
            assert_eq!(setup.calls(), [""; 0]);
            setup.deploy(&text).await;
            let calls = ["create a in default", "create first in default", called];
            assert_eq!(setup.calls(), calls);
        }
    });
}

#[test]
fn call_in_a_child_inherits_its_configuration() {
    run_with_paused_clock(async {
        let child = "version: 2023-04-20\nresources:\n  \
             c: { type: test/data, spec: { input: '${invoke(\"site/find\", object(name=\"here\")).region}' } }\n";
        let setup = Setup::with_documents(&[("child.yaml", child)]);
        let text = "version: 2023-04-20\n\
            include: { core: { path: child.yaml, metadata: { cyan.provider: far } } }\n\
            resources:\n  \
            first: { type: site/host, spec: { name: first } }\n  \
            far: { type: cyan/provider, spec: { namespace: site, settings: { region: \"${first.spec.id}\" } } }\n";
        setup.deploy(text).await;
        assert_eq!(
            setup.calls(),
            [
                "create first in default",
                "invoke find here in first-default"
            ]
        );
    });
}

#[test]
fn template_of_heat_calls_functions_of_packages() {
    run_with_paused_clock(async {
        let setup = Setup::new();
        let text = "heat_template_version: 2018-08-31\nresources:\n  \
            far: { type: cyan/provider, properties: { namespace: site, settings: { region: north } } }\n  \
            a:\n    type: site/host\n    properties:\n      name:\n        yaql:\n          \
            expression: $.data.region\n          \
            data: { cyan_invoke: { function: site/find, arguments: { name: there }, provider: far } }\n";
        setup.deploy(text).await;
        assert_eq!(
            setup.calls(),
            ["create a in default", "invoke find there in north"]
        );
        // The data of the expression holds a secret, so its result is one.
        assert_eq!(names(&setup).await, [Value::from("north").secret()]);
    });
}

#[test]
fn mistakes_are_reported_at_their_places() {
    run_with_paused_clock(async {
        let setup = Setup::new();
        for (expression, mistake) in [
            ("invoke(\"site/fin\")", "unknown-function at \"site/fin\""),
            (
                "invoke(\"site/find\", object(nam=\"x\"))",
                "unknown-field at nam",
            ),
            (
                "invoke(\"site/find\", object(name=\"x\"), a)",
                "provider-name at a",
            ),
        ] {
            let text = calling("{}", "elem").replace(
                "a: { type: site/host, spec: { name: '${elem}' } }",
                &format!(
                    "a: {{ type: site/host, spec: {{ name: a }} }}\n  \
                     b: {{ type: site/host, spec: {{ name: '${{{expression}.region}}' }} }}"
                ),
            );
            assert_eq!(setup.mistakes(&text).await, [mistake], "{expression}");
        }
    });
}
