//! Generations: what an operation is kept with, so that it can be planned again, and which one a rollback goes back to
//! (reference 5.3).
//!
//! Not here: the plan of a rollback, which is a plan like any other; when one is made by itself (`shell::operate`).

use blueprint::{Map, Name, Value};
use diag::{Diagnostic, Diagnostics};
use state::{Generation, GenerationInfo, Operation, OperationKind, OperationOutcome};

use crate::answers::Answers;
use crate::codes;
use crate::plan::{FrozenDocument, Plan};
use crate::resolve::Given;

/// A document with everything it was planned from, beside the state.
#[derive(Clone, Debug, PartialEq)]
pub struct Kept {
    /// The generation it belongs to.
    pub generation: Generation,
    /// The root document.
    pub document: FrozenDocument,
    /// Its inputs, as given.
    pub given: Given,
    /// What the world had said: children, data sources, files, remembered values. Nothing that was seen of the things
    /// themselves: these are looked at anew.
    pub answers: Answers,
}

/// What a rollback wants.
#[derive(Clone, Debug, PartialEq)]
pub enum Goal {
    /// What that generation wanted.
    Kept(Box<Kept>),
    /// Nothing: there was no instance before, or it had been destroyed.
    Nothing,
}

/// What an operation is kept with: null without a document. Secret as a whole where anything in the plan is.
pub(crate) fn kept(plan: &Plan) -> Value {
    let Some(document) = &plan.document else { return Value::Null };
    let said = &plan.answers;
    let answers = Answers {
        now: said.now,
        working_directory: said.working_directory.clone(),
        bytes: said.bytes.clone(),
        documents: said.documents.clone(),
        remembered: said.remembered.clone(),
        data_sources: said.data_sources.clone(),
        calls: said.calls.clone(),
        salt: said.salt.clone(),
        ..Answers::default()
    };
    // An answer that cannot be written is asked for again.
    let answers = serde_json::to_string(&answers).unwrap_or_default();
    let typed = plan.given.typed.iter().map(|(name, value)| (name.clone(), value.clone()));
    let text = plan.given.text.iter().map(|(name, text)| (name.clone(), Value::Text(text.clone())));
    let kept: Map = [
        ("document", Value::Text(document.text.clone())),
        ("typed", Value::map(typed)),
        ("text", Value::map(text)),
        ("answers", Value::from(answers)),
    ]
    .into_iter()
    .map(|(key, value)| (Name::from(key), value))
    .collect();
    Value::Map(kept.into()).tainted(plan.secret)
}

/// The inputs that an operation was given, where it was kept with any.
pub fn given(operation: &Operation) -> Given {
    let desired = operation.desired.revealed();
    let entries = |key: &str| desired.get(key).and_then(Value::as_map).cloned().unwrap_or_default();
    let text = entries("text").into_iter().filter_map(|(name, value)| match value {
        Value::Text(text) => Some((name, text)),
        _ => None,
    });
    Given { typed: entries("typed").into_iter().collect(), text: text.collect() }
}

/// The whole of it. `None` if it is not what [`kept`] writes.
fn read(generation: Generation, operation: &Operation) -> Option<Kept> {
    let desired = operation.desired.revealed();
    let Some(Value::Text(text)) = desired.get("document") else { return None };
    let document = FrozenDocument { path: operation.document.clone(), text: text.clone() };
    // States of the first days kept the inputs alone: everything else is asked for again.
    let answers = match desired.get("answers") {
        Some(Value::Text(answers)) => serde_json::from_str(answers).ok()?,
        _ => Answers { remembered: operation.remembered.clone(), ..Answers::default() },
    };
    Some(Kept { generation, document, given: given(operation), answers })
}

/// What to go back to, found in the operations of the past, newest first: the last one that ended well and said what is
/// wanted, or the one of this number. `None` if it is not among these.
pub fn goal(history: &[GenerationInfo], wanted: Option<Generation>) -> Option<Result<Goal, Box<Diagnostic>>> {
    for info in history {
        let Some((outcome, _, generation, _)) = &info.finished else { continue };
        if wanted.is_some_and(|wanted| wanted != *generation) {
            continue;
        }
        let said = match (outcome, info.operation.kind) {
            (OperationOutcome::Gone, _) => Some(Ok(Goal::Nothing)),
            (_, OperationKind::State | OperationKind::Reconcile) => None,
            (OperationOutcome::Ready, _) => Some(
                read(*generation, &info.operation)
                    .map(|kept| Goal::Kept(Box::new(kept)))
                    .ok_or_else(|| Box::new(incomplete(format!("generation {} was not kept whole", generation.0)))),
            ),
            _ => None,
        };
        match (said, wanted) {
            (Some(said), _) => return Some(said),
            (None, Some(_)) => {
                let what = format!("generation {} did not end well, so nothing can go back to it", generation.0);
                return Some(Err(Box::new(incomplete(what).help("`cyan history` shows those that did"))));
            }
            (None, None) => {}
        }
    }
    None
}

/// There is no generation of this number.
pub(crate) fn unknown(wanted: Generation) -> Diagnostic {
    incomplete(format!("there is no generation {}", wanted.0)).help("`cyan history` lists them")
}

fn incomplete(message: String) -> Diagnostic {
    codes::ROLLBACK_INCOMPLETE.new(message)
}

/// The report of what a rollback has left as it is: addresses and why, if there is anything.
pub(crate) fn left(addresses: &[blueprint::Address], why: Diagnostics) -> Diagnostics {
    let mut found = why;
    let mut diagnostic = incomplete("some things could not be brought back".to_owned());
    if !addresses.is_empty() {
        let names: Vec<String> = addresses.iter().map(|address| format!("`{address}`")).collect();
        diagnostic = diagnostic.note(format!("as the failed operation left them: {}", names.join(", ")));
    }
    found.push(diagnostic.help("mend the cause, then `cyan rollback` goes on with it"));
    found
}
