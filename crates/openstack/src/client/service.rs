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
}

impl Service {
    /// The names of its type in the catalogue of services, the current one first.
    pub(crate) fn catalogue_types(self) -> &'static [&'static str] {
        match self {
            Service::Identity => &["identity"],
            Service::Compute => &["compute"],
            Service::Network => &["network"],
            Service::Volume => &["block-storage", "volumev3", "block-store", "volume"],
            Service::Image => &["image"],
        }
    }

    /// The version that all paths begin with. An endpoint in the catalogue may end with it.
    pub(crate) fn version(self) -> &'static str {
        match self {
            Service::Identity | Service::Volume => "v3",
            Service::Compute => "v2.1",
            Service::Network => "v2.0",
            Service::Image => "v2",
        }
    }

    /// The value of the header `OpenStack-API-Version`, for services with microversions. These are
    /// the versions that Heat 27 uses, because they decide the shapes of objects.
    pub(crate) fn microversion(self) -> Option<&'static str> {
        match self {
            Service::Compute => Some("compute 2.96"),
            Service::Volume => Some("volume 3.71"),
            Service::Identity | Service::Network | Service::Image => None,
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
        })
    }
}
