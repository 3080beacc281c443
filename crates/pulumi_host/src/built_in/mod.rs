//! The package `pulumi`, which needs no plugin: references to other stacks, kept values and recorded
//! resources.
//!
//! Not here: where other stacks are recorded (the engine, behind [`provider::InstanceReader`]).

mod stack_reference;

use std::sync::{Arc, LazyLock};

use blueprint::{Name, Value};
use provider::{
    Applied, ApplyRequest, Arguments, BoxFuture, Call, Candidate, Catalog, Configuration,
    Configured, ErrorKind, FetchRequest, Fetched, InvokeRequest, Observed, Operation, PlanMode,
    PlanRequest, Planned, Provider, ProviderError, ReadOutcome, ReadRequest, Session, Verdict,
    configured,
};
use pulumi_wire::schema::{PackageSchema, PackageTypes, read_resource_type};
use sha2::{Digest as _, Sha256};

use crate::package::catalog_of;
use stack_reference::referred_stack;

/// The namespace of the package in documents.
pub const NAMESPACE: &str = "pulumi:pulumi";

const STASH: &str = "pulumi:pulumi/index:Stash";
const STACK_REFERENCE: &str = "pulumi:pulumi/pulumi:StackReference";
const GET_RESOURCE: &str = "pulumi:pulumi/pulumi:getResource";

static CATALOG: LazyLock<Arc<Catalog>> = LazyLock::new(|| {
    let schema = PackageSchema::parse(include_str!("schema.json"))
        .expect("the schema of `pulumi` is part of the program");
    let types = Arc::new(PackageTypes::new(Arc::new(schema), NAMESPACE));
    Arc::new(catalog_of(&types))
});

/// The package `pulumi`.
pub fn built_in() -> BuiltInPackage {
    BuiltInPackage {}
}

/// Serves the package `pulumi` without a plugin.
pub struct BuiltInPackage {}

impl Provider for BuiltInPackage {
    fn catalog(&self) -> &Arc<Catalog> {
        &CATALOG
    }

    fn configure(
        self: Arc<Self>,
        _: Configuration,
    ) -> BoxFuture<'static, Result<Configured, ProviderError>> {
        configured(self)
    }
}

impl BuiltInPackage {
    /// Calls a function with its arguments by name.
    async fn call(
        &self,
        call: &Call,
        function: &str,
        arguments: &Value,
    ) -> Result<Value, ProviderError> {
        if read_resource_type(function).as_deref() == Some(STACK_REFERENCE) {
            return referred_stack(call, arguments).await;
        }
        if function == GET_RESOURCE {
            return recorded_resource(call, arguments).await;
        }
        Err(unsupported(function, "cannot be called"))
    }
}

