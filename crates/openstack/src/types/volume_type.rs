//! Volume types of Cinder, and what administrators set on them: extra specs, access, quality of
//! service, encryption.

use ::provider::{BoxFuture, Call, ErrorKind, ProviderError};
use serde_json::{Value as Json, json};

use super::compute::texts;
use super::kinds::{PROJECT, QOS_SPECS, VOLUME_TYPE};
use crate::client::{Service, ServiceRequest};
use crate::heat::uuid;
use crate::managed::{
    CloudCall, Handler, Hooks, JsonMap, Managed, Mark, ObjectSetting, SpecChange, State, Update,
    hook, same,
};

/// The types.
pub(super) static TYPES: &[&dyn Handler] =
    &[&VOLUME_TYPES, &QOS, &QosAssociation, &EncryptedVolumeType];

static VOLUME_TYPES: Managed = Managed {
    parent: None,
    name: "OS::Cinder::VolumeType",
    service: Service::Volume,
    path: "types",
    envelope: "volume_type",
    list: "volume_types",
    properties: &[
        same("name"),
        same("description"),
        same("is_public"),
        hook("metadata"),
        hook("projects"),
    ],
    update: Update::Put,
    mark: Mark::Name,
    state: State::NONE,
    busy: &[],
    hooks: &VolumeTypeHooks,
};

static QOS: Managed = Managed {
    parent: None,
    name: "OS::Cinder::QoSSpecs",
    service: Service::Volume,
    path: "qos-specs",
    envelope: "qos_specs",
    list: "qos_specs",
    properties: &[same("name"), hook("specs")],
    update: Update::Hook,
    mark: Mark::Name,
    state: State::NONE,
    busy: &[],
    hooks: &QosHooks,
};

fn id_of(object: &Json) -> String {
    object["id"].as_str().unwrap_or_default().to_owned()
}

/// The hooks of volume types.
struct VolumeTypeHooks;

impl VolumeTypeHooks {
    /// Gives the projects of a spec access to a private type, and takes it from all others.
    async fn set_access(
        &self,
        on: CloudCall<'_>,
        spec: &JsonMap,
        object: &Json,
    ) -> Result<(), ProviderError> {
        if spec.get("is_public") != Some(&json!(false)) {
            return Ok(());
        }
        let mut wanted = Vec::new();
        for project in texts(spec, "projects") {
            let id = on.id_of(&PROJECT, project).await;
            wanted.push(id.map_err(|error| error.at("projects"))?);
        }
        let path = format!("types/{}", id_of(object));
        let access = format!("{path}/os-volume-type-access");
        let answer = on.get(ServiceRequest::get(Service::Volume, access)).await?;
        let known = answer["volume_type_access"]
            .as_array()
            .into_iter()
            .flatten();
        let known: Vec<&str> = known.filter_map(|it| it["project_id"].as_str()).collect();
        let act = |action: &str, project: &str| {
            let body = json!({ action: { "project": project } });
            on.change(ServiceRequest::post(
                Service::Volume,
                format!("{path}/action"),
                body,
            ))
        };
        for project in known.iter().filter(|id| wanted.iter().all(|it| it != *id)) {
            act("removeProjectAccess", project).await?;
        }
        for project in wanted.iter().filter(|id| !known.contains(&id.as_str())) {
            act("addProjectAccess", project).await?;
        }
        Ok(())
    }
}

