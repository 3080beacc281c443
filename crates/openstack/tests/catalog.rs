//! The catalogue of OpenStack: it matches the facts, is complete, and is read type by type.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test stops where something is not as it should be"
)]

#[path = "../examples/openstack_catalog/generate.rs"]
mod generate;

use std::sync::Arc;

use blueprint::{Field, Kind, Schema, SupportStatus, Value};
use openstack::catalog as openstack_catalog;
use provider::{Attribute, Catalogs, ResourceType, TypeRef, read_catalog};

fn facts() -> Vec<generate::Type> {
    let file = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../conformance/hot/resource_types.json"
    );
    generate::types(&std::fs::read_to_string(file).unwrap()).unwrap()
}

fn ty(name: &str) -> Arc<ResourceType> {
    let heat = || openstack::heat::described().get(name);
    openstack_catalog::catalog()
        .resource_type(name)
        .or_else(heat)
        .unwrap_or_else(|| panic!("{name} is there"))
}

/// The field at a path of names. `*` leads into items.
fn field<'f>(schema: &'f Schema, path: &[&str]) -> &'f Field {
    let [first, rest @ ..] = path else {
        panic!("a path names a field")
    };
    let mut found = &schema.fields[*first];
    for step in rest {
        found = match (&found.kind, *step) {
            (Kind::Array(item), "*") => item,
            (Kind::Object(schema), name) => &schema.fields[name],
            (kind, step) => panic!("`{step}` leads nowhere in {kind:?}"),
        };
    }
    found
}

#[test]
fn the_catalogue_matches_the_facts() {
    for (name, types) in generate::files(facts()) {
        let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("src")
            .join(name);
        assert!(
            generate::pack(&types) == std::fs::read(file).unwrap(),
            "{name}: run `cargo xtask catalog openstack`"
        );
    }
}

#[test]
fn every_type_can_be_read() {
    let facts = facts();
    assert_eq!(facts.len(), 201);
    for (name, json) in facts {
        let id = blueprint::TypeId::parse(name.clone());
        let namespace = id.package_name();
        let text = format!(
            r#"{{"format":1,"namespace":"{namespace}","resourceTypes":{{"{name}":{json}}}}}"#
        );
        if let Err(error) = read_catalog(&text) {
            panic!("{name}: {error}");
        }
        assert_eq!(ty(&name).name.as_ref(), name);
    }
    assert!(
        openstack_catalog::catalog()
            .resource_type("OS::Nova::Serv")
            .is_none()
    );
}

#[test]
fn each_namespace_has_an_owner_and_heat_has_its_own() {
    use provider::Provider as _;
    let catalog = openstack_catalog::catalog();
    assert_eq!(
        catalog
            .namespaces
            .iter()
            .map(AsRef::as_ref)
            .collect::<Vec<_>>(),
        openstack_catalog::NAMESPACES
    );
    let ids: Vec<blueprint::TypeId> = catalog
        .resource_type_names()
        .map(blueprint::TypeId::parse)
        .collect();
    let mut used: Vec<&str> = ids.iter().map(|id| id.package_name()).collect();
    used.sort_unstable();
    used.dedup();
    let mut named = openstack_catalog::NAMESPACES.to_vec();
    named.sort_unstable();
    assert_eq!(used, named);
    let heat = openstack::heat::provider().catalog().clone();
    assert_eq!(
        catalog.resource_type_names().count() + heat.resource_type_names().count(),
        201
    );
    let (catalogs, twice) = Catalogs::new([catalog, heat]);
    assert!(twice.is_empty());
    for name in [
        "OS::Neutron::LBaaS::Pool",
        "AWS::EC2::Instance",
        "OS::Heat::ResourceGroup",
        "OS::Heat::Value",
    ] {
        assert!(
            matches!(catalogs.resource_type(&name.into()), TypeRef::Known(_)),
            "{name}"
        );
    }
    let TypeRef::Known(group) = catalogs.resource_type(&"OS::Heat::ResourceGroup".into()) else {
        panic!("it is there")
    };
    assert!(group.capabilities.described_only);
    let TypeRef::Known(value) = catalogs.resource_type(&"OS::Heat::Value".into()) else {
        panic!("it is there")
    };
    assert!(!value.capabilities.described_only);
}

