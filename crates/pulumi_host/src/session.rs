//! A configured plugin: the calls about resources, and the interpretation of their answers.

use std::time::Duration;

use blueprint::{Address, Name, Value};
use plugins::grpc::CallError;
use prost::Message;
use prost_types::Struct;
use pulumi_wire::{
    Encoding, Lookups, Phase, PropertyPath, RequestPart, UNKNOWN_TEXT, encode, mark_every_entry,
    mark_like_inputs, restore_content,
};

use crate::answer::{
    CheckAnswer, Diff, DiffDecider, PluginCapabilities, decode_answer, diff_of, failures,
};
use crate::caller::Caller;
use crate::failure::{AnswerProblem, CallFailure, PropertyFailure};
use crate::messages::{
    AutonamingOptions, CheckRequest, CheckResponse, CreateRequest, CreateResponse, DeleteRequest,
    DiffRequest, Empty, ErrorResourceInitFailed, InvokeRequest, InvokeResponse, ReadRequest,
    ReadResponse, UpdateRequest, UpdateResponse, method,
};

/// The resource that a call is about, and the data for the conversion of its values.
#[derive(Clone, Copy)]
pub struct CallTarget<'a> {
    /// The URN of the resource.
    pub urn: &'a str,
    /// The token of its type.
    pub type_name: &'a str,
    /// The name of the resource in the URN.
    pub name: &'a str,
    /// Whether the call is for a plan. Create and Update are then previews.
    pub phase: Phase,
    /// The resource that unknown values of an answer wait for.
    pub address: Option<&'a Address>,
    /// Facts about resources and files.
    pub lookups: &'a dyn Lookups,
}

/// The way in which a plugin names a resource without a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Autonaming<'a> {
    /// A proposal.
    Propose(&'a str),
    /// Exactly this name.
    Enforce(&'a str),
    /// No name is generated.
    Disable,
}

/// The recorded data of a resource.
#[derive(Clone, Copy, Debug)]
pub struct RecordedResource<'a> {
    /// The id.
    pub id: &'a str,
    /// The inputs as the plugin checked them; null if there are none.
    pub inputs: &'a Value,
    /// The outputs as the plugin returned them; null if there are none.
    pub outputs: &'a Value,
}

/// The desired state of a resource.
#[derive(Clone, Copy, Debug)]
pub struct Desired<'a> {
    /// The inputs as the plugin checked them.
    pub inputs: &'a Value,
    /// The properties whose changes are ignored. The plugin receives these paths; the caller has
    /// put in the old values.
    pub ignored: &'a [PropertyPath],
    /// The time limit, if there is one.
    pub timeout: Option<Duration>,
}

/// The answer of a create.
#[derive(Clone, Debug, PartialEq)]
pub struct Created {
    /// The id; `None` in a preview if the plugin does not know it.
    pub id: Option<Name>,
    /// The outputs: a map.
    pub outputs: Value,
    /// The inputs, if the plugin returns them for a resource that is not healthy.
    pub inputs: Option<Value>,
    /// The reasons why the resource exists but is not healthy. Empty if it is healthy.
    pub problems: Vec<String>,
    /// Whether the resource must be read before it is compared again.
    pub refresh_before_update: bool,
}

/// The answer of an update.
#[derive(Clone, Debug, PartialEq)]
pub struct Updated {
    /// The outputs: a map.
    pub outputs: Value,
    /// The inputs, if the plugin returns them for a resource that is not healthy.
    pub inputs: Option<Value>,
    /// The reasons why the resource exists but is not healthy. Empty if it is healthy.
    pub problems: Vec<String>,
    /// Whether the resource must be read before it is compared again.
    pub refresh_before_update: bool,
}

/// The answer of a read.
#[derive(Clone, Debug, PartialEq)]
pub enum ReadResult {
    /// The resource does not exist.
    Absent,
    /// The resource exists.
    Present {
        /// The id.
        id: Name,
        /// The outputs: a map.
        outputs: Value,
        /// The inputs that would create the resource, if the plugin knows them.
        inputs: Option<Value>,
        /// The reasons why the resource exists but is not healthy. Empty if it is healthy.
        problems: Vec<String>,
        /// Whether the resource must be read before it is compared again.
        refresh_before_update: bool,
    },
    /// The plugin was not asked, because the settings of the provider are unknown.
    Unknown,
}