impl Hooks for VolumeTypeHooks {
    fn create_body<'a>(
        &'a self,
        _on: CloudCall<'a>,
        spec: &'a JsonMap,
        body: &'a mut JsonMap,
    ) -> BoxFuture<'a, Result<(), ProviderError>> {
        // A create has another name for the flag than an update.
        if let Some(flag) = body.remove("is_public") {
            body.insert("os-volume-type-access:is_public".to_owned(), flag);
        }
        if let Some(specs) = spec.get("metadata") {
            body.insert("extra_specs".to_owned(), specs.clone());
        }
        let is_public = spec.get("is_public") != Some(&json!(false));
        let answer = match is_public && !texts(spec, "projects").is_empty() {
            true => {
                let message = "every project has access to a public type; set `is_public: false`";
                Err(ProviderError::new(ErrorKind::Document, message).at("projects"))
            }
            false => Ok(()),
        };
        Box::pin(std::future::ready(answer))
    }

    fn created<'a>(
        &'a self,
        on: CloudCall<'a>,
        spec: &'a JsonMap,
        object: &'a mut Json,
    ) -> BoxFuture<'a, Result<(), ProviderError>> {
        Box::pin(async move {
            match texts(spec, "projects").is_empty() {
                true => Ok(()),
                false => self.set_access(on, spec, object).await,
            }
        })
    }

    fn update<'a>(
        &'a self,
        on: CloudCall<'a>,
        change: SpecChange<'a>,
        object: &'a mut Json,
    ) -> BoxFuture<'a, Result<(), ProviderError>> {
        Box::pin(async move {
            let path = format!("types/{}", id_of(object));
            let none = json!({});
            let wanted = change.desired.get("metadata").unwrap_or(&none);
            if object["extra_specs"] != *wanted {
                let known = object["extra_specs"]
                    .as_object()
                    .cloned()
                    .unwrap_or_default();
                for key in known
                    .keys()
                    .filter(|key| wanted.get(key.as_str()).is_none())
                {
                    let path = format!("{path}/extra_specs/{key}");
                    on.change(ServiceRequest::delete(Service::Volume, path))
                        .await?;
                }
                if wanted.as_object().is_some_and(|specs| !specs.is_empty()) {
                    let path = format!("{path}/extra_specs");
                    let body = json!({ "extra_specs": wanted });
                    on.change(ServiceRequest::post(Service::Volume, path, body))
                        .await?;
                }
            }
            if change.has("projects") {
                self.set_access(on, change.desired, object).await?;
            }
            let mut answer = on.get(ServiceRequest::get(Service::Volume, path)).await?;
            if let Some(read) = answer.get_mut("volume_type").filter(|it| it.is_object()) {
                *object = read.take();
            }
            Ok(())
        })
    }

    fn property(&self, property: &str, object: &Json, _: &Json) -> Option<Json> {
        let specs = object.get("extra_specs").cloned();
        specs.filter(|_| property == "metadata")
    }

    fn list_call(&self) -> Option<ServiceRequest> {
        let all = ServiceRequest::get(Service::Volume, "types");
        Some(all.with_query("is_public", "none"))
    }

    fn deletes_first(&self, prior: &JsonMap, desired: &JsonMap) -> bool {
        prior.get("name") == desired.get("name")
    }
}

/// The hooks of QoS specifications.
struct QosHooks;

fn specs_of(spec: &JsonMap) -> JsonMap {
    let specs = spec.get("specs").and_then(Json::as_object);
    specs.cloned().unwrap_or_default()
}

impl Hooks for QosHooks {
    fn create_body<'a>(
        &'a self,
        _on: CloudCall<'a>,
        spec: &'a JsonMap,
        body: &'a mut JsonMap,
    ) -> BoxFuture<'a, Result<(), ProviderError>> {
        body.extend(specs_of(spec).into_iter().filter(|(key, _)| key != "name"));
        Box::pin(std::future::ready(Ok(())))
    }

    fn update<'a>(
        &'a self,
        on: CloudCall<'a>,
        change: SpecChange<'a>,
        object: &'a mut Json,
    ) -> BoxFuture<'a, Result<(), ProviderError>> {
        Box::pin(async move {
            let path = format!("qos-specs/{}", id_of(object));
            let (old, new) = (specs_of(change.prior), specs_of(change.desired));
            let removed: Vec<&String> = old.keys().filter(|key| !new.contains_key(*key)).collect();
            if !new.is_empty() {
                let body = json!({ "qos_specs": new });
                on.change(ServiceRequest::put(Service::Volume, path.clone(), body))
                    .await?;
            }
            if !removed.is_empty() {
                let keys = format!("{path}/delete_keys");
                let body = json!({ "keys": removed });
                on.change(ServiceRequest::put(Service::Volume, keys, body))
                    .await?;
            }
            let mut answer = on.get(ServiceRequest::get(Service::Volume, path)).await?;
            if let Some(read) = answer.get_mut("qos_specs").filter(|it| it.is_object()) {
                *object = read.take();
            }
            Ok(())
        })
    }

    fn before_delete<'a>(
        &'a self,
        on: CloudCall<'a>,
        id: &'a str,
        _spec: &'a JsonMap,
    ) -> BoxFuture<'a, Result<(), ProviderError>> {
        Box::pin(async move {
            // The call changes something, although it is a GET.
            let path = format!("qos-specs/{id}/disassociate_all");
            match on.send(ServiceRequest::get(Service::Volume, path)).await {
                Err(error) if !error.is_not_found() => Err(error.into_provider_error(true)),
                _ => Ok(()),
            }
        })
    }
}