#[test]
fn a_change_replaces_unless_it_is_updatable_or_refused() {
    let server = ty("OS::Nova::Server");
    assert!(!field(&server.schema, &["name"]).must_recreate);
    assert!(field(&server.schema, &["availability_zone"]).must_recreate);
    let spec = |policy: &str, data: &str| {
        Value::map([
            ("user_data", Value::from(data)),
            ("user_data_update_policy", Value::from(policy)),
        ])
    };
    let before = spec("IGNORE", "a");
    assert_eq!(
        server.replaced_by_policy(&before, &spec("REPLACE", "b")),
        ["user_data".into()]
    );
    assert_eq!(
        server.replaced_by_policy(&before, &spec("REPLACE", "a")),
        []
    );
    assert_eq!(server.replaced_by_policy(&before, &spec("IGNORE", "b")), []);
    let volume = ty("AWS::EC2::Volume");
    let size = field(&volume.schema, &["Size"]);
    assert!(size.immutable && !size.must_recreate);
    assert!(volume.capabilities.snapshots && !server.rejects.iter().any(|_| true));
}

#[test]
fn attributes_with_the_name_of_a_property_have_an_own_field() {
    let server = ty("OS::Nova::Server");
    assert_eq!(
        server.attribute("networks"),
        Some(Attribute::Field("attribute_networks"))
    );
    assert!(matches!(
        field(&server.schema, &["networks"]).kind,
        Kind::Array(_)
    ));
    assert!(field(&server.schema, &["attribute_networks"]).computed);
    assert_eq!(server.attribute("flavor"), None);
    assert_eq!(server.attribute("show"), Some(Attribute::Field("show")));
    let net = ty("OS::Neutron::Net");
    assert_eq!(
        net.attribute("name"),
        Some(Attribute::Field("attribute_name"))
    );
    assert!(!field(&net.schema, &["name"]).computed);
    assert!(field(&net.schema, &["attribute_name"]).computed);
    assert_eq!(
        (
            net.id_field.as_deref(),
            ty("OS::Nova::KeyPair").id_field.as_deref()
        ),
        (Some("id"), Some("name"))
    );
    assert_eq!(net.service.as_deref(), Some("neutron"));
}

#[test]
fn limits_and_support_status_are_read() {
    let string = ty("OS::Heat::SwiftSignal");
    assert!(field(&string.schema, &["timeout"]).constraint.max.is_some());
    let trove = ty("OS::Trove::Instance");
    let name = field(&trove.schema, &["databases", "*", "name"]);
    assert_eq!(name.constraint.max_length, Some(64));
    assert!(name.constraint.whole && name.constraint.pattern.is_some() && name.required);
    let group = ty("OS::Nova::ServerGroup");
    assert_eq!(field(&group.schema, &["policies", "*"]).allowed.len(), 4);
    let port = ty("OS::Neutron::Port");
    assert_eq!(
        field(&port.schema, &["network"]).constraint.custom,
        ["neutron.network".into()]
    );
    assert_eq!(
        field(&port.schema, &["network_id"]).support_status,
        SupportStatus::Hidden
    );
    let old = field(&port.schema, &["fixed_ips", "*", "subnet_id"])
        .stands_for
        .clone()
        .unwrap();
    assert_eq!(
        (old.field.as_ref(), old.value(&Value::from("a"))),
        ("subnet", Value::from("a"))
    );
    let short = field(&ty("OS::Neutron::Router").schema, &["l3_agent_id"])
        .stands_for
        .clone()
        .unwrap();
    assert_eq!(
        short.value(&Value::from("a")),
        Value::list([Value::from("a")])
    );
    let alarm = ty("OS::Aodh::Alarm");
    assert_eq!(
        field(&alarm.schema, &["enabled"]).default,
        Some(Value::Bool(true))
    );
    let policy = ty("OS::Heat::ResourceGroup").update_policy.clone().unwrap();
    assert_eq!(
        field(&policy, &["rolling_update", "max_batch_size"])
            .constraint
            .min,
        Some(1.0)
    );
}

