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
    let answers = serde_json::to_string(&answers).ok();
    let typed = plan.given.typed.iter().map(|(name, value)| (name.clone(), value.clone()));
    let text = plan.given.text.iter().map(|(name, text)| (name.clone(), Value::Text(text.clone())));
    let kept: Map =
        [("document", Value::Text(document.text.clone())), ("typed", Value::map(typed)), ("text", Value::map(text))]
            .into_iter()
            .chain((!document.beside.is_empty()).then(|| ("beside", beside(document))))
            // What cannot be written is asked for again.
            .chain(answers.map(|answers| ("answers", Value::from(answers))))
            .map(|(key, value)| (Name::from(key), value))
            .collect();
    Value::Map(kept.into()).tainted(plan.secret)
}

/// Files that were given along with a document.
fn beside(document: &FrozenDocument) -> Value {
    let pair = |(path, text): &(Name, std::sync::Arc<str>)| {
        Value::list([Value::Text(path.clone()), Value::Text(text.clone())])
    };
    Value::list(document.beside.iter().map(pair).collect::<Vec<_>>())
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
    let pair = |pair: &Value| match pair.as_list()? {
        [Value::Text(path), Value::Text(text)] => Some((path.clone(), text.clone())),
        _ => None,
    };
    let beside = desired.get("beside").and_then(Value::as_list).unwrap_or_default().iter().filter_map(pair).collect();
    let document = FrozenDocument { path: operation.document.clone(), text: text.clone(), beside };
    // States of the first days kept the inputs alone: everything else is asked for again.
    let answers = match desired.get("answers") {
        Some(Value::Text(answers)) => state::read_json(answers.as_bytes()).ok()?,
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

#[cfg(test)]
mod tests {
    use super::*;

    fn past(number: u64, kind: OperationKind, outcome: OperationOutcome, desired: Value) -> GenerationInfo {
        let operation = Operation {
            id: format!("op-{number}").into(),
            kind,
            who: "ann@host".into(),
            began: 1,
            document: "shop.yaml".into(),
            remembered: Default::default(),
            stops: None,
            desired,
        };
        GenerationInfo { operation, finished: Some((outcome, 2, Generation(number), [0; 4])) }
    }

    /// As states of the first days have it: the document and its inputs alone.
    fn document(text: &str) -> Value {
        Value::map([
            ("document", Value::from(text)),
            ("typed", Value::map([("size", Value::Int(3))])),
            ("text", Value::map([("name", Value::from("n"))])),
        ])
    }

    #[test]
    fn a_rollback_goes_to_what_ended_well_and_said_what_is_wanted() {
        use OperationKind::{Deploy, Destroy, Reconcile, State, Update};
        use OperationOutcome::{Failed, Gone, Interrupted, Ready};
        let mut history = vec![
            past(7, Update, Failed, document("seven")),
            past(6, Reconcile, Ready, Value::Null),
            past(5, State, Ready, Value::Null),
            past(4, Update, Interrupted, document("four")),
            past(3, Update, Ready, document("three").secret()),
            past(2, Update, Ready, Value::Null),
            past(1, Deploy, Ready, document("one")),
        ];
        history.insert(0, GenerationInfo { finished: None, ..past(8, Update, Failed, document("eight")) });
        let text = |goal: Option<Result<Goal, Box<Diagnostic>>>| match goal.expect("one is found") {
            Ok(Goal::Kept(kept)) => {
                assert_eq!(kept.given.typed.get("size"), Some(&Value::Int(3)));
                assert_eq!(kept.given.text.get("name").map(AsRef::as_ref), Some("n"));
                format!("{} {}", kept.generation.0, kept.document.text)
            }
            Ok(Goal::Nothing) => "nothing".to_owned(),
            Err(diagnostic) => diagnostic.message.clone(),
        };
        assert_eq!(text(goal(&history, None)), "3 three");
        assert_eq!(text(goal(&history, Some(Generation(1)))), "1 one");
        assert_eq!(text(goal(&history, Some(Generation(2)))), "generation 2 was not kept whole");
        assert_eq!(
            text(goal(&history, Some(Generation(5)))),
            "generation 5 did not end well, so nothing can go back to it"
        );
        assert!(goal(&history, Some(Generation(99))).is_none());
        assert!(goal(&history[..5], None).is_none(), "the next ones are still to be read");
        history.insert(1, past(7, Destroy, Gone, Value::Null));
        assert_eq!(text(goal(&history, None)), "nothing");
    }
}
