//! The types that catalogues offer: lists, and one type.

use std::sync::Arc;

use blueprint::{Field, IndexMap, Kind, Name, Schema, TypeId};
use provider::{
    AbstractType, Catalog, Catalogs, CustomType, DataSourceType, FilterType, ResourceType,
    TransformDef, TypeRef, plain_name,
};

use crate::error::Error;
use crate::library::Library;

/// The types that a name refers to, or all types.
#[derive(Clone, Debug)]
pub enum Types<'l> {
    /// The types below a name, by catalogue.
    Lists(Vec<TypeList<'l>>),
    /// A transform, with its abstract types.
    Transform(&'l TransformDef),
    /// One name, which may be a type of several kinds.
    Type(TypeDetails<'l>),
}

/// The types of a catalogue, all or those below a name.
#[derive(Clone, Debug)]
pub struct TypeList<'l> {
    /// The catalogue.
    pub catalog: &'l Catalog,
    /// Its types.
    pub types: Vec<TypeEntry<'l>>,
}

/// A type in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeEntry<'l> {
    /// Its name.
    pub name: &'l str,
    /// `resource`, `data source`, `variable`, `abstract` or `transform`.
    pub kind: &'static str,
    /// Its description; empty for types of a large catalogue.
    pub docs: Name,
}

/// All types with one name.
#[derive(Clone, Debug)]
pub struct TypeDetails<'l> {
    /// The name.
    pub name: String,
    /// The type of resources.
    pub resource: Option<Arc<ResourceType>>,
    /// The type of data sources.
    pub data_source: Option<Arc<DataSourceType>>,
    /// The abstract type, with its transform.
    pub abstract_type: Option<(&'l TransformDef, &'l AbstractType)>,
    /// The type of variables.
    pub variable: Option<Arc<CustomType>>,
}

impl Library {
    /// Returns the types that a name refers to: a catalogue, a group of types, a transform or a
    /// type. Without a name, returns all types.
    pub async fn types_named(&self, name: Option<&str>) -> Result<Types<'_>, Error> {
        let catalogs = &*self.catalogs;
        let Some(name) = name else {
            return Ok(Types::Lists(
                catalogs.iter().map(|catalog| list(catalog, "")).collect(),
            ));
        };
        // Open the package of the name, so that the lists contain it.
        let package = TypeId::parse(name);
        self.open_packages(&[package.package_name()]).await;
        let named = catalogs.of(package.package_name());
        if let Some(why) = named.and_then(|catalog| catalog.unavailable.as_ref()) {
            return Err(Error::Diagnosed(Box::new(why.diagnostic())));
        }
        if name.contains('/') || name.contains("::") && catalogs.of(name).is_none() {
            return match group(catalogs, name) {
                Some(catalog) => Ok(Types::Lists(vec![list(catalog, name)])),
                None => type_details(name, catalogs).map(Types::Type),
            };
        }
        if let Some(catalog) = catalogs.of(name) {
            // The types of a provider with a name do not begin with it.
            let is_name = catalog.name.as_deref() == Some(name);
            let below = if is_name { "" } else { name };
            return Ok(Types::Lists(vec![list(catalog, below)]));
        }
        if let Some(transform) = catalogs.transform(name) {
            return Ok(Types::Transform(transform));
        }
        let below: Vec<TypeList<'_>> = catalogs
            .iter()
            .filter(|catalog| has_below(catalog, name))
            .map(|catalog| list(catalog, name))
            .collect();
        if below.is_empty() {
            Err(unknown_word(name, catalogs))
        } else {
            Ok(Types::Lists(below))
        }
    }

    /// The hosted packages that the list of all types leaves out. Listing their types would start
    /// their plugins.
    pub fn unlisted_packages(&self) -> impl Iterator<Item = &str> {
        let catalogs = &*self.catalogs;
        let is_listed = |name: &str| {
            catalogs
                .iter()
                .any(|catalog| catalog.namespaces.iter().any(|own| own.as_ref() == name))
        };
        catalogs
            .namespaces()
            .filter(move |name| catalogs.packages().hosted(name).is_some() && !is_listed(name))
    }
}

/// Returns the catalogue with types below this name, such as those of a service, if the name itself
/// is not a type.
fn group<'c>(catalogs: &'c Catalogs, name: &str) -> Option<&'c Catalog> {
    let catalog = catalogs.of(TypeId::parse(name).package_name())?;
    let is_type = catalog.resource_type(name).is_some()
        || catalog.data_source_type(name).is_some()
        || catalog.variable_type(name).is_some();
    (!is_type && has_below(catalog, name)).then_some(catalog.as_ref())
}

/// The most types that an error about a word names.
const MOST_NAMED: usize = 4;

fn has_below(catalog: &Catalog, name: &str) -> bool {
    let below = plain_name(name);
    let mut names = catalog
        .resource_type_names()
        .chain(catalog.data_source_type_names());
    names.any(|one| is_below(one, &below))
}

/// Whether the name of a type is below a plain name. Only whole segments match.
fn is_below(one: &str, plain: &str) -> bool {
    let one = plain_name(one);
    let rest = one.strip_prefix(plain.trim_end_matches(['/', ':']));
    rest.is_some_and(|rest| rest.starts_with('/') || rest.starts_with("::"))
}

