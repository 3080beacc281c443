//! Generations: the data that is stored with an operation so that it can be planned again, and the
//! choice of the generation that a rollback restores (decisions/apply#rollback).
//!
//! Not here: the plan of a rollback, which is a plan like any other; automatic rollbacks
//! (`run::operate`).

use blueprint::{Map, Name, Value};
use diag::{Diagnostic, Diagnostics};
use evaluate::answers::Answers;
use evaluate::resolve::inputs::Given;
use state::{Ended, Generation, GenerationInfo, Operation, OperationKind, OperationOutcome};

use crate::codes;
use crate::model::PinnedDocument;
use crate::plan::Plan;

/// A document with everything from which it was planned, except the state.
#[derive(Clone, Debug, PartialEq)]
pub struct SavedGeneration {
    /// The generation it belongs to.
    pub generation: Generation,
    /// The root document.
    pub document: PinnedDocument,
    /// Its inputs, as given.
    pub given: Given,
    /// The answers of the world: children, data sources, files, memoised values. Observations of
    /// resources are not part of it, because a rollback reads the resources again.
    pub answers: Answers,
}

impl SavedGeneration {
    /// Returns the generation with the document at `current`, the path of the instance's document
    /// now. The text stays. The former path stays as `read_as`, because the name of a file can
    /// decide how its text is read.
    pub fn with_document_at(mut self, current: &Name) -> SavedGeneration {
        let document = &mut self.document;
        if !current.is_empty() && document.path != *current {
            let before = std::mem::replace(&mut document.path, current.clone());
            let read_as = document.read_as.take().unwrap_or(before);
            document.read_as = (read_as != *current).then_some(read_as);
        }
        self
    }
}

/// The target of a rollback.
#[derive(Clone, Debug, PartialEq)]
pub enum RollbackTarget {
    /// The document and inputs of a generation.
    Generation(Box<SavedGeneration>),
    /// No resources: there was no instance before, or it had been destroyed.
    Nothing,
}

/// The data that is stored with an operation; null without a document. The whole value is secret if
/// anything in the plan is secret.
pub fn saved_value(plan: &Plan) -> Value {
    let Some(document) = &plan.document else {
        return Value::Null;
    };
    // A rollback makes everything about resources again: observations, and the plans, preflights
    // and settings of providers. The results of transforms are computed again.
    let answers = &plan.answers;
    let mut answers = Answers {
        now: answers.now,
        working_directory: answers.working_directory.clone(),
        bytes: answers.bytes.clone(),
        documents: answers.documents.clone(),
        memoised: answers.memoised.clone(),
        data_sources: answers.data_sources.clone(),
        calls: answers.calls.clone(),
        salt: answers.salt.clone(),
        ..Answers::default()
    };
    // Texts and files are values of their own: a store keeps each once, however many operations
    // have it. `read` puts them back by position, because the answers keep their order.
    let texts = answers
        .documents
        .values_mut()
        .map(|child| Value::Text(std::mem::take(&mut child.text)));
    let texts: Vec<Value> = texts.collect();
    let files: Vec<Value> = answers
        .bytes
        .values_mut()
        .map(|read| std::mem::take(&mut read.value))
        .collect();
    let answers = serde_json::to_string(&answers).ok();
    let typed_inputs = plan
        .given
        .typed
        .iter()
        .map(|(name, value)| (name.clone(), value.clone()));
    let text_inputs = plan
        .given
        .text
        .iter()
        .map(|(name, text)| (name.clone(), Value::Text(text.clone())));
    let mut saved = Map::default();
    saved.insert("document".into(), Value::Text(document.text.clone()));
    saved.insert("typed".into(), Value::map(typed_inputs));
    saved.insert("text".into(), Value::map(text_inputs));
    if let Some(path) = &document.read_as {
        saved.insert("path".into(), Value::Text(path.clone()));
    }
    if !document.companions.is_empty() {
        saved.insert("beside".into(), companions(document));
    }
    // Answers that cannot be written are asked for again.
    if let Some(answers) = answers {
        saved.insert("answers".into(), Value::from(answers));
    }
    if !texts.is_empty() {
        saved.insert("texts".into(), Value::list(texts));
    }
    if !files.is_empty() {
        saved.insert("files".into(), Value::list(files));
    }
    Value::Map(saved.into()).tainted(plan.secret)
}

/// Files that were given along with a document, each as a list of its path and its text.
fn companions(document: &PinnedDocument) -> Value {
    let path_and_text = |(path, text): &(Name, std::sync::Arc<str>)| {
        Value::list([Value::Text(path.clone()), Value::Text(text.clone())])
    };
    let companions = document.companions.iter().map(path_and_text);
    Value::list(companions.collect::<Vec<_>>())
}