impl Session for BuiltInPackage {
    fn read<'a>(
        &'a self,
        _: &'a Call,
        request: ReadRequest<'a>,
    ) -> BoxFuture<'a, Result<ReadOutcome, ProviderError>> {
        Box::pin(async move {
            // The object is its record. A create that was not recorded made nothing.
            let (Some(id), false) = (request.id, request.outputs.is_null()) else {
                return Ok(ReadOutcome::Absent);
            };
            Ok(ReadOutcome::Present(Observed {
                id: id.into(),
                fields: request.outputs.clone(),
                ..Observed::default()
            }))
        })
    }

    fn plan<'a>(
        &'a self,
        _: &'a Call,
        request: PlanRequest<'a>,
    ) -> BoxFuture<'a, Result<Planned, ProviderError>> {
        Box::pin(async move {
            if request.type_name != STASH {
                return Err(unsupported(request.type_name, "is only read"));
            }
            if request.mode == PlanMode::Delete {
                return Ok(Planned::default());
            }
            let is_same = request.mode == PlanMode::Update
                && request.desired == request.prior_inputs
                && request.unhealthy.is_empty();
            let id = match request.id {
                Some(id) if request.mode == PlanMode::Update => Value::Text(id.into()),
                _ => Value::unknown(None, None),
            };
            let kept = kept_output(request.prior, request.desired);
            Ok(Planned {
                verdict: match is_same {
                    true => Verdict::Same,
                    false => Verdict::Update,
                },
                outputs: Some(fields_of_stash(id, request.desired, kept)),
                ..Planned::default()
            })
        })
    }

    fn apply<'a>(
        &'a self,
        call: &'a Call,
        request: ApplyRequest<'a>,
    ) -> BoxFuture<'a, Result<Applied, ProviderError>> {
        Box::pin(async move {
            if request.type_name != STASH {
                return Err(unsupported(request.type_name, "is only read"));
            }
            let id = match (request.operation, request.id) {
                (Operation::Delete, _) => return Ok(Applied::deleted()),
                (Operation::Update, Some(id)) => id.into(),
                _ => id_of_token(&call.token),
            };
            let kept = kept_output(request.prior, request.desired);
            let fields = fields_of_stash(Value::Text(id.clone()), request.desired, kept);
            Ok(Applied::ready(id, fields))
        })
    }

    fn fetch<'a>(
        &'a self,
        call: &'a Call,
        request: FetchRequest<'a>,
    ) -> BoxFuture<'a, Result<Fetched, ProviderError>> {
        Box::pin(async move {
            let equal = request.filters.iter().enumerate();
            let equal = equal.filter(|(_, (_, operator, _))| operator.as_ref() == "=");
            let (applied, arguments): (Vec<usize>, Vec<(Name, Value)>) = equal
                .map(|(at, (field, _, value))| (at, (field.clone(), value.clone())))
                .unzip();
            let arguments = Value::map(arguments);
            let found = self.call(call, request.type_name, &arguments).await?;
            let candidate = Candidate {
                filter_fields: found.clone(),
                fields: found,
            };
            Ok(Fetched {
                candidates: vec![candidate],
                applied,
                diagnostics: Vec::new(),
            })
        })
    }

    fn invoke<'a>(
        &'a self,
        call: &'a Call,
        request: InvokeRequest<'a>,
    ) -> BoxFuture<'a, Result<Value, ProviderError>> {
        Box::pin(async move {
            let Arguments::Named(arguments) = request.arguments else {
                return Err(unsupported(request.function, "takes arguments by name"));
            };
            let arguments = Value::Map(arguments.clone());
            self.call(call, request.function, &arguments).await
        })
    }
}

/// The value that a stash keeps: that of its creation.
fn kept_output(prior: &Value, desired: &Value) -> Value {
    let kept = prior.get("output").or_else(|| desired.get("input"));
    kept.cloned().unwrap_or_default()
}

fn fields_of_stash(id: Value, desired: &Value, output: Value) -> Value {
    let input = desired.get("input").cloned().unwrap_or_default();
    Value::map([
        (Name::from("input"), input),
        ("output".into(), output),
        ("id".into(), id),
    ])
}

/// The id of an object that is created with a token. All tries of one create have the same token.
fn id_of_token(token: &str) -> Name {
    let digest = Sha256::digest(token.as_bytes());
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&digest[..16]);
    let id = uuid::Builder::from_random_bytes(bytes).into_uuid();
    id.to_string().into()
}

/// The value of `getResource`.
async fn recorded_resource(call: &Call, arguments: &Value) -> Result<Value, ProviderError> {
    let urn = arguments.get("urn").map(Value::unmarked);
    let Some(urn) = urn.and_then(Value::as_text) else {
        return Err(unsupported(GET_RESOURCE, "needs the text `urn`"));
    };
    let found = match &call.instances {
        Some(instances) => instances.resource(urn).await?,
        None => None,
    };
    let Some(found) = found else {
        let message = format!("no resource with the URN `{urn}` is recorded in this stack");
        return Err(ProviderError::new(ErrorKind::Document, message).at("urn"));
    };
    Ok(Value::map([
        (Name::from("urn"), Value::Text(urn.into())),
        ("id".into(), Value::Text(found.id)),
        ("state".into(), found.fields),
    ]))
}

fn unsupported(what: &str, why: &str) -> ProviderError {
    ProviderError::new(ErrorKind::Document, format!("`{what}` {why}"))
}

#[cfg(test)]
mod tests;