/// `OS::Cinder::QoSAssociation`: the volume types that a QoS specification is for.
#[derive(Debug)]
struct QosAssociation;

impl QosAssociation {
    async fn specs(&self, on: CloudCall<'_>, spec: &JsonMap) -> Result<String, ProviderError> {
        let name = spec.get("qos_specs").and_then(Json::as_str);
        let id = on.id_of(&QOS_SPECS, name.unwrap_or_default()).await;
        id.map_err(|error| error.at("qos_specs"))
    }

    async fn types(&self, on: CloudCall<'_>, spec: &JsonMap) -> Result<Vec<String>, ProviderError> {
        let mut ids = Vec::new();
        for name in texts(spec, "volume_types") {
            let id = on.id_of(&VOLUME_TYPE, name).await;
            ids.push(id.map_err(|error| error.at("volume_types"))?);
        }
        Ok(ids)
    }

    /// Associates a type, or takes the association away. What does not exist has none.
    async fn change(
        &self,
        on: CloudCall<'_>,
        specs: &str,
        action: &str,
        volume_type: &str,
    ) -> Result<(), ProviderError> {
        let request = ServiceRequest::get(Service::Volume, format!("qos-specs/{specs}/{action}"));
        let request = request.with_query("vol_type_id", volume_type);
        match on.send(request).await {
            Err(error) if action == "disassociate" && error.is_not_found() => Ok(()),
            Err(error) => Err(error.into_provider_error(true)),
            Ok(_) => Ok(()),
        }
    }
}

impl ObjectSetting for QosAssociation {
    fn type_name(&self) -> &'static str {
        "OS::Cinder::QoSAssociation"
    }

    fn id<'a>(
        &'a self,
        _on: CloudCall<'a>,
        call: &'a Call,
        _spec: &'a JsonMap,
    ) -> BoxFuture<'a, Result<String, ProviderError>> {
        let id = uuid(call, "association").to_string();
        Box::pin(std::future::ready(Ok(id)))
    }

    fn set<'a>(
        &'a self,
        on: CloudCall<'a>,
        change: SpecChange<'a>,
    ) -> BoxFuture<'a, Result<(), ProviderError>> {
        Box::pin(async move {
            let specs = self.specs(on, change.desired).await?;
            let (old, new) = (
                self.types(on, change.prior).await?,
                self.types(on, change.desired).await?,
            );
            for id in &new {
                self.change(on, &specs, "associate", id).await?;
            }
            for id in old.iter().filter(|id| !new.contains(id)) {
                self.change(on, &specs, "disassociate", id).await?;
            }
            Ok(())
        })
    }

    fn unset<'a>(
        &'a self,
        on: CloudCall<'a>,
        spec: &'a JsonMap,
    ) -> BoxFuture<'a, Result<(), ProviderError>> {
        Box::pin(async move {
            let specs = self.specs(on, spec).await?;
            for id in self.types(on, spec).await? {
                self.change(on, &specs, "disassociate", &id).await?;
            }
            Ok(())
        })
    }

    fn shown<'a>(
        &'a self,
        on: CloudCall<'a>,
        spec: &'a JsonMap,
    ) -> BoxFuture<'a, Result<Option<JsonMap>, ProviderError>> {
        Box::pin(async move {
            let specs = self.specs(on, spec).await?;
            let path = format!("qos-specs/{specs}/associations");
            let answer = match on.send(ServiceRequest::get(Service::Volume, path)).await {
                Ok(answer) => answer.body,
                Err(error) if error.is_not_found() => return Ok(None),
                Err(error) => return Err(error.into_provider_error(false)),
            };
            let known = answer["qos_associations"].as_array();
            let known = known.map(Vec::as_slice).unwrap_or_default();
            // Associations of other resources with the same specification do not count.
            let mut shown = Vec::new();
            for name in texts(spec, "volume_types") {
                let id = on.id_of(&VOLUME_TYPE, name).await?;
                if known.iter().any(|it| it["id"] == id.as_str()) {
                    shown.push(name);
                }
            }
            Ok(Some(JsonMap::from_iter([(
                "volume_types".to_owned(),
                json!(shown),
            )])))
        })
    }
}

