//! All registered catalogues together, and the contradictions between them.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use blueprint::{IndexMap, Name, PackageFamily, Packages, TypeId};
use elsa::sync::FrozenMap;
use expr::FunctionTable;

use crate::type_source::plain_name;
use crate::{
    AbstractType, Catalog, CustomType, DataSourceType, Hosted, LinkKind, ProviderNames,
    ResourceType, TransformDef, TypeSource, Unavailable,
};

/// The result of looking a type name up.
#[derive(Clone, Debug)]
pub enum TypeRef<T> {
    /// Found.
    Known(Arc<T>),
    /// The namespace is known, the type is not.
    UnknownType,
    /// No catalogue offers the namespace.
    UnknownNamespace,
    /// The plugin of the package cannot be used, so its types are not known.
    Unavailable(Arc<Unavailable>),
}

/// The catalogues of all registered providers, looked up by type.
///
/// A lookup reads data and never waits. A catalogue of the program may be read only when a name of
/// one of its namespaces is first looked up. The catalogue of a hosted package comes from its
/// plugin: [`Catalogs::set_opened`] supplies it before a name of the package is looked up. The
/// packages of a [family](Catalogs::with_families) are not listed before: each is added when it is
/// supplied, and stays.
#[derive(Clone, Debug, Default)]
pub struct Catalogs {
    entries: Vec<CatalogEntry>,
    /// The position of the entry that offers a namespace, or whose provider has the name.
    by_namespace: IndexMap<Name, usize>,
    names: ProviderNames,
    packages: Packages,
    /// The supplied catalogues of packages of the families. Nothing is ever removed, so references
    /// to entries stay valid.
    of_families: FrozenMap<Name, Box<Opened>>,
}

/// A catalogue that is read on first use, or supplied after its plugin was asked.
#[derive(Clone)]
pub struct LazyCatalog {
    /// The name of its provider, as [`Catalog::name`].
    pub name: Option<Name>,
    /// The namespaces that it offers.
    pub namespaces: Vec<Name>,
    /// The hosted package of its namespaces. Written types are resolved with it before a name is
    /// looked up.
    pub hosted: Option<Hosted>,
    /// Whether lists and suggestions include its contents before one of its names has been looked
    /// up.
    pub listed: bool,
    /// Where the catalogue comes from.
    pub origin: CatalogOrigin,
}

/// Where a catalogue comes from.
#[derive(Clone)]
pub enum CatalogOrigin {
    /// Data of the program or of the user. The function reads it. It is called at most once for each
    /// [`Catalogs`].
    Data(Arc<dyn Fn() -> Arc<Catalog> + Send + Sync>),
    /// The plugin of a hosted package, which has to be asked first.
    Plugin,
}

impl std::fmt::Debug for LazyCatalog {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LazyCatalog")
            .field("namespaces", &self.namespaces)
            .finish_non_exhaustive()
    }
}

#[derive(Clone, Debug)]
struct CatalogEntry {
    lazy: LazyCatalog,
    opened: OnceLock<Opened>,
}

#[derive(Clone, Debug)]
struct Opened {
    catalog: Arc<Catalog>,
    /// Link kinds by the types on side a and b, in this order.
    link_kinds: IndexMap<Name, IndexMap<Name, Arc<LinkKind>>>,
}

impl From<Arc<Catalog>> for LazyCatalog {
    /// Wraps a catalogue that is already loaded.
    fn from(catalog: Arc<Catalog>) -> LazyCatalog {
        LazyCatalog {
            name: catalog.name.clone(),
            namespaces: catalog.namespaces.clone(),
            hosted: catalog.hosted.clone(),
            listed: true,
            origin: CatalogOrigin::Data(Arc::new(move || catalog.clone())),
        }
    }
}

