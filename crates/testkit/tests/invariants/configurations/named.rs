//! A provider with a name and several namespaces: one configuration for all of them, none for types
//! that live in the state.

use engine::{Given, Options};

use super::regions::Setup;
use crate::{apply_successfully, run_with_paused_clock};

/// Hosts and discs in regions, and words, which exist only in the state.
const CATALOG: &str = r#"{
  "format": 1, "name": "openstack", "namespace": ["Sky::Host", "Sky::Disc", "Sky::Word"],
  "resourceTypes": {
    "Sky::Host::Server": {"idField": "id", "fields": {
      "name": {"kind": "string", "required": true}, "region": {"kind": "string", "computed": true},
      "id": {"kind": "string", "computed": true}}},
    "Sky::Disc::Volume": {"idField": "id", "fields": {
      "name": {"kind": "string", "required": true}, "region": {"kind": "string", "computed": true},
      "id": {"kind": "string", "computed": true}}},
    "Sky::Word::Random": {"idField": "id", "capabilities": {"stateOnly": true}, "fields": {
      "name": {"kind": "string", "required": true}, "region": {"kind": "string", "computed": true},
      "id": {"kind": "string", "computed": true}}}
  },
  "functions": {
    "project_id": {"docs": "The project.", "returns": "string", "simulated": "no project"}
  }
}"#;

/// A document whose three resources choose one configuration, under this key of the provider.
fn three(key: &str, region: &str) -> String {
    let far = "metadata: { annotations: { cyan.provider: far } }";
    format!(
        "version: 2023-04-20\nresources:\n  \
         far: {{ type: cyan/provider, spec: {{ namespace: \"{key}\", settings: {{ region: {region} }} }} }}\n  \
         a: {{ type: \"Sky::Host::Server\", {far}, spec: {{ name: a }} }}\n  \
         b: {{ type: \"Sky::Disc::Volume\", {far}, spec: {{ name: b }} }}\n  \
         w: {{ type: \"Sky::Word::Random\", {far}, spec: {{ name: w }} }}\n"
    )
}

/// The calls for the three resources in a region.
fn created(region: &str) -> [String; 2] {
    ["a", "b"].map(|name| format!("create {name} in {region}"))
}

#[test]
fn a_configuration_under_the_name_applies_to_all_namespaces() {
    run_with_paused_clock(async {
        let setup = Setup::of(CATALOG);
        setup.deploy(&three("openstack", "north")).await;
        let calls = setup.calls();
        assert_eq!(calls[..2], created("north"));
        assert_eq!(calls[2..], ["create w in no region"]);
        setup.deploy(&three("openstack", "north")).await;
        assert_eq!(setup.calls(), [""; 0]);
        apply_successfully(&setup.harness, None, 2).await;
        assert_eq!(setup.hosts(), [""; 0]);
    });
}

#[test]
fn a_namespace_as_the_key_selects_the_same_provider() {
    run_with_paused_clock(async {
        let setup = Setup::of(CATALOG);
        assert_eq!(setup.mistakes(&three("Sky::Disc", "north")).await, [""; 0]);
        setup.calls();
        setup.deploy(&three("Sky::Disc", "north")).await;
        assert_eq!(setup.calls()[..2], created("north"));
    });
}

#[test]
fn all_namespaces_share_one_session() {
    run_with_paused_clock(async {
        let setup = Setup::of(CATALOG);
        let text = three("openstack", "north");
        let plain = text.replace("metadata: { annotations: { cyan.provider: far } }, ", "");
        let plain = plain.lines().filter(|line| !line.contains("far:"));
        let plain: Vec<&str> = plain.collect();
        setup.deploy(&plain.join("\n")).await;
        let mut configured = setup.configured();
        configured.dedup();
        assert_eq!(
            configured,
            [
                "configure openstack in default",
                "configure openstack offline in no region"
            ]
        );
    });
}

