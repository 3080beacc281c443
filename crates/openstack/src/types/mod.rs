//! The types that a cloud manages, one file for each service or group of types.

mod attachment;
mod compute;
pub(crate) mod constraints;
mod container;
mod deployments;
mod identity;
mod image;
mod key_manager;
mod kinds;
mod load_balancer;
mod network;
mod quota;
mod replaced;
mod server;
mod signals;
mod snapshots;
mod volume;
mod volume_type;

use crate::managed::Handler;

pub(crate) use self::replaced::instead;

/// The types of each file.
static OF_FILES: &[&[&dyn Handler]] = &[
    network::TYPES,
    server::TYPES,
    compute::TYPES,
    volume::TYPES,
    attachment::TYPES,
    volume_type::TYPES,
    quota::TYPES,
    identity::TYPES,
    container::TYPES,
    signals::TYPES,
    deployments::TYPES,
    image::TYPES,
    load_balancer::TYPES,
    key_manager::TYPES,
];

/// All types with a handler.
pub(crate) fn all() -> impl Iterator<Item = &'static dyn Handler> {
    OF_FILES.iter().flat_map(|of_file| of_file.iter().copied())
}

/// The handler of a type; `None` if the type is only described.
pub(crate) fn handler(type_name: &str) -> Option<&'static dyn Handler> {
    all().find(|it| it.type_name() == type_name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::managed::{Table, Target, Update};
    use crate::provider_types::resource_type;

    /// The types with a table.
    fn tables() -> impl Iterator<Item = (&'static str, Table)> {
        all().filter_map(|handler| Some((handler.type_name(), handler.table()?)))
    }

    /// Whether a template may set a field. The id of a region is filled in if it does not.
    fn is_settable(field: &blueprint::Field) -> bool {
        !field.computed || field.optional
    }

    #[test]
    fn no_two_handlers_have_the_same_type() {
        let mut names: Vec<&str> = all().map(Handler::type_name).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }

    #[test]
    fn each_settable_property_has_a_place_in_its_table() {
        for (name, table) in tables() {
            let ty = resource_type(name).unwrap_or_else(|| panic!("{name} is in the catalogue"));
            let own = |property: &str| {
                table
                    .properties
                    .iter()
                    .filter(|it| it.name == property)
                    .count()
            };
            for (property, field) in &ty.schema.fields {
                // An old name of a property is translated before a handler sees it.
                let is_settable = is_settable(field) && field.stands_for.is_none();
                assert!(own(property) == 1 || !is_settable, "{name}: {property}");
            }
            for property in table.properties {
                let field = ty.schema.fields.get(property.name);
                let is_settable = field.is_some_and(is_settable);
                assert!(is_settable, "{name} has no property {}", property.name);
            }
        }
    }

    #[test]
    fn each_updatable_property_can_change() {
        for (name, table) in tables() {
            let ty = resource_type(name).unwrap_or_else(|| panic!("{name} is in the catalogue"));
            for property in table.properties {
                let field = &ty.schema.fields[property.name];
                let is_updatable = !field.must_recreate && !field.immutable;
                let is_carried_out = match property.target {
                    Target::Field { .. } | Target::Spread => table.update != Update::Never,
                    Target::Hook | Target::Ignored => true,
                };
                assert!(is_carried_out || !is_updatable, "{name}: {}", property.name);
            }
        }
    }
}
