//! The status that a step gives an object.

use blueprint::{Map, Name, Value};
use cartographer::context::TemplateContext;
use cartographer::stamp::evaluate;
use sha2::{Digest as _, Sha256};

use crate::script::{RunResult, Script, with_defaults};

/// Stands for a time that is not compared. No text of a cluster has this character.
const ANY_TIME: &str = "\0";

const CONDITIONS: &str = "conditions";
const TRANSITION: &str = "lastTransitionTime";

/// What a status is made of.
#[derive(Clone, Copy)]
pub(crate) struct StatusOf<'a> {
    pub(crate) script: &'a Script,
    pub(crate) object: &'a Value,
    /// The number of the step.
    pub(crate) step: usize,
    /// The number of the run.
    pub(crate) run: u64,
}

impl StatusOf<'_> {
    /// The status at this time (RFC 3339). The error says which tag has no value.
    pub(crate) fn at(&self, time: &str) -> Result<Map, String> {
        let mut status = self.evaluated(time)?;
        let live = self.object.get("status").unwrap_or(&Value::Null);
        if let Some(written) = status.get(CONDITIONS) {
            let before = live
                .get(CONDITIONS)
                .and_then(Value::as_list)
                .unwrap_or_default();
            let conditions = written.as_list().unwrap_or_default();
            let timed = conditions
                .iter()
                .map(|condition| with_time(condition, before, time));
            status.insert(CONDITIONS.into(), Value::list(timed));
        }
        Ok(status)
    }

    /// Whether the object has the status already, times apart.
    pub(crate) fn holds(&self) -> bool {
        let live = self.object.get("status").unwrap_or(&Value::Null);
        self.evaluated(ANY_TIME)
            .is_ok_and(|status| contains(live, &Value::Map(std::sync::Arc::new(status))))
    }

    fn evaluated(&self, time: &str) -> Result<Map, String> {
        let Some(step) = self.script.steps.get(self.step) else {
            return Ok(Map::new());
        };
        let digest = digest(self.script, self.object, self.run);
        let mut values = with_defaults(self.object, &self.script.defaults);
        if let Value::Map(entries) = &mut values {
            let facts = Value::map([
                (
                    "run",
                    Value::Int(i64::try_from(self.run).unwrap_or(i64::MAX)),
                ),
                ("digest", Value::text(digest.as_str())),
                ("commit", Value::text(digest.get(..40).unwrap_or_default())),
                ("time", Value::text(time)),
            ]);
            std::sync::Arc::make_mut(entries).insert(Name::from("script"), facts);
        }
        let context = TemplateContext::of_values(values);
        let status = evaluate(&step.status, &context).map_err(|failures| {
            let messages: Vec<String> = failures.into_iter().map(|one| one.message).collect();
            messages.join("; ")
        })?;
        let mut status = status.as_map().cloned().unwrap_or_default();
        let is_last = self.step + 1 == self.script.steps.len();
        if let (true, Some(result)) = (is_last, self.script.runs.get(&self.run)) {
            end_as(&mut status, result);
        }
        Ok(status)
    }
}

/// The digest of the values that make a run what it is, as 64 hexadecimal digits.
pub(crate) fn digest(script: &Script, object: &Value, run: u64) -> String {
    let mut hash = Sha256::new();
    for input in &script.inputs {
        let value = input.find(object).unwrap_or_default();
        // A value of the API can always be written as JSON; one that cannot counts as nothing.
        let text = jsonpath::json_text(&value).unwrap_or_default();
        hash.update(text.as_bytes());
        hash.update([0]);
    }
    // Runs that follow one another by themselves have the same inputs and differ in their results.
    if script.every.is_some() {
        hash.update(run.to_be_bytes());
    }
    let digits = hash.finalize();
    digits.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Puts the condition of a result in the place of the one with its type.
fn end_as(status: &mut Map, result: &RunResult) {
    let mut condition = Map::new();
    condition.insert("type".into(), Value::Text(result.condition.clone()));
    condition.insert("status".into(), Value::Text(result.status.clone()));
    condition.insert("reason".into(), Value::Text(result.reason.clone()));
    condition.insert("message".into(), Value::Text(result.message.clone()));
    let condition = Value::Map(std::sync::Arc::new(condition));
    let written = status.get(CONDITIONS).and_then(Value::as_list);
    let mut conditions: Vec<Value> = written.unwrap_or_default().to_vec();
    let same = conditions
        .iter_mut()
        .find(|one| one.get("type").and_then(Value::as_text) == Some(result.condition.as_ref()));
    match same {
        Some(place) => *place = condition,
        None => conditions.push(condition),
    }
    status.insert(CONDITIONS.into(), Value::list(conditions));
}

/// The condition with the time of its last change, unless it states one.
fn with_time(condition: &Value, before: &[Value], time: &str) -> Value {
    let Some(entries) = condition.as_map() else {
        return condition.clone();
    };
    if entries.contains_key(TRANSITION) {
        return condition.clone();
    }
    let earlier = before.iter().find(|one| {
        one.get("type") == condition.get("type") && one.get("status") == condition.get("status")
    });
    let kept = earlier.and_then(|one| one.get(TRANSITION)).cloned();
    let mut entries = entries.clone();
    entries.insert(TRANSITION.into(), kept.unwrap_or_else(|| Value::text(time)));
    Value::Map(std::sync::Arc::new(entries))
}

/// Whether a value has all that is wanted: further entries of maps do not matter.
fn contains(live: &Value, wanted: &Value) -> bool {
    match (live, wanted) {
        (Value::Map(live), Value::Map(wanted)) => wanted.iter().all(|(name, wanted)| {
            // A merge patch removes what is null.
            live.get(name)
                .map_or(wanted.is_null(), |live| contains(live, wanted))
        }),
        (Value::List(live), Value::List(wanted)) => {
            let pairs = live.iter().zip(wanted.iter());
            live.len() == wanted.len()
                && pairs
                    .into_iter()
                    .all(|(live, wanted)| contains(live, wanted))
        }
        (live, Value::Text(wanted)) if wanted.as_ref() == ANY_TIME => live.as_text().is_some(),
        _ => live == wanted,
    }
}
