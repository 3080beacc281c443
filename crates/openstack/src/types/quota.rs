//! The quotas of a project: `OS::Nova::Quota`, `OS::Cinder::Quota` and `OS::Octavia::Quota`.

use ::provider::{BoxFuture, Call, ProviderError};
use serde_json::json;

use super::kinds::PROJECT;
use crate::client::{Service, ServiceRequest};
use crate::heat::physical_name;
use crate::managed::{CloudCall, Handler, JsonMap, ObjectSetting, SpecChange};

/// The types.
pub(super) static TYPES: &[&dyn Handler] = &[&NOVA, &CINDER, &OCTAVIA];

static NOVA: Quota = Quota {
    name: "OS::Nova::Quota",
    service: Service::Compute,
    path: "os-quota-sets",
    envelope: "quota_set",
};

static CINDER: Quota = Quota {
    name: "OS::Cinder::Quota",
    service: Service::Volume,
    path: "os-quota-sets",
    envelope: "quota_set",
};

static OCTAVIA: Quota = Quota {
    name: "OS::Octavia::Quota",
    service: Service::LoadBalancer,
    path: "lbaas/quotas",
    envelope: "quota",
};

/// A type of quotas.
#[derive(Debug)]
struct Quota {
    name: &'static str,
    service: Service,
    /// The path of the quotas of all projects.
    path: &'static str,
    /// The key around the limits.
    envelope: &'static str,
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
        Ok(format!("{}/{id}", self.path))
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
            let body = json!({ self.envelope: limits(change.desired) });
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
                let value = answer[self.envelope].get(&name)?.clone();
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
