//! The user's own catalogues on top of the registered ones.
//!
//! Not here: reading them (`catalog_file`); contradictions between all catalogues
//! ([`combine`](crate::combine)).

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use blueprint::Name;

use crate::{Catalog, CatalogError, RetryPolicy};

/// Puts the catalogues `more` on top of `own`. An entry of a later catalogue replaces the entry of
/// the same name in an earlier one. Catalogues that share a namespace become one; others stay
/// unchanged.
pub fn overlay(
    own: impl IntoIterator<Item = Arc<Catalog>>,
    more: &[Arc<Catalog>],
) -> Vec<Arc<Catalog>> {
    let mut all: Vec<Arc<Catalog>> = own.into_iter().collect();
    for top in more {
        let shares =
            |catalog: &Arc<Catalog>| catalog.keys().any(|name| top.namespaces.contains(name));
        let Some(first) = all.iter().position(shares) else {
            all.push(top.clone());
            continue;
        };
        let (below, rest): (Vec<_>, Vec<_>) = all.into_iter().partition(shares);
        let mut merged = Catalog {
            hidden: true,
            ..Catalog::default()
        };
        for catalog in below.iter().chain([top]) {
            merge_into(&mut merged, catalog);
        }
        all = rest;
        all.insert(first.min(all.len()), Arc::new(merged));
    }
    all
}

fn merge_into(merged: &mut Catalog, top: &Catalog) {
    if merged.name.is_none() {
        merged.name = top.name.clone();
    }
    for name in &top.namespaces {
        if !merged.namespaces.contains(name) {
            merged.namespaces.push(name.clone());
        }
    }
    if merged.docs.is_empty() {
        merged.docs = top.docs.clone();
    }
    fn extend_from<T: Clone>(
        into: &mut blueprint::IndexMap<Name, T>,
        from: &blueprint::IndexMap<Name, T>,
    ) {
        into.extend(
            from.iter()
                .map(|(name, found)| (name.clone(), found.clone())),
        );
    }
    extend_from(&mut merged.resource_types, &top.resource_types);
    extend_from(&mut merged.data_source_types, &top.data_source_types);
    extend_from(&mut merged.variable_types, &top.variable_types);
    extend_from(&mut merged.transforms, &top.transforms);
    replace_by(&mut merged.functions, &top.functions, |function| {
        function.name.clone()
    });
    replace_by(&mut merged.link_kinds, &top.link_kinds, |kind| {
        (kind.a.clone(), kind.b.clone())
    });
    replace_by(&mut merged.settings, &top.settings, |setting| {
        setting.name.clone()
    });
    merged.max_parallel = if merged.max_parallel == 0 {
        top.max_parallel
    } else {
        merged.max_parallel
    };
    merged.rate = merged.rate.or(top.rate);
    merged.retries = if merged.retries == RetryPolicy::default() {
        top.retries
    } else {
        merged.retries
    };
    merged.loose_names |= top.loose_names;
    merged.hidden &= top.hidden;
    merged.hosted = top.hosted.clone().or(merged.hosted.take());
    merged.unavailable = top.unavailable.clone().or(merged.unavailable.take());
    // Loaded types take precedence over those of a source, whichever catalogue has the source.
    merged.source = top.source.clone().or(merged.source.take());
}

/// Replaces items by those of `top` with the same key, and appends the others.
fn replace_by<T: Clone, K: std::hash::Hash + Eq>(
    into: &mut Vec<T>,
    top: &[T],
    key: impl Fn(&T) -> K,
) {
    let mut at: HashMap<K, usize> = into
        .iter()
        .enumerate()
        .map(|(at, item)| (key(item), at))
        .collect();
    for item in top {
        match at.get(&key(item)) {
            Some(at) => into[*at] = item.clone(),
            None => {
                at.insert(key(item), into.len());
                into.push(item.clone());
            }
        }
    }
}

