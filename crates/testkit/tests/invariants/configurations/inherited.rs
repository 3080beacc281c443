//! A child document inherits the configurations that its include names.

use std::collections::BTreeMap;

use super::regions::Setup;
use crate::{apply_successfully, run_with_paused_clock, stage};

/// A host, one with a configuration of its own, a resource of another provider, and a child.
const CHILD: &str = "\
version: 2023-04-20
include:
  deep: { path: deep.yaml }
resources:
  near: { type: cyan/provider, spec: { namespace: site, settings: { region: near } } }
  c: { type: site/host, spec: { name: c } }
  own: { type: site/host, metadata: { annotations: { cyan.provider: near } }, spec: { name: own } }
  other: { type: test/data, spec: { input: 1 } }
";

const DEEP: &str = "\
version: 2023-04-20
resources:
  d: { type: site/host, spec: { name: d } }
";

const TEMPLATE: &str = "\
heat_template_version: 2018-08-31
resources:
  h: { type: site/host, properties: { name: h } }
";

/// A root that includes a document with this metadata.
fn root(path: &str, metadata: &str) -> String {
    format!(
        "version: 2023-04-20\ninclude:\n  core: {{ path: {path}, metadata: {metadata} }}\nresources:\n  \
         far: {{ type: cyan/provider, spec: {{ namespace: site, settings: {{ region: north }} }} }}\n  \
         test: {{ type: cyan/provider, spec: {{ namespace: test, settings: {{}} }} }}\n  \
         a: {{ type: site/host, spec: {{ name: a }} }}\n"
    )
}

fn setup() -> Setup {
    Setup::with_documents(&[
        ("child.yaml", CHILD),
        ("deep.yaml", DEEP),
        ("template.yaml", TEMPLATE),
    ])
}

#[test]
fn children_inherit_what_their_include_names_and_keep_it_in_the_state() {
    run_with_paused_clock(async {
        let setup = setup();
        let text = root("child.yaml", "{ cyan.provider: far }");
        setup.deploy(&text).await;
        let created = [
            "create a in default",
            "create core/c in north",
            "create core/deep/d in north",
            "create core/own in near",
        ];
        assert_eq!(setup.calls(), created);
        setup.deploy(&text).await;
        assert_eq!(setup.calls(), [""; 0]);
        let snapshot = setup.harness.snapshot().await;
        let used: BTreeMap<String, String> = snapshot
            .records
            .iter()
            .filter_map(|(address, record)| {
                Some((
                    address.to_string(),
                    record.provider.as_ref()?.address.to_string(),
                ))
            })
            .collect();
        let used: Vec<(&str, &str)> = used
            .iter()
            .map(|(address, by)| (address.as_str(), by.as_str()))
            .collect();
        assert_eq!(
            used,
            [
                ("core/c", "far"),
                ("core/deep/d", "far"),
                ("core/own", "core/near")
            ]
        );
        // The document has lost the children and the configuration.
        setup
            .deploy(
                "version: 2023-04-20\nresources:\n  a: { type: site/host, spec: { name: a } }\n",
            )
            .await;
        let deleted = [
            "delete core/c in north",
            "delete core/deep/d in north",
            "delete core/own in near",
        ];
        assert_eq!(setup.calls(), deleted);
        apply_successfully(&setup.harness, None, 2).await;
        assert_eq!(setup.calls(), ["delete a in default"]);
    });
}

#[test]
fn settings_of_an_inherited_configuration_may_be_known_on_deploy_only() {
    run_with_paused_clock(async {
        let setup = setup();
        let text = root("deep.yaml", "{ cyan.provider: far }").replace(
            "{ region: north }",
            "{ region: \"${resources.a.spec.id}\" }",
        );
        setup.deploy(&text).await;
        assert_eq!(
            setup.calls(),
            ["create a in default", "create core/d in a-default"]
        );
        let snapshot = setup.harness.snapshot().await;
        let used = snapshot
            .records
            .iter()
            .find(|(address, _)| address.to_string() == "core/d");
        let used = used.map(|(_, record)| {
            record
                .dependencies
                .iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
        });
        assert_eq!(used, Some(vec!["far".to_owned()]));
        apply_successfully(&setup.harness, None, 2).await;
        assert_eq!(
            setup.calls(),
            ["delete a in default", "delete core/d in a-default"]
        );
    });
}