/// The inputs that were stored with an operation, if there are any.
fn read_inputs(saved: &Value) -> Given {
    let entries = |key: &str| {
        saved
            .get(key)
            .and_then(Value::as_map)
            .cloned()
            .unwrap_or_default()
    };
    let text = entries("text")
        .into_iter()
        .filter_map(|(name, value)| match value {
            Value::Text(text) => Some((name, text)),
            _ => None,
        });
    Given {
        typed: entries("typed").into_iter().collect(),
        text: text.collect(),
    }
}

fn list<'v>(saved: &'v Value, key: &str) -> &'v [Value] {
    saved.get(key).and_then(Value::as_list).unwrap_or_default()
}

/// Reads the data that was stored with an operation. `None` if it is not what [`saved_value`]
/// writes.
fn read(generation: Generation, operation: &Operation) -> Option<SavedGeneration> {
    // One view has no secret marks. The other loses only the mark of the whole value, because the
    // contents of files keep their own.
    let saved = operation.desired.revealed();
    let with_inner_marks = operation.desired.unmarked();
    let Some(Value::Text(text)) = saved.get("document") else {
        return None;
    };
    let path_and_text = |companion: &Value| match companion.as_list()? {
        [Value::Text(path), Value::Text(text)] => Some((path.clone(), text.clone())),
        _ => None,
    };
    let companions = list(&saved, "beside")
        .iter()
        .filter_map(path_and_text)
        .collect();
    let document = PinnedDocument {
        path: operation.document.clone(),
        read_as: match saved.get("path") {
            Some(Value::Text(path)) => Some(path.clone()),
            _ => None,
        },
        text: text.clone(),
        companions,
    };
    // The first states stored the document, the inputs and the memoised values, but no other
    // answers. Those are asked for again.
    let mut answers: Answers = match saved.get("answers") {
        Some(Value::Text(answers)) => state::read_json(answers.as_bytes()).ok()?,
        _ => Answers {
            memoised: operation.memoised.clone(),
            ..Answers::default()
        },
    };
    // Earlier states have no lists of texts and files: there they are within the answers.
    let texts = list(with_inner_marks, "texts");
    for (child, text) in answers.documents.values_mut().zip(texts) {
        let Value::Text(text) = text else { return None };
        child.text = text.clone();
    }
    let files = list(with_inner_marks, "files");
    for (read, value) in answers.bytes.values_mut().zip(files) {
        read.value = value.clone();
    }
    Some(SavedGeneration {
        generation,
        document,
        given: read_inputs(&saved),
        answers,
    })
}

/// The operation in a history that a rollback restores.
#[derive(Clone, Debug, PartialEq)]
pub enum TargetOperation {
    /// An operation whose document is planned again.
    Restore(Generation, Name),
    /// Nothing: see [`RollbackTarget::Nothing`].
    Nothing,
}

/// Finds the operation that a rollback restores: the operation of the wanted generation, or else
/// the last one that succeeded and either had a document or destroyed the instance. `Nothing` if it
/// destroyed the instance, or if there is none. `history` has the newest operation first.
pub fn rollback_operation(
    history: &[GenerationInfo],
    wanted: Option<Generation>,
) -> Result<TargetOperation, Box<Diagnostic>> {
    for GenerationInfo {
        operation,
        finished,
    } in history
    {
        let Some(Ended {
            outcome,
            generation,
            ..
        }) = finished
        else {
            continue;
        };
        if wanted.is_some_and(|wanted| wanted != *generation) {
            continue;
        }
        match (outcome, operation.kind) {
            (OperationOutcome::Gone, _) => return Ok(TargetOperation::Nothing),
            // These operations have no document to restore.
            (_, OperationKind::State | OperationKind::Reconcile) if wanted.is_some() => {
                let (number, kind) = (generation.0, operation.kind.word());
                let what = format!(
                    "generation {number} is of an operation `{kind}`, which has no document to return to"
                );
                return Err(Box::new(rollback_incomplete(what).help(
                    "`cyan history` shows the kinds: return to a deployment, an update or a rollback",
                )));
            }
            (_, OperationKind::State | OperationKind::Reconcile) => {}
            (OperationOutcome::Ready, _) => {
                return Ok(TargetOperation::Restore(*generation, operation.id.clone()));
            }
            _ => {}
        }
        if wanted.is_some() {
            let what = format!(
                "generation {} did not succeed, so it cannot be a rollback target",
                generation.0
            );
            return Err(Box::new(
                rollback_incomplete(what).help("`cyan history` shows those that did"),
            ));
        }
    }
    match wanted {
        None => Ok(TargetOperation::Nothing),
        Some(wanted) => {
            let what = format!("there is no generation {}", wanted.0);
            Err(Box::new(
                rollback_incomplete(what).help("`cyan history` lists them"),
            ))
        }
    }
}

