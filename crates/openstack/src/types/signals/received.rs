//! What received signals say: whether enough came, whether one reports a failure, and their data.
//!
//! A signal is a JSON object with a status, a reason, data and an id. A later signal with the id of
//! an earlier one takes its place. The rules are those of Heat's handles.
//!
//! Not here: where the signals come from (`signal_object`).

use ::provider::json::from_json;
use bytes::Bytes;
use serde_json::{Value as Json, json};

use crate::managed::JsonMap;

/// Who defines the form of signals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SignalForm {
    /// `OS::Heat::WaitConditionHandle`: lower-case keys, each of which may be missing.
    Heat,
    /// `AWS::CloudFormation::WaitConditionHandle`: all four keys, which begin with capitals.
    CloudFormation,
    /// `OS::Heat::SwiftSignalHandle`: as Heat, and other keys are allowed.
    Swift,
}

impl SignalForm {
    /// The names of the data, the reason, the status and the id.
    fn keys(self) -> [&'static str; 4] {
        match self {
            SignalForm::Heat | SignalForm::Swift => ["data", "reason", "status", "id"],
            SignalForm::CloudFormation => ["Data", "Reason", "Status", "UniqueId"],
        }
    }
}

/// A signal, complete.
#[derive(Clone, Debug, PartialEq)]
struct Signal {
    id: String,
    data: Json,
    reason: String,
    succeeded: bool,
}

/// The signals that count, in their order.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct ReceivedSignals(Vec<Signal>);

/// What the signals mean for a condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum SignalVerdict {
    Enough,
    /// A guest reports a failure, with these reasons.
    Failed(String),
    Waiting,
}

impl ReceivedSignals {
    /// Reads signals in the order in which they came.
    ///
    /// # Errors
    /// The reason why a signal is none.
    pub(super) fn read(form: SignalForm, bodies: &[Bytes]) -> Result<ReceivedSignals, String> {
        let mut received = ReceivedSignals::default();
        for (before, body) in bodies.iter().enumerate() {
            received.add(form, before, body)?;
        }
        Ok(received)
    }

    /// The signals of a handle without signals: as many as are awaited.
    pub(super) fn none_awaited(count: usize) -> ReceivedSignals {
        let signal = |number: usize| Signal {
            id: number.to_string(),
            data: Json::Null,
            reason: format!("Signal {number} received"),
            succeeded: true,
        };
        ReceivedSignals((1..=count).map(signal).collect())
    }

    /// Adds the signal that came after `before` others.
    fn add(&mut self, form: SignalForm, before: usize, body: &[u8]) -> Result<(), String> {
        let parsed = match body.is_empty() {
            true => json!({}),
            false => serde_json::from_slice(body).map_err(|_| "a signal is no JSON".to_owned())?,
        };
        let entries = match parsed {
            Json::Object(entries) => entries,
            // Heat ignores such a signal of CloudFormation.
            Json::Null if form == SignalForm::CloudFormation => return Ok(()),
            Json::Null => JsonMap::new(),
            _ => return Err("a signal is no JSON object".to_owned()),
        };
        let number = match form {
            SignalForm::Swift => before + 1,
            SignalForm::Heat | SignalForm::CloudFormation => self.0.len() + 1,
        };
        let signal = signal_of(form, &entries, number)?;
        let same = self.0.iter().position(|it| it.id == signal.id);
        match (same, form) {
            (Some(at), SignalForm::Swift) => {
                self.0.remove(at);
                self.0.push(signal);
            }
            (Some(at), SignalForm::Heat | SignalForm::CloudFormation) => self.0[at] = signal,
            (None, _) => self.0.push(signal),
        }
        Ok(())
    }

    /// What the signals mean for a condition that waits for this number of them.
    pub(super) fn verdict(&self, count: usize) -> SignalVerdict {
        let failed: Vec<&str> = self.reasons(false).collect();
        if self.0.iter().any(|signal| !signal.succeeded) {
            return SignalVerdict::Failed(failed.join("; "));
        }
        match self.0.len() >= count {
            true => SignalVerdict::Enough,
            false => SignalVerdict::Waiting,
        }
    }

    fn reasons(&self, succeeded: bool) -> impl Iterator<Item = &str> {
        let signals = self.0.iter().filter(move |it| it.succeeded == succeeded);
        signals.map(|signal| signal.reason.as_str())
    }

    /// How many signals came, for people.
    pub(super) fn progress(&self, count: usize) -> String {
        let reasons: Vec<&str> = self.reasons(true).collect();
        let number = self.0.len();
        match reasons.is_empty() {
            true => format!("{number} of {count} signals received"),
            false => format!(
                "{number} of {count} signals received: {}",
                reasons.join("; ")
            ),
        }
    }

    /// The data of each signal by its id, as JSON that Python writes.
    pub(super) fn data(&self) -> String {
        let entries = self.0.iter();
        let entries = entries.map(|signal| (signal.id.clone(), signal.data.clone()));
        let data = Json::Object(entries.collect());
        pycompat::json_in_order(&from_json(&data))
    }
}

