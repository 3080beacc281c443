//! Opens the hosted packages that documents name, before their types are looked up.
//!
//! Not here: how a package is opened (the world); packages whose types a dialect needs to lower a
//! document ([`Wanted::Package`](dialect::Wanted::Package)).

use std::collections::BTreeSet;

use blueprint::{Blueprint, Name};
use dialect::PackageRequest;
use futures::future::join_all;
use provider::Catalogs;

use crate::world::World;

/// Opens the hosted packages that a document names, at the same time. A package that cannot be
/// opened is reported at its first use.
pub(crate) async fn open_packages(blueprint: &Blueprint, catalogs: &Catalogs, world: &dyn World) {
    if catalogs.packages().is_empty() {
        return;
    }
    let called = blueprint.called_packages();
    let called = called.iter().map(Name::as_ref);
    let named: BTreeSet<&str> = blueprint.package_names().chain(called).collect();
    let requests: Vec<PackageRequest> = named
        .into_iter()
        .filter(|name| catalogs.is_closed(name))
        .map(PackageRequest::named)
        .collect();
    // The catalogue of a package that cannot be opened says why.
    let _ = join_all(requests.iter().map(|request| world.open_package(request))).await;
}