/// The error for a word that is neither a namespace nor a type. The last part of the name of a type
/// is not enough: the error names the whole.
fn unknown_word(word: &str, catalogs: &Catalogs) -> Error {
    let names = catalogs.iter().flat_map(|catalog| {
        let resources = catalog.resource_type_names();
        resources.chain(catalog.data_source_type_names())
    });
    let is_last = |name: &&str| {
        let last = name.rsplit(['/', ':']).next();
        last.is_some_and(|last| last.eq_ignore_ascii_case(word))
    };
    let mut named: Vec<&str> = names.filter(is_last).collect();
    named.sort_unstable();
    named.dedup();
    if named.is_empty() || named.len() > MOST_NAMED {
        let known = catalogs.namespaces().chain(catalogs.transform_names());
        return unknown(word, known);
    }
    let named: Vec<String> = named.iter().map(|name| format!("`{name}`")).collect();
    Error::Usage {
        message: format!("no provider offers `{word}`"),
        help: Some(format!("did you mean {}?", named.join(" or "))),
    }
}

fn unknown<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Error {
    Error::Usage {
        message: format!("no provider offers `{name}`"),
        help: diag::nearest(name, known)
            .map(|near| format!("did you mean `{near}`?"))
            .or_else(|| Some("`cyan types` lists them all".to_owned())),
    }
}

/// The types of a catalogue below a name; an empty name matches all.
fn list<'c>(catalog: &'c Catalog, name: &str) -> TypeList<'c> {
    let below = plain_name(name);
    // Types of large catalogues are listed without their descriptions, which would have to be read.
    let docs: IndexMap<TypeId, Name> = catalog
        .few_resource_types()
        .map(|found| (found.name.clone(), found.docs.clone()))
        .collect();
    let of =
        |docs: &IndexMap<TypeId, Name>, name: &str| docs.get(name).cloned().unwrap_or_default();
    let resources = catalog.resource_type_names().map(|name| TypeEntry {
        name,
        kind: "resource",
        docs: of(&docs, name),
    });
    let data_docs: IndexMap<TypeId, Name> = catalog
        .few_data_source_types()
        .map(|found| (found.name.clone(), found.docs.clone()))
        .collect();
    let sources = catalog.data_source_type_names().map(|name| TypeEntry {
        name,
        kind: "data source",
        docs: of(&data_docs, name),
    });
    let variables = catalog.variable_type_names().map(|name| {
        let docs = catalog
            .variable_types
            .get(name)
            .map(|ty| ty.docs.clone())
            .unwrap_or_default();
        TypeEntry {
            name,
            kind: "variable",
            docs,
        }
    });
    let abstract_types = catalog.transforms.values().flat_map(|transform| {
        let types = transform.abstract_types.iter();
        let types = types.map(|(name, ty)| TypeEntry {
            name,
            kind: "abstract",
            docs: ty.docs.clone(),
        });
        types.chain([TypeEntry {
            name: &transform.name,
            kind: "transform",
            docs: transform.docs.clone(),
        }])
    });
    let all = resources
        .chain(sources)
        .chain(variables)
        .chain(abstract_types);
    TypeList {
        catalog,
        types: all
            .filter(|one| name.is_empty() || is_below(one.name, &below))
            .collect(),
    }
}

fn type_details<'c>(name: &str, catalogs: &'c Catalogs) -> Result<TypeDetails<'c>, Error> {
    fn known<T>(found: TypeRef<T>) -> Option<Arc<T>> {
        match found {
            TypeRef::Known(ty) => Some(ty),
            TypeRef::UnknownType | TypeRef::UnknownNamespace | TypeRef::Unavailable(_) => None,
        }
    }
    let id = catalogs.packages().resolve(name);
    let details = TypeDetails {
        name: name.to_owned(),
        resource: known(catalogs.resource_type(&id)),
        data_source: known(catalogs.data_source_type(&id)),
        abstract_type: catalogs
            .abstract_type(name)
            .map(|(transform, ty)| (transform.as_ref(), ty)),
        variable: known(catalogs.variable_type(&id)),
    };
    let is_known = details.resource.is_some()
        || details.data_source.is_some()
        || details.abstract_type.is_some()
        || details.variable.is_some();
    if is_known {
        return Ok(details);
    }
    let names = catalogs
        .resource_type_names()
        .chain(catalogs.data_source_type_names());
    let names = names.chain(catalogs.variable_type_names());
    // A name with one slash can only be that of a service.
    if name.matches('/').count() == 1 {
        let services = names.flat_map(|one| {
            one.rsplit_once('/')
                .map(|(service, _)| service)
                .into_iter()
                .chain([one])
        });
        return Err(unknown(name, services));
    }
    Err(unknown(name, names.chain(catalogs.namespaces())))
}

/// The type of a filter in words.
pub fn filter_words(ty: &FilterType) -> String {
    match ty {
        FilterType::Scalar(ty) => ty.to_string(),
        FilterType::List(ty) => format!("array of {ty}"),
        FilterType::Map(ty) => format!("map of {ty}"),
    }
}

/// The fields of an object, or of the objects in a list or map.
pub fn inner_schema(field: &Field) -> Option<&Schema> {
    match &field.kind {
        Kind::Object(schema) => Some(schema),
        Kind::Array(inside) | Kind::Map(inside) => inner_schema(inside),
        _ => None,
    }
}
