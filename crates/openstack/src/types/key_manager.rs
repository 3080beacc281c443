//! The types of Barbican: secrets, containers of secrets, and orders for secrets that Barbican makes.
//!
//! The id of an object is its address, as in Heat. Barbican changes no object, so every change
//! replaces it.
//!
//! Not here: how secrets are kept out of what `cyan` shows: their fields are marked in the catalogue.

use ::provider::{BoxFuture, ProviderError, ResourceType};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value as Json, json};

use crate::client::{Service, ServiceRequest};
use crate::managed::{
    ASIDE, Busy, CloudCall, Handler, Hooks, JsonMap, Managed, Mark, Property, State, Update, hook,
    same,
};

/// The types.
pub(super) static TYPES: &[&dyn Handler] = &[
    &SECRET,
    &GENERIC_CONTAINER,
    &CERTIFICATE_CONTAINER,
    &RSA_CONTAINER,
    &ORDER,
];

/// What all tables have in common.
const BARBICAN: Managed = Managed {
    name: "",
    service: Service::KeyManager,
    path: "",
    parent: None,
    envelope: "",
    list: "",
    properties: &[],
    update: Update::Never,
    // Several objects may have one name, and no field is free.
    mark: Mark::None,
    state: State {
        field: "status",
        ready: &["ACTIVE"],
        failed: &["ERROR"],
        gone: &[],
        why: "error_reason",
    },
    busy: &[Busy::delete(409)],
    hooks: &SecretHooks,
};

static SECRET: Managed = Managed {
    name: "OS::Barbican::Secret",
    path: "secrets",
    list: "secrets",
    properties: &[
        same("name"),
        same("secret_type"),
        same("algorithm"),
        same("bit_length"),
        same("mode"),
        // Barbican writes the moment in another form.
        same("expiration").recorded(),
        same("payload").recorded(),
        same("payload_content_type").recorded(),
        same("payload_content_encoding").recorded(),
    ],
    ..BARBICAN
};

/// The table of a kind of container.
const fn container(
    name: &'static str,
    properties: &'static [Property],
    hooks: &'static Containers,
) -> Managed {
    Managed {
        name,
        path: "containers",
        list: "containers",
        properties,
        hooks,
        ..BARBICAN
    }
}

static GENERIC_CONTAINER: Managed = container(
    "OS::Barbican::GenericContainer",
    &[same("name"), hook("secrets")],
    &Containers {
        kind: "generic",
        parts: &[],
    },
);

static CERTIFICATE_CONTAINER: Managed = container(
    "OS::Barbican::CertificateContainer",
    &[
        same("name"),
        hook("certificate_ref"),
        hook("private_key_ref"),
        hook("private_key_passphrase_ref"),
        hook("intermediates_ref"),
    ],
    &Containers {
        kind: "certificate",
        parts: &[
            ("certificate_ref", "certificate"),
            ("private_key_ref", "private_key"),
            ("private_key_passphrase_ref", "private_key_passphrase"),
            ("intermediates_ref", "intermediates"),
        ],
    },
);

static RSA_CONTAINER: Managed = container(
    "OS::Barbican::RSAContainer",
    &[
        same("name"),
        hook("private_key_ref"),
        hook("private_key_passphrase_ref"),
        hook("public_key_ref"),
    ],
    &Containers {
        kind: "rsa",
        parts: &[
            ("private_key_ref", "private_key"),
            ("private_key_passphrase_ref", "private_key_passphrase"),
            ("public_key_ref", "public_key"),
        ],
    },
);

static ORDER: Managed = Managed {
    name: "OS::Barbican::Order",
    path: "orders",
    list: "orders",
    properties: &[
        same("type"),
        hook("name"),
        hook("algorithm"),
        hook("bit_length"),
        hook("mode"),
        hook("expiration"),
        hook("payload_content_type"),
        hook("pass_phrase"),
        hook("request_type"),
        hook("subject_dn"),
        hook("source_container_ref"),
        hook("ca_id"),
        hook("profile"),
        hook("request_data"),
    ],
    hooks: &OrderHooks,
    ..BARBICAN
};

/// Lets an interrupted create of an object with a generated name be looked up by the name.
fn finds_by_generated_name(ty: &mut ResourceType) {
    ty.capabilities.finds = true;
}

