//! All catalogues at hand together, and where they contradict each other.

use std::collections::HashMap;
use std::sync::Arc;

use blueprint::Name;
use expr::FunctionTable;

use crate::{Catalog, Catalogs};

/// The catalogues for looking types up, the functions of the language and of all providers, and what contradicts itself
/// between catalogues: one message each, for [`invalid-catalog`](crate::codes::INVALID_CATALOG), which has no place.
///
/// Of two that offer the same, the first keeps it.
pub fn combine(catalogs: impl IntoIterator<Item = Arc<Catalog>>) -> (Catalogs, FunctionTable, Vec<String>) {
    let catalogs: Vec<Arc<Catalog>> = catalogs.into_iter().collect();
    let mut functions = expr::core_functions().clone();
    let mut owners: HashMap<Name, Name> = HashMap::new();
    let mut links: HashMap<(Name, Name), Name> = HashMap::new();
    let mut transforms: HashMap<Name, Name> = HashMap::new();
    let mut wrong = Vec::new();
    for catalog in &catalogs {
        let who = catalog.namespaces.first().cloned().unwrap_or_else(|| "".into());
        for function in &catalog.functions {
            let name = function.name.clone();
            if functions.insert(function.clone()).is_ok() {
                owners.insert(name, who.clone());
            } else {
                wrong.push(match owners.get(&name) {
                    Some(other) => format!("`{other}` and `{who}` both offer the function `{name}`"),
                    None => format!("`{who}` offers a function `{name}`, which the language has already"),
                });
            }
        }
        for kind in &catalog.link_kinds {
            let pair = (kind.a.clone(), kind.b.clone());
            if let Some(other) = links.get(&pair) {
                wrong.push(format!("`{other}` and `{who}` both offer links from `{}` to `{}`", pair.0, pair.1));
            } else {
                links.insert(pair, who.clone());
            }
        }
        for name in catalog.transforms.keys() {
            if let Some(other) = transforms.get(name) {
                wrong.push(format!("`{other}` and `{who}` both offer the transform `{name}`"));
            } else {
                transforms.insert(name.clone(), who.clone());
            }
        }
    }
    let (catalogs, twice) = Catalogs::new(catalogs);
    wrong.extend(twice.into_iter().map(|name| format!("two catalogues claim the namespace `{name}`")));
    (catalogs, functions, wrong)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read_catalog;

    fn messages(texts: &[&str]) -> Vec<String> {
        combine(texts.iter().map(|text| Arc::new(read_catalog(text).unwrap()))).2
    }

    #[test]
    fn two_providers_may_not_offer_the_same() {
        let one = r#"{"format": 1, "namespace": "one", "functions": {"mix_up": {"returns": "any"}}}"#;
        let two = r#"{"format": 1, "namespace": "two", "functions": {"mix_up": {"returns": "any"}}}"#;
        assert_eq!(messages(&[one, two]), ["`one` and `two` both offer the function `mix_up`"]);
        assert_eq!(messages(&[one]), Vec::<String>::new());
        let again = r#"{"format": 1, "namespace": ["three", "one"]}"#;
        assert_eq!(messages(&[one, again]), ["two catalogues claim the namespace `one`"]);
    }

    #[test]
    fn an_ordered_pair_of_types_links_one_way() {
        let one = r#"{"format": 1, "namespace": "one", "resourceTypes": {"one/a": {}}, "linkKinds": [{"a": "one/a", "b": "two/b"}]}"#;
        let two = r#"{"format": 1, "namespace": "two", "resourceTypes": {"two/b": {}}, "linkKinds": [{"a": "one/a", "b": "two/b"}]}"#;
        assert_eq!(messages(&[one, two]), ["`one` and `two` both offer links from `one/a` to `two/b`"]);
    }
}
