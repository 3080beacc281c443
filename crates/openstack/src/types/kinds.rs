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

pub(super) static PROJECT: ObjectKind = ObjectKind {
    word: "project",
    service: Service::Identity,
    path: "projects",
    list: "projects",
    search: Search::ByQuery,
};

pub(super) static USER: ObjectKind = ObjectKind {
    word: "user",
    service: Service::Identity,
    path: "users",
    list: "users",
    search: Search::ByQuery,
};

pub(super) static PORTS: ObjectKind = ObjectKind {
    word: "port",
    service: Service::Network,
    path: "ports",
    list: "ports",
    search: Search::ByQuery,
};