/// The payload of the secret at an address: a text, or the octets in base64 if they are no text.
///
/// # Errors
/// The error of a request.
async fn payload(on: CloudCall<'_>, address: &str) -> Result<Json, ProviderError> {
    let id = address.rsplit('/').next().unwrap_or_default();
    let path = format!("secrets/{id}");
    let secret = on
        .get(ServiceRequest::get(Service::KeyManager, path.clone()))
        .await?;
    // A secret without a payload has no type.
    let Some(kind) = secret["content_types"]["default"].as_str() else {
        return Ok(Json::Null);
    };
    let request = ServiceRequest::get(Service::KeyManager, format!("{path}/payload"));
    let answer = on.send(request.with_header("Accept", kind)).await;
    let octets = answer
        .map_err(|error| error.into_provider_error(false))?
        .bytes;
    Ok(match std::str::from_utf8(&octets) {
        Ok(text) => json!(text),
        Err(_) => json!(STANDARD.encode(&octets)),
    })
}

/// Keeps a value that the object does not show for an attribute.
fn keep(object: &mut Json, attribute: &str, value: Json) {
    if !object[ASIDE].is_object() {
        object[ASIDE] = json!({});
    }
    object[ASIDE][attribute] = value;
}

/// The hooks of secrets.
struct SecretHooks;

impl Hooks for SecretHooks {
    fn adjust(&self, ty: &mut ResourceType) {
        finds_by_generated_name(ty);
    }

    fn id_field(&self) -> &'static str {
        "secret_ref"
    }

    fn complete<'a>(
        &'a self,
        on: CloudCall<'a>,
        object: &'a mut Json,
    ) -> BoxFuture<'a, Result<(), ProviderError>> {
        Box::pin(async move {
            let address = object["secret_ref"].as_str().unwrap_or_default();
            let payload = payload(on, address).await?;
            keep(object, "decrypted_payload", payload);
            Ok(())
        })
    }

    fn needs_completion(&self, attribute: &str) -> bool {
        attribute == "decrypted_payload"
    }

    fn attribute(&self, name: &str, object: &Json) -> Option<Json> {
        match name {
            "decrypted_payload" => object[ASIDE].get(name).cloned(),
            _ => None,
        }
    }
}

/// The hooks of a kind of container.
struct Containers {
    /// Barbican's name for the kind.
    kind: &'static str,
    /// The properties with the addresses of secrets, and the names of the secrets in the container.
    /// A generic container has a list of them instead.
    parts: &'static [(&'static str, &'static str)],
}

impl Containers {
    /// The secrets of a spec as Barbican takes them.
    fn secrets(&self, spec: &JsonMap) -> Vec<Json> {
        let listed = spec.get("secrets").and_then(Json::as_array);
        let listed = listed.into_iter().flatten();
        let listed = listed.map(|one| json!({"name": one["name"], "secret_ref": one["ref"]}));
        let parts = self.parts.iter().filter_map(|(property, name)| {
            let address = spec.get(*property)?;
            Some(json!({"name": name, "secret_ref": address}))
        });
        listed.chain(parts).collect()
    }
}

/// The secrets that a container shows: their names and addresses.
fn shown_secrets(object: &Json) -> impl Iterator<Item = (&str, &str)> {
    let secrets = object["secret_refs"].as_array().into_iter().flatten();
    secrets.filter_map(|one| Some((one["name"].as_str()?, one["secret_ref"].as_str()?)))
}

impl Hooks for Containers {
    fn adjust(&self, ty: &mut ResourceType) {
        finds_by_generated_name(ty);
    }

    fn id_field(&self) -> &'static str {
        "container_ref"
    }

    fn create_body<'a>(
        &'a self,
        _on: CloudCall<'a>,
        spec: &'a JsonMap,
        body: &'a mut JsonMap,
    ) -> BoxFuture<'a, Result<(), ProviderError>> {
        body.insert("type".to_owned(), json!(self.kind));
        body.insert("secret_refs".to_owned(), json!(self.secrets(spec)));
        Box::pin(std::future::ready(Ok(())))
    }

    fn attribute(&self, name: &str, object: &Json) -> Option<Json> {
        let secrets = || -> JsonMap {
            shown_secrets(object)
                .map(|(name, address)| (name.to_owned(), json!(address)))
                .collect()
        };
        (name == "secret_refs").then(|| Json::Object(secrets()))
    }

    fn property(&self, name: &str, object: &Json, declared: &Json) -> Option<Json> {
        if name == "secrets" {
            let mut shown: Vec<Json> = shown_secrets(object)
                .map(|(name, address)| json!({"name": name, "ref": address}))
                .collect();
            // Barbican keeps no order. Secrets that are declared have theirs.
            let declared = declared.as_array().map(Vec::as_slice).unwrap_or_default();
            let place = |one: &Json| declared.iter().position(|it| it == one);
            shown.sort_by_key(|one| place(one).unwrap_or(usize::MAX));
            return Some(Json::Array(shown));
        }
        let (_, part) = self.parts.iter().find(|(property, _)| *property == name)?;
        let found = shown_secrets(object).find(|(name, _)| name == part);
        Some(found.map_or(Json::Null, |(_, address)| json!(address)))
    }
}

