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
    // Functions that are carried out inside expressions give way to those that are called by name.
    let every =
        || catalogs.iter().flat_map(|catalog| catalog.functions.iter().map(move |function| (catalog, function)));
    let by_call = every().filter(|(_, function)| function.native.is_none());
    for (catalog, function) in by_call.chain(every().filter(|(_, function)| function.native.is_some())) {
        let who = catalog.namespaces.first().cloned().unwrap_or_else(|| "".into());
        let name = function.name.clone();
        let Err(mut function) = functions.insert(function.clone()) else {
            owners.insert(name, who);
            continue;
        };
        if let Some(other) = owners.get(&name).filter(|_| function.native.is_none()) {
            wrong.push(format!("`{other}` and `{who}` both offer the function `{name}`"));
            continue;
        }
        // A name that is taken is called with its package before it.
        function.name = format!("{who}_{name}").into();
        let is_a_name = who.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if !is_a_name || functions.insert(function).is_err() {
            wrong.push(format!("`{who}` offers a function `{name}`, and that name is taken"));
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

    #[derive(Debug)]
    struct Nothing;

    impl expr::Native for Nothing {
        fn call(&self, _: &[blueprint::Value]) -> Result<blueprint::Value, expr::Refusal> {
            Ok(blueprint::Value::Null)
        }

        fn opens(&self, _: &[blueprint::Value]) -> bool {
            false
        }
    }

    #[test]
    fn a_name_that_is_taken_is_called_with_its_package_before_it() {
        let both = r#"{"mix_up": {"returns": "any"}, "join": {"returns": "any"}}"#;
        let read = |name: &str, functions: &str| {
            read_catalog(&format!(r#"{{"format": 1, "namespace": "{name}", "functions": {functions}}}"#)).unwrap()
        };
        let mut own = read("own", both);
        own.functions.iter_mut().for_each(|function| function.native = Some(Arc::new(Nothing)));
        let one = read("one", r#"{"mix_up": {"returns": "any"}}"#);
        let (_, functions, wrong) = combine([Arc::new(own), Arc::new(one)]);
        assert_eq!(wrong, Vec::<String>::new());
        let of = |name: &str| functions.get(name).map(|function| function.purity.clone());
        let provider = |namespace: &str, name: &str| {
            Some(expr::Purity::Provider { namespace: namespace.into(), name: name.into() })
        };
        assert_eq!(of("mix_up"), provider("one", "mix_up"));
        assert_eq!(of("own_mix_up"), provider("own", "mix_up"));
        assert_eq!(of("own_join"), provider("own", "join"));
        assert_eq!(of("join"), Some(expr::Purity::Pure));
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
