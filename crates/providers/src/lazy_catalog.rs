//! The types of a JSON catalogue, each read on first use, because most documents need one or two of
//! them.
//!
//! Use this only for texts that are part of the program. Tests read these texts as a whole, because
//! an invalid type is found only when it is read.
//!
//! Not here: the format of the text (`provider::read_catalog`).

use std::sync::{Arc, OnceLock};

use blueprint::{IndexMap, Name};
use provider::{Catalog, CatalogError, DataSourceType, ResourceType, TypeSource};
use serde_json::value::RawValue;

/// Entries of a JSON map, with unparsed values.
type RawEntries<'t> = IndexMap<&'t str, &'t RawValue>;

/// Reads a catalogue without its resource types and data source types, which a type source reads
/// later. `finish` is applied to each resource type that is read.
///
/// # Errors
/// If the text is no catalogue. Errors in types are not found here.
pub(crate) fn read_lazily(
    text: &'static str,
    finish: fn(&mut ResourceType),
) -> Result<Catalog, CatalogError> {
    let Some(parts) = split_catalog(text) else {
        // Reading the whole text gives the error.
        return provider::read_catalog(text);
    };
    let (rest, namespace, resource_types, data_source_types) = parts;
    let names = Arc::new(ResourceTypeNames(
        resource_types
            .keys()
            .map(|name| Name::from(*name))
            .collect(),
    ));
    let rest = provider::read_catalog_over(&rest, names.clone())?;
    let types = LazyTypes {
        namespace,
        names,
        finish,
        resource_types: lazy_types(resource_types),
        data_source_types: lazy_types(data_source_types),
    };
    Ok(Catalog {
        source: Some(Arc::new(types)),
        ..rest
    })
}

/// The text without the types, the text of its namespaces, the resource types, and the data source
/// types.
fn split_catalog(
    text: &'static str,
) -> Option<(
    String,
    &'static str,
    RawEntries<'static>,
    RawEntries<'static>,
)> {
    let mut all: RawEntries<'static> = serde_json::from_str(text).ok()?;
    let mut types = |key| {
        all.shift_remove(key)
            .map_or(Some(RawEntries::default()), |types| {
                serde_json::from_str(types.get()).ok()
            })
    };
    let (resource_types, data_source_types) = (types("resourceTypes")?, types("dataSourceTypes")?);
    let rest: Vec<String> = all
        .iter()
        .map(|(key, value)| format!("{key:?}:{value}"))
        .collect();
    Some((
        format!("{{{}}}", rest.join(",")),
        all.get("namespace")?.get(),
        resource_types,
        data_source_types,
    ))
}

fn lazy_types<T>(types: RawEntries<'static>) -> IndexMap<Name, LazyType<T>> {
    types
        .into_iter()
        .map(|(name, text)| {
            (
                name.into(),
                LazyType {
                    text: text.get(),
                    read: OnceLock::new(),
                },
            )
        })
        .collect()
}

/// Types that are read one by one.
#[derive(Debug)]
struct LazyTypes {
    /// The JSON text of `namespace`.
    namespace: &'static str,
    names: Arc<ResourceTypeNames>,
    finish: fn(&mut ResourceType),
    resource_types: IndexMap<Name, LazyType<ResourceType>>,
    data_source_types: IndexMap<Name, LazyType<DataSourceType>>,
}

#[derive(Debug)]
struct LazyType<T> {
    text: &'static str,
    read: OnceLock<Option<Arc<T>>>,
}

impl LazyTypes {
    /// A catalogue with this type only.
    fn single_type_catalog(&self, key: &str, name: &str, text: &str) -> Option<Catalog> {
        let namespace = self.namespace;
        let whole =
            format!(r#"{{"format":1,"namespace":{namespace},"{key}":{{"{name}":{text}}}}}"#);
        let read = provider::read_catalog_over(&whole, self.names.clone());
        debug_assert!(read.is_ok(), "{name}: {read:?}");
        read.ok()
    }
}

impl TypeSource for LazyTypes {
    fn resource_type(&self, name: &str) -> Option<Arc<ResourceType>> {
        let part = self.resource_types.get(name)?;
        let read = part.read.get_or_init(|| {
            let mut read = self
                .single_type_catalog("resourceTypes", name, part.text)?
                .resource_types
                .swap_remove(name)?;
            (self.finish)(Arc::make_mut(&mut read));
            Some(read)
        });
        read.clone()
    }

