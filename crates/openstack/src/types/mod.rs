//! The types that a cloud manages, one file for each service or group of types.

mod attachment;
mod compute;
mod kinds;
mod network;
mod quota;
mod server;
mod volume;
mod volume_type;

use crate::managed::Handler;

/// The types of each file.
static OF_FILES: &[&[&dyn Handler]] = &[
    network::TYPES,
    server::TYPES,
    compute::TYPES,
    volume::TYPES,
    attachment::TYPES,
    volume_type::TYPES,
    quota::TYPES,
];

/// All types with a handler.
pub(crate) fn all() -> impl Iterator<Item = &'static dyn Handler> {
    OF_FILES.iter().flat_map(|of_file| of_file.iter().copied())
}

/// The handler of a type; `None` if the type is only described.
pub(crate) fn handler(type_name: &str) -> Option<&'static dyn Handler> {
    all().find(|it| it.type_name() == type_name)
}
