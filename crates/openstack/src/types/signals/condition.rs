//! What waits for signals: `OS::Heat::WaitCondition`, `AWS::CloudFormation::WaitCondition`,
//! `OS::Heat::SwiftSignal`. A condition exists in the state alone.

use ::provider::{
    Applied, ApplyRequest, BoxFuture, ErrorKind, Observed, ProviderError, ReadOutcome, ReadRequest,
    Readiness, Ready, ResourceType,
};
use blueprint::{Map, Value};

use super::SignalObject;
use super::handle::WITHOUT_SIGNALS;
use super::received::{ReceivedSignals, SignalForm, SignalVerdict};
use crate::managed::{CloudCall, Handler};

/// The entry of the private data with the second at which the wait ends.
const DEADLINE: &str = "deadline";

/// A type of conditions.
#[derive(Debug)]
pub(super) struct Condition {
    name: &'static str,
    form: SignalForm,
    /// The names of its properties and of its attribute.
    names: ConditionNames,
}

#[derive(Debug)]
struct ConditionNames {
    handle: &'static str,
    timeout: &'static str,
    count: &'static str,
    data: &'static str,
}

const LOWER_CASE: ConditionNames = ConditionNames {
    handle: "handle",
    timeout: "timeout",
    count: "count",
    data: "data",
};

pub(super) static HEAT: Condition = Condition {
    name: "OS::Heat::WaitCondition",
    form: SignalForm::Heat,
    names: LOWER_CASE,
};

pub(super) static SWIFT: Condition = Condition {
    name: "OS::Heat::SwiftSignal",
    form: SignalForm::Swift,
    names: LOWER_CASE,
};

pub(super) static CLOUD_FORMATION: Condition = Condition {
    name: "AWS::CloudFormation::WaitCondition",
    form: SignalForm::CloudFormation,
    names: ConditionNames {
        handle: "Handle",
        timeout: "Timeout",
        count: "Count",
        data: "Data",
    },
};

/// The signals of a condition, as far as they are there.
enum SignalState {
    Received(ReceivedSignals),
    /// They can never be received, for this reason.
    Lost(String),
}

impl Condition {
    /// The number of signals that a condition waits for.
    fn count(&self, spec: &Value) -> usize {
        let count = spec.get(self.names.count).and_then(Value::as_int);
        let count = count.and_then(|count| usize::try_from(count).ok());
        count.unwrap_or(1).max(1)
    }

    /// The number of seconds that a condition waits.
    fn seconds(&self, spec: &Value) -> f64 {
        match spec.get(self.names.timeout).map(Value::unmarked) {
            Some(Value::Int(seconds)) => *seconds as f64,
            Some(Value::Float(seconds)) => *seconds,
            _ => 0.0,
        }
    }

    /// The form of the signals of a handle. `OS::Heat::UpdateWaitConditionHandle` has that of
    /// CloudFormation, and each reference to it is a URL.
    fn form_of(&self, handle: &str) -> SignalForm {
        match self.form {
            SignalForm::Heat if handle.starts_with("http") => SignalForm::CloudFormation,
            form => form,
        }
    }

    async fn state(&self, on: CloudCall<'_>, spec: &Value) -> Result<SignalState, ProviderError> {
        let handle = spec.get(self.names.handle).map(Value::revealed);
        let handle = handle.as_ref().and_then(Value::as_text).unwrap_or_default();
        if handle.ends_with(WITHOUT_SIGNALS) {
            let received = ReceivedSignals::none_awaited(self.count(spec));
            return Ok(SignalState::Received(received));
        }
        let object = SignalObject::named(on, handle).ok_or_else(|| self.no_handle())?;
        let Some(signals) = object.signals(on).await? else {
            let message = "the handle was deleted, and its signals with it";
            return Ok(SignalState::Lost(message.to_owned()));
        };
        Ok(
            match ReceivedSignals::read(self.form_of(handle), &signals) {
                Ok(received) => SignalState::Received(received),
                Err(reason) => SignalState::Lost(reason),
            },
        )
    }

    fn no_handle(&self) -> ProviderError {
        let message = "this is neither the id nor the URL of a handle of this project";
        ProviderError::new(ErrorKind::Document, message).at(self.names.handle)
    }

    /// The fields of a condition with these data.
    fn fields(&self, id: &str, spec: &Value, data: Value) -> Value {
        let mut fields: Map = spec.as_map().cloned().unwrap_or_default();
        fields.insert(self.names.data.into(), data);
        fields.insert("id".into(), Value::text(id));
        fields.insert("show".into(), Value::Null);
        Value::Map(fields.into())
    }