/// A signal with the defaults of its form. `number` is that of the signal.
fn signal_of(form: SignalForm, entries: &JsonMap, number: usize) -> Result<Signal, String> {
    let keys = form.keys();
    let is_known = |key: &String| keys.contains(&key.as_str());
    if form != SignalForm::Swift && !entries.keys().all(is_known) {
        let message = format!("a signal has other keys than {}", keys.join(", "));
        return Err(message);
    }
    if form == SignalForm::CloudFormation && entries.len() < keys.len() {
        let message = format!("a signal has not all of the keys {}", keys.join(", "));
        return Err(message);
    }
    let [data, reason, status, id] = keys.map(|key| entries.get(key));
    let succeeded = match status {
        None => true,
        Some(status) if status == "SUCCESS" => true,
        Some(status) if status == "FAILURE" => false,
        Some(_) => return Err("the status of a signal is neither SUCCESS nor FAILURE".to_owned()),
    };
    let text = |value: &Json| pycompat::text(&from_json(value));
    let id = id.map_or_else(|| number.to_string(), text);
    // Heat counts the signals; only `SwiftSignal` names the id.
    let named = match form {
        SignalForm::Swift => id.clone(),
        SignalForm::Heat | SignalForm::CloudFormation => number.to_string(),
    };
    Ok(Signal {
        data: data.cloned().unwrap_or_default(),
        reason: reason.map_or_else(|| format!("Signal {named} received"), text),
        id,
        succeeded,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(form: SignalForm, bodies: &[&'static str]) -> Result<ReceivedSignals, String> {
        let bodies: Vec<Bytes> = bodies
            .iter()
            .map(|it| Bytes::from_static(it.as_bytes()))
            .collect();
        ReceivedSignals::read(form, &bodies)
    }

    #[test]
    fn missing_parts_of_a_signal_have_defaults() {
        let received = read(SignalForm::Heat, &["", r#"{"data": {"a": [1, "é"]}}"#]).unwrap();
        assert_eq!(received.verdict(2), SignalVerdict::Enough);
        assert_eq!(received.verdict(3), SignalVerdict::Waiting);
        assert_eq!(received.data(), r#"{"1": null, "2": {"a": [1, "\u00e9"]}}"#);
        let expected = "2 of 3 signals received: Signal 1 received; Signal 2 received";
        assert_eq!(received.progress(3), expected);
        let nothing = ReceivedSignals::default();
        assert_eq!(nothing.progress(1), "0 of 1 signals received");
        assert_eq!(nothing.data(), "{}");
    }

    #[test]
    fn a_later_signal_takes_the_place_of_one_with_the_same_id() {
        let bodies = [
            r#"{"id": "a", "data": 1, "status": "FAILURE", "reason": "no disk"}"#,
            r#"{"id": "b"}"#,
            r#"{"id": "a", "data": 2}"#,
        ];
        let failed = read(SignalForm::Heat, &bodies[..2]).unwrap();
        assert_eq!(
            failed.verdict(2),
            SignalVerdict::Failed("no disk".to_owned())
        );
        let heat = read(SignalForm::Heat, &bodies).unwrap();
        assert_eq!(heat.verdict(2), SignalVerdict::Enough);
        assert_eq!(heat.data(), r#"{"a": 2, "b": null}"#);
        let swift = read(SignalForm::Swift, &bodies).unwrap();
        assert_eq!(swift.data(), r#"{"b": null, "a": 2}"#);
    }

    #[test]
    fn signals_of_another_form_are_refused() {
        for (form, body) in [
            (SignalForm::Heat, "no json"),
            (SignalForm::Heat, "[1]"),
            (SignalForm::Heat, r#"{"status": "DONE"}"#),
            (SignalForm::Heat, r#"{"Status": "SUCCESS"}"#),
            (SignalForm::CloudFormation, "{}"),
            (SignalForm::Swift, r#"{"status": "DONE"}"#),
        ] {
            assert!(read(form, &[body]).is_err(), "{form:?} {body}");
        }
        let complete = r#"{"Status": "SUCCESS", "Reason": "up", "UniqueId": 7, "Data": "x"}"#;
        let received = read(SignalForm::CloudFormation, &[complete, "null"]).unwrap();
        assert_eq!(received.data(), r#"{"7": "x"}"#);
        let more = read(SignalForm::Swift, &[r#"{"more": 1}"#]).unwrap();
        assert_eq!(more.verdict(1), SignalVerdict::Enough);
    }

    #[test]
    fn a_handle_without_signals_has_all_of_them() {
        let received = ReceivedSignals::none_awaited(2);
        assert_eq!(received.verdict(2), SignalVerdict::Enough);
        assert_eq!(received.data(), r#"{"1": null, "2": null}"#);
    }
}