impl Opened {
    fn new(catalog: Arc<Catalog>) -> Opened {
        let mut link_kinds: IndexMap<Name, IndexMap<Name, Arc<LinkKind>>> = IndexMap::default();
        for kind in &catalog.link_kinds {
            let of_a = link_kinds.entry(kind.a.clone()).or_default();
            of_a.entry(kind.b.clone()).or_insert_with(|| kind.clone());
        }
        Opened {
            catalog,
            link_kinds,
        }
    }
}

impl CatalogEntry {
    /// The catalogue; `None` if it comes from a plugin that was not asked yet.
    fn catalog(&self) -> Option<&Arc<Catalog>> {
        let opened = match &self.lazy.origin {
            CatalogOrigin::Data(read) => self.opened.get_or_init(|| Opened::new(read())),
            CatalogOrigin::Plugin => self.opened.get()?,
        };
        Some(&opened.catalog)
    }

    fn is_listed(&self) -> bool {
        self.lazy.listed || self.opened.get().is_some()
    }
}

impl Catalogs {
    /// Builds the index from catalogues in registration order. If two catalogues claim a namespace,
    /// the first one keeps it; the second result lists such namespaces.
    pub fn new(catalogs: impl IntoIterator<Item = Arc<Catalog>>) -> (Catalogs, Vec<Name>) {
        let (catalogs, twice) = Catalogs::lazy(catalogs.into_iter().map(LazyCatalog::from));
        for entry in &catalogs.entries {
            entry.catalog();
        }
        (catalogs, twice)
    }

    /// Builds the index from catalogues that are each read when one of their names is first looked
    /// up, or supplied by [`Catalogs::set_opened`].
    pub fn lazy(catalogs: impl IntoIterator<Item = LazyCatalog>) -> (Catalogs, Vec<Name>) {
        let mut all = Catalogs::default();
        let mut twice = Vec::new();
        for lazy in catalogs {
            let at = all.entries.len();
            for namespace in &lazy.namespaces {
                if all.by_namespace.contains_key(namespace) {
                    twice.push(namespace.clone());
                } else {
                    if let Some(hosted) = &lazy.hosted {
                        all.packages.add(Arc::new(hosted.package(namespace)));
                    }
                    all.by_namespace.insert(namespace.clone(), at);
                }
            }
            if let Some(name) = &lazy.name {
                match all.by_namespace.get(name) {
                    Some(other) if *other != at => twice.push(name.clone()),
                    _ => {
                        all.by_namespace.insert(name.clone(), at);
                        all.names.add(name, &lazy.namespaces);
                    }
                }
            }
            all.entries.push(CatalogEntry {
                lazy,
                opened: OnceLock::new(),
            });
        }
        (all, twice)
    }

    /// Adds families of hosted packages: every namespace of such a family is that of a package which
    /// is opened when it is first asked for.
    #[must_use]
    pub fn with_families(mut self, families: impl IntoIterator<Item = PackageFamily>) -> Catalogs {
        let families = families.into_iter();
        families.for_each(|family| self.packages.add_family(family));
        self
    }

    /// The hosted packages among the namespaces, by which written types are resolved.
    pub fn packages(&self) -> &Packages {
        &self.packages
    }

    /// The names of providers that have one, by which their configurations are found.
    pub fn names(&self) -> &ProviderNames {
        &self.names
    }

    /// The words that select the provider of a namespace or name in settings: the given one, and
    /// the other namespaces and the name of the same provider. Reads no catalogue.
    pub fn keys_of<'a>(&'a self, namespace: &'a str) -> impl Iterator<Item = &'a str> {
        let at = self.by_namespace.get(namespace).copied();
        let others = self.by_namespace.iter();
        let same = move |other: &usize| Some(*other) == at;
        let others = others.filter(move |(_, other)| same(other));
        let others = others.map(|(name, _)| name.as_ref());
        std::iter::once(namespace).chain(others.filter(move |other| *other != namespace))
    }