/// The field at a path in the notation of `waits`.
fn leads<'f>(schema: &'f Schema, path: &str) -> &'f Field {
    let steps: Vec<&str> = path
        .split('.')
        .flat_map(|step| match step.strip_suffix("[]") {
            Some(name) => vec![name, "*"],
            None => vec![step],
        })
        .collect();
    field(schema, &steps)
}

#[test]
fn waits_name_existing_types_and_fields() {
    let mut count = 0;
    for name in openstack_catalog::catalog().resource_type_names() {
        for wait in &ty(name).waits {
            count += 1;
            let other = ty(&wait.type_name);
            wait.awaited_fields
                .iter()
                .for_each(|path| assert!(leads(&other.schema, path).is_settable()));
            if let Some((through, fields)) = &wait.through {
                let through = ty(through);
                fields
                    .iter()
                    .for_each(|path| assert!(leads(&through.schema, path).is_settable()));
            }
        }
    }
    assert_eq!(count, 14);
}

/// The facts of a field besides docs and computed values.
fn comparable(field: &Field) -> Field {
    let inside = |field: &Arc<Field>| Arc::new(comparable(field));
    let kind = match &field.kind {
        Kind::Array(item) => Kind::Array(inside(item)),
        Kind::Map(value) => Kind::Map(inside(value)),
        Kind::Object(schema) => {
            let fields = schema
                .fields
                .iter()
                .map(|(name, field)| (name.clone(), comparable(field)));
            Kind::Object(Arc::new(Schema {
                fields: fields.collect(),
                open: schema.open,
            }))
        }
        other => other.clone(),
    };
    let plain = Field::of(kind);
    let (required, default, must_recreate) =
        (field.required, field.default.clone(), field.must_recreate);
    let stands_for = field.stands_for.clone();
    let (support_status, allowed, constraint) = (
        field.support_status,
        field.allowed.clone(),
        field.constraint.clone(),
    );
    Field {
        required,
        default,
        must_recreate,
        support_status,
        stands_for,
        allowed,
        constraint,
        ..plain
    }
}

#[test]
fn implemented_types_match_the_description_of_heat() {
    use provider::Provider as _;
    let heat = openstack::heat::provider().catalog().clone();
    for (name, own) in &heat.resource_types {
        let described = ty(name);
        for (property, field) in described
            .schema
            .fields
            .iter()
            .filter(|(_, field)| field.is_settable())
        {
            let ours = own
                .schema
                .fields
                .get(property)
                .unwrap_or_else(|| panic!("{name} has no {property}"));
            let (mut ours, theirs) = (comparable(ours), comparable(field));
            if property.as_ref() == "name" || matches!(theirs.kind, Kind::Any) {
                ours.kind = theirs.kind.clone();
            }
            assert_eq!(ours, theirs, "{name}.{property}");
        }
        let settable = |ty: &ResourceType| {
            ty.schema
                .fields
                .values()
                .filter(|field| field.is_settable())
                .count()
        };
        assert_eq!(settable(own), settable(&described), "{name}");
        if name.as_ref() != "OS::Heat::None" {
            let names = |ty: &ResourceType| {
                let mut names: Vec<String> = ty
                    .attribute_names()
                    .map(|(name, _)| name.to_string())
                    .collect();
                names.sort();
                names
            };
            assert_eq!(names(own), names(&described), "{name}");
        }
    }
}
