//! The names that expressions can read in a document, for completion.

use blueprint::{IndexMap, Name};
use provider::TypeRef;

use crate::document::Document;

/// The sections of a document that expressions read.
const SECTIONS: [&str; 5] = [
    "variables",
    "values",
    "datasources",
    "children",
    "resources",
];

/// Names by the path that precedes them. The empty path has the names that can begin an expression.
#[derive(Clone, Debug, Default)]
pub struct Names {
    below: IndexMap<String, Vec<String>>,
}

impl Names {
    /// Collects the names of a checked document. A document without a blueprint has none.
    pub fn of(document: &Document) -> Names {
        let mut names = Names::default();
        let Some(checked) = &document.checked else {
            return names;
        };
        let blueprint = &checked.blueprint;
        let catalogs = &document.library.catalogs;
        fn keys<T>(map: &IndexMap<Name, T>) -> Vec<String> {
            map.keys().map(|name| name.to_string()).collect()
        }
        names.add_names("variables", keys(&blueprint.inputs));
        names.add_names("values", keys(&blueprint.locals));
        names.add_names("datasources", keys(&blueprint.data_sources));
        names.add_names("children", keys(&blueprint.children));
        names.add_names("resources", keys(&blueprint.resources));
        for (name, source) in &blueprint.data_sources {
            names.add_names(&format!("datasources.{name}"), keys(&source.exports));
        }
        for (name, resource) in &blueprint.resources {
            let fields = match catalogs.resource_type(&resource.type_name.item) {
                TypeRef::Known(ty) => keys(&ty.schema.fields),
                _ => Vec::new(),
            };
            for path in [name.to_string(), format!("resources.{name}")] {
                names.add_names(&path, vec!["spec".to_owned(), "metadata".to_owned()]);
                names.add_names(&format!("{path}.spec"), fields.clone());
                let metadata = ["displayName", "labels", "annotations", "custom"]
                    .map(str::to_owned)
                    .to_vec();
                names.add_names(&format!("{path}.metadata"), metadata);
            }
        }
        let heads = SECTIONS
            .iter()
            .filter(|head| names.below.contains_key(**head))
            .map(|head| format!("{head}."));
        let functions = document
            .library
            .functions
            .names()
            .map(|name| format!("{name}("));
        let heads: Vec<String> = heads
            .chain(keys(&blueprint.resources))
            .chain(functions)
            .collect();
        names.add_names("", heads);
        names
    }

    fn add_names(&mut self, path: &str, names: Vec<String>) {
        if !names.is_empty() {
            self.below.insert(path.to_owned(), names);
        }
    }

    /// Returns the start of the name that ends at `at`, and its completions.
    pub fn complete(&self, line: &str, at: usize) -> (usize, Vec<String>) {
        let before = line.get(..at).unwrap_or_default();
        let part = |character: char| character.is_alphanumeric() || "_-.[]".contains(character);
        let word = &before[before.trim_end_matches(part).len()..];
        let (path, begun) = word.rsplit_once('.').unwrap_or(("", word));
        // A member of a template has the same fields as the template.
        let path = path
            .split('.')
            .map(|step| step.split('[').next().unwrap_or(step))
            .collect::<Vec<_>>()
            .join(".");
        let fitting = self
            .below
            .get(&path)
            .into_iter()
            .flatten()
            .filter(|name| name.starts_with(begun));
        (at - begun.len(), fitting.cloned().collect())
    }

    /// All readable names, by section. Sections without names are left out.
    pub fn sections(&self) -> impl Iterator<Item = (&'static str, &[String])> {
        SECTIONS
            .iter()
            .filter_map(|section| Some((*section, self.below.get(*section)?.as_slice())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_completed_at_the_cursor() {
        let mut names = Names::default();
        let put = |names: &mut Names, path: &str, list: &[&str]| {
            names.add_names(path, list.iter().map(|name| (*name).to_owned()).collect())
        };
        put(
            &mut names,
            "",
            &["variables.", "trim(", "to_upper(", "table"],
        );
        put(&mut names, "variables", &["region", "role"]);
        put(&mut names, "table", &["spec", "metadata"]);
        put(&mut names, "table.spec", &["id", "name"]);
        let complete = |line: &str| names.complete(line, line.len());
        assert_eq!(
            complete("t"),
            (
                0,
                vec!["trim(".to_owned(), "to_upper(".into(), "table".into()]
            )
        );
        assert_eq!(
            complete("trim(variables.r"),
            (15, vec!["region".to_owned(), "role".into()])
        );
        assert_eq!(
            complete("table[0].spec."),
            (14, vec!["id".to_owned(), "name".into()])
        );
        assert_eq!(complete("nothing.x"), (8, Vec::new()));
        assert_eq!(
            names.complete("variables.reg + 1", 13),
            (10, vec!["region".to_owned()])
        );
    }
}