    fn has_resource_type(&self, name: &str) -> bool {
        self.resource_types.contains_key(name)
    }

    fn resource_type_names(&self) -> Box<dyn Iterator<Item = &str> + '_> {
        Box::new(self.resource_types.keys().map(|name| name.as_ref()))
    }

    fn is_large(&self) -> bool {
        false
    }

    fn needed_stable(&self) -> Vec<Name> {
        let some = self
            .resource_types
            .iter()
            .filter(|(_, part)| part.text.contains("\"needsStable\""));
        some.filter_map(|(name, _)| self.resource_type(name))
            .flat_map(|found| found.needs_stable.clone())
            .collect()
    }

    fn data_source_type(&self, name: &str) -> Option<Arc<DataSourceType>> {
        let part = self.data_source_types.get(name)?;
        let read = || {
            self.single_type_catalog("dataSourceTypes", name, part.text)?
                .data_source_types
                .swap_remove(name)
        };
        part.read.get_or_init(read).clone()
    }

    fn data_source_type_names(&self) -> Box<dyn Iterator<Item = &str> + '_> {
        Box::new(self.data_source_types.keys().map(|name| name.as_ref()))
    }
}

/// The names of the resource types. Reading a type needs only the names of the others.
#[derive(Debug)]
struct ResourceTypeNames(Vec<Name>);

impl TypeSource for ResourceTypeNames {
    fn resource_type(&self, _name: &str) -> Option<Arc<ResourceType>> {
        None
    }

    fn has_resource_type(&self, name: &str) -> bool {
        self.0.iter().any(|known| known.as_ref() == name)
    }

    fn resource_type_names(&self) -> Box<dyn Iterator<Item = &str> + '_> {
        Box::new(self.0.iter().map(|name| name.as_ref()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = include_str!("fake/catalog.json");

    #[test]
    fn a_catalogue_in_parts_equals_the_whole_one() {
        let parts = read_lazily(TEXT, |_| {}).unwrap();
        let whole = provider::read_catalog(TEXT).unwrap();
        assert!(parts.resource_types.is_empty() && parts.data_source_types.is_empty());
        assert_eq!(
            parts.resource_type_names().collect::<Vec<_>>(),
            whole.resource_type_names().collect::<Vec<_>>()
        );
        assert_eq!(
            parts.data_source_type_names().collect::<Vec<_>>(),
            whole.data_source_type_names().collect::<Vec<_>>()
        );
        let same = |one: &dyn std::fmt::Debug, other: &dyn std::fmt::Debug| {
            assert_eq!(format!("{one:?}"), format!("{other:?}"))
        };
        for (name, found) in &whole.resource_types {
            same(&parts.resource_type(name).unwrap(), found);
        }
        for (name, found) in &whole.data_source_types {
            same(&parts.data_source_type(name).unwrap(), found);
        }
        let source = parts.source.clone().unwrap();
        let needed = whole
            .resource_types
            .values()
            .flat_map(|found| found.needs_stable.clone());
        assert_eq!(source.needed_stable(), needed.collect::<Vec<Name>>());
        assert!(
            parts.resource_type("test/nothing").is_none()
                && !source.has_resource_type("test/nothing")
        );
        let rest = |catalog: Catalog| Catalog {
            resource_types: IndexMap::default(),
            data_source_types: IndexMap::default(),
            source: None,
            ..catalog
        };
        same(&rest(parts), &rest(whole));
    }

    #[test]
    fn each_type_is_read_and_finished_once() {
        let parts = read_lazily(TEXT, |found| found.schema_version += 7).unwrap();
        let (first, again) = (
            parts.resource_type("test/data").unwrap(),
            parts.resource_type("test/data").unwrap(),
        );
        assert!(Arc::ptr_eq(&first, &again));
        assert_eq!(first.schema_version, 7);
    }

    #[test]
    fn an_invalid_catalogue_gives_the_same_error_as_a_whole() {
        for text in [
            "",
            "[]",
            r#"{"format": 2, "namespace": "a"}"#,
            r#"{"format": 1}"#,
        ] {
            let (parts, whole) = (
                read_lazily(text, |_| {}).unwrap_err(),
                provider::read_catalog(text).unwrap_err(),
            );
            assert_eq!(parts.to_string(), whole.to_string());
        }
    }
}
