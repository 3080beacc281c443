//! The services of a cloud.

use std::fmt;

/// A service with an API.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Service {
    /// Keystone.
    Identity,
    /// Nova.
    Compute,
    /// Neutron.
    Network,
    /// Cinder.
    Volume,
    /// Glance.
    Image,
    /// Octavia.
    LoadBalancer,
    /// Barbican.
    KeyManager,
    /// Swift.
    ObjectStore,
    /// Heat.
    Orchestration,
}

/// What follows the version in the path of an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AfterVersion {
    /// Nothing that requests need.
    Nothing,
    /// The project, if the endpoint has it: older services need it, newer ones allow it.
    ProjectIfWritten,
    /// Always the project.
    Project,
}

/// The path that all requests to a service begin with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ApiPath {
    /// The version, and what follows it.
    Version(&'static str, AfterVersion),
    /// That of the endpoint, as it is: it ends with an account.
    AsWritten,
}

/// A microversion: the major and the minor number.
pub(super) type Microversion = (u32, u32);

/// The microversions of a service that are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Microversions {
    /// The name of the service in the header `OpenStack-API-Version`.
    pub(super) name: &'static str,
    /// The version that is asked for.
    pub(super) wanted: Microversion,
    /// The oldest version whose objects have the fields that types need.
    pub(super) oldest: Microversion,
}

impl Service {
    /// All services.
    pub(super) const ALL: [Service; 9] = [
        Service::Identity,
        Service::Compute,
        Service::Network,
        Service::Volume,
        Service::Image,
        Service::LoadBalancer,
        Service::KeyManager,
        Service::ObjectStore,
        Service::Orchestration,
    ];

    /// The names of its type in the catalogue of services, the current one first. Source: the service
    /// types authority of OpenStack.
    pub(crate) fn catalogue_types(self) -> &'static [&'static str] {
        match self {
            Service::Identity => &["identity"],
            Service::Compute => &["compute"],
            Service::Network => &["network"],
            Service::Volume => &["block-storage", "volumev3", "block-store", "volume"],
            Service::Image => &["image"],
            Service::LoadBalancer => &["load-balancer"],
            Service::KeyManager => &["key-manager"],
            Service::ObjectStore => &["object-store"],
            Service::Orchestration => &["orchestration"],
        }
    }

    /// The path that all requests begin with. An endpoint in the catalogue may have it or not.
    pub(super) fn api_path(self) -> ApiPath {
        use AfterVersion::{Nothing, Project, ProjectIfWritten};
        match self {
            Service::Identity => ApiPath::Version("v3", Nothing),
            Service::Compute => ApiPath::Version("v2.1", Nothing),
            Service::Network => ApiPath::Version("v2.0", Nothing),
            Service::Volume => ApiPath::Version("v3", ProjectIfWritten),
            Service::Image | Service::LoadBalancer => ApiPath::Version("v2", Nothing),
            Service::KeyManager => ApiPath::Version("v1", Nothing),
            Service::Orchestration => ApiPath::Version("v1", Project),
            Service::ObjectStore => ApiPath::AsWritten,
        }
    }

    /// The microversions, for services that have them. The wanted ones are those of Heat 27, because
    /// they decide the shapes of objects. The oldest ones are those of the release Stein for Nova
    /// (the field `policy` of server groups) and Pike for Cinder (volumes that grow while in use).
    pub(super) fn microversions(self) -> Option<Microversions> {
        match self {
            Service::Compute => Some(Microversions {
                name: "compute",
                wanted: (2, 96),
                oldest: (2, 64),
            }),
            Service::Volume => Some(Microversions {
                name: "volume",
                wanted: (3, 71),
                oldest: (3, 42),
            }),
            _ => None,
        }
    }

    /// What it is, for messages about a cloud without it.
    pub(super) fn kind(self) -> &'static str {
        match self {
            Service::Identity => "identity service",
            Service::Compute => "compute service",
            Service::Network => "network service",
            Service::Volume => "block storage service",
            Service::Image => "image service",
            Service::LoadBalancer => "load balancer service",
            Service::KeyManager => "key manager",
            Service::ObjectStore => "object store",
            Service::Orchestration => "orchestration service",
        }
    }
}

impl fmt::Display for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Service::Identity => "Keystone",
            Service::Compute => "Nova",
            Service::Network => "Neutron",
            Service::Volume => "Cinder",
            Service::Image => "Glance",
            Service::LoadBalancer => "Octavia",
            Service::KeyManager => "Barbican",
            Service::ObjectStore => "Swift",
            Service::Orchestration => "Heat",
        })
    }
}
