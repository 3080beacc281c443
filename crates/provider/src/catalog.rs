//! A catalogue: all fixed facts of a provider, as data, and the lookup of types in it.
//!
//! Types that are loaded take precedence over those that the [`TypeSource`] of the catalogue reads
//! on demand. So a user's own catalogue can replace a type of the same name.
//!
//! Not here: which catalogue a name belongs to ([`Catalogs`](crate::Catalogs)), and any type source
//! (`providers`).

use std::sync::Arc;

use blueprint::{IndexMap, Name, TypeId};
use expr::FunctionDef;

use crate::type_source::plain_name;
use crate::{
    CustomType, DataSourceType, Hosted, Limits, LinkKind, Rate, ResourceType, RetryPolicy, Setting,
    TransformDef, TypeSource, Unavailable,
};

/// The facts of a provider. Read from a catalogue file with [`read_catalog`](crate::read_catalog).
#[derive(Clone, Debug, Default)]
pub struct Catalog {
    /// The name of the provider: the key of its settings and limits. `None` if the namespaces are
    /// the keys.
    pub name: Option<Name>,
    /// The namespaces of everything in it.
    pub namespaces: Vec<Name>,
    /// One sentence for people.
    pub docs: Name,
    /// The loaded resource types by name. [`Catalog::resource_type`] also asks the source.
    pub resource_types: IndexMap<Name, Arc<ResourceType>>,
    /// The loaded data source types by name. [`Catalog::data_source_type`] also asks the source.
    pub data_source_types: IndexMap<Name, Arc<DataSourceType>>,
    /// The loaded custom variable types by name. [`Catalog::variable_type`] also asks the source.
    pub variable_types: IndexMap<Name, Arc<CustomType>>,
    /// Functions, in order.
    pub functions: Vec<FunctionDef>,
    /// Link kinds, in order.
    pub link_kinds: Vec<Arc<LinkKind>>,
    /// Transforms by name.
    pub transforms: IndexMap<Name, Arc<TransformDef>>,
    /// Keys of `[providers.NAMESPACE]` in `cyan.toml`.
    pub settings: Vec<Setting>,
    /// Maximum number of concurrent calls; 0 for no limit.
    pub max_parallel: u32,
    /// Maximum call rate. `None` for no limit.
    pub rate: Option<Rate>,
    /// The retry policy for failed calls.
    pub retries: RetryPolicy,
    /// Whether type names match without regard to case and hyphens within a segment
    /// (decisions/blueprint#type-names).
    pub loose_names: bool,
    /// Whether `cyan types` shows it only with `--all`.
    pub hidden: bool,
    /// The package data if the namespaces are hosted packages. `None` for a built-in provider.
    pub hosted: Option<Hosted>,
    /// The digest of the program that serves the types; `None` if there is none, or if it may
    /// change at any time.
    pub program: Option<Name>,
    /// Further types, read on demand.
    pub source: Option<Arc<dyn TypeSource>>,
    /// The reason why it is empty, if the plugin of its package cannot be used.
    pub unavailable: Option<Arc<Unavailable>>,
}

impl Catalog {
    /// The key of the provider in sessions, answers and messages: its name, or else its first
    /// namespace. Empty for a catalogue without either.
    pub fn key(&self) -> Name {
        let first = || self.namespaces.first().cloned();
        self.name.clone().or_else(first).unwrap_or_default()
    }

    /// The words that select the provider in settings and limits: its namespaces and its name.
    pub fn keys(&self) -> impl Iterator<Item = &Name> {
        let name = self.name.iter();
        self.namespaces
            .iter()
            .chain(name.filter(|name| !self.namespaces.contains(name)))
    }

    /// A type of the catalogue, with its package if the catalogue describes hosted packages.
    pub fn type_id(&self, name: &Name) -> TypeId {
        let id = TypeId::from(name);
        let namespace = self
            .namespaces
            .iter()
            .find(|namespace| namespace.as_ref() == id.package_name());
        match (&self.hosted, namespace) {
            (Some(hosted), Some(namespace)) => id.of_package(Arc::new(hosted.package(namespace))),
            _ => id,
        }
    }

    /// The resource type of that name.
    pub fn resource_type(&self, name: &str) -> Option<Arc<ResourceType>> {
        self.loaded(&self.resource_types, name)
            .or_else(|| self.source.as_ref()?.resource_type(name))
    }

    /// Whether there is a resource type of that name.
    pub fn has_resource_type(&self, name: &str) -> bool {
        self.loaded(&self.resource_types, name).is_some()
            || self
                .source
                .as_ref()
                .is_some_and(|source| source.has_resource_type(name))
    }

    /// The data source type of that name.
    pub fn data_source_type(&self, name: &str) -> Option<Arc<DataSourceType>> {
        self.loaded(&self.data_source_types, name)
            .or_else(|| self.source.as_ref()?.data_source_type(name))
    }

    /// Whether there are too many types to read all of them at once.
    pub fn is_large(&self) -> bool {
        self.source.as_ref().is_some_and(|source| source.is_large())
    }

    /// The resource types, which this call reads; of a large catalogue only the loaded ones.
    pub fn few_resource_types(&self) -> impl Iterator<Item = Arc<ResourceType>> {
        let is_large = self.is_large();
        let names = self
            .resource_type_names()
            .filter(move |name| !is_large || self.resource_types.contains_key(*name));
        names.filter_map(|name| self.resource_type(name))
    }

