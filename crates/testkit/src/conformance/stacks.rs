//! The stacks that a case of the pack lets programs refer to, behind the built-in package `pulumi`.

use std::sync::{Arc, PoisonError};

use blueprint::{Name, Value};
use provider::{
    Applied, ApplyRequest, Arguments, BoxFuture, Call, Catalog, Configuration, Configured,
    ErrorKind, FoundResource, InstanceReader, InstanceReference, InvokeRequest, PlanRequest,
    Planned, Provider, ProviderError, ReadOutcome, ReadRequest, Session, configured,
};
use pulumi_host::built_in::{BuiltInPackage, built_in};
use serde_json::Value as Json;

use super::monitor::Requests;
use crate::json_values::from_json;

/// The built-in package in one case.
pub(super) struct StacksOfCase {
    inner: BuiltInPackage,
    stacks: Arc<NamedStacks>,
    requests: Requests,
}

/// Outputs by the name of the stack, as the case writes them.
struct NamedStacks(Json);

impl StacksOfCase {
    pub(super) fn new(case: &Json, requests: &Requests) -> StacksOfCase {
        StacksOfCase {
            inner: built_in(),
            stacks: Arc::new(NamedStacks(case["stackReferences"].clone())),
            requests: requests.clone(),
        }
    }
}

impl Provider for StacksOfCase {
    fn catalog(&self) -> &Arc<Catalog> {
        self.inner.catalog()
    }

    fn configure(
        self: Arc<Self>,
        _: Configuration,
    ) -> BoxFuture<'static, Result<Configured, ProviderError>> {
        configured(self)
    }
}

impl Session for StacksOfCase {
    fn read<'a>(
        &'a self,
        call: &'a Call,
        request: ReadRequest<'a>,
    ) -> BoxFuture<'a, Result<ReadOutcome, ProviderError>> {
        self.inner.read(call, request)
    }

    fn plan<'a>(
        &'a self,
        call: &'a Call,
        request: PlanRequest<'a>,
    ) -> BoxFuture<'a, Result<Planned, ProviderError>> {
        self.inner.plan(call, request)
    }

    fn apply<'a>(
        &'a self,
        call: &'a Call,
        request: ApplyRequest<'a>,
    ) -> BoxFuture<'a, Result<Applied, ProviderError>> {
        self.inner.apply(call, request)
    }

    fn invoke<'a>(
        &'a self,
        call: &'a Call,
        request: InvokeRequest<'a>,
    ) -> BoxFuture<'a, Result<Value, ProviderError>> {
        Box::pin(async move {
            if let Arguments::Named(arguments) = request.arguments {
                let id = arguments.get("id").and_then(Value::as_text);
                let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
                requests.push(serde_json::json!({
                    "op": "read", "type": "pulumi:pulumi:StackReference",
                    "id": id, "inputs": {"name": id},
                }));
            }
            let call = Call {
                instances: Some(self.stacks.clone()),
                ..call.clone()
            };
            self.inner.invoke(&call, request).await
        })
    }
}

impl InstanceReader for NamedStacks {
    fn exports<'a>(
        &'a self,
        reference: &'a InstanceReference,
        project: &'a str,
    ) -> BoxFuture<'a, Result<Value, ProviderError>> {
        Box::pin(async move {
            let project = reference.project.as_deref().unwrap_or(project);
            let end = format!("/{project}/{}", reference.instance);
            let mut stacks = self.0.as_object().into_iter().flatten();
            let found = stacks.find(|(name, _)| name.ends_with(&end));
            let Some((_, outputs)) = found else {
                let message = format!("there is no stack `{}`", reference.instance);
                return Err(ProviderError::new(ErrorKind::Document, message));
            };
            let outputs = outputs.as_object().into_iter().flatten();
            Ok(Value::map(outputs.map(|(name, value)| {
                (Name::from(name.as_str()), from_json(value))
            })))
        })
    }

    fn resource<'a>(
        &'a self,
        _: &'a str,
    ) -> BoxFuture<'a, Result<Option<FoundResource>, ProviderError>> {
        Box::pin(std::future::ready(Ok(None)))
    }
}
