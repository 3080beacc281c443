//! Further configurations of a provider: each resource is managed with the configuration that it
//! chooses, also after the document has lost both.

mod data_sources;
mod inherited;
mod named;
mod package_functions;
mod regions;
mod templates;

use engine::run::Operated;
use engine::{Given, Options};
use testkit::harness::settings;

use self::regions::Setup;
use crate::{apply_successfully, run_with_paused_clock, stage};

/// A document with two hosts, one of which chooses a configuration with these settings.
fn two_hosts(settings: &str) -> String {
    format!(
        "version: 2023-04-20\nresources:\n  \
         far: {{ type: cyan/provider, spec: {{ namespace: site, settings: {settings} }} }}\n  \
         a: {{ type: site/host, spec: {{ name: a }} }}\n  \
         b: {{ type: site/host, metadata: {{ annotations: {{ cyan.provider: far }} }}, spec: {{ name: b }} }}\n"
    )
}

#[test]
fn each_resource_is_managed_with_its_configuration() {
    run_with_paused_clock(async {
        let setup = Setup::new();
        setup.deploy(&two_hosts("{ region: north }")).await;
        assert_eq!(setup.calls(), ["create a in default", "create b in north"]);
        // The plan has no steps: both hosts are found in their regions.
        setup.deploy(&two_hosts("{ region: north }")).await;
        assert_eq!(setup.calls(), [""; 0]);
        let renamed = two_hosts("{ region: north }").replace("name: b", "name: c");
        setup.deploy(&renamed).await;
        assert_eq!(setup.calls(), ["update b in north"]);
        apply_successfully(&setup.harness, None, 2).await;
        assert_eq!(setup.calls(), ["delete a in default", "delete b in north"]);
        assert_eq!(setup.hosts(), [""; 0]);
    });
}

#[test]
fn recorded_settings_delete_what_the_document_no_longer_declares() {
    run_with_paused_clock(async {
        let setup = Setup::new();
        setup.deploy(&two_hosts("{ region: north }")).await;
        setup.calls();
        setup
            .deploy(
                "version: 2023-04-20\nresources:\n  a: { type: site/host, spec: { name: a } }\n",
            )
            .await;
        assert_eq!(setup.calls(), ["delete b in north"]);
        let snapshot = setup.harness.snapshot().await;
        let left: Vec<String> = snapshot.records.keys().map(ToString::to_string).collect();
        assert_eq!(left, ["a"]);
    });
}

#[test]
fn settings_may_come_from_a_resource() {
    run_with_paused_clock(async {
        let setup = Setup::new();
        // The id of the first host is known after its creation. The region of the other host is
        // that id.
        let text = two_hosts("{ region: \"${first.spec.id}\" }").replace(
            "resources:\n",
            "resources:\n  first: { type: site/host, spec: { name: first } }\n",
        );
        let planned = stage(&setup.harness, &text).await;
        assert!(planned.staged.is_some(), "{:?}", planned.diagnostics);
        assert_eq!(setup.calls(), [""; 0]);
        setup.deploy(&text).await;
        assert_eq!(
            setup.calls(),
            [
                "create a in default",
                "create b in first-default",
                "create first in default"
            ]
        );
        setup.deploy(&text).await;
        assert_eq!(setup.calls(), [""; 0]);
        apply_successfully(&setup.harness, None, 2).await;
        assert_eq!(
            setup.calls(),
            [
                "delete a in default",
                "delete b in first-default",
                "delete first in default"
            ]
        );
    });
}

#[test]
fn changed_settings_replace_if_the_provider_says_so() {
    run_with_paused_clock(async {
        let setup = Setup::new();
        setup.deploy(&two_hosts("{ region: north }")).await;
        setup.calls();
        let text = two_hosts("{ region: south }");
        let planned = setup
            .harness
            .stage("main.yaml", &text, Given::default(), Options::default())
            .await;
        let staged = planned.staged.expect("a plan");
        let step = staged
            .plan
            .steps
            .iter()
            .find(|step| step.address.to_string() == "b")
            .expect("a step");
        assert_eq!(step.action.word(), "replace");
        assert_eq!(
            step.reasons
                .iter()
                .map(|reason| reason.word())
                .collect::<Vec<_>>(),
            ["provider-changed"]
        );
        let run = setup
            .harness
            .run(staged, false, Vec::new(), settings(Some(1), false))
            .await;
        assert!(
            matches!(run.operated, Some(Operated::Done(_))),
            "{:?}",
            run.operated
        );
        assert_eq!(setup.calls(), ["create b in south", "delete b in north"]);
        assert_eq!(setup.hosts(), ["a-default", "b-south"]);
    });
}
