//! Looking a type up in a catalogue, also where the catalogue is too large to be read whole.
//!
//! Types that lie ready in a [`Catalog`] go before those that its [`TypeSource`] reads when they are first asked for, so a catalogue
//! of a person's own can put a type in the place of one of the same name.
//!
//! Not here: which catalogue a name belongs to ([`Catalogs`](crate::Catalogs)), and any source of types (`providers`).

use std::fmt;
use std::sync::Arc;

use blueprint::{IndexMap, Name};

use crate::{Catalog, Catalogs, CustomType, DataSourceType, ResourceType, TypeRef};

/// Types that are read one by one, when they are first asked for. Each is read once and kept.
///
/// A source matches names itself: in its own spelling always, without regard to case and hyphens if its catalogue says
/// [`loose_names`](Catalog::loose_names), and by what else its types are called. What it gives has the catalogue's spelling as its name.
pub trait TypeSource: fmt::Debug + Send + Sync {
    /// The resource type that is meant by this name, if there is one.
    fn resource_type(&self, name: &str) -> Option<Arc<ResourceType>>;

    /// Whether there is such a type, by its name.
    fn has_resource_type(&self, name: &str) -> bool {
        self.resource_type(name).is_some()
    }

    /// The types that its own need to be stable first ([`ResourceType::needs_stable`]), as far as can be told without reading
    /// all of them.
    fn needed_stable(&self) -> Vec<Name> {
        Vec::new()
    }

    /// Whether it has so many types that nobody should read all of them at once.
    fn is_large(&self) -> bool {
        true
    }

    /// The names of all resource types in the catalogue's spelling, without reading any of them.
    fn resource_type_names(&self) -> Box<dyn Iterator<Item = &str> + '_>;

    /// The data source type that is meant by this name, if there is one.
    fn data_source_type(&self, _name: &str) -> Option<Arc<DataSourceType>> {
        None
    }

    /// The names of all data source types in the catalogue's spelling, without reading any of them.
    fn data_source_type_names(&self) -> Box<dyn Iterator<Item = &str> + '_> {
        Box::new(std::iter::empty())
    }

    /// The custom variable type that is meant by this name, if there is one.
    fn variable_type(&self, _name: &str) -> Option<Arc<CustomType>> {
        None
    }

    /// The names of all custom variable types in the catalogue's spelling.
    fn variable_type_names(&self) -> Box<dyn Iterator<Item = &str> + '_> {
        Box::new(std::iter::empty())
    }
}

/// All types at hand, each read when it is asked for.
impl TypeSource for Catalogs {
    fn resource_type(&self, name: &str) -> Option<Arc<ResourceType>> {
        match Catalogs::resource_type(self, name) {
            TypeRef::Known(found) => Some(found),
            TypeRef::UnknownType | TypeRef::UnknownNamespace => None,
        }
    }

    fn resource_type_names(&self) -> Box<dyn Iterator<Item = &str> + '_> {
        Box::new(Catalogs::resource_type_names(self))
    }
}

/// A name as it is compared where case and hyphens do not count (ruling A7).
pub fn plain_name(name: &str) -> String {
    name.chars().filter(|character| *character != '-').flat_map(char::to_lowercase).collect()
}

impl Catalog {
    /// The resource type that is meant by this name.
    pub fn resource_type(&self, name: &str) -> Option<Arc<ResourceType>> {
        self.ready(&self.resource_types, name).or_else(|| self.source.as_ref()?.resource_type(name))
    }

    /// Whether there is a resource type that is meant by this name.
    pub fn has_resource_type(&self, name: &str) -> bool {
        self.ready(&self.resource_types, name).is_some()
            || self.source.as_ref().is_some_and(|source| source.has_resource_type(name))
    }

    /// The data source type that is meant by this name.
    pub fn data_source_type(&self, name: &str) -> Option<Arc<DataSourceType>> {
        self.ready(&self.data_source_types, name).or_else(|| self.source.as_ref()?.data_source_type(name))
    }

    /// Whether it has so many types that nobody should read all of them at once.
    pub fn is_large(&self) -> bool {
        self.source.as_ref().is_some_and(|source| source.is_large())
    }

