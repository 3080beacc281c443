//! The rules of the catalogue that name objects of a cloud, such as `neutron.network`: a value that
//! they are on is the name or the id of an object.
//!
//! Not here: rules about texts alone (the dialect of Heat's templates).

use ::provider::{ErrorKind, ProviderError};
use blueprint::{Field, FieldPath, Kind, PathStep, Schema};
use serde_json::Value as Json;

use super::kinds::{
    DOMAIN, FLAVOR, IMAGE, KEYSTONE_SERVICE, PROJECT, QOS_SPECS, REGION, ROLE, USER, USER_GROUP,
    VOLUME_TYPE,
};
use super::load_balancer::kinds as octavia;
use super::network::kinds as network;
use crate::client::Service;
use crate::managed::{CloudCall, JsonMap, ObjectKind, Search};

/// A kind whose objects are found by the parameter `name` of a query.
const fn named(
    word: &'static str,
    service: Service,
    path: &'static str,
    list: &'static str,
) -> ObjectKind {
    ObjectKind {
        word,
        service,
        path,
        list,
        search: Search::ByQuery,
    }
}

static SERVER: ObjectKind = named("server", Service::Compute, "servers", "servers");
static VOLUME: ObjectKind = named("volume", Service::Volume, "volumes", "volumes");
static SNAPSHOT: ObjectKind = named("volume snapshot", Service::Volume, "snapshots", "snapshots");
static BACKUP: ObjectKind = named("volume backup", Service::Volume, "backups", "backups");
/// Key pairs have no ids.
static KEY_PAIR: ObjectKind = ObjectKind {
    search: Search::ByPath("name"),
    ..named("key pair", Service::Compute, "os-keypairs", "keypairs")
};

/// The kinds by the rules that ask for them.
static KINDS: &[(&str, &ObjectKind)] = &[
    ("cinder.backup", &BACKUP),
    ("cinder.qos_specs", &QOS_SPECS),
    ("cinder.snapshot", &SNAPSHOT),
    ("cinder.volume", &VOLUME),
    ("cinder.vtype", &VOLUME_TYPE),
    ("glance.image", &IMAGE),
    ("keystone.domain", &DOMAIN),
    ("keystone.group", &USER_GROUP),
    ("keystone.project", &PROJECT),
    ("keystone.region", &REGION),
    ("keystone.role", &ROLE),
    ("keystone.service", &KEYSTONE_SERVICE),
    ("keystone.user", &USER),
    ("neutron.address_scope", &network::ADDRESS_SCOPE),
    ("neutron.network", &network::NETWORK),
    ("neutron.port", &network::PORT),
    ("neutron.qos_policy", &network::QOS_POLICY),
    ("neutron.router", &network::ROUTER),
    ("neutron.security_group", &network::GROUP),
    ("neutron.segment", &network::SEGMENT),
    ("neutron.subnet", &network::SUBNET),
    ("neutron.subnetpool", &network::SUBNET_POOL),
    ("nova.flavor", &FLAVOR),
    ("nova.keypair", &KEY_PAIR),
    ("nova.server", &SERVER),
    ("octavia.flavor", &octavia::FLAVORS),
    ("octavia.l7policy", &octavia::POLICIES),
    ("octavia.listener", &octavia::LISTENERS),
    ("octavia.loadbalancer", &octavia::BALANCERS),
    ("octavia.pool", &octavia::POOLS),
];

/// The kind of object that a rule asks for; `None` for a rule that no cloud is asked about.
pub(crate) fn kind_of_rule(rule: &str) -> Option<&'static ObjectKind> {
    let found = KINDS.iter().find(|(name, _)| *name == rule);
    found.map(|(_, kind)| *kind)
}

/// The rules with a kind.
pub(crate) fn rules() -> impl Iterator<Item = &'static str> {
    KINDS.iter().map(|(name, _)| *name)
}

/// The values in a spec that break a rule of the type: the places and the reasons. Values that are
/// not known yet, and empty ones, break none.
///
/// # Errors
/// If the cloud cannot be asked. A refusal to show objects breaks no rule.
pub(crate) async fn broken_rules(
    on: CloudCall<'_>,
    spec: &JsonMap,
) -> Result<Vec<(FieldPath, String)>, ProviderError> {
    let mut named = Vec::new();
    collect(&on.ty.schema, spec, &FieldPath::default(), &mut named);
    let mut broken = Vec::new();
    for (path, kind, text) in named {
        match on.id_of(kind, text).await {
            Ok(_) => {}
            Err(error) if error.kind == ErrorKind::Document => broken.push((path, error.message)),
            Err(error) if error.kind == ErrorKind::Permanent && error.session.is_none() => {}
            Err(error) => return Err(error),
        }
    }
    Ok(broken)
}

/// A text that names an object: its place and the kind of the object.
type NamedAt<'s> = (FieldPath, &'static ObjectKind, &'s str);

/// Collects the texts of a map that name objects.
fn collect<'s>(
    schema: &Schema,
    entries: &'s JsonMap,
    at: &FieldPath,
    named: &mut Vec<NamedAt<'s>>,
) {
    for (name, value) in entries {
        if let Some(field) = schema.fields.get(name.as_str()) {
            let at = below(at, PathStep::Field(name.as_str().into()));
            collect_value(field, value, at, named);
        }
    }
}

fn collect_value<'s>(field: &Field, value: &'s Json, at: FieldPath, named: &mut Vec<NamedAt<'s>>) {
    match (&field.kind, value) {
        (Kind::Array(item), Json::Array(items)) => {
            for (index, value) in items.iter().enumerate() {
                let at = below(&at, PathStep::Index(index as u64));
                collect_value(item, value, at, named);
            }
        }
        (Kind::Object(schema), Json::Object(entries)) => collect(schema, entries, &at, named),
        (_, Json::String(text)) if !text.is_empty() => {
            let rules = field.constraint.custom.iter();
            let kind = rules.filter_map(|rule| kind_of_rule(rule)).next();
            named.extend(kind.map(|kind| (at, kind, text.as_str())));
        }
        _ => {}
    }
}

fn below(at: &FieldPath, step: PathStep) -> FieldPath {
    FieldPath(at.0.iter().cloned().chain([step]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider_types::resource_type;
    use serde_json::json;

    #[test]
    fn texts_that_name_objects_are_found_at_their_places() {
        let ty = resource_type("OS::Nova::Server").unwrap();
        let spec = json!({
            "flavor": "m1.small", "image": "", "key_name": "mine",
            "networks": [{ "network": "a" }, { "network": "b", "fixed_ip": "10.0.0.1" }],
        });
        let mut named = Vec::new();
        let entries = spec.as_object().unwrap();
        collect(&ty.schema, entries, &FieldPath::default(), &mut named);
        let named = named.into_iter();
        let mut named: Vec<String> = named
            .map(|(at, kind, text)| format!("{at}: {} {text}", kind.word))
            .collect();
        named.sort_unstable();
        assert_eq!(
            named,
            [
                "flavor: flavor m1.small",
                "key_name: key pair mine",
                "networks[0].network: network a",
                "networks[1].network: network b",
            ]
        );
    }

    #[test]
    fn rules_about_objects_have_kinds() {
        assert_eq!(
            kind_of_rule("nova.flavor").map(|it| it.word),
            Some("flavor")
        );
        assert!(kind_of_rule("net_cidr").is_none());
    }
}