#[test]
fn another_region_replaces_no_resource_that_lives_in_the_state() {
    run_with_paused_clock(async {
        let setup = Setup::of(CATALOG);
        setup.deploy(&three("openstack", "north")).await;
        setup.calls();
        setup.deploy(&three("openstack", "south")).await;
        assert_eq!(
            setup.calls(),
            [
                "create a in south",
                "create b in south",
                "delete a in north",
                "delete b in north"
            ]
        );
        assert_eq!(setup.hosts(), ["a-south", "b-south", "w-no region"]);
    });
}

#[test]
fn resources_that_live_in_the_state_need_no_settings() {
    run_with_paused_clock(async {
        let setup = Setup::of(CATALOG);
        let text = "version: 2023-04-20\nresources:\n  \
                    w: { type: \"Sky::Word::Random\", spec: { name: w } }\n";
        setup.deploy(text).await;
        let mut configured = setup.configured();
        configured.dedup();
        assert_eq!(configured, ["configure openstack offline in no region"]);
        assert_eq!(setup.hosts(), ["w-no region"]);
    });
}

#[test]
fn two_configurations_of_one_provider_are_not_passed_to_a_child() {
    run_with_paused_clock(async {
        let setup = Setup::of(CATALOG);
        let text = "version: 2023-04-20\ninclude:\n  \
                    core: { path: core.yaml, metadata: { cyan.provider: [one, two] } }\nresources:\n  \
                    one: { type: cyan/provider, spec: { namespace: openstack, settings: {} } }\n  \
                    two: { type: cyan/provider, spec: { namespace: \"Sky::Host\", settings: {} } }\n";
        let mistakes = setup.mistakes(text).await;
        assert!(
            mistakes.contains(&"provider-name at two".to_owned()),
            "{mistakes:?}"
        );
    });
}

/// A template that shows its project.
const PROJECT: &str = "heat_template_version: 2018-08-31\noutputs:\n  \
                       project: { value: { get_param: OS::project_id } }\n";

#[test]
fn a_template_asks_the_provider_for_its_project() {
    run_with_paused_clock(async {
        let setup = Setup::of(CATALOG);
        let planned = setup
            .harness
            .stage("main.yaml", PROJECT, Given::default(), Options::default())
            .await;
        let staged = planned.staged.expect("a plan");
        assert_eq!(setup.calls(), ["invoke project_id  in default"]);
        // A saved plan contains the answer.
        let answers = &staged.plan.answers.calls;
        let asked: Vec<&str> = answers.keys().map(AsRef::as_ref).collect();
        assert!(
            matches!(asked[..], [key] if key.starts_with("openstack/project_id/")),
            "{asked:?}"
        );
    });
}

#[test]
fn a_template_without_its_project_asks_nothing() {
    run_with_paused_clock(async {
        let setup = Setup::of(CATALOG);
        let text = "heat_template_version: 2018-08-31\noutputs:\n  \
                    id: { value: { get_param: OS::stack_id } }\n";
        let planned = setup
            .harness
            .stage("main.yaml", text, Given::default(), Options::default())
            .await;
        assert!(planned.staged.is_some(), "{:?}", planned.diagnostics);
        assert_eq!(setup.configured(), [""; 0]);
    });
}

#[test]
fn validation_takes_the_project_of_rehearsals_and_asks_nothing() {
    run_with_paused_clock(async {
        let catalog = CATALOG.replace("no project", "more letters than a name may have");
        let short = r#""name": {"kind": "string", "required": true, "maxLength": 9}"#;
        let catalog = catalog.replace(r#""name": {"kind": "string", "required": true}"#, short);
        let setup = Setup::of(&catalog);
        let text = "heat_template_version: 2018-08-31\nresources:\n  a:\n    \
                    type: Sky::Host::Server\n    properties:\n      \
                    name: { get_param: OS::project_id }\n";
        let validated = setup
            .harness
            .validate("main.yaml", text, &Given::default())
            .await;
        let errors = validated.diagnostics.iter().filter(|one| one.is_error());
        assert_eq!(errors.count(), 1, "{:?}", validated.diagnostics);
        assert_eq!(setup.configured(), [""; 0]);
        // The project of the session is short enough.
        let planned = setup
            .harness
            .stage("main.yaml", text, Given::default(), Options::default())
            .await;
        assert!(planned.staged.is_some(), "{:?}", planned.diagnostics);
    });
}
