//! Diagnostics of answers that succeed reach the user, each once and at its place.

use diag::{Diagnostics, Severity};
use engine::run::Operated;
use engine::{Given, Options};
use provider::ProviderDiagnostic;
use testkit::faults::FaultPlan;
use testkit::harness::{StageResult, settings};

use super::one_box;
use super::scripted::{Script, Setup};
use crate::{apply_successfully, run_with_paused_clock, stage};

const FAR: &str =
    "  far: { type: cyan/provider, spec: { namespace: script, settings: { region: north } } }\n";

fn reads(said: Vec<ProviderDiagnostic>) -> Script {
    Script {
        about_reads: said,
        ..Script::default()
    }
}

fn settings_of(said: Vec<ProviderDiagnostic>) -> Script {
    Script {
        about_settings: said,
        ..Script::default()
    }
}

/// The warnings and notes: message, the place with its label, and the notes.
fn shown(found: &Diagnostics, text: &str) -> Vec<String> {
    let remarks = found.iter().filter(|one| one.severity != Severity::Error);
    let shown = remarks.map(|one| {
        let labels = one.labels.iter().map(|label| {
            let place = &text[label.span.start as usize..label.span.end as usize];
            format!("{place}: {}", label.text)
        });
        let parts = [one.message.clone()]
            .into_iter()
            .chain(labels)
            .chain(one.notes.iter().cloned());
        parts.collect::<Vec<_>>().join(" | ")
    });
    shown.collect()
}

fn planned(stage: &StageResult, text: &str) -> Vec<String> {
    assert!(stage.staged.is_some(), "{:?}", stage.diagnostics);
    shown(&stage.diagnostics, text)
}

#[test]
fn warning_of_a_read_is_at_the_field_or_the_resource() {
    run_with_paused_clock(async {
        let setup = Setup::new("\"plans\": false");
        let text = one_box("note: first");
        apply_successfully(&setup.harness, Some(&text), 1).await;
        setup.answer(reads(vec![
            ProviderDiagnostic::warning("note", "notes are going away"),
            ProviderDiagnostic::warning("", "the box is old").detailed("from 1999"),
        ]));
        let found = planned(&stage(&setup.harness, &text).await, &text);
        let whole = "{ type: script/box, spec: { name: a, note: first } }";
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(
            found[0].starts_with("the provider has a remark about `a` | "),
            "{found:?}"
        );
        assert!(
            found[0].ends_with(": the box is old | from 1999") && !found[0].contains(whole),
            "{found:?}"
        );
        assert_eq!(
            found[1],
            "the provider has a remark about `a` | first: notes are going away"
        );
        // The document no longer declares the resource, so the diagnostic has no place.
        let destroy = setup.harness.stage_destroy(Options::default()).await;
        let expected = [
            "the provider has a remark about `a` | the box is old | from 1999",
            "the provider has a remark about `a` | notes are going away",
        ];
        assert_eq!(planned(&destroy, ""), expected);
    });
}

#[test]
fn warning_about_declared_settings_is_at_the_setting_and_once() {
    run_with_paused_clock(async {
        let setup = Setup::new("\"plans\": \"always\"");
        setup.answer(settings_of(vec![ProviderDiagnostic::warning(
            "region",
            "the region is being closed",
        )]));
        let chooses = "type: script/box, metadata: { annotations: { cyan.provider: far } },";
        let text = one_box("note: first").replace("type: script/box,", chooses)
            + &format!("  b: {{ {chooses} spec: {{ name: b }} }}\n")
            + FAR;
        let expected =
            ["the provider has a remark about `far` | north: the region is being closed"];
        assert_eq!(
            planned(&stage(&setup.harness, &text).await, &text),
            expected
        );
        // The operation does not repeat the diagnostics of the session's plan.
        let (settings, faults) = (settings(Some(1), false), FaultPlan::default());
        let run = setup
            .harness
            .deploy_in_session("main.yaml", &text, faults, settings)
            .await
            .expect("a plan");
        let Some(Operated::Done(outcome)) = run.operated else {
            panic!("it ends")
        };
        assert_eq!(outcome.outcome, Some(state::OperationOutcome::Ready));
        assert_eq!(shown(&outcome.diagnostics, &text), [""; 0]);
    });
}

#[test]
fn warning_about_settings_of_the_configuration_file_names_the_provider() {
    run_with_paused_clock(async {
        let setup = Setup::new("\"plans\": \"always\"");
        setup.answer(settings_of(vec![ProviderDiagnostic::warning(
            "region",
            "the region is being closed",
        )]));
        let text = one_box("note: first");
        let stage = setup
            .harness
            .stage("main.yaml", &text, Given::default(), Options::default())
            .await;
        let expected =
            "the provider `script` has a remark about its settings | the region is being closed";
        let found = planned(&stage, &text);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].starts_with(expected), "{found:?}");
    });
}

#[test]
fn settings_that_are_known_on_deploy_only_are_reported_by_the_run() {
    run_with_paused_clock(async {
        let setup = Setup::new("\"plans\": false");
        setup.answer(settings_of(vec![ProviderDiagnostic::warning(
            "region",
            "the region is being closed",
        )]));
        let chooses = "type: script/box, metadata: { annotations: { cyan.provider: far } },";
        let text = one_box("note: first").replace("type: script/box,", chooses)
            + &FAR.replace("north", "\"${resources.b.spec.id}\"")
            + "  b: { type: test/data, spec: { input: 1 } }\n";
        let stage = stage(&setup.harness, &text).await;
        assert_eq!(planned(&stage, &text), [""; 0]);
        let run = setup
            .harness
            .run(
                stage.staged.expect("a plan"),
                false,
                Vec::new(),
                settings(Some(1), false),
            )
            .await;
        let Some(Operated::Done(outcome)) = run.operated else {
            panic!("it ends")
        };
        let place = "${resources.b.spec.id}";
        let expected =
            format!("the provider has a remark about `far` | {place}: the region is being closed");
        assert_eq!(shown(&outcome.diagnostics, &text), [expected]);
    });
}
