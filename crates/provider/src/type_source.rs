//! Types that a catalogue reads on demand, because it is too large to be read at each start.

use std::fmt;
use std::sync::Arc;

use blueprint::Name;
use expr::FunctionDef;

use crate::{CustomType, DataSourceType, ResourceType};

/// Types that are read one by one, each on first use and only once.
///
/// A source matches names itself: in its own spelling always; without regard to case and hyphens if
/// its catalogue sets [`loose_names`](crate::Catalog::loose_names); and by the aliases of its
/// types. The returned type carries the catalogue's spelling as its name.
pub trait TypeSource: fmt::Debug + Send + Sync {
    /// The resource type of that name, if there is one.
    fn resource_type(&self, name: &str) -> Option<Arc<ResourceType>>;

    /// Whether there is a resource type of that name.
    fn has_resource_type(&self, name: &str) -> bool {
        self.resource_type(name).is_some()
    }

    /// The types that its own types need to be stable first ([`ResourceType::needs_stable`]), as
    /// far as the source knows without reading all types.
    fn needed_stable(&self) -> Vec<Name> {
        Vec::new()
    }

    /// Whether there are too many types to read all of them at once.
    fn is_large(&self) -> bool {
        true
    }

    /// The names of all resource types in the catalogue's spelling, without reading any type.
    fn resource_type_names(&self) -> Box<dyn Iterator<Item = &str> + '_>;

    /// The data source type of that name, if there is one.
    fn data_source_type(&self, _name: &str) -> Option<Arc<DataSourceType>> {
        None
    }

    /// The names of all data source types in the catalogue's spelling, without reading any type.
    fn data_source_type_names(&self) -> Box<dyn Iterator<Item = &str> + '_> {
        Box::new(std::iter::empty())
    }

    /// The function of that name for `invoke`, if there is one.
    fn function(&self, _name: &str) -> Option<Arc<FunctionDef>> {
        None
    }

    /// The names of all functions for `invoke`, as `package/token`.
    fn function_names(&self) -> Box<dyn Iterator<Item = &str> + '_> {
        Box::new(std::iter::empty())
    }

    /// The custom variable type of that name, if there is one.
    fn variable_type(&self, _name: &str) -> Option<Arc<CustomType>> {
        None
    }

    /// The names of all custom variable types in the catalogue's spelling.
    fn variable_type_names(&self) -> Box<dyn Iterator<Item = &str> + '_> {
        Box::new(std::iter::empty())
    }
}

/// A name in the form in which names are compared without regard to case and hyphens
/// (decisions/blueprint#type-names).
pub fn plain_name(name: &str) -> String {
    name.chars()
        .filter(|character| *character != '-')
        .flat_map(char::to_lowercase)
        .collect()
}
