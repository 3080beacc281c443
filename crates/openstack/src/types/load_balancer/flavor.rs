//! Flavors and availability zones of load balancers, and the profiles with their settings. They are
//! for administrators.

use crate::managed::{Hooks, JsonMap, Managed, Mark, SpecChange, State, Unset, reference, same};

use super::common::OCTAVIA;
use super::kinds::{FLAVOR_PROFILES, ZONE_PROFILES};

/// The hooks of objects whose names are unique in a cloud.
struct UniquelyNamed;

impl Hooks for UniquelyNamed {
    fn deletes_first(&self, prior: &JsonMap, desired: &JsonMap) -> bool {
        prior.contains_key("name") && prior.get("name") == desired.get("name")
    }
}

/// The hooks of availability zones, which Octavia addresses by their names.
struct Zones;

impl Hooks for Zones {
    fn id_field(&self) -> &'static str {
        "name"
    }

    fn refuses(&self, change: SpecChange<'_>) -> Option<(&'static str, &'static str)> {
        let reason = "Octavia cannot rename an availability zone; use another resource for it";
        change.has("name").then_some(("name", reason))
    }

    fn deletes_first(&self, prior: &JsonMap, desired: &JsonMap) -> bool {
        UniquelyNamed.deletes_first(prior, desired)
    }
}

pub(super) static FLAVOR: Managed = Managed {
    name: "OS::Octavia::Flavor",
    path: "lbaas/flavors",
    envelope: "flavor",
    list: "flavors",
    properties: &[
        same("name"),
        same("description").when_unset(Unset::Text),
        same("enabled").when_unset(Unset::True),
        reference("flavor_profile", "flavor_profile_id", &FLAVOR_PROFILES),
    ],
    mark: Mark::Name,
    state: State::NONE,
    hooks: &UniquelyNamed,
    ..OCTAVIA
};

pub(super) static FLAVOR_PROFILE: Managed = Managed {
    name: "OS::Octavia::FlavorProfile",
    path: "lbaas/flavorprofiles",
    envelope: "flavorprofile",
    list: "flavorprofiles",
    properties: &[
        same("name"),
        same("provider_name").when_unset(Unset::Kept),
        same("flavor_data"),
    ],
    // Several profiles may have one name.
    mark: Mark::None,
    state: State::NONE,
    ..OCTAVIA
};

pub(super) static ZONE_PROFILE: Managed = Managed {
    name: "OS::Octavia::AvailabilityZoneProfile",
    path: "lbaas/availabilityzoneprofiles",
    envelope: "availability_zone_profile",
    list: "availability_zone_profiles",
    properties: &[
        same("name"),
        same("provider_name").when_unset(Unset::Kept),
        same("availability_zone_data"),
    ],
    mark: Mark::None,
    state: State::NONE,
    ..OCTAVIA
};

pub(super) static ZONE: Managed = Managed {
    name: "OS::Octavia::AvailabilityZone",
    path: "lbaas/availabilityzones",
    envelope: "availability_zone",
    list: "availability_zones",
    properties: &[
        same("name"),
        same("description").when_unset(Unset::Text),
        same("enabled").when_unset(Unset::True),
        reference(
            "availability_zone_profile",
            "availability_zone_profile_id",
            &ZONE_PROFILES,
        ),
    ],
    mark: Mark::Name,
    state: State::NONE,
    hooks: &Zones,
    ..OCTAVIA
};