    /// The catalogue that offers a namespace, or whose provider has this name; `None` for a hosted
    /// package that is not open.
    pub fn of(&self, namespace: &str) -> Option<&Arc<Catalog>> {
        match self.by_namespace.get(namespace) {
            Some(at) => self.entries[*at].catalog(),
            None if self.packages.is_of_family(namespace) => {
                let opened = self.of_families.get(namespace)?;
                Some(&opened.catalog)
            }
            None => None,
        }
    }

    /// Whether a namespace is that of a hosted package whose plugin was not asked yet: see
    /// [`Catalogs::set_opened`].
    pub fn is_closed(&self, namespace: &str) -> bool {
        // Most programs have no hosted packages.
        if self.packages.is_empty() {
            return false;
        }
        match self.by_namespace.get(namespace) {
            Some(at) => self.entries[*at].catalog().is_none(),
            None => {
                self.packages.is_of_family(namespace) && self.of_families.get(namespace).is_none()
            }
        }
    }

    /// The namespaces of hosted packages with a name of their own whose hosts were not asked yet.
    pub fn closed_namespaces(&self) -> impl Iterator<Item = &str> {
        let closed = |at: &usize| self.entries[*at].catalog().is_none();
        let namespaces = self.by_namespace.iter();
        namespaces.filter_map(move |(name, at)| closed(at).then_some(name.as_ref()))
    }

    /// Supplies the catalogue of a hosted package. A catalogue that is already there stays.
    pub fn set_opened(&self, package: &str, catalog: Arc<Catalog>) {
        if let Some(at) = self.by_namespace.get(package) {
            let entry = &self.entries[*at];
            entry.opened.get_or_init(|| Opened::new(catalog));
        } else if self.packages.is_of_family(package) {
            let opened = Box::new(Opened::new(catalog));
            self.of_families.insert(package.into(), opened);
        }
    }

    /// The supplied catalogues of packages of the families, by name.
    fn opened_of_families(&self) -> impl Iterator<Item = &Opened> {
        let mut names = self.of_families.keys_cloned();
        names.sort_unstable();
        names
            .into_iter()
            .filter_map(|name| self.of_families.get(&name))
    }