/// `OS::Cinder::EncryptedVolumeType`: the encryption of a volume type. Its id is that of the type.
#[derive(Debug)]
struct EncryptedVolumeType;

/// The properties that are fields of an encryption.
const ENCRYPTION: [&str; 4] = ["provider", "cipher", "key_size", "control_location"];

fn encryption_of(spec: &JsonMap) -> JsonMap {
    let given = ENCRYPTION.into_iter().filter_map(|name| {
        let value = spec.get(name)?.clone();
        Some((name.to_owned(), value))
    });
    given.collect()
}

impl EncryptedVolumeType {
    async fn path(&self, on: CloudCall<'_>, spec: &JsonMap) -> Result<String, ProviderError> {
        let name = spec.get("volume_type").and_then(Json::as_str);
        let id = on.id_of(&VOLUME_TYPE, name.unwrap_or_default()).await;
        let id = id.map_err(|error| error.at("volume_type"))?;
        Ok(format!("types/{id}/encryption"))
    }

    /// The encryption of the type of a spec. A type without one answers with an empty object.
    async fn encryption(
        &self,
        on: CloudCall<'_>,
        spec: &JsonMap,
    ) -> Result<Option<Json>, ProviderError> {
        let path = self.path(on, spec).await?;
        match on.send(ServiceRequest::get(Service::Volume, path)).await {
            Ok(answer) => Ok(Some(answer.body).filter(|it| it["encryption_id"].is_string())),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error.into_provider_error(false)),
        }
    }
}

impl ObjectSetting for EncryptedVolumeType {
    fn type_name(&self) -> &'static str {
        "OS::Cinder::EncryptedVolumeType"
    }

    fn id<'a>(
        &'a self,
        on: CloudCall<'a>,
        _call: &'a Call,
        spec: &'a JsonMap,
    ) -> BoxFuture<'a, Result<String, ProviderError>> {
        Box::pin(async move {
            let path = self.path(on, spec).await?;
            let id = path.split('/').nth(1).unwrap_or_default();
            Ok(id.to_owned())
        })
    }

    fn set<'a>(
        &'a self,
        on: CloudCall<'a>,
        change: SpecChange<'a>,
    ) -> BoxFuture<'a, Result<(), ProviderError>> {
        Box::pin(async move {
            let path = self.path(on, change.desired).await?;
            let body = json!({ "encryption": encryption_of(change.desired) });
            let found = match change.prior.is_empty() {
                true => None,
                false => self.encryption(on, change.desired).await?,
            };
            let request = match found.as_ref().and_then(|it| it["encryption_id"].as_str()) {
                Some(id) => ServiceRequest::put(Service::Volume, format!("{path}/{id}"), body),
                None => ServiceRequest::post(Service::Volume, path, body),
            };
            on.change(request).await?;
            Ok(())
        })
    }

    fn unset<'a>(
        &'a self,
        on: CloudCall<'a>,
        spec: &'a JsonMap,
    ) -> BoxFuture<'a, Result<(), ProviderError>> {
        Box::pin(async move {
            let found = self.encryption(on, spec).await?;
            let Some(id) = found.as_ref().and_then(|it| it["encryption_id"].as_str()) else {
                return Ok(());
            };
            let path = format!("{}/{id}", self.path(on, spec).await?);
            match on.send(ServiceRequest::delete(Service::Volume, path)).await {
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
            let found = self.encryption(on, spec).await?;
            Ok(found.and_then(|it| it.as_object().map(encryption_of)))
        })
    }

    fn repeats(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_encryption_has_only_its_own_fields() {
        let spec = json!({"volume_type": "t", "provider": "luks", "key_size": 256});
        let found = encryption_of(spec.as_object().unwrap_or(&JsonMap::new()));
        assert_eq!(json!(found), json!({"provider": "luks", "key_size": 256}));
    }
}