/// Reads the target of a rollback from its operation.
pub fn read_saved(
    generation: Generation,
    operation: Option<&Operation>,
) -> Result<RollbackTarget, Box<Diagnostic>> {
    let kept = operation.and_then(|operation| read(generation, operation));
    kept.map(|kept| RollbackTarget::Generation(Box::new(kept)))
        .ok_or_else(|| {
            Box::new(rollback_incomplete(format!(
                "generation {} is incomplete in the state: its document or its inputs are missing",
                generation.0
            )))
        })
}

fn rollback_incomplete(message: String) -> Diagnostic {
    codes::ROLLBACK_INCOMPLETE.new(message)
}

/// The report of an incomplete rollback: why it is incomplete, and the addresses that it left as
/// they are, if any.
pub fn report_incomplete(addresses: &[blueprint::Address], why: Diagnostics) -> Diagnostics {
    let mut found = why;
    let mut diagnostic = rollback_incomplete("some resources could not be rolled back".to_owned());
    if !addresses.is_empty() {
        let names: Vec<String> = addresses
            .iter()
            .map(|address| format!("`{address}`"))
            .collect();
        diagnostic = diagnostic.note(format!(
            "as the failed operation left them: {}",
            names.join(", ")
        ));
    }
    found.push(diagnostic.help("fix the cause, then `cyan rollback` continues"));
    found
}

#[cfg(test)]
mod tests {
    use state::{Counts, OperationInfo};

    use super::*;

    fn past(number: u64, kind: OperationKind, outcome: OperationOutcome) -> GenerationInfo {
        let operation = OperationInfo {
            id: format!("op-{number}").into(),
            kind,
            who: "ann@host".into(),
            began: 1,
            document: "shop.yaml".into(),
        };
        let ended = Ended {
            outcome,
            at: 2,
            generation: Generation(number),
            counts: Counts::default(),
        };
        GenerationInfo {
            operation,
            finished: Some(ended),
        }
    }

    #[test]
    fn rollback_targets_the_last_successful_deployment() {
        use OperationKind::{Deploy, Destroy, Reconcile, State, Update};
        use OperationOutcome::{Failed, Gone, Interrupted, Ready};
        let mut history = vec![
            past(7, Update, Failed),
            past(6, Reconcile, Ready),
            past(5, State, Ready),
            past(4, Update, Interrupted),
            past(3, Update, Ready),
            past(1, Deploy, Ready),
        ];
        history.insert(
            0,
            GenerationInfo {
                finished: None,
                ..past(8, Update, Failed)
            },
        );
        let of = |number: u64| {
            Ok(TargetOperation::Restore(
                Generation(number),
                format!("op-{number}").into(),
            ))
        };
        let found = |history: &[GenerationInfo], wanted: Option<u64>| {
            rollback_operation(history, wanted.map(Generation))
                .map_err(|diagnostic| diagnostic.message.clone())
        };
        assert_eq!(found(&history, None), of(3));
        assert_eq!(found(&history, Some(1)), of(1));
        let state = "generation 5 is of an operation `state`, which has no document to return to";
        assert_eq!(found(&history, Some(5)), Err(state.to_owned()));
        let failed = "generation 4 did not succeed, so it cannot be a rollback target";
        assert_eq!(found(&history, Some(4)), Err(failed.to_owned()));
        assert_eq!(
            found(&history, Some(99)),
            Err("there is no generation 99".to_owned())
        );
        assert_eq!(
            found(&history[..4], None),
            Ok(TargetOperation::Nothing),
            "no deployment or update succeeded"
        );
        history.insert(0, past(9, Destroy, Gone));
        assert_eq!(found(&history, None), Ok(TargetOperation::Nothing));
    }

    #[test]
    fn an_operation_is_read_with_its_document_and_inputs() {
        // An operation of the first states, without answers.
        let desired = Value::map([
            ("document", Value::from("three")),
            ("typed", Value::map([("size", Value::Int(3))])),
            ("text", Value::map([("name", Value::from("n"))])),
        ]);
        let operation = |desired| Operation {
            id: "op-3".into(),
            kind: OperationKind::Update,
            who: "ann@host".into(),
            began: 1,
            document: "shop.yaml".into(),
            memoised: Default::default(),
            stops: None,
            desired,
        };
        for desired in [desired.clone(), desired.secret()] {
            let Ok(RollbackTarget::Generation(kept)) =
                read_saved(Generation(3), Some(&operation(desired)))
            else {
                panic!("it is whole")
            };
            assert_eq!(
                (kept.generation, &*kept.document.text),
                (Generation(3), "three")
            );
            assert_eq!(kept.given.typed.get("size"), Some(&Value::Int(3)));
            assert_eq!(kept.given.text.get("name").map(AsRef::as_ref), Some("n"));
        }
        for operation in [Some(&operation(Value::Null)), None] {
            let refused = read_saved(Generation(2), operation)
                .map_err(|diagnostic| diagnostic.message.clone());
            assert_eq!(
                refused,
                Err("generation 2 is incomplete in the state: its document or its inputs are missing".to_owned())
            );
        }
    }
}