    /// Begins to wait.
    async fn begin(
        &self,
        on: CloudCall<'_>,
        request: &ApplyRequest<'_>,
    ) -> Result<Applied, ProviderError> {
        let spec = request.desired;
        // A handle that does not exist is an error now, not after the wait.
        let data = match self.state(on, spec).await? {
            SignalState::Received(received) => Value::from(received.data()),
            SignalState::Lost(_) => Value::Null,
        };
        let id = match request.id.filter(|id| !id.is_empty()) {
            Some(id) => id.to_owned(),
            None => on.physical_name(&on.call.token).to_string(),
        };
        let seconds = self.seconds(spec).ceil() as i64;
        let deadline = on.call.now.saturating_add(seconds);
        Ok(Applied {
            ready: Ready::Pending,
            private: Value::map([(DEADLINE, Value::Int(deadline))]),
            ..Applied::ready(id.as_str(), self.fields(&id, spec, data))
        })
    }

    async fn poll_signals(
        &self,
        on: CloudCall<'_>,
        request: ReadRequest<'_>,
    ) -> Result<Readiness, ProviderError> {
        let spec = request.inputs;
        let received = match self.state(on, spec).await? {
            SignalState::Received(received) => received,
            SignalState::Lost(reason) => return Ok(Readiness::Broken(vec![reason.into()])),
        };
        let count = self.count(spec);
        let deadline = request.private.get(DEADLINE).and_then(Value::as_int);
        let is_over = deadline.is_some_and(|deadline| on.call.now > deadline);
        let progress = || received.progress(count);
        Ok(match received.verdict(count) {
            SignalVerdict::Enough => {
                let id = request.id.unwrap_or_default();
                Readiness::Ready(self.fields(id, spec, Value::from(received.data())))
            }
            SignalVerdict::Failed(reasons) => Readiness::Broken(vec![reasons.into()]),
            SignalVerdict::Waiting if is_over => {
                let reason = format!("{} in {} s", progress(), self.seconds(spec));
                Readiness::Broken(vec![reason.into()])
            }
            SignalVerdict::Waiting => Readiness::NotYet {
                why: Some(progress().into()),
                fields: Value::Null,
            },
        })
    }
}

impl Handler for Condition {
    fn type_name(&self) -> &'static str {
        self.name
    }

    fn adjust(&self, ty: &mut ResourceType) {
        ty.capabilities.finds = true;
        ty.capabilities.imports = false;
        ty.ready_within = Some(self.names.timeout.into());
    }

    fn create<'a>(
        &'a self,
        on: CloudCall<'a>,
        request: &'a ApplyRequest<'a>,
    ) -> BoxFuture<'a, Result<Applied, ProviderError>> {
        Box::pin(self.begin(on, request))
    }

    /// Waits again: for more signals, or after a failure.
    fn update<'a>(
        &'a self,
        on: CloudCall<'a>,
        request: &'a ApplyRequest<'a>,
    ) -> BoxFuture<'a, Result<Applied, ProviderError>> {
        Box::pin(self.begin(on, request))
    }

    fn delete<'a>(
        &'a self,
        _on: CloudCall<'a>,
        _request: &'a ApplyRequest<'a>,
    ) -> BoxFuture<'a, Result<(), ProviderError>> {
        Box::pin(std::future::ready(Ok(())))
    }

    /// Returns the record. A condition without one does not exist, so its create is repeated.
    fn read<'a>(
        &'a self,
        _on: CloudCall<'a>,
        request: ReadRequest<'a>,
    ) -> BoxFuture<'a, Result<ReadOutcome, ProviderError>> {
        let id = request.id.filter(|id| !id.is_empty());
        let read = match id.filter(|_| !request.outputs.is_null()) {
            None => ReadOutcome::Absent,
            Some(id) => ReadOutcome::Present(Observed {
                id: id.into(),
                fields: request.outputs.clone(),
                private: request.private.clone(),
                ..Observed::default()
            }),
        };
        Box::pin(std::future::ready(Ok(read)))
    }

    fn poll<'a>(
        &'a self,
        on: CloudCall<'a>,
        request: ReadRequest<'a>,
    ) -> BoxFuture<'a, Result<Readiness, ProviderError>> {
        Box::pin(self.poll_signals(on, request))
    }
}
