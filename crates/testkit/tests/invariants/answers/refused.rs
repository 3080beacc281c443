//! Errors of operations are shown and recorded in full, at the fields that they concern.

use diag::Severity;
use engine::run::Operated;
use provider::{ErrorKind, ProviderDiagnostic, ProviderError};
use state::StatusWord;
use testkit::harness::settings;

use super::one_box;
use super::scripted::{Script, Setup};
use crate::{run_with_paused_clock, stage};

/// Deploys a document whose create is refused. Returns each diagnostic of the run: severity,
/// message, places, notes.
async fn refused(setup: &Setup, text: &str) -> Vec<(Severity, String, Vec<String>, Vec<String>)> {
    let stage = stage(&setup.harness, text).await;
    let staged = stage.staged.expect("a plan");
    let run = setup
        .harness
        .run(staged, false, Vec::new(), settings(Some(1), false))
        .await;
    let Some(Operated::Done(outcome)) = run.operated else {
        panic!("it ends")
    };
    let place = |span: diag::Span| text[span.start as usize..span.end as usize].to_owned();
    let shown = outcome.diagnostics.iter().map(|one| {
        let places = one
            .labels
            .iter()
            .map(|label| format!("{} {}", place(label.span), label.text))
            .collect();
        (one.severity, one.message.clone(), places, one.notes.clone())
    });
    shown.collect()
}

#[test]
fn error_of_an_operation_is_shown_and_recorded_as_a_whole() {
    run_with_paused_clock(async {
        let setup = Setup::new("\"plans\": false");
        let said = vec![
            ProviderDiagnostic::warning("name", "names get longer"),
            ProviderDiagnostic::error("note", "the note is too long")
                .detailed("at most 3 characters"),
            ProviderDiagnostic::error("zone", "there is no such zone"),
            ProviderDiagnostic::error("id", "no id is left"),
        ];
        let error = ProviderError::of_diagnostics(ErrorKind::Document, said);
        setup.answer(Script {
            refused: Some(error),
            ..Script::default()
        });
        let found = refused(&setup, &one_box("note: first, zone: z1")).await;
        let notes = [
            "the note is too long\nat most 3 characters",
            "`zone`: there is no such zone",
            "`id`: no id is left",
        ];
        let places = ["first `note`", "z1 `zone`"];
        let strings = |list: &[&str]| list.iter().map(|one| (*one).to_owned()).collect::<Vec<_>>();
        let expected = [
            (
                Severity::Warning,
                "the provider has a remark about `a`".to_owned(),
                strings(&["a names get longer"]),
                Vec::new(),
            ),
            (
                Severity::Error,
                "the provider refused to create `a`".to_owned(),
                strings(&places),
                strings(&notes),
            ),
        ];
        assert_eq!(found, expected);
        let snapshot = setup.harness.snapshot().await;
        let (_, record) = snapshot
            .records
            .first()
            .expect("the failed create is recorded");
        assert_eq!(record.status.word, StatusWord::Failed);
        let recorded = setup.errors().await;
        assert_eq!(
            recorded,
            [format!(
                "the provider refused to create `a`: {}",
                notes.join("; ")
            )]
        );
    });
}

#[test]
fn error_about_a_field_that_is_not_written_names_it() {
    run_with_paused_clock(async {
        let setup = Setup::new("\"plans\": false");
        let error = ProviderError::new(ErrorKind::Document, "a zone is needed").at("zone");
        setup.answer(Script {
            refused: Some(error),
            ..Script::default()
        });
        let found = refused(&setup, &one_box("note: first")).await;
        let (_, _, places, notes) = &found[0];
        assert_eq!(notes[..], ["a zone is needed", "this is about `zone`"]);
        assert!(places[0].ends_with("declared here"), "{places:?}");
    });
}
