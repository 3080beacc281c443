//! A dialect with the types of a library, as a JSON Schema.

use blueprint::TypeId;
use serde_json::Value as Json;

use crate::error::Error;
use crate::library::Library;

/// The most resource types that a catalogue may have so that a JSON Schema contains them by default.
/// The 201 types of OpenStack make the schema 290 KB large, which editors load at once; the 1880 types
/// of AWS make it 8 MB large.
const DEFAULT_TYPES: usize = 500;

/// The types that a JSON Schema contains. The default is all types except those of large
/// catalogues.
#[derive(Clone, Copy, Debug, Default)]
pub struct SchemaTypes<'a> {
    /// Names of types, groups and namespaces of large catalogues to include.
    pub with: &'a [String],
    /// Names of types, groups and namespaces to leave out.
    pub without: &'a [String],
}

impl Library {
    /// Returns the JSON Schema of a dialect. The error for an unknown dialect or type proposes a
    /// similar one.
    pub async fn schema_of(&self, dialect: &str, types: SchemaTypes<'_>) -> Result<Json, Error> {
        let named = types.with.iter().chain(types.without);
        let packages: Vec<TypeId> = named.map(|name| TypeId::parse(name.as_str())).collect();
        let packages: Vec<&str> = packages.iter().map(TypeId::package_name).collect();
        self.open_packages(&packages).await;
        let (catalogs, SchemaTypes { with, without }) = (&*self.catalogs, types);
        let Some(found) = self.dialects.get(dialect) else {
            return Err(unknown_dialect(
                dialect,
                self.dialects.iter().map(|dialect| dialect.name()),
            ));
        };
        let known = |begin: &str| {
            let mut names = catalogs
                .resource_type_names()
                .chain(catalogs.data_source_type_names());
            names.any(|name| begins(name, begin))
        };
        if let Some(unknown) = without.iter().chain(with).find(|begin| !known(begin)) {
            return Err(Error::Usage {
                message: format!("no type is called `{unknown}`, and none begins so"),
                help: diag::nearest(
                    unknown,
                    catalogs.namespaces().chain(catalogs.resource_type_names()),
                )
                .map(|near| format!("did you mean `{near}`?"))
                .or_else(|| Some("`cyan types` lists them all".to_owned())),
            });
        }
        let large: Vec<&str> = catalogs
            .iter()
            .filter(|catalog| {
                catalog.is_large() && catalog.resource_type_names().nth(DEFAULT_TYPES).is_some()
            })
            .flat_map(|catalog| catalog.namespaces.iter().map(AsRef::as_ref))
            .collect();
        let wanted = |name: &str| {
            let is = |list: &[String]| list.iter().any(|begin| begins(name, begin));
            !is(without) && (is(with) || !large.contains(&TypeId::parse(name).package_name()))
        };
        let title = format!("A document of the dialect `{}`", found.name());
        Ok(crate::phases::json_schema(
            &title,
            found.shape(),
            catalogs,
            wanted,
        ))
    }
}

fn unknown_dialect<'a>(dialect: &str, names: impl Iterator<Item = &'a str>) -> Error {
    Error::Usage {
        message: format!("there is no dialect `{dialect}`"),
        help: diag::nearest(dialect, names)
            .map(|near| format!("did you mean `{near}`?"))
            .or_else(|| Some("the default is `blueprint`".to_owned())),
    }
}

/// Whether a type has this name, or is in the namespace or group of this name. Only whole segments
/// match.
fn begins(name: &str, begin: &str) -> bool {
    name.strip_prefix(begin)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/') || rest.starts_with("::"))
}