/// The answer of a function.
#[derive(Clone, Debug, PartialEq)]
pub struct Invoked {
    /// The result: a map, or an unknown value if the function was not called because arguments or
    /// settings are unknown.
    pub result: Value,
    /// The refused arguments.
    pub failures: Vec<PropertyFailure>,
}

/// A configured plugin, or one for a plan whose settings are unknown. Clones use the same
/// connection.
#[derive(Clone)]
pub struct PluginSession {
    caller: Caller,
    capabilities: PluginCapabilities,
    configured: bool,
}

impl PluginSession {
    pub(crate) fn new(
        caller: Caller,
        capabilities: PluginCapabilities,
        configured: bool,
    ) -> PluginSession {
        PluginSession {
            caller,
            capabilities,
            configured,
        }
    }

    /// The capabilities of the plugin.
    pub fn capabilities(&self) -> PluginCapabilities {
        self.capabilities
    }

    /// Whether the plugin has its settings. Without settings, the plugin is not called, and nothing
    /// may be changed.
    pub fn is_configured(&self) -> bool {
        self.configured
    }

    /// Checks inputs and fills in defaults. `olds` are the previous inputs, or null for a resource
    /// that is created. The same `seed` leads to the same generated names.
    ///
    /// # Errors
    /// If the call fails. Refused properties are not an error.
    pub async fn check(
        &self,
        target: &CallTarget<'_>,
        olds: &Value,
        news: &Value,
        seed: &[u8],
        autonaming: Option<Autonaming<'_>>,
    ) -> Result<CheckAnswer, CallFailure> {
        if !self.configured {
            return Ok(CheckAnswer::unchanged(news));
        }
        let encoding = self.encoding(RequestPart::Check, target);
        let request = CheckRequest {
            urn: target.urn.to_owned(),
            // Plugins require the old inputs in this call.
            olds: Some(encode(olds, &encoding)?.unwrap_or_default()),
            news: encode(news, &encoding)?,
            random_seed: seed.to_vec(),
            name: target.name.to_owned(),
            r#type: target.type_name.to_owned(),
            autonaming: autonaming
                .filter(|_| self.capabilities.autonaming)
                .map(options),
        };
        let answer: CheckResponse = self.caller.call(method::CHECK, request).await?;
        let failures = failures(answer.failures);
        let inputs = match answer.inputs {
            Some(inputs) => self.marked(self.decoded(inputs, target, None)?, news),
            None if failures.is_empty() => Value::map::<Name>([]),
            None => news.clone(),
        };
        Ok(CheckAnswer { inputs, failures })
    }

    /// Compares a resource with checked inputs.
    ///
    /// # Errors
    /// If the call fails.
    pub async fn diff(
        &self,
        target: &CallTarget<'_>,
        recorded: &RecordedResource<'_>,
        desired: &Desired<'_>,
    ) -> Result<Diff, CallFailure> {
        if !self.configured {
            return Ok(Diff {
                changed: true,
                decided: DiffDecider::Nothing,
                ..Diff::none()
            });
        }
        let encoding = self.encoding(RequestPart::Diff, target);
        let request = DiffRequest {
            id: recorded.id.to_owned(),
            urn: target.urn.to_owned(),
            olds: encode(recorded.outputs, &encoding)?,
            news: encode(desired.inputs, &encoding)?,
            ignore_changes: texts(desired.ignored),
            old_inputs: encode(recorded.inputs, &encoding)?,
            name: target.name.to_owned(),
            r#type: target.type_name.to_owned(),
        };
        let answer = self.caller.call(method::DIFF, request).await?;
        Ok(diff_of(
            answer,
            recorded.inputs,
            desired.inputs,
            desired.ignored,
        ))
    }

