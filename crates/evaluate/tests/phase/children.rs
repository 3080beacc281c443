//! Inputs of children: a mistake in one is reported in the document that passes it.

use testkit::document_sources::InMemorySource;
use testkit::harness::{run_with_paused_clock, settings};
use testkit::single_document::{codes, given, harness, stage};

const CHILD: &str = "version: 2023-04-20
variables:
  size: { type: integer }
resources:
  r: { type: test/data, spec: { input: \"${jsondecode('{}').none}${variables.size}\" } }
";

const DOCUMENT: &str = "version: 2023-04-20
variables:
  text: { type: string, default: '3' }
include:
  core: { path: child.yaml, variables: { size: \"${jsondecode(variables.text)}\" } }
";

#[test]
fn mistake_in_a_child_input_is_reported_in_the_parent() {
    run_with_paused_clock(async {
        let path = std::env::temp_dir().join("child.yaml");
        for (input, wrong, trails) in [
            ("3", vec!["absent-element 5", "child-failed 5"], vec![1, 0]),
            (
                "no JSON",
                vec!["json-invalid 5", "absent-element 5", "child-failed 5"],
                vec![0, 1, 0],
            ),
        ] {
            let mut harness = harness(&[]);
            harness.memory_source = Some(InMemorySource::new([(
                path.display().to_string(),
                CHILD.to_owned(),
            )]));
            let staged = stage(&harness, DOCUMENT, given(&[("text", input)])).await;
            assert_eq!(codes(&staged), wrong);
            assert_eq!(
                staged
                    .diagnostics
                    .iter()
                    .map(|it| it.trail.len())
                    .collect::<Vec<_>>(),
                trails
            );
        }
    });
}

#[test]
fn invalid_child_input_fails_the_run_even_if_only_an_export_reads_it() {
    let child = "version: 2023-04-20
variables: { size: { type: integer } }
resources: { r: { type: test/data, spec: { input: 1 } } }
exports: { size: { type: integer, field: variables.size } }
";
    let text = "version: 2023-04-20
include: { core: { path: child.yaml, variables: { size: \"${jsondecode(a.spec.id)}\" } } }
resources: { a: { type: test/data, spec: { input: 1 } } }
";
    run_with_paused_clock(async {
        let mut harness = harness(&[]);
        harness.memory_source = Some(InMemorySource::new([(
            std::env::temp_dir()
                .join("child.yaml")
                .display()
                .to_string(),
            child.to_owned(),
        )]));
        let staged = stage(&harness, text, Default::default())
            .await
            .staged
            .expect("a plan");
        let run = harness
            .run(staged, false, Vec::new(), settings(None, false))
            .await;
        let outcome = run.outcome().expect("it was carried out");
        let said: Vec<&str> = outcome.diagnostics.iter().map(|it| it.code.name).collect();
        assert_eq!(
            (outcome.outcome, said),
            (Some(state::OperationOutcome::Failed), vec!["json-invalid"])
        );
    });
}
