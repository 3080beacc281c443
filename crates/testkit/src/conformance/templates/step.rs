//! One step of a case on the harness: a create, an update, a validation.

use blueprint::{Name, Value};
use diag::{Diagnostic, Diagnostics};
use engine::apply::OnFailure;
use engine::run::Operated;
use engine::{Given, Options};
use serde_json::Value as Json;
use state::Snapshot;

use super::super::heat_validated;
use super::super::resolved::{Resolved, ResolvedElement, resolved};
use crate::harness::{CheckedDocument, Harness, StageResult, settings};

/// The result of one step.
#[derive(Default)]
pub(super) struct StepResult {
    pub(super) ok: bool,
    /// The phase in which the step failed.
    pub(super) phase: &'static str,
    pub(super) diagnostics: Vec<Diagnostic>,
    pub(super) resolved: Option<Resolved>,
    pub(super) snapshot: Snapshot,
    /// The state before the step.
    pub(super) before: Snapshot,
    /// The resolved document before the step.
    pub(super) previous: Option<Resolved>,
    /// The declared elements that are present.
    pub(super) declared: Vec<ResolvedElement>,
    /// The exports in the plan.
    pub(super) exports: Vec<(Name, Value)>,
    /// Heat's answer to the validation of a template.
    pub(super) validated: Option<Json>,
    /// The action and the status of the stack in Heat's terms.
    pub(super) action: &'static str,
    pub(super) status: &'static str,
}

/// Checks a document and evaluates what is known, without creating resources.
pub(super) async fn evaluate_offline(
    harness: &Harness,
    name: &str,
    text: &str,
    given: Given,
) -> StepResult {
    let StageResult {
        diagnostics,
        staged,
        ..
    } = harness.stage(name, text, given, Options::default()).await;
    let changes = staged.iter().flat_map(|staged| &staged.plan.exports);
    let exports = changes
        .map(|one| (one.name.clone(), one.after.clone().unwrap_or_default()))
        .collect();
    let resolved = staged.map(|mut staged| resolved(&mut staged).unwrap_or_default());
    let ok = resolved.is_some();
    let phase = if ok { "" } else { phase_of(&diagnostics) };
    let diagnostics = diagnostics.iter().cloned().collect();
    let snapshot = harness.snapshot().await;
    let (action, status) = ("CREATE", "IN_PROGRESS");
    StepResult {
        ok,
        phase,
        diagnostics,
        resolved,
        snapshot,
        exports,
        action,
        status,
        ..StepResult::default()
    }
}

/// Checks a template without a plan; parameters need no value.
pub(super) async fn validate_template(
    harness: &Harness,
    name: &str,
    text: &str,
    given: &Given,
) -> StepResult {
    let CheckedDocument {
        diagnostics,
        checked,
        ..
    } = harness.validate(name, text, given).await;
    let ok = !diagnostics.has_errors();
    let phase = if ok { "" } else { phase_of(&diagnostics) };
    let validated = checked.map(|checked| heat_validated::answer(&checked.blueprint, text, given));
    let diagnostics = diagnostics.iter().cloned().collect();
    StepResult {
        ok,
        phase,
        diagnostics,
        validated,
        ..StepResult::default()
    }
}

/// The phase in which Heat reports the errors: parsing or validation.
fn phase_of(diagnostics: &Diagnostics) -> &'static str {
    // Heat reads nested templates and checks version keys only in validation.
    let in_root = |one: &&Diagnostic| one.is_error() && one.trail.is_empty();
    let unread = |one: &Diagnostic| {
        let words = one.native_message.as_deref();
        let early = [
            "Template format version not found.",
            "The template is not a JSON object or YAML mapping.",
        ];
        match one.code.name {
            "invalid-syntax" | "multiple-documents" => true,
            "unsupported-version" => words.is_none(),
            _ => words.is_some_and(|words| {
                words.class == "ValueError" && early.contains(&&*words.message)
            }),
        }
    };
    let mut errors = diagnostics.iter().filter(in_root);
    if errors.clone().any(unread) {
        "parse"
    } else if errors.any(|one| one.code.name == "empty-section") {
        "environment"
    } else {
        "validate"
    }
}

/// One create or update, and its result.
pub(super) async fn step(
    harness: &Harness,
    (name, text, given): (&str, &str, Given),
    before: Option<(&str, &str, Given)>,
    rollback: bool,
    word: &'static str,
) -> StepResult {
    let state_before = harness.snapshot().await;
    let stage = harness
        .stage(name, text, given.clone(), Options::default())
        .await;
    let StageResult {
        diagnostics,
        mut staged,
        ..
    } = stage;
    let declared = staged.as_mut().and_then(resolved).unwrap_or_default();
    let declared: Vec<ResolvedElement> = declared
        .elements
        .into_iter()
        .filter(|one| one.is_present)
        .collect();
    let mut all: Vec<Diagnostic> = diagnostics.iter().cloned().collect();
    let Some(staged) = staged else {
        let phase = phase_of(&diagnostics);
        return StepResult {
            phase,
            diagnostics: all,
            snapshot: harness.snapshot().await,
            ..StepResult::default()
        };
    };
    let mut settings = settings(None, false);
    if rollback {
        settings.on_failure = OnFailure::Rollback;
    }
    let run = harness.run(staged, false, Vec::new(), settings).await;
    let (done, rolled_back) = match &run.operated {
        Some(Operated::Nothing) => (true, false),
        Some(Operated::Done(outcome)) => {
            all.extend(outcome.diagnostics.iter().cloned());
            (
                outcome.outcome == Some(state::OperationOutcome::Ready),
                outcome.rolled_back.is_some(),
            )
        }
        _ => {
            return StepResult {
                phase: word,
                diagnostics: all,
                ..StepResult::default()
            };
        }
    };
    let snapshot = harness.snapshot().await;
    if !(done || rolled_back && word == "update") {
        let before = state_before;
        return StepResult {
            phase: word,
            diagnostics: all,
            snapshot,
            before,
            declared,
            ..StepResult::default()
        };
    }
    // Stages once more to get the resolved document; after a rollback with the former inputs.
    let (name, text, given) = if done {
        (name, text, given)
    } else {
        before.unwrap_or((name, text, given))
    };
    let mut again = harness.stage(name, text, given, Options::default()).await;
    all.extend(again.diagnostics.iter().cloned());
    let resolved = again.staged.as_mut().and_then(resolved);
    let action = match (done, word) {
        (false, _) => "ROLLBACK",
        (true, "update") => "UPDATE",
        _ => "CREATE",
    };
    let exports = snapshot
        .exports
        .iter()
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    StepResult {
        ok: true,
        phase: "",
        diagnostics: all,
        resolved,
        snapshot,
        before: state_before,
        declared,
        exports,
        action,
        status: "COMPLETE",
        ..StepResult::default()
    }
}