    /// The resource types, each of them read; of a large catalogue those that lie ready.
    pub fn few_resource_types(&self) -> impl Iterator<Item = Arc<ResourceType>> {
        let is_large = self.is_large();
        let names = self.resource_type_names().filter(move |name| !is_large || self.resource_types.contains_key(*name));
        names.filter_map(|name| self.resource_type(name))
    }

    /// The data source types, each of them read; of a large catalogue those that lie ready.
    pub fn few_data_source_types(&self) -> impl Iterator<Item = Arc<DataSourceType>> {
        let is_large = self.is_large();
        let names =
            self.data_source_type_names().filter(move |name| !is_large || self.data_source_types.contains_key(*name));
        names.filter_map(|name| self.data_source_type(name))
    }

    /// The names of all resource types. None is read.
    pub fn resource_type_names(&self) -> impl Iterator<Item = &str> {
        names(&self.resource_types, self.source.as_ref().map(|source| source.resource_type_names()))
    }

    /// The names of all data source types. None is read.
    pub fn data_source_type_names(&self) -> impl Iterator<Item = &str> {
        names(&self.data_source_types, self.source.as_ref().map(|source| source.data_source_type_names()))
    }

    /// The custom variable type that is meant by this name.
    pub fn variable_type(&self, name: &str) -> Option<Arc<CustomType>> {
        self.ready(&self.variable_types, name).or_else(|| self.source.as_ref()?.variable_type(name))
    }

    /// The names of all custom variable types.
    pub fn variable_type_names(&self) -> impl Iterator<Item = &str> {
        names(&self.variable_types, self.source.as_ref().map(|source| source.variable_type_names()))
    }

    /// What lies ready under that name, spelt as the catalogue does or, where it says so, loosely.
    pub(crate) fn ready<T>(&self, list: &IndexMap<Name, Arc<T>>, name: &str) -> Option<Arc<T>> {
        if let Some(found) = list.get(name) {
            return Some(found.clone());
        }
        if !self.loose_names || list.is_empty() {
            return None;
        }
        let wanted = plain_name(name);
        list.iter().find(|(name, _)| plain_name(name) == wanted).map(|(_, found)| found.clone())
    }
}

fn names<'a, T>(
    ready: &'a IndexMap<Name, T>,
    read: Option<Box<dyn Iterator<Item = &'a str> + 'a>>,
) -> impl Iterator<Item = &'a str> {
    let others = read.into_iter().flatten().filter(|name| !ready.contains_key(*name));
    ready.keys().map(|name| name.as_ref()).chain(others)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::read_catalog;

    /// Two types, of which it counts how often they are read.
    #[derive(Debug)]
    struct Two {
        types: Catalog,
        read: Arc<AtomicUsize>,
    }

    impl TypeSource for Two {
        fn resource_type(&self, name: &str) -> Option<Arc<ResourceType>> {
            let found = self.types.ready(&self.types.resource_types, name)?;
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
        let source = Two { types: read_catalog(types).unwrap(), read: read.clone() };
        let catalog = Catalog { source: Some(Arc::new(source)), ..read_catalog(own).unwrap() };
        (Catalogs::new([Arc::new(catalog)]).0, read)
    }

    #[test]
    fn names_are_listed_once_and_without_reading() {
        let (catalogs, read) = shop();
        assert_eq!(catalogs.resource_type_names().collect::<Vec<_>>(), ["shop/till", "shop/front-door"]);
        assert_eq!(read.load(Ordering::SeqCst), 0);
    }

    #[test]
    fn what_lies_ready_goes_before_what_is_read() {
        let (catalogs, read) = shop();
        let TypeRef::Known(till) = catalogs.resource_type("shop/Till") else { panic!("it is there") };
        assert_eq!((till.name.as_ref(), till.docs.as_ref()), ("shop/till", "own"));
        assert_eq!(read.load(Ordering::SeqCst), 0);
        let TypeRef::Known(door) = catalogs.resource_type("Shop/frontDoor") else { panic!("it is there") };
        assert_eq!(door.name.as_ref(), "shop/front-door");
        assert_eq!(read.load(Ordering::SeqCst), 1);
        assert!(matches!(catalogs.resource_type("shop/window"), TypeRef::UnknownType));
        assert!(matches!(catalogs.resource_type("shops/till"), TypeRef::UnknownNamespace));
    }
}
