//! Judges objects by the rules for readiness that their documents state
//! (decisions/apply#rules-for-readiness).

use std::sync::Arc;

use blueprint::{Name, Value};

use super::Evaluation;

/// The verdict of a rule about an object.
#[derive(Clone, Debug, PartialEq)]
pub enum RuledReadiness {
    /// The object is ready.
    Ready,
    /// The object is not ready. Holds what it waits for, as a phrase.
    NotYet(Name),
}

impl Evaluation {
    /// The verdict about an object by the rule of its resource; `None` if the document states none.
    /// `resource` is the number of the resource, `spec` what was sent, and `outputs` what the provider
    /// answered, which takes precedence.
    pub fn ruled_readiness(
        &self,
        resource: u32,
        spec: &Value,
        outputs: &Value,
    ) -> Option<RuledReadiness> {
        let (unit, _, resource) = self.documents.resource(resource)?;
        let rule = resource.readiness.as_deref()?;
        let dialect = self.documents.unit(unit).blueprint().dialect;
        let function = self.functions.of(dialect).get(&rule.function)?;
        let native = function.native.as_ref()?;
        let verdict = native.call(&[
            rule.rule.clone(),
            all_fields(spec, outputs),
            Value::Bool(self.simulated),
        ]);
        Some(match verdict {
            Ok(Value::Null) => RuledReadiness::Ready,
            Ok(verdict) => {
                let why = verdict
                    .unmarked()
                    .as_text()
                    .unwrap_or("its fields are not known");
                RuledReadiness::NotYet(why.into())
            }
            Err(refusal) => RuledReadiness::NotYet(refusal.message.into()),
        })
    }
}

fn all_fields(spec: &Value, outputs: &Value) -> Value {
    let mut all = spec.as_map().cloned().unwrap_or_default();
    let answered = outputs.as_map().into_iter().flat_map(|map| map.iter());
    for (name, value) in answered.filter(|(_, value)| !value.is_null()) {
        all.insert(name.clone(), value.clone());
    }
    Value::Map(Arc::new(all))
}
