//! The names of providers with several namespaces.
//!
//! Not here: the catalogues with these namespaces ([`Catalogs`](crate::Catalogs)).

use std::sync::Arc;

use blueprint::{IndexMap, Name};

/// The names of providers by their namespaces. A provider with a name has one configuration for all
/// its namespaces.
#[derive(Clone, Debug, Default)]
pub struct ProviderNames {
    of_namespaces: Arc<IndexMap<Name, Name>>,
}

impl ProviderNames {
    /// Sets the name of the provider of these namespaces.
    pub(crate) fn add(&mut self, name: &Name, namespaces: &[Name]) {
        let names = Arc::make_mut(&mut self.of_namespaces);
        names.extend(
            namespaces
                .iter()
                .map(|namespace| (namespace.clone(), name.clone())),
        );
    }

    /// The key of the provider of a namespace: its name, or else the namespace. A name is its own
    /// key.
    pub fn key<'a>(&'a self, namespace: &'a str) -> &'a str {
        let name = self.of_namespaces.get(namespace);
        name.map_or(namespace, |name| name.as_ref())
    }

    /// Whether two namespaces or names belong to one configuration.
    pub fn are_same(&self, one: &str, other: &str) -> bool {
        one == other || self.key(one) == self.key(other)
    }
}