    /// The catalogues that appear in lists, each once. Reads all of them. A hosted package appears
    /// when it is open.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Catalog>> {
        let offers = |at: &usize| {
            let first = self.entries[*at].lazy.namespaces.first();
            first.is_some_and(|first| self.by_namespace.get(first) == Some(at))
        };
        let listed = (0..self.entries.len())
            .filter(offers)
            .map(|at| &self.entries[at]);
        let of_families = self.opened_of_families().map(|opened| &opened.catalog);
        listed
            .filter(|entry| entry.is_listed())
            .filter_map(CatalogEntry::catalog)
            .chain(of_families)
    }

    /// The catalogues that have been read or supplied, each once.
    pub fn opened(&self) -> impl Iterator<Item = &Arc<Catalog>> {
        self.entries
            .iter()
            .filter_map(|entry| entry.opened.get())
            .chain(self.opened_of_families())
            .map(|opened| &opened.catalog)
    }

    /// All namespaces and names of providers that appear in lists, and all hosted packages. Of the
    /// packages of families, those that are open and can be used. No catalogue is opened.
    pub fn namespaces(&self) -> impl Iterator<Item = &str> {
        let named = |entry: &CatalogEntry| entry.is_listed() || entry.lazy.hosted.is_some();
        let listed = self
            .by_namespace
            .iter()
            .filter(move |(_, at)| named(&self.entries[**at]));
        let of_families = self
            .opened_of_families()
            .filter(|opened| opened.catalog.unavailable.is_none())
            .flat_map(|opened| &opened.catalog.namespaces);
        let listed = listed.map(|(name, _)| name.as_ref());
        listed.chain(of_families.map(|name| name.as_ref()))
    }

    /// The catalogue that a written type name belongs to, by its namespace. If the catalogue allows
    /// it, the spelling is loose.
    fn owner(&self, id: &TypeId) -> Option<&Arc<Catalog>> {
        let namespace = id.package_name();
        self.of(namespace).or_else(|| {
            let wanted = plain_name(namespace);
            let mut loose = self
                .by_namespace
                .iter()
                .filter(|(name, _)| plain_name(name) == wanted);
            loose.find_map(|(_, at)| {
                let catalog = self.entries[*at].catalog()?;
                catalog.loose_names.then_some(catalog)
            })
        })
    }

    fn find<T>(&self, id: &TypeId, look: impl Fn(&Catalog) -> Option<Arc<T>>) -> TypeRef<T> {
        let Some(catalog) = self.owner(id) else {
            if self.is_closed(id.package_name()) {
                return TypeRef::Unavailable(Arc::new(Unavailable::not_opened(id.package_name())));
            }
            return TypeRef::UnknownNamespace;
        };
        match (look(catalog), &catalog.unavailable) {
            (Some(found), _) => TypeRef::Known(found),
            (None, Some(why)) => TypeRef::Unavailable(why.clone()),
            (None, None) => TypeRef::UnknownType,
        }
    }

    /// The resource type of that name. The returned type carries the catalogue's spelling.
    pub fn resource_type(&self, id: &TypeId) -> TypeRef<ResourceType> {
        self.find(id, |catalog| catalog.resource_type(id))
    }

    /// The data source type of that name. The returned type carries the catalogue's spelling.
    pub fn data_source_type(&self, id: &TypeId) -> TypeRef<DataSourceType> {
        self.find(id, |catalog| catalog.data_source_type(id))
    }

    /// The custom variable type of that name. The returned type carries the catalogue's spelling.
    pub fn variable_type(&self, id: &TypeId) -> TypeRef<CustomType> {
        self.find(id, |catalog| catalog.variable_type(id))
    }

    /// All resource type names, for suggestions, without reading any type.
    pub fn resource_type_names(&self) -> impl Iterator<Item = &str> {
        self.iter()
            .flat_map(|catalog| catalog.resource_type_names())
    }

    /// All custom variable type names, for suggestions.
    pub fn variable_type_names(&self) -> impl Iterator<Item = &str> {
        self.iter()
            .flat_map(|catalog| catalog.variable_type_names())
    }

    /// All data source type names, for suggestions, without reading any type.
    pub fn data_source_type_names(&self) -> impl Iterator<Item = &str> {
        self.iter()
            .flat_map(|catalog| catalog.data_source_type_names())
    }

    /// The link kind for an ordered pair of types.
    pub fn link_kind(&self, a: &str, b: &str) -> Option<&Arc<LinkKind>> {
        self.of_opened()
            .find_map(|opened| opened.link_kinds.get(a)?.get(b))
    }

    /// The link kinds of all opened catalogues. Types of the other catalogues are not in use.
    pub fn link_kinds(&self) -> impl Iterator<Item = &Arc<LinkKind>> {
        let kinds = self
            .of_opened()
            .flat_map(|opened| opened.link_kinds.values());
        kinds.flat_map(|kinds| kinds.values())
    }

    fn of_opened(&self) -> impl Iterator<Item = &Opened> {
        let opened = self.entries.iter().filter_map(|entry| entry.opened.get());
        let opened = opened.chain(self.opened_of_families());
        opened.filter(|opened| !opened.link_kinds.is_empty())
    }

    /// The transform of that name. Its catalogue need not appear in lists.
    pub fn transform(&self, name: &str) -> Option<&Arc<TransformDef>> {
        if let Some(found) = self.iter().find_map(|catalog| catalog.transforms.get(name)) {
            return Some(found);
        }
        // Hosted packages have no transforms.
        let unlisted = self
            .entries
            .iter()
            .filter(|entry| !entry.is_listed() && entry.lazy.hosted.is_none());
        // A catalogue without the transform stays unlisted.
        let mut having = unlisted.filter(|entry| match &entry.lazy.origin {
            CatalogOrigin::Data(read) => read().transforms.contains_key(name),
            CatalogOrigin::Plugin => false,
        });
        having.next()?.catalog()?.transforms.get(name)
    }

    /// The abstract type of that name, and the transform that declares it.
    pub fn abstract_type(&self, name: &str) -> Option<(&Arc<TransformDef>, &AbstractType)> {
        let transforms = self.iter().flat_map(|catalog| catalog.transforms.values());
        transforms
            .filter_map(|transform| Some((transform, transform.abstract_types.get(name)?)))
            .next()
    }

    /// All transform names, for suggestions.
    pub fn transform_names(&self) -> impl Iterator<Item = &str> {
        self.iter()
            .flat_map(|catalog| catalog.transforms.keys().map(|name| name.as_ref()))
    }
}