    /// Creates a resource, or previews the create while planning.
    ///
    /// # Errors
    /// If the call fails. A resource that exists but is not healthy is not an error.
    pub async fn create(
        &self,
        target: &CallTarget<'_>,
        desired: &Desired<'_>,
    ) -> Result<Created, CallFailure> {
        let preview = target.phase == Phase::Planning;
        if let Some(outputs) = self.without_preview(target, desired)? {
            return Ok(Created {
                id: None,
                outputs,
                inputs: None,
                problems: Vec::new(),
                refresh_before_update: false,
            });
        }
        let request = CreateRequest {
            urn: target.urn.to_owned(),
            properties: encode(desired.inputs, &self.encoding(RequestPart::Desired, target))?,
            timeout: seconds(desired.timeout),
            preview,
            name: target.name.to_owned(),
            r#type: target.type_name.to_owned(),
        };
        let sent = self
            .call::<_, CreateResponse>(method::CREATE, request)
            .await?;
        let (id, properties, inputs, problems, refresh_before_update) = match sent {
            CallOutcome::Done(answer) => (
                answer.id,
                answer.properties,
                None,
                Vec::new(),
                answer.refresh_before_update,
            ),
            CallOutcome::Unhealthy(failed) => (
                failed.id,
                failed.properties,
                failed.inputs,
                failed.reasons,
                failed.refresh_before_update,
            ),
        };
        let id =
            Some(Name::from(id)).filter(|id| !id.is_empty() && (!preview || **id != *UNKNOWN_TEXT));
        if id.is_none() && !preview {
            return Err(CallFailure::Answer {
                problem: AnswerProblem::NoId,
                id: None,
            });
        }
        let outputs = self.decoded(properties.unwrap_or_default(), target, id.clone())?;
        let inputs = inputs
            .map(|inputs| self.decoded(inputs, target, id.clone()))
            .transpose()?;
        Ok(Created {
            id,
            outputs: self.marked(outputs, desired.inputs),
            inputs: inputs.map(|inputs| self.marked(inputs, desired.inputs)),
            problems,
            refresh_before_update,
        })
    }

    /// Updates a resource, or previews the update while planning.
    ///
    /// # Errors
    /// If the call fails. A resource that is not healthy afterwards is not an error.
    pub async fn update(
        &self,
        target: &CallTarget<'_>,
        recorded: &RecordedResource<'_>,
        desired: &Desired<'_>,
    ) -> Result<Updated, CallFailure> {
        if let Some(outputs) = self.without_preview(target, desired)? {
            return Ok(Updated {
                outputs,
                inputs: None,
                problems: Vec::new(),
                refresh_before_update: false,
            });
        }
        let old = self.recorded_encoding(target);
        let request = UpdateRequest {
            id: recorded.id.to_owned(),
            urn: target.urn.to_owned(),
            olds: encode(recorded.outputs, &old)?,
            news: encode(desired.inputs, &self.encoding(RequestPart::Desired, target))?,
            timeout: seconds(desired.timeout),
            ignore_changes: texts(desired.ignored),
            preview: target.phase == Phase::Planning,
            old_inputs: encode(recorded.inputs, &old)?,
            name: target.name.to_owned(),
            r#type: target.type_name.to_owned(),
        };
        let sent = self
            .call::<_, UpdateResponse>(method::UPDATE, request)
            .await?;
        let (properties, inputs, problems, refresh_before_update) = match sent {
            CallOutcome::Done(answer) => (
                answer.properties,
                None,
                Vec::new(),
                answer.refresh_before_update,
            ),
            CallOutcome::Unhealthy(failed) => (
                failed.properties,
                failed.inputs,
                failed.reasons,
                failed.refresh_before_update,
            ),
        };
        let outputs = self.decoded(properties.unwrap_or_default(), target, None)?;
        let inputs = inputs
            .map(|inputs| self.decoded(inputs, target, None))
            .transpose()?;
        Ok(Updated {
            outputs: self.marked(outputs, desired.inputs),
            inputs: inputs.map(|inputs| self.marked(inputs, desired.inputs)),
            problems,
            refresh_before_update,
        })
    }

