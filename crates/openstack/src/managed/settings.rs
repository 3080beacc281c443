//! Types that set something on other objects, such as quotas and attachments: there is no collection
//! whose objects they are, and the spec alone says where they stand.
//!
//! Not here: what such a type sets (`types`).

use std::fmt;

use ::provider::json::from_json;
use ::provider::{
    Applied, ApplyRequest, BoxFuture, Call, ErrorKind, Observed, ProviderError, ReadOutcome,
    ReadRequest, Readiness, Ready, ResourceType,
};
use blueprint::{Map, Name, Value};
use futures::FutureExt as _;

use super::handler::{Handler, call_with_token};
use super::{CloudCall, JsonMap, SpecChange, json_of};

/// A type that sets something on other objects.
pub(crate) trait ObjectSetting: Sync + fmt::Debug {
    /// The name of the type.
    fn type_name(&self) -> &'static str;

    /// The id of the resource that a call creates.
    fn id<'a>(
        &'a self,
        on: CloudCall<'a>,
        call: &'a Call,
        spec: &'a JsonMap,
    ) -> BoxFuture<'a, Result<String, ProviderError>>;

    /// Sets what the desired spec says. The prior spec is empty for a create.
    fn set<'a>(
        &'a self,
        on: CloudCall<'a>,
        change: SpecChange<'a>,
    ) -> BoxFuture<'a, Result<(), ProviderError>>;

    /// Takes back what the spec set.
    fn unset<'a>(
        &'a self,
        on: CloudCall<'a>,
        spec: &'a JsonMap,
    ) -> BoxFuture<'a, Result<(), ProviderError>>;

    /// The properties as the cloud shows them; `None` if nothing is set. Properties that it does not
    /// show are left out.
    fn shown<'a>(
        &'a self,
        on: CloudCall<'a>,
        spec: &'a JsonMap,
    ) -> BoxFuture<'a, Result<Option<JsonMap>, ProviderError>>;

    /// What is waited for after [`ObjectSetting::set`], as a phrase; `None` if it has taken effect.
    fn pending<'a>(
        &'a self,
        on: CloudCall<'a>,
        spec: &'a JsonMap,
    ) -> BoxFuture<'a, Result<Option<String>, ProviderError>> {
        let _ = (on, spec);
        std::future::ready(Ok(None)).boxed()
    }

    /// Whether [`ObjectSetting::set`] may be repeated: what is set already does not make it fail.
    fn repeats(&self) -> bool {
        true
    }
}

/// The fields of a resource: those of the spec, those that the cloud shows, and the id.
fn fields_of(on: CloudCall<'_>, spec: &Value, shown: &JsonMap, id: &str) -> Value {
    let mut fields: Map = spec.as_map().cloned().unwrap_or_default();
    fields.extend(
        shown
            .iter()
            .map(|(name, value)| (name.as_str().into(), from_json(value))),
    );
    for (_, field) in on.ty.attribute_names() {
        if !fields.contains_key(field) {
            fields.insert(field.clone(), Value::Null);
        }
    }
    let id_field = on.ty.id_field.clone();
    fields.insert(
        id_field.unwrap_or_else(|| "id".into()),
        Value::Text(id.into()),
    );
    Value::Map(fields.into())
}

/// Sets the desired spec, and answers with what the cloud shows.
async fn apply(
    setting: &dyn ObjectSetting,
    on: CloudCall<'_>,
    request: &ApplyRequest<'_>,
) -> Result<Applied, ProviderError> {
    let (prior, desired) = (json_of(request.prior_inputs)?, json_of(request.desired)?);
    let id = match request.id.filter(|id| !id.is_empty()) {
        Some(id) => id.to_owned(),
        None => setting.id(on, on.call, &desired).await?,
    };
    let change = SpecChange {
        prior: &prior,
        desired: &desired,
    };
    setting.set(on, change).await?;
    let shown = setting.shown(on, &desired).await?.unwrap_or_default();
    let ready = match setting.pending(on, &desired).await? {
        Some(_) => Ready::Pending,
        None => Ready::Yes,
    };
    let fields = fields_of(on, request.desired, &shown, &id);
    Ok(Applied {
        ready,
        ..Applied::ready(id, fields)
    })
}

async fn read(
    setting: &dyn ObjectSetting,
    on: CloudCall<'_>,
    request: ReadRequest<'_>,
) -> Result<ReadOutcome, ProviderError> {
    let spec = json_of(request.inputs)?;
    let id: Name = match (request.id.filter(|id| !id.is_empty()), request.token) {
        (Some(id), _) => id.into(),
        // The create is carried out again.
        (None, Some(_)) if setting.repeats() => return Ok(ReadOutcome::Absent),
        (None, Some(token)) => {
            let call = call_with_token(on.call, token);
            setting.id(on, &call, &spec).await?.into()
        }
        (None, None) => return Ok(ReadOutcome::Unknown),
    };
    let Some(shown) = setting.shown(on, &spec).await? else {
        return Ok(ReadOutcome::Absent);
    };
    Ok(ReadOutcome::Present(Observed {
        fields: fields_of(on, request.inputs, &shown, &id),
        id,
        private: request.private.clone(),
        ..Observed::default()
    }))
}

async fn poll(
    setting: &dyn ObjectSetting,
    on: CloudCall<'_>,
    request: ReadRequest<'_>,
) -> Result<Readiness, ProviderError> {
    let spec = json_of(request.inputs)?;
    match setting.pending(on, &spec).await {
        Ok(None) => {
            let shown = setting.shown(on, &spec).await?.unwrap_or_default();
            let id = request.id.unwrap_or_default();
            Ok(Readiness::Ready(fields_of(on, request.inputs, &shown, id)))
        }
        Ok(Some(why)) => Ok(Readiness::NotYet {
            why: Some(why.into()),
            fields: Value::Null,
        }),
        Err(error) if error.kind == ErrorKind::Permanent => {
            Ok(Readiness::Broken(vec![error.message.into()]))
        }
        Err(error) => Err(error),
    }
}

impl<S: ObjectSetting> Handler for S {
    fn type_name(&self) -> &'static str {
        ObjectSetting::type_name(self)
    }

    fn adjust(&self, ty: &mut ResourceType) {
        ty.capabilities.finds = true;
        // An id does not say where the setting stands.
        ty.capabilities.imports = false;
    }

    fn create<'a>(
        &'a self,
        on: CloudCall<'a>,
        request: &'a ApplyRequest<'a>,
    ) -> BoxFuture<'a, Result<Applied, ProviderError>> {
        Box::pin(apply(self, on, request))
    }

    fn update<'a>(
        &'a self,
        on: CloudCall<'a>,
        request: &'a ApplyRequest<'a>,
    ) -> BoxFuture<'a, Result<Applied, ProviderError>> {
        Box::pin(apply(self, on, request))
    }

    fn delete<'a>(
        &'a self,
        on: CloudCall<'a>,
        request: &'a ApplyRequest<'a>,
    ) -> BoxFuture<'a, Result<(), ProviderError>> {
        Box::pin(async move {
            let spec = json_of(request.prior_inputs)?;
            self.unset(on, &spec).await
        })
    }

    fn read<'a>(
        &'a self,
        on: CloudCall<'a>,
        request: ReadRequest<'a>,
    ) -> BoxFuture<'a, Result<ReadOutcome, ProviderError>> {
        Box::pin(read(self, on, request))
    }

    fn poll<'a>(
        &'a self,
        on: CloudCall<'a>,
        request: ReadRequest<'a>,
    ) -> BoxFuture<'a, Result<Readiness, ProviderError>> {
        Box::pin(poll(self, on, request))
    }
}
