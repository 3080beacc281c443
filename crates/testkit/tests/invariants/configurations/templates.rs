//! Templates of Heat choose configurations in the metadata of resources, and pass them on to nested
//! templates and groups.

use super::regions::Setup;
use crate::{apply_successfully, run_with_paused_clock};

const NESTED: &str = "\
heat_template_version: 2018-08-31
resources:
  n: { type: site/host, properties: { name: n } }
";

/// A template with a configuration and these resources.
fn template(resources: &str) -> String {
    format!(
        "heat_template_version: 2018-08-31\nresources:\n  \
         far: {{ type: cyan/provider, properties: {{ namespace: site, settings: {{ region: north }} }} }}\n  \
         a: {{ type: site/host, properties: {{ name: a }} }}\n{resources}"
    )
}

#[test]
fn resource_chooses_in_its_metadata() {
    run_with_paused_clock(async {
        let setup = Setup::new();
        let text = template(
            "  b: { type: site/host, metadata: { cyan.provider: far, note: 1 }, properties: { name: b } }\n",
        );
        setup.deploy(&text).await;
        assert_eq!(setup.calls(), ["create a in default", "create b in north"]);
        apply_successfully(&setup.harness, None, 2).await;
        assert_eq!(setup.calls(), ["delete a in default", "delete b in north"]);
    });
}

#[test]
fn nested_template_inherits() {
    run_with_paused_clock(async {
        let setup = Setup::with_documents(&[("nested.yaml", NESTED)]);
        let text = template(
            "  one: { type: nested.yaml, metadata: { cyan.provider: far } }\n  \
             two: { type: nested.yaml, metadata: { cyan.provider: [far] } }\n  three: { type: nested.yaml }\n",
        );
        setup.deploy(&text).await;
        let created = [
            "create a in default",
            "create one/n in north",
            "create three/n in default",
            "create two/n in north",
        ];
        assert_eq!(setup.calls(), created);
        apply_successfully(&setup.harness, None, 2).await;
        assert_eq!(setup.hosts(), [""; 0]);
    });
}

#[test]
fn members_of_a_group_inherit_its_choice_or_have_their_own() {
    let member = "type: site/host, properties: { name: 'm-%index%' }";
    for group in [
        format!(
            "metadata: {{ cyan.provider: far }}, properties: {{ count: 1, resource_def: {{ {member} }} }}"
        ),
        format!(
            "properties: {{ count: 1, resource_def: {{ {member}, metadata: {{ cyan.provider: far }} }} }}"
        ),
    ] {
        run_with_paused_clock(async {
            let setup = Setup::new();
            setup
                .deploy(&template(&format!(
                    "  g: {{ type: 'OS::Heat::ResourceGroup', {group} }}\n"
                )))
                .await;
            assert_eq!(
                setup.calls(),
                ["create a in default", "create g/0 in north"]
            );
        });
    }
}

#[test]
fn mistakes_are_reported_at_the_name() {
    run_with_paused_clock(async {
        let setup = Setup::with_documents(&[("nested.yaml", NESTED)]);
        let host = |chosen: &str| {
            format!(
                "  b: {{ type: site/host, metadata: {{ cyan.provider: {chosen} }}, properties: {{ name: b }} }}\n"
            )
        };
        let nested = |chosen: &str| {
            format!("  b: {{ type: nested.yaml, metadata: {{ cyan.provider: {chosen} }} }}\n")
        };
        for (resource, mistake) in [
            (host("a"), "provider-name at a"),
            (host("missing"), "unknown-resource at missing"),
            (host("{ get_resource: far }"), "invalid-annotation at far"),
            (host("[far]"), "invalid-annotation at [far]"),
            (nested("a"), "provider-name at a"),
            (nested("missing"), "unknown-resource at missing"),
            (nested("[far, 3]"), "invalid-annotation at 3"),
        ] {
            let mistakes = setup.mistakes(&template(&resource)).await;
            assert_eq!(
                mistakes.first().map(String::as_str),
                Some(mistake),
                "{resource}"
            );
        }
    });
}