    /// Reads a resource. For an import the recorded inputs and outputs are null.
    ///
    /// # Errors
    /// If the call fails. A resource that does not exist, or is not healthy, is not an error.
    pub async fn read(
        &self,
        target: &CallTarget<'_>,
        recorded: &RecordedResource<'_>,
        timeout: Option<Duration>,
    ) -> Result<ReadResult, CallFailure> {
        if !self.configured {
            return Ok(ReadResult::Unknown);
        }
        let encoding = self.recorded_encoding(target);
        let request = ReadRequest {
            id: recorded.id.to_owned(),
            urn: target.urn.to_owned(),
            properties: encode(recorded.outputs, &encoding)?,
            inputs: encode(recorded.inputs, &encoding)?,
            name: target.name.to_owned(),
            r#type: target.type_name.to_owned(),
            timeout: seconds(timeout),
        };
        let sent = self.call::<_, ReadResponse>(method::READ, request).await?;
        let (id, properties, inputs, problems, refresh_before_update) = match sent {
            CallOutcome::Done(answer) => (
                answer.id,
                answer.properties,
                answer.inputs,
                Vec::new(),
                answer.refresh_before_update,
            ),
            CallOutcome::Unhealthy(failed) => (
                failed.id,
                failed.properties,
                failed.inputs,
                failed.reasons,
                failed.refresh_before_update,
            ),
        };
        if id.is_empty() {
            return Ok(ReadResult::Absent);
        }
        // An existing resource is fully known, also while planning.
        let target = &CallTarget {
            phase: Phase::Applying,
            ..*target
        };
        let id = Name::from(id);
        let known = [recorded.inputs, recorded.outputs];
        let whole = |answer: Struct| -> Result<Value, CallFailure> {
            Ok(restore_content(
                self.decoded(answer, target, Some(id.clone()))?,
                &known,
            ))
        };
        let outputs = self.marked(whole(properties.unwrap_or_default())?, recorded.outputs);
        let inputs = inputs
            .map(whole)
            .transpose()?
            .map(|inputs| self.marked(inputs, recorded.inputs));
        let outputs = self.marked(outputs, recorded.inputs);
        Ok(ReadResult::Present {
            id,
            outputs,
            inputs,
            problems,
            refresh_before_update,
        })
    }

    /// Deletes a resource. Most plugins treat the delete of a missing resource as successful.
    ///
    /// # Errors
    /// If the call fails.
    pub async fn delete(
        &self,
        target: &CallTarget<'_>,
        recorded: &RecordedResource<'_>,
        timeout: Option<Duration>,
    ) -> Result<(), CallFailure> {
        self.must_be_configured()?;
        let encoding = self.recorded_encoding(target);
        let request = DeleteRequest {
            id: recorded.id.to_owned(),
            urn: target.urn.to_owned(),
            properties: encode(recorded.outputs, &encoding)?,
            timeout: seconds(timeout),
            old_inputs: encode(recorded.inputs, &encoding)?,
            name: target.name.to_owned(),
            r#type: target.type_name.to_owned(),
        };
        self.caller
            .call::<_, Empty>(method::DELETE, request)
            .await
            .map(|_| ())
    }

    /// Calls a function. While planning, the function is not called if its arguments or the
    /// settings are unknown.
    ///
    /// # Errors
    /// If the call fails. Refused arguments are not an error.
    pub async fn invoke(
        &self,
        token: &str,
        arguments: &Value,
        phase: Phase,
        lookups: &dyn Lookups,
    ) -> Result<Invoked, CallFailure> {
        let planning = phase == Phase::Planning;
        if planning && (!self.configured || arguments.has_unknown()) {
            let mut waits_for = Vec::new();
            arguments.waits_for(&mut waits_for);
            let unknown = Value::Unknown(
                blueprint::Unknown {
                    ty: None,
                    waits_for,
                }
                .into(),
            );
            return Ok(Invoked {
                result: unknown.tainted(arguments.has_secret()),
                failures: Vec::new(),
            });
        }
        self.must_be_configured()?;
        let encoding = Encoding::of(
            RequestPart::Arguments,
            phase,
            self.capabilities.accepts,
            lookups,
        );
        let request = InvokeRequest {
            tok: token.to_owned(),
            args: encode(arguments, &encoding)?,
            preview: planning,
        };
        let answer: InvokeResponse = self.caller.call(method::INVOKE, request).await?;
        let result = decode_answer(
            answer.r#return.unwrap_or_default(),
            phase,
            None,
            lookups,
            None,
        )?;
        let result = if arguments.has_secret() {
            mark_every_entry(result)
        } else {
            result
        };
        Ok(Invoked {
            result,
            failures: failures(answer.failures),
        })
    }

