//! The quotas of a project: `OS::Nova::Quota` and `OS::Cinder::Quota`.

use ::provider::{BoxFuture, Call, ProviderError};
use serde_json::json;

use super::kinds::PROJECT;
use crate::client::{Service, ServiceRequest};
use crate::heat::physical_name;
use crate::managed::{CloudCall, Handler, JsonMap, ObjectSetting, SpecChange};

/// The types.
pub(super) static TYPES: &[&dyn Handler] = &[&NOVA, &CINDER];

static NOVA: Quota = Quota {
    name: "OS::Nova::Quota",
    service: Service::Compute,
};

static CINDER: Quota = Quota {
    name: "OS::Cinder::Quota",
    service: Service::Volume,
};

/// A type of quotas.
#[derive(Debug)]
struct Quota {
    name: &'static str,
    service: Service,
}

/// The limits of a spec: every property except for the project.
fn limits(spec: &JsonMap) -> JsonMap {
    let limits = spec.iter().filter(|(name, _)| *name != "project");
    limits
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

impl Quota {
    async fn path(&self, on: CloudCall<'_>, spec: &JsonMap) -> Result<String, ProviderError> {
        let project = spec.get("project").and_then(|it| it.as_str());
        let id = on.id_of(&PROJECT, project.unwrap_or_default()).await;
        let id = id.map_err(|error| error.at("project"))?;
        Ok(format!("os-quota-sets/{id}"))
    }
}

impl ObjectSetting for Quota {
    fn type_name(&self) -> &'static str {
        self.name
    }

    fn id<'a>(
        &'a self,
        _on: CloudCall<'a>,
        call: &'a Call,
        _spec: &'a JsonMap,
    ) -> BoxFuture<'a, Result<String, ProviderError>> {
        Box::pin(std::future::ready(Ok(physical_name(call).to_string())))
    }

    /// A limit that the spec no longer sets stays as it is, as in Heat.
    fn set<'a>(
        &'a self,
        on: CloudCall<'a>,
        change: SpecChange<'a>,
    ) -> BoxFuture<'a, Result<(), ProviderError>> {
        Box::pin(async move {
            let path = self.path(on, change.desired).await?;
            let body = json!({ "quota_set": limits(change.desired) });
            on.change(ServiceRequest::put(self.service, path, body))
                .await?;
            Ok(())
        })
    }

    fn unset<'a>(
        &'a self,
        on: CloudCall<'a>,
        spec: &'a JsonMap,
    ) -> BoxFuture<'a, Result<(), ProviderError>> {
        Box::pin(async move {
            let path = self.path(on, spec).await?;
            match on.send(ServiceRequest::delete(self.service, path)).await {
                Err(error) if !error.is_not_found() => Err(error.into_provider_error(true)),
                _ => Ok(()),
            }
        })
    }

    fn shown<'a>(
        &'a self,
        on: CloudCall<'a>,
        spec: &'a JsonMap,
    ) -> BoxFuture<'a, Result<Option<JsonMap>, ProviderError>> {
        Box::pin(async move {
            let path = self.path(on, spec).await?;
            let answer = on.get(ServiceRequest::get(self.service, path)).await?;
            let limits = limits(spec).into_iter().filter_map(|(name, _)| {
                let value = answer["quota_set"].get(&name)?.clone();
                Some((name, value))
            });
            Ok(Some(limits.collect()))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_project_is_no_limit() {
        let spec = json!({"project": "p", "cores": 4});
        let found = limits(spec.as_object().unwrap_or(&JsonMap::new()));
        assert_eq!(json!(found), json!({"cores": 4}));
    }
}