/// The hooks of orders.
struct OrderHooks;

impl Hooks for OrderHooks {
    fn id_field(&self) -> &'static str {
        "order_ref"
    }

    fn create_body<'a>(
        &'a self,
        _on: CloudCall<'a>,
        spec: &'a JsonMap,
        body: &'a mut JsonMap,
    ) -> BoxFuture<'a, Result<(), ProviderError>> {
        // What the order is for stands below `meta`. A generated name would find no order.
        let mut meta = spec.clone();
        meta.remove("type");
        body.remove("name");
        body.insert("meta".to_owned(), Json::Object(meta));
        Box::pin(std::future::ready(Ok(())))
    }

    fn complete<'a>(
        &'a self,
        on: CloudCall<'a>,
        object: &'a mut Json,
    ) -> BoxFuture<'a, Result<(), ProviderError>> {
        Box::pin(async move {
            let Some(address) = object["container_ref"].as_str() else {
                return Ok(());
            };
            let id = address.rsplit('/').next().unwrap_or_default();
            let request = ServiceRequest::get(Service::KeyManager, format!("containers/{id}"));
            let container = on.get(request).await?;
            for (name, address) in shown_secrets(&container) {
                if PARTS.contains(&name) {
                    let payload = payload(on, address).await?;
                    keep(object, name, payload);
                }
            }
            Ok(())
        })
    }

    fn needs_completion(&self, attribute: &str) -> bool {
        PARTS.contains(&attribute)
    }

    fn attribute(&self, name: &str, object: &Json) -> Option<Json> {
        PARTS
            .contains(&name)
            .then(|| object[ASIDE].get(name).cloned())
            .flatten()
    }

    fn property(&self, name: &str, object: &Json, declared: &Json) -> Option<Json> {
        match name {
            "type" => None,
            // Barbican writes the moment in another form, and shows no pass phrase.
            "expiration" | "pass_phrase" => Some(declared.clone()),
            name => object["meta"].get(name).cloned(),
        }
    }
}

/// The secrets in the container that an order makes, which are attributes of the order.
const PARTS: [&str; 4] = ["certificate", "intermediates", "private_key", "public_key"];

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "http://127.0.0.1:9311/v1/secrets/1";
    const OTHER: &str = "http://127.0.0.1:9311/v1/secrets/2";

    #[test]
    fn a_container_has_the_secrets_of_its_properties() {
        let kind = Containers {
            kind: "rsa",
            parts: &[
                ("private_key_ref", "private_key"),
                ("public_key_ref", "public_key"),
            ],
        };
        let spec = JsonMap::from_iter([("public_key_ref".to_owned(), json!(SECRET))]);
        let sent = kind.secrets(&spec);
        assert_eq!(sent, [json!({"name": "public_key", "secret_ref": SECRET})]);
        let object = json!({ "secret_refs": sent });
        let shown = |name: &str| kind.property(name, &object, &Json::Null);
        assert_eq!(shown("public_key_ref"), Some(json!(SECRET)));
        assert_eq!(shown("private_key_ref"), Some(Json::Null));
        assert_eq!(shown("name"), None);
        let attribute = kind.attribute("secret_refs", &object);
        assert_eq!(attribute, Some(json!({"public_key": SECRET})));
    }

    #[test]
    fn the_secrets_of_a_list_are_shown_in_its_order() {
        let kind = Containers {
            kind: "generic",
            parts: &[],
        };
        let declared = json!([{"name": "b", "ref": SECRET}, {"name": "a", "ref": OTHER}]);
        let spec = JsonMap::from_iter([("secrets".to_owned(), declared.clone())]);
        let mut sent = kind.secrets(&spec);
        sent.reverse();
        let object = json!({ "secret_refs": sent });
        assert_eq!(kind.property("secrets", &object, &declared), Some(declared));
    }
}
