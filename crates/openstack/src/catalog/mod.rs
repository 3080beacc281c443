//! The catalogue of the OpenStack types of Heat, offline, read type by type.
//!
//! `cargo xtask catalog openstack` generates `catalog.bin` from the interfaces of Heat's types.
//! `CATALOG.md` describes the form of the file. Opening the file reads an index of names; only
//! types that a document names are unpacked.
//!
//! Not here: what manages the types (`types`). Nothing in this folder uses the network. The types of
//! `OS::Heat` belong to `heat`, which implements some of them.

use std::sync::{Arc, LazyLock};

use provider::Catalog;

use crate::packed::PackedTypes;

/// The namespaces of the catalogue.
pub const NAMESPACES: &[&str] = &[
    "OS::Aodh",
    "OS::Barbican",
    "OS::Blazar",
    "OS::Cinder",
    "OS::Designate",
    "OS::Glance",
    "OS::Ironic",
    "OS::Keystone",
    "OS::Magnum",
    "OS::Manila",
    "OS::Mistral",
    "OS::Monasca",
    "OS::Neutron",
    "OS::Neutron::LBaaS",
    "OS::Neutron::TaaS",
    "OS::Nova",
    "OS::Octavia",
    "OS::Sahara",
    "OS::Senlin",
    "OS::Swift",
    "OS::Trove",
    "OS::Vitrage",
    "OS::Zaqar",
    "OS::Zun",
    "AWS::AutoScaling",
    "AWS::CloudFormation",
    "AWS::EC2",
    "AWS::ElasticLoadBalancing",
    "AWS::IAM",
    "AWS::S3",
];

static TYPES: LazyLock<Arc<PackedTypes>> = LazyLock::new(|| {
    let types = PackedTypes::open(include_bytes!("catalog.bin"));
    Arc::new(types.expect("the catalogue of OpenStack is part of the program"))
});

static CATALOG: LazyLock<Arc<Catalog>> = LazyLock::new(|| {
    let own = provider::read_catalog(include_str!("catalog.json"));
    let own = own.expect("the catalogue of OpenStack is part of the program");
    Arc::new(Catalog {
        source: Some(TYPES.clone()),
        ..own
    })
});

/// The catalogue: all namespaces but `OS::Heat`.
pub fn catalog() -> Arc<Catalog> {
    CATALOG.clone()
}

/// The types of the catalogue.
pub(crate) fn types() -> Arc<PackedTypes> {
    TYPES.clone()
}