/// Returns the names that two of the user's own catalogues define, so that neither can replace the
/// other: the position of the later catalogue, and the error at its place.
pub fn conflicting_names(more: &[Arc<Catalog>]) -> Vec<(usize, CatalogError)> {
    let mut taken: HashSet<String> = HashSet::new();
    let mut wrong = Vec::new();
    for (number, catalog) in more.iter().enumerate() {
        let mut claim = |key: String, place: String, what: String| {
            if !taken.insert(key) {
                let message = format!("another catalogue has {what} too");
                wrong.push((
                    number,
                    CatalogError {
                        place,
                        message,
                        position: None,
                    },
                ));
            }
        };
        for (section, names) in [
            (
                "resourceTypes",
                catalog.resource_types.keys().collect::<Vec<&Name>>(),
            ),
            (
                "dataSourceTypes",
                catalog.data_source_types.keys().collect(),
            ),
            ("variableTypes", catalog.variable_types.keys().collect()),
            ("transforms", catalog.transforms.keys().collect()),
            (
                "functions",
                catalog
                    .functions
                    .iter()
                    .map(|function| &function.name)
                    .collect(),
            ),
        ] {
            for name in names {
                let place = format!("$.{section}[{:?}]", name.as_ref());
                claim(place.clone(), place, format!("`{name}`"));
            }
        }
        for (at, kind) in catalog.link_kinds.iter().enumerate() {
            let what = format!("links from `{}` to `{}`", kind.a, kind.b);
            claim(what.clone(), format!("$.linkKinds[{at}]"), what);
        }
    }
    wrong
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read_catalog;

    fn read(text: &str) -> Arc<Catalog> {
        Arc::new(read_catalog(text).unwrap())
    }

    #[test]
    fn entries_of_a_later_catalogue_replace_those_of_the_same_name() {
        let own = read(
            r#"{"format": 1, "namespace": "x", "docs": "own", "looseNames": true,
                "functions": {"x_one": {"returns": "any"}},
                "resourceTypes": {"x/a": {"fields": {"f": {"kind": "string"}}}, "x/b": {}}}"#,
        );
        let other = read(r#"{"format": 1, "namespace": "y", "resourceTypes": {"y/a": {}}}"#);
        let top = read(
            r#"{"format": 1, "namespace": ["x", "z"], "functions": {"x_one": {"returns": "string"}, "x_two": {"returns": "any"}},
                "resourceTypes": {"x/a": {"fields": {"g": {"kind": "integer"}}}, "z/a": {}}}"#,
        );
        let all = overlay([own, other.clone()], &[top]);
        assert_eq!(all.len(), 2);
        let merged = &all[0];
        assert_eq!(
            merged
                .namespaces
                .iter()
                .map(AsRef::as_ref)
                .collect::<Vec<&str>>(),
            ["x", "z"]
        );
        assert!(merged.loose_names && merged.docs.as_ref() == "own");
        assert_eq!(
            merged
                .resource_types
                .keys()
                .map(AsRef::as_ref)
                .collect::<Vec<&str>>(),
            ["x/a", "x/b", "z/a"]
        );
        assert!(
            merged.resource_types["x/a"].field("g").is_some()
                && merged.resource_types["x/a"].field("f").is_none()
        );
        let functions: Vec<String> = merged
            .functions
            .iter()
            .map(|function| function.signature())
            .collect();
        assert_eq!(functions, ["x_one() -> string", "x_two() -> any"]);
        assert!(
            Arc::ptr_eq(&all[1], &other),
            "an unaffected catalogue is not copied"
        );
    }

    #[test]
    fn two_own_catalogues_may_share_a_namespace_but_no_name() {
        let one = read(r#"{"format": 1, "namespace": "x", "resourceTypes": {"x/a": {}}}"#);
        let two = read(r#"{"format": 1, "namespace": "x", "resourceTypes": {"x/b": {}}}"#);
        assert_eq!(conflicting_names(&[one.clone(), two]), []);
        let wrong = conflicting_names(&[one.clone(), one]);
        assert_eq!(wrong.len(), 1);
        assert_eq!(wrong[0].0, 1);
        assert_eq!(
            wrong[0].1.to_string(),
            r#"another catalogue has `x/a` too (at $.resourceTypes["x/a"])"#
        );
    }
}
