//! The types of Keystone.
//!
//! Most names are unique, so they are the mark. Services and endpoints have it beside their fields,
//! and a region has an id of the create.

mod hooks;
mod roles;

use super::kinds::{DOMAIN, KEYSTONE_SERVICE, PROJECT, REGION};
use crate::client::Service;
use crate::managed::{
    Handler, Managed, Mark, NoHooks, Property, State, Unset, Update, reference, same,
};

use self::hooks::{DomainHooks, MEMBER_OF, PrincipalHooks, ProjectHooks, RegionHooks};
use self::roles::{Principal, ROLES};

/// The types.
pub(super) static TYPES: &[&dyn Handler] = &[
    &DOMAINS,
    &PROJECTS,
    &USERS,
    &GROUPS,
    &ROLES_OF_KEYSTONE,
    &SERVICES,
    &ENDPOINTS,
    &REGIONS,
    &roles::OF_USER,
    &roles::OF_GROUP,
];

/// What the tables have in common.
const KEYSTONE: Managed = Managed {
    parent: None,
    name: "",
    service: Service::Identity,
    path: "",
    envelope: "",
    list: "",
    properties: &[],
    update: Update::Patch,
    mark: Mark::Name,
    state: State::NONE,
    busy: &[],
    hooks: &NoHooks,
};

/// The description. Keystone clears it only with the empty text.
const DESCRIPTION: Property = same("description").when_unset(Unset::Text);

/// Whether the object is in use.
const ENABLED: Property = same("enabled").when_unset(Unset::True);

/// The domain to which an object belongs.
const OF_DOMAIN: Property = reference("domain", "domain_id", &DOMAIN).when_unset(Unset::Kept);

static DOMAINS: Managed = Managed {
    name: "OS::Keystone::Domain",
    path: "domains",
    envelope: "domain",
    list: "domains",
    properties: &[same("name"), DESCRIPTION, ENABLED],
    hooks: &DomainHooks,
    ..KEYSTONE
};

static PROJECTS: Managed = Managed {
    name: "OS::Keystone::Project",
    path: "projects",
    envelope: "project",
    list: "projects",
    properties: &[
        same("name"),
        OF_DOMAIN,
        DESCRIPTION,
        ENABLED,
        reference("parent", "parent_id", &PROJECT),
        same("tags").when_unset(Unset::List),
    ],
    hooks: &ProjectHooks,
    ..KEYSTONE
};

static USERS: Managed = Managed {
    name: "OS::Keystone::User",
    path: "users",
    envelope: "user",
    list: "users",
    properties: &[
        same("name"),
        OF_DOMAIN,
        DESCRIPTION,
        ENABLED,
        same("email"),
        // Keystone shows no passwords. A user without one could not sign in any more.
        same("password").recorded().when_unset(Unset::Kept),
        reference("default_project", "default_project_id", &PROJECT),
        MEMBER_OF.recorded(),
        ROLES.recorded(),
    ],
    hooks: &PrincipalHooks(Principal::User),
    ..KEYSTONE
};

static GROUPS: Managed = Managed {
    name: "OS::Keystone::Group",
    path: "groups",
    envelope: "group",
    list: "groups",
    properties: &[same("name"), OF_DOMAIN, DESCRIPTION, ROLES.recorded()],
    hooks: &PrincipalHooks(Principal::Group),
    ..KEYSTONE
};

static ROLES_OF_KEYSTONE: Managed = Managed {
    name: "OS::Keystone::Role",
    path: "roles",
    envelope: "role",
    list: "roles",
    properties: &[same("name"), OF_DOMAIN],
    ..KEYSTONE
};

static SERVICES: Managed = Managed {
    name: "OS::Keystone::Service",
    path: "services",
    envelope: "service",
    list: "services",
    properties: &[same("name"), DESCRIPTION, same("type"), ENABLED],
    mark: Mark::Beside,
    ..KEYSTONE
};

static ENDPOINTS: Managed = Managed {
    name: "OS::Keystone::Endpoint",
    path: "endpoints",
    envelope: "endpoint",
    list: "endpoints",
    properties: &[
        same("name"),
        reference("region", "region_id", &REGION),
        reference("service", "service_id", &KEYSTONE_SERVICE),
        same("interface"),
        same("url"),
        ENABLED,
    ],
    mark: Mark::Beside,
    ..KEYSTONE
};

static REGIONS: Managed = Managed {
    name: "OS::Keystone::Region",
    path: "regions",
    envelope: "region",
    list: "regions",
    properties: &[
        same("id"),
        reference("parent_region", "parent_region_id", &REGION),
        DESCRIPTION,
        ENABLED,
    ],
    mark: Mark::Unique(&["id"]),
    hooks: &RegionHooks,
    ..KEYSTONE
};