/// All registered types, each read on demand.
impl TypeSource for Catalogs {
    fn resource_type(&self, name: &str) -> Option<Arc<ResourceType>> {
        match Catalogs::resource_type(self, &TypeId::parse(name)) {
            TypeRef::Known(found) => Some(found),
            TypeRef::UnknownType | TypeRef::UnknownNamespace | TypeRef::Unavailable(_) => None,
        }
    }

    fn resource_type_names(&self) -> Box<dyn Iterator<Item = &str> + '_> {
        Box::new(Catalogs::resource_type_names(self))
    }
}

/// Combines catalogues: the type index, the functions of the language and of all providers, and one
/// message for each contradiction between catalogues. The messages belong to
/// [`invalid-catalog`](crate::codes::INVALID_CATALOG) and have no position.
///
/// If two catalogues offer the same name, the first one keeps it.
pub fn combine(
    catalogs: impl IntoIterator<Item = Arc<Catalog>>,
) -> (Catalogs, FunctionTable, Vec<String>) {
    let catalogs: Vec<Arc<Catalog>> = catalogs.into_iter().collect();
    let mut functions = expr::core_functions().clone();
    let mut owners: HashMap<Name, Name> = HashMap::new();
    let mut links: HashMap<(Name, Name), Name> = HashMap::new();
    let mut transforms: HashMap<Name, Name> = HashMap::new();
    let mut wrong = Vec::new();
    for catalog in &catalogs {
        let who = catalog.key();
        for kind in &catalog.link_kinds {
            let pair = (kind.a.clone(), kind.b.clone());
            if let Some(other) = links.get(&pair) {
                wrong.push(format!(
                    "`{other}` and `{who}` both offer links from `{}` to `{}`",
                    pair.0, pair.1
                ));
            } else {
                links.insert(pair, who.clone());
            }
        }
        for name in catalog.transforms.keys() {
            if let Some(other) = transforms.get(name) {
                wrong.push(format!(
                    "`{other}` and `{who}` both offer the transform `{name}`"
                ));
            } else {
                transforms.insert(name.clone(), who.clone());
            }
        }
    }
    // Functions that providers execute are added before those that the evaluator executes itself,
    // and so keep the name.
    let every = || {
        catalogs.iter().flat_map(|catalog| {
            catalog
                .functions
                .iter()
                // A function that takes its arguments by name is called with `invoke`.
                .filter(|function| !function.named)
                .map(move |function| (catalog, function))
        })
    };
    let by_call = every().filter(|(_, function)| function.native.is_none());
    for (catalog, function) in
        by_call.chain(every().filter(|(_, function)| function.native.is_some()))
    {
        let who = catalog.key();
        let name = function.name.clone();
        let Err(mut function) = functions.insert(function.clone()) else {
            owners.insert(name, who);
            continue;
        };
        if let Some(other) = owners.get(&name).filter(|_| function.native.is_none()) {
            wrong.push(format!(
                "`{other}` and `{who}` both offer the function `{name}`"
            ));
            continue;
        }
        // A function whose name is taken gets its package as a prefix.
        function.name = format!("{who}_{name}").into();
        let is_a_name = who.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if !is_a_name || functions.insert(function).is_err() {
            wrong.push(format!(
                "`{who}` offers a function `{name}`, and that name is taken"
            ));
        }
    }
    let (catalogs, twice) = Catalogs::new(catalogs);
    wrong.extend(
        twice
            .into_iter()
            .map(|name| format!("two catalogues claim the namespace `{name}`")),
    );
    (catalogs, functions, wrong)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read_catalog;

    #[test]
    fn a_catalogue_is_opened_when_a_name_of_it_is_first_looked_up() {
        let lazy = |namespace: &'static str, listed: bool| LazyCatalog {
            name: None,
            namespaces: vec![namespace.into()],
            listed,
            hosted: None,
            origin: CatalogOrigin::Data(Arc::new(move || {
                let text = format!(
                    r#"{{"format": 1, "namespace": "{namespace}", "resourceTypes": {{"{namespace}/a": {{}}}},
                        "transforms": {{"{namespace}-1": {{"docs": "One."}}}}}}"#
                );
                Arc::new(read_catalog(&text).unwrap())
            })),
        };
        let (catalogs, twice) =
            Catalogs::lazy([lazy("x", true), lazy("y", true), lazy("test", false)]);
        let opened = || {
            catalogs
                .opened()
                .map(|catalog| catalog.namespaces[0].to_string())
                .collect::<Vec<_>>()
        };
        assert!(twice.is_empty() && opened().is_empty());
        assert!(matches!(
            catalogs.resource_type(&"z/a".into()),
            TypeRef::UnknownNamespace
        ));
        assert_eq!(catalogs.namespaces().collect::<Vec<_>>(), ["x", "y"]);
        assert!(opened().is_empty() && catalogs.by_namespace.contains_key("test"));
        assert!(matches!(
            catalogs.resource_type(&"y/a".into()),
            TypeRef::Known(_)
        ));
        assert_eq!(opened(), ["y"]);
        assert!(catalogs.transform("none").is_none());
        assert_eq!(
            opened(),
            ["x", "y"],
            "lists name no catalogue that is not to be listed"
        );
        assert!(catalogs.transform("test-1").is_some());
        assert_eq!(
            catalogs.resource_type_names().collect::<Vec<_>>(),
            ["x/a", "y/a", "test/a"]
        );
    }

    #[test]
    fn types_of_a_hosted_package_are_known_when_its_catalogue_is_supplied() {
        let text = r#"{"format": 1, "namespace": "sky", "package": {"family": "pulumi"},
                       "resourceTypes": {"sky/kite": {}}}"#;
        let catalog = Arc::new(read_catalog(text).unwrap());
        let closed = LazyCatalog {
            origin: CatalogOrigin::Plugin,
            listed: false,
            ..LazyCatalog::from(catalog.clone())
        };
        let (catalogs, _) = Catalogs::lazy([closed]);
        assert!(catalogs.is_closed("sky") && !catalogs.is_closed("other"));
        assert!(catalogs.of("sky").is_none() && catalogs.opened().next().is_none());
        assert_eq!(catalogs.namespaces().collect::<Vec<_>>(), ["sky"]);
        catalogs.set_opened("sky", catalog);
        assert!(!catalogs.is_closed("sky"));
        assert!(matches!(
            catalogs.resource_type(&"sky/kite".into()),
            TypeRef::Known(_)
        ));
    }

    #[test]
    fn package_of_a_family_is_added_when_its_catalogue_is_supplied() {
        let supplied = |namespace: &str| {
            let text = format!(
                r#"{{"format": 1, "namespace": "{namespace}", "package": {{"family": "pulumi"}},
                    "resourceTypes": {{"{namespace}/kite": {{}}}}}}"#
            );
            Arc::new(read_catalog(&text).unwrap())
        };
        let (catalogs, _) = Catalogs::new([supplied("sky")]);
        assert!(!catalogs.is_closed("pulumi:sea"));
        let catalogs = catalogs.with_families([PackageFamily::new("pulumi")]);
        assert!(catalogs.is_closed("pulumi:sea") && catalogs.is_closed("pulumi:air"));
        assert!(!catalogs.is_closed("sky") && !catalogs.is_closed("pulumi:a:b"));
        assert!(catalogs.of("pulumi:sea").is_none());
        catalogs.set_opened("pulumi:sea", supplied("pulumi:sea"));
        let first = catalogs.of("pulumi:sea").unwrap();
        catalogs.set_opened("pulumi:sea", supplied("pulumi:sea"));
        catalogs.set_opened("pulumi:air", supplied("pulumi:air"));
        catalogs.set_opened("other:sea", supplied("other:sea"));
        assert!(Arc::ptr_eq(first, catalogs.of("pulumi:sea").unwrap()));
        assert!(!catalogs.is_closed("pulumi:sea") && catalogs.of("other:sea").is_none());
        assert!(matches!(
            catalogs.resource_type(&"pulumi:sea/kite".into()),
            TypeRef::Known(_)
        ));
        let all = ["sky", "pulumi:air", "pulumi:sea"];
        assert_eq!(catalogs.namespaces().collect::<Vec<_>>(), all);
        assert_eq!(catalogs.opened().count(), 3);
    }

    fn messages(texts: &[&str]) -> Vec<String> {
        combine(
            texts
                .iter()
                .map(|text| Arc::new(read_catalog(text).unwrap())),
        )
        .2
    }

    #[derive(Debug)]
    struct Nothing;

    impl expr::Native for Nothing {
        fn call(&self, _: &[blueprint::Value]) -> Result<blueprint::Value, expr::Refusal> {
            Ok(blueprint::Value::Null)
        }

        fn accepts_partial_arguments(&self, _: &[blueprint::Value]) -> bool {
            false
        }
    }

    #[test]
    fn a_taken_function_name_gets_its_package_as_a_prefix() {
        let both = r#"{"mix_up": {"returns": "any"}, "join": {"returns": "any"}}"#;
        let read = |name: &str, functions: &str| {
            read_catalog(&format!(
                r#"{{"format": 1, "namespace": "{name}", "functions": {functions}}}"#
            ))
            .unwrap()
        };
        let mut own = read("own", both);
        own.functions
            .iter_mut()
            .for_each(|function| function.native = Some(Arc::new(Nothing)));
        let one = read("one", r#"{"mix_up": {"returns": "any"}}"#);
        let (_, functions, wrong) = combine([Arc::new(own), Arc::new(one)]);
        assert_eq!(wrong, Vec::<String>::new());
        let of = |name: &str| functions.get(name).map(|function| function.purity.clone());
        let provider = |namespace: &str, name: &str| {
            Some(expr::Purity::Provider {
                namespace: namespace.into(),
                name: name.into(),
            })
        };
        assert_eq!(of("mix_up"), provider("one", "mix_up"));
        assert_eq!(of("own_mix_up"), provider("own", "mix_up"));
        assert_eq!(of("own_join"), provider("own", "join"));
        assert_eq!(of("join"), Some(expr::Purity::Pure));
    }

    #[test]
    fn two_providers_may_not_offer_the_same_name() {
        let one =
            r#"{"format": 1, "namespace": "one", "functions": {"mix_up": {"returns": "any"}}}"#;
        let two =
            r#"{"format": 1, "namespace": "two", "functions": {"mix_up": {"returns": "any"}}}"#;
        assert_eq!(
            messages(&[one, two]),
            ["`one` and `two` both offer the function `mix_up`"]
        );
        assert_eq!(messages(&[one]), Vec::<String>::new());
        let again = r#"{"format": 1, "namespace": ["three", "one"]}"#;
        assert_eq!(
            messages(&[one, again]),
            ["two catalogues claim the namespace `one`"]
        );
    }

    #[test]
    fn a_provider_is_found_by_its_name_and_its_namespaces() {
        let text = r#"{"format": 1, "name": "shop", "namespace": ["OS::Rack", "OS::Till"],
            "resourceTypes": {"OS::Rack::Shelf": {}},
            "functions": {"owner": {"returns": "string", "simulated": "nobody"}}}"#;
        let other = r#"{"format": 1, "namespace": "town"}"#;
        let (catalogs, functions, wrong) =
            combine([text, other].map(|text| Arc::new(read_catalog(text).unwrap())));
        assert_eq!(wrong, Vec::<String>::new());
        let names = catalogs.names();
        assert_eq!(
            ["OS::Till", "shop", "town", "sea"].map(|key| names.key(key)),
            ["shop", "shop", "town", "sea"]
        );
        assert!(names.are_same("OS::Till", "OS::Rack") && names.are_same("shop", "OS::Rack"));
        assert!(!names.are_same("town", "OS::Rack"));
        assert_eq!(
            catalogs.keys_of("OS::Till").collect::<Vec<_>>(),
            ["OS::Till", "OS::Rack", "shop"]
        );
        assert_eq!(catalogs.keys_of("sea").collect::<Vec<_>>(), ["sea"]);
        assert!(catalogs.of("shop").is_some());
        assert!(catalogs.namespaces().any(|name| name == "shop"));
        // The name is the package of the functions.
        let TypeRef::Known(owner) = catalogs.package_function(&"shop/owner".into()) else {
            panic!("it is there")
        };
        let purity = expr::Purity::Provider {
            namespace: "shop".into(),
            name: "owner".into(),
        };
        assert_eq!(owner.purity, purity);
        assert_eq!(owner.rehearsed, Some("nobody".into()));
        assert!(functions.get("owner").is_some());
        // A type that begins with the name is unknown, and its provider is known.
        assert!(matches!(
            catalogs.resource_type(&"shop/shelf".into()),
            TypeRef::UnknownType
        ));
        assert_eq!(
            messages(&[text, r#"{"format": 1, "namespace": "shop"}"#]),
            ["two catalogues claim the namespace `shop`"]
        );
    }

    #[test]
    fn an_ordered_pair_of_types_has_one_link_kind() {
        let one = r#"{"format": 1, "namespace": "one", "resourceTypes": {"one/a": {}}, "linkKinds": [{"a": "one/a", "b": "two/b"}]}"#;
        let two = r#"{"format": 1, "namespace": "two", "resourceTypes": {"two/b": {}}, "linkKinds": [{"a": "one/a", "b": "two/b"}]}"#;
        assert_eq!(
            messages(&[one, two]),
            ["`one` and `two` both offer links from `one/a` to `two/b`"]
        );
    }

    #[test]
    fn types_are_found_by_names_with_colons() {
        let text = r#"{"format": 1, "namespace": ["OS::Shop", "OS::Shop::Far"],
            "resourceTypes": {"OS::Shop::Rack": {}, "OS::Shop::Far::Rack": {}}}"#;
        let (catalogs, twice) = Catalogs::new([Arc::new(read_catalog(text).unwrap())]);
        assert!(twice.is_empty());
        assert!(matches!(
            catalogs.resource_type(&"OS::Shop::Far::Rack".into()),
            TypeRef::Known(_)
        ));
        assert!(matches!(
            catalogs.resource_type(&"OS::Shop::Till".into()),
            TypeRef::UnknownType
        ));
        assert!(matches!(
            catalogs.resource_type(&"OS::Shoe::Rack".into()),
            TypeRef::UnknownNamespace
        ));
        for (namespace, name) in [
            ("OS::Shop", "OS::Shop"),
            ("OS::Shop", "OS::Shop::"),
            ("OS::Shop", "OS::Shop::A::B"),
        ] {
            let text = format!(
                r#"{{"format": 1, "namespace": "{namespace}", "resourceTypes": {{"{name}": {{}}}}}}"#
            );
            assert!(read_catalog(&text).is_err(), "{name}");
        }
        assert!(read_catalog(r#"{"format": 1, "namespace": "OS::"}"#).is_err());
    }
}
