//! Data sources choose and inherit configurations as resources do.

use super::regions::Setup;
use crate::{run_with_paused_clock, stage};

/// A root with a data source that chooses a configuration with these settings, and a host named
/// after the result.
fn reading(settings: &str) -> String {
    format!(
        "version: 2023-04-20\ndatasources:\n  \
         there: {{ type: site/place, metadata: {{ annotations: {{ cyan.provider: far }} }}, \
         filter: {{ field: name, operator: '=', search: there }}, exports: {{ region: {{ type: string }} }} }}\n\
         resources:\n  \
         far: {{ type: cyan/provider, spec: {{ namespace: site, settings: {settings} }} }}\n  \
         a: {{ type: site/host, spec: {{ name: \"${{datasources.there.region}}\" }} }}\n"
    )
}

const CHILD: &str = "\
version: 2023-04-20
datasources:
  here:
    type: site/place
    filter: { field: name, operator: '=', search: here }
    exports: { region: { type: string } }
resources:
  c: { type: test/data, spec: { input: 1 } }
exports:
  region: { type: string, field: datasources.here.region }
";

async fn names(setup: &Setup) -> Vec<String> {
    let snapshot = setup.harness.snapshot().await;
    let hosts = snapshot
        .records
        .values()
        .filter(|record| record.type_name.as_ref() == "site/host");
    hosts
        .filter_map(|record| Some(record.inputs.get("name")?.as_text()?.to_owned()))
        .collect()
}

#[test]
fn data_source_is_read_with_the_configuration_that_it_chooses() {
    run_with_paused_clock(async {
        let setup = Setup::new();
        setup.deploy(&reading("{ region: north }")).await;
        assert_eq!(
            setup.calls(),
            ["create a in default", "fetch there in north"]
        );
        assert_eq!(names(&setup).await, ["north"]);
    });
}

#[test]
fn data_source_is_read_on_deploy_if_its_settings_are_known_only_then() {
    run_with_paused_clock(async {
        let setup = Setup::new();
        let text = reading("{ region: \"${first.spec.id}\" }")
            + "  first: { type: site/host, spec: { name: first } }\n";
        let planned = stage(&setup.harness, &text).await;
        assert!(planned.staged.is_some(), "{:?}", planned.diagnostics);
        assert_eq!(setup.calls(), [""; 0]);
        setup.deploy(&text).await;
        let calls = [
            "create a in default",
            "create first in default",
            "fetch there in first-default",
        ];
        assert_eq!(setup.calls(), calls);
        assert_eq!(names(&setup).await, ["first", "first-default"]);
        // The settings are known now.
        setup.deploy(&text).await;
        assert_eq!(setup.calls(), ["fetch there in first-default"]);
    });
}

#[test]
fn data_source_of_a_child_inherits() {
    run_with_paused_clock(async {
        let setup = Setup::with_documents(&[("child.yaml", CHILD)]);
        let text = "version: 2023-04-20\n\
            include: { core: { path: child.yaml, metadata: { cyan.provider: far } } }\n\
            resources:\n  \
            far: { type: cyan/provider, spec: { namespace: site, settings: { region: north } } }\n  \
            a: { type: site/host, spec: { name: \"${children.core.region}\" } }\n";
        setup.deploy(text).await;
        assert_eq!(
            setup.calls(),
            ["create a in default", "fetch here in north"]
        );
        assert_eq!(names(&setup).await, ["north"]);
    });
}

#[test]
fn path_of_an_include_reads_with_the_configuration() {
    run_with_paused_clock(async {
        let child =
            "version: 2023-04-20\nresources:\n  c: { type: site/host, spec: { name: c } }\n";
        let setup = Setup::with_documents(&[("north.yaml", child)]);
        let text = "include: { core: { path: \"${datasources.there.region}.yaml\" } }\n";
        let text = reading("{ region: \"nor${'th'}\" }")
            .replace("datasources:\n", &format!("{text}datasources:\n"));
        setup.deploy(&text).await;
        assert_eq!(
            setup.calls(),
            [
                "create a in default",
                "create core/c in default",
                "fetch there in north"
            ]
        );
        let absent = text.replace(
            "far: { type: cyan/provider,",
            "far: { type: cyan/provider, condition: \"${false}\",",
        );
        assert_eq!(setup.mistakes(&absent).await[0], "absent-element at far");
    });
}

#[test]
fn mistakes_are_reported_at_the_name() {
    run_with_paused_clock(async {
        let setup = Setup::new();
        let text = reading("{}") + "  z: { type: site/host, spec: { name: z } }\n";
        for (from, to, mistake) in [
            ("namespace: site", "namespace: test", "provider-name at far"),
            (
                "cyan.provider: far",
                "cyan.provider: z",
                "provider-name at z",
            ),
            (
                "cyan.provider: far",
                "cyan.provider: missing",
                "unknown-resource at missing",
            ),
            (
                "cyan.provider: far",
                "cyan.provider: 3",
                "invalid-annotation at 3",
            ),
            (
                "type: cyan/provider,",
                "type: cyan/provider, condition: \"${false}\",",
                "absent-element at far",
            ),
        ] {
            let wrong = text.replace(from, to);
            assert_eq!(setup.mistakes(&wrong).await[0], mistake, "{to}");
        }
    });
}