    /// The data source types, which this call reads; of a large catalogue only the loaded ones.
    pub fn few_data_source_types(&self) -> impl Iterator<Item = Arc<DataSourceType>> {
        let is_large = self.is_large();
        let names = self
            .data_source_type_names()
            .filter(move |name| !is_large || self.data_source_types.contains_key(*name));
        names.filter_map(|name| self.data_source_type(name))
    }

    /// The names of all resource types, without reading any type.
    pub fn resource_type_names(&self) -> impl Iterator<Item = &str> {
        names(
            &self.resource_types,
            self.source
                .as_ref()
                .map(|source| source.resource_type_names()),
        )
    }

    /// The names of all data source types, without reading any type.
    pub fn data_source_type_names(&self) -> impl Iterator<Item = &str> {
        names(
            &self.data_source_types,
            self.source
                .as_ref()
                .map(|source| source.data_source_type_names()),
        )
    }

    /// The custom variable type of that name.
    pub fn variable_type(&self, name: &str) -> Option<Arc<CustomType>> {
        self.loaded(&self.variable_types, name)
            .or_else(|| self.source.as_ref()?.variable_type(name))
    }

    /// The names of all custom variable types.
    pub fn variable_type_names(&self) -> impl Iterator<Item = &str> {
        names(
            &self.variable_types,
            self.source
                .as_ref()
                .map(|source| source.variable_type_names()),
        )
    }

    /// The loaded item of that name, in the catalogue's spelling or, if `loose_names` is set, in a
    /// loose one.
    pub(crate) fn loaded<T>(&self, list: &IndexMap<Name, Arc<T>>, name: &str) -> Option<Arc<T>> {
        if let Some(found) = list.get(name) {
            return Some(found.clone());
        }
        if !self.loose_names || list.is_empty() {
            return None;
        }
        let wanted = plain_name(name);
        list.iter()
            .find(|(name, _)| plain_name(name) == wanted)
            .map(|(_, found)| found.clone())
    }
}

impl Limits {
    /// Writes the limits that are set into a catalogue; the others stay.
    pub fn apply_to(&self, catalog: &mut Catalog) {
        catalog.max_parallel = self.max_parallel.unwrap_or(catalog.max_parallel);
        catalog.rate = self.rate.or(catalog.rate);
        catalog.retries = self.retries.unwrap_or(catalog.retries);
    }
}

fn names<'a, T>(
    loaded: &'a IndexMap<Name, T>,
    read: Option<Box<dyn Iterator<Item = &'a str> + 'a>>,
) -> impl Iterator<Item = &'a str> {
    let others = read
        .into_iter()
        .flatten()
        .filter(|name| !loaded.contains_key(*name));
    loaded.keys().map(|name| name.as_ref()).chain(others)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::{Catalogs, TypeRef, read_catalog};

    /// A source of two types that counts its reads.
    #[derive(Debug)]
    struct Two {
        types: Catalog,
        read: Arc<AtomicUsize>,
    }

    impl TypeSource for Two {
        fn resource_type(&self, name: &str) -> Option<Arc<ResourceType>> {
            let found = self.types.loaded(&self.types.resource_types, name)?;
            self.read.fetch_add(1, Ordering::SeqCst);
            Some(found)
        }

        fn resource_type_names(&self) -> Box<dyn Iterator<Item = &str> + '_> {
            Box::new(self.types.resource_types.keys().map(|name| name.as_ref()))
        }
    }

    fn shop() -> (Catalogs, Arc<AtomicUsize>) {
        let types = r#"{"format": 1, "namespace": "shop", "looseNames": true,
            "resourceTypes": {"shop/front-door": {"docs": "far"}, "shop/till": {"docs": "far"}}}"#;
        let own = r#"{"format": 1, "namespace": "shop", "looseNames": true, "resourceTypes": {"shop/till": {"docs": "own"}}}"#;
        let read = Arc::new(AtomicUsize::new(0));
        let source = Two {
            types: read_catalog(types).unwrap(),
            read: read.clone(),
        };
        let catalog = Catalog {
            source: Some(Arc::new(source)),
            ..read_catalog(own).unwrap()
        };
        (Catalogs::new([Arc::new(catalog)]).0, read)
    }

    #[test]
    fn names_are_listed_once_without_reading_types() {
        let (catalogs, read) = shop();
        assert_eq!(
            catalogs.resource_type_names().collect::<Vec<_>>(),
            ["shop/till", "shop/front-door"]
        );
        assert_eq!(read.load(Ordering::SeqCst), 0);
    }

    #[test]
    fn a_loaded_type_takes_precedence_over_the_source() {
        let (catalogs, read) = shop();
        let TypeRef::Known(till) = catalogs.resource_type(&"shop/Till".into()) else {
            panic!("it is there")
        };
        assert_eq!(
            (till.name.as_ref(), till.docs.as_ref()),
            ("shop/till", "own")
        );
        assert_eq!(read.load(Ordering::SeqCst), 0);
        let TypeRef::Known(door) = catalogs.resource_type(&"Shop/frontDoor".into()) else {
            panic!("it is there")
        };
        assert_eq!(door.name.as_ref(), "shop/front-door");
        assert_eq!(read.load(Ordering::SeqCst), 1);
        assert!(matches!(
            catalogs.resource_type(&"shop/window".into()),
            TypeRef::UnknownType
        ));
        assert!(matches!(
            catalogs.resource_type(&"shops/till".into()),
            TypeRef::UnknownNamespace
        ));
    }
}