#[test]
fn nearest_include_decides_for_each_namespace() {
    let middle = "version: 2023-04-20\ninclude:\n  deep: { path: deep.yaml, metadata: { cyan.provider: NAME } }\n\
        resources:\n  south: { type: cyan/provider, spec: { namespace: site, settings: { region: south } } }\n  \
        test: { type: cyan/provider, spec: { namespace: test, settings: {} } }\n";
    for (name, created) in [
        ("south", "create core/deep/d in south"),
        ("test", "create core/deep/d in north"),
    ] {
        run_with_paused_clock(async {
            let middle = middle.replace("NAME", name);
            let setup = Setup::with_documents(&[("middle.yaml", &middle), ("deep.yaml", DEEP)]);
            setup
                .deploy(&root("middle.yaml", "{ cyan.provider: [test, far] }"))
                .await;
            assert_eq!(setup.calls(), ["create a in default", created]);
        });
    }
}

#[test]
fn template_in_another_dialect_inherits() {
    run_with_paused_clock(async {
        let setup = setup();
        setup
            .deploy(&root("template.yaml", "{ cyan.provider: far }"))
            .await;
        assert_eq!(
            setup.calls(),
            ["create a in default", "create core/h in north"]
        );
        apply_successfully(&setup.harness, None, 2).await;
        assert_eq!(
            setup.calls(),
            ["delete a in default", "delete core/h in north"]
        );
    });
}

#[test]
fn resource_whose_include_names_another_configuration_is_only_recorded() {
    run_with_paused_clock(async {
        let setup = setup();
        setup
            .deploy(&root("deep.yaml", "{ cyan.provider: far }"))
            .await;
        setup.calls();
        // The two configurations may belong to the same account.
        let text = root("deep.yaml", "{}");
        let staged = stage(&setup.harness, &text).await.staged.expect("a plan");
        let steps = staged
            .plan
            .steps
            .iter()
            .filter(|step| step.address.to_string() == "core/d");
        let words: Vec<&str> = steps.map(|step| step.action.word()).collect();
        assert_eq!(words, ["none"]);
    });
}

#[test]
fn mistakes_are_reported_at_the_name() {
    run_with_paused_clock(async {
        let setup = setup();
        for (metadata, mistakes) in [
            ("{ cyan.provider: a }", vec!["provider-name at a"]),
            (
                "{ cyan.provider: missing }",
                vec!["unknown-resource at missing"],
            ),
            ("{ cyan.provider: [far, a] }", vec!["provider-name at a"]),
            ("{ cyan.provider: [far, far] }", vec![]),
            ("{ cyan.provider: 3 }", vec!["invalid-annotation at 3"]),
            ("{ cyan.provider: [] }", vec![]),
            (
                "{ cyan.provider: \"${variables.x}\" }",
                vec!["substitution-not-allowed at ${variables.x}"],
            ),
        ] {
            assert_eq!(
                setup.mistakes(&root("deep.yaml", metadata)).await,
                mistakes,
                "{metadata}"
            );
        }
        let two = root("deep.yaml", "{ cyan.provider: [far, more] }")
            + "  more: { type: cyan/provider, spec: { namespace: site } }\n";
        assert_eq!(setup.mistakes(&two).await, ["provider-name at more"]);
        let computed = root("deep.yaml", "{ cyan.provider: far }")
            .replace("namespace: site", "namespace: \"${'site'}\"");
        assert_eq!(setup.mistakes(&computed).await, [""; 0]);
        let computed = computed.replace("${'site'}", "si${'te'}");
        assert_eq!(setup.mistakes(&computed).await, ["provider-name at far"]);
    });
}

#[test]
fn configuration_that_reads_what_it_manages_is_a_cycle() {
    run_with_paused_clock(async {
        let child = format!(
            "{DEEP}exports:\n  region: {{ type: string, field: resources.d.spec.region }}\n"
        );
        let setup = Setup::with_documents(&[("deep.yaml", &child)]);
        let text = root("deep.yaml", "{ cyan.provider: far }").replace(
            "{ region: north }",
            "{ region: \"${children.core.region}\" }",
        );
        let mistakes = setup.mistakes(&text).await;
        assert!(
            mistakes.contains(&"cycle at far".to_owned()),
            "{mistakes:?}"
        );
    });
}

#[test]
fn absent_configuration_is_an_error_where_it_is_used() {
    run_with_paused_clock(async {
        let setup = setup();
        let text = root("deep.yaml", "{ cyan.provider: far }").replace(
            "far: { type: cyan/provider,",
            "far: { type: cyan/provider, condition: \"${false}\",",
        );
        assert_eq!(setup.mistakes(&text).await, ["absent-element at far"]);
    });
}