    fn must_be_configured(&self) -> Result<(), CallFailure> {
        match self.configured {
            true => Ok(()),
            false => Err(CallFailure::NotAsked {
                why: "the settings of the provider are not known".into(),
                exit: None,
            }),
        }
    }

    /// The outputs of a preview that does not call the plugin; `None` if the plugin must be called.
    fn without_preview(
        &self,
        target: &CallTarget<'_>,
        desired: &Desired<'_>,
    ) -> Result<Option<Value>, CallFailure> {
        if target.phase == Phase::Applying {
            return self.must_be_configured().map(|()| None);
        }
        Ok(match (self.configured, self.capabilities.preview) {
            (false, _) => Some(Value::map::<Name>([])),
            (true, false) => Some(desired.inputs.clone()),
            (true, true) => None,
        })
    }

    fn encoding<'a>(&self, part: RequestPart, target: &CallTarget<'a>) -> Encoding<'a> {
        Encoding::of(
            part,
            target.phase,
            self.capabilities.accepts,
            target.lookups,
        )
    }

    fn recorded_encoding<'a>(&self, target: &CallTarget<'a>) -> Encoding<'a> {
        self.encoding(RequestPart::Recorded, target)
    }

    fn decoded(
        &self,
        answer: Struct,
        target: &CallTarget<'_>,
        id: Option<Name>,
    ) -> Result<Value, CallFailure> {
        decode_answer(answer, target.phase, target.address, target.lookups, id)
    }

    /// Restores the secret marks on an answer if the plugin does not accept marks.
    fn marked(&self, answer: Value, inputs: &Value) -> Value {
        if self.capabilities.accepts.secrets {
            answer
        } else {
            mark_like_inputs(answer, inputs)
        }
    }

    /// Makes a call whose error may say that the resource exists.
    async fn call<Q, R>(
        &self,
        method: &'static str,
        request: Q,
    ) -> Result<CallOutcome<R>, CallFailure>
    where
        Q: Message + 'static,
        R: Message + Default + 'static,
    {
        match self.caller.call_raw(method, request).await {
            Ok(answer) => Ok(CallOutcome::Done(answer)),
            Err(CallError::Status(status)) => {
                let failed =
                    status.detail::<ErrorResourceInitFailed>("pulumirpc.ErrorResourceInitFailed");
                let Some(mut failed) = failed else {
                    return Err(CallFailure::of_call(method, CallError::Status(status)));
                };
                if failed.reasons.is_empty() {
                    failed.reasons.push(status.message);
                }
                Ok(CallOutcome::Unhealthy(failed))
            }
            Err(error) => Err(CallFailure::of_call(method, error)),
        }
    }
}

/// The result of a call that creates or reads a resource.
enum CallOutcome<R> {
    Done(R),
    Unhealthy(ErrorResourceInitFailed),
}

fn texts(paths: &[PropertyPath]) -> Vec<String> {
    paths.iter().map(ToString::to_string).collect()
}

fn options(autonaming: Autonaming<'_>) -> AutonamingOptions {
    let (proposed_name, mode) = match autonaming {
        Autonaming::Propose(name) => (name.to_owned(), 0),
        Autonaming::Enforce(name) => (name.to_owned(), 1),
        Autonaming::Disable => (String::new(), 2),
    };
    AutonamingOptions {
        proposed_name,
        mode,
    }
}

fn seconds(limit: Option<Duration>) -> f64 {
    limit.map_or(0.0, |limit| limit.as_secs_f64())
}
