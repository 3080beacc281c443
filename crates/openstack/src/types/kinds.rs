//! The kinds of objects of Nova, Cinder, Glance and Keystone that templates name.

use crate::client::Service;
use crate::managed::{ObjectKind, Search};

pub(super) static IMAGE: ObjectKind = ObjectKind {
    word: "image",
    service: Service::Image,
    path: "images",
    list: "images",
    search: Search::ByQuery,
};

/// Nova finds no flavor by its name. Administrators see private flavors only if they ask for them.
pub(super) static FLAVOR: ObjectKind = ObjectKind {
    word: "flavor",
    service: Service::Compute,
    path: "flavors",
    list: "flavors",
    search: Search::InList(Some(("is_public", "none"))),
};

pub(super) static VOLUME_TYPE: ObjectKind = ObjectKind {
    word: "volume type",
    service: Service::Volume,
    path: "types",
    list: "volume_types",
    search: Search::InList(Some(("is_public", "none"))),
};

pub(super) static QOS_SPECS: ObjectKind = ObjectKind {
    word: "QoS specification",
    service: Service::Volume,
    path: "qos-specs",
    list: "qos_specs",
    search: Search::InList(None),
};

/// A kind of Keystone whose objects belong to a domain.
const fn in_domain(word: &'static str, path: &'static str) -> ObjectKind {
    ObjectKind {
        word,
        service: Service::Identity,
        path,
        list: path,
        search: Search::InDomain(&DOMAIN),
    }
}

pub(super) static PROJECT: ObjectKind = in_domain("project", "projects");
pub(super) static USER: ObjectKind = in_domain("user", "users");
pub(super) static USER_GROUP: ObjectKind = in_domain("group", "groups");
pub(super) static ROLE: ObjectKind = in_domain("role", "roles");

pub(super) static DOMAIN: ObjectKind = ObjectKind {
    word: "domain",
    service: Service::Identity,
    path: "domains",
    list: "domains",
    search: Search::ByNameOrId,
};

pub(super) static KEYSTONE_SERVICE: ObjectKind = ObjectKind {
    word: "service",
    path: "services",
    list: "services",
    ..DOMAIN
};

pub(super) static REGION: ObjectKind = ObjectKind {
    word: "region",
    path: "regions",
    list: "regions",
    search: Search::ByPath("id"),
    ..DOMAIN
};

pub(super) static PORTS: ObjectKind = ObjectKind {
    word: "port",
    service: Service::Network,
    path: "ports",
    list: "ports",
    search: Search::ByQuery,
};
