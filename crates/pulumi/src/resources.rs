//! The section `resources` (decisions/pulumi#resources).

use std::collections::{HashMap, HashSet};

use blueprint::{Expr, ExprKind, IndexMap, Name, PROVIDER_TYPE, Resource, Value};
use diag::{Severity, Span, Spanned};
use syntax::Node;

use crate::codes::MISPLACED_OPTION;
use crate::computed;
use crate::expressions::invalid_token;
use crate::lowering::{NamedKind, ProgramLowering, SectionFields};
use crate::options::ResourceOptions;
use crate::packages::{stated_plugin, unescaped};
use crate::read::{RepeatedKey, TextEntry, entries, is_null, node_kind, value_span, wrong_shape};
use crate::shape;
use crate::stack_reference::is_stack_reference;
use crate::tokens::{TypeToken, namespace, qualified};
use crate::untyped::guessed;
use crate::version::is_same_version;
use dialect::codes::{DUPLICATE_KEY, MISSING_FIELD, UNSUPPORTED_FEATURE};
use expr::codes::TYPE_MISMATCH;

/// What a resource says about its parent and its package, for inheritance.
struct Family {
    parent: Option<Spanned<Name>>,
    /// The providers of its children.
    providers: Vec<Spanned<Name>>,
    package: Name,
    states_protection: bool,
    states_retention: bool,
}

/// The providers that each resource gives its children, by package.
type PassedProviders = IndexMap<Name, IndexMap<Name, Spanned<Name>>>;

impl ProgramLowering<'_> {
    /// Lowers the resources.
    pub(crate) fn resources(&mut self, all: &[TextEntry<'_>]) -> IndexMap<Name, Resource> {
        let mut resources: IndexMap<Name, Resource> = IndexMap::default();
        let mut families: IndexMap<Name, Family> = IndexMap::default();
        for entry in all {
            if let Some((resource, family)) = self.resource(entry) {
                resources.insert(entry.key.item.clone(), resource);
                families.insert(entry.key.item.clone(), family);
            }
        }
        self.inherit(&mut resources, &families);
        self.refuse_equal_urns(&resources);
        resources
    }

    fn resource(&mut self, entry: &TextEntry<'_>) -> Option<(Resource, Family)> {
        let (name, span) = (&entry.key.item, entry.key.span);
        let what = format!("the resource `{name}`");
        let fields = self.fields(&shape::RESOURCE, entry.value, &what)?;
        let misplaced = self.misplaced_options(&fields);
        let (type_name, package) = self.type_name(&fields, name, span);
        let is_provider = type_name.item.name().as_ref() == PROVIDER_TYPE;
        if let Some(entry) = fields.entry("options").filter(|entry| is_null(entry.value)) {
            wrong_shape(entry.value, "`options`", "a map", &mut self.found);
        }
        if let Some(entry) = fields.entry("get").filter(|entry| is_null(entry.value)) {
            wrong_shape(entry.value, "`get`", "a map", &mut self.found);
        }
        let options = match (fields.written("options"), misplaced) {
            (Some(node), _) => self.options(node),
            (None, Some(node)) => self.lifted_options(&node),
            (None, None) => ResourceOptions::default(),
        };
        let has_default = options.provider.is_none() && !is_provider;
        if has_default && !self.written_providers.contains_key(name) {
            let written = fields.written("options").unwrap_or(entry.value);
            let option = |key: &str| part_of(written, key).filter(|node| !is_null(node));
            let asked = [option("version"), option("pluginDownloadURL")];
            self.refuse_other_plugin(&package, asked);
        }
        let tied = options.ties.iter().flat_map(|ties| {
            let deleted_with = ties.deleted_with.iter();
            deleted_with.chain(&ties.replaced_with)
        });
        let others = options.depends_on.iter().chain(&options.parent).chain(tied);
        let itself = others.filter(|other| other.item == *name);
        if let Some(place) = itself.map(|other| other.span).next() {
            self.refuse_itself(name, place);
        }
        let spec = self.properties(&fields, span);
        let spec_key = fields
            .entry("properties")
            .map_or(span, |entry| entry.key.span);
        let is_missing = self.missing_packages.contains_key(&package);
        let spec = match is_provider {
            true if is_missing => Expr::error(spec.span),
            true => self.provider_spec(&package, spec, type_name.span),
            false => spec,
        };
        let mut resource = Resource::new(span, type_name, spec_key, spec);
        resource.lifecycle = options.lifecycle;
        resource.depends_on = options.depends_on;
        // The types of a package that cannot be used are not known: no configuration fits them.
        resource.provider = options.provider.filter(|_| !is_missing).map(Box::new);
        if let Some(parent) = &options.parent {
            resource.depends_on.push(parent.clone());
            resource.parent = Some(Box::new(parent.clone()));
        }
        if let Some(ties) = &options.ties {
            resource.depends_on.extend(ties.deleted_with.clone());
            resource
                .depends_on
                .extend(ties.replaced_with.iter().cloned());
        }
        resource.ties = options.ties;
        let written = fields.written("options").unwrap_or(entry.value);
        let asked = ["version", "pluginDownloadURL"].map(|key| part_of(written, key));
        self.ask_for_plugin(&mut resource, &package, asked);
        resource.protection = options.protection;
        resource.computed = computed::written(options.computed, span);
        resource.metadata.replacement_trigger = options.replacement_trigger;
        resource.logical_name = fields
            .written("name")
            .and_then(|node| self.fixed_text(node, "`name`"))
            .filter(|written| written.item != name.as_ref())
            .map(|written| written.item.into());
        if let Some(place) = options.maps_environment {
            match is_provider {
                true => self.unsupported_option("envVarMappings", place),
                false => self.found.push(
                    UNSUPPORTED_FEATURE
                        .new("`envVarMappings` concerns providers only")
                        .label(place, "has no effect here")
                        .with_severity(Severity::Warning),
                ),
            }
        }
        let family = Family {
            providers: options.providers,
            parent: options.parent,
            package,
            states_protection: options.states_protection,
            states_retention: options.states_retention,
        };
        Some((resource, family))
    }

    /// Reports resources of one URN: the same logical name, type and types of the parents.
    fn refuse_equal_urns(&mut self, resources: &IndexMap<Name, Resource>) {
        if resources.values().all(|one| one.logical_name.is_none()) {
            return;
        }
        let mut known: HashMap<(Vec<&str>, &str), Span> = HashMap::new();
        for (name, resource) in resources {
            let mut types = Vec::new();
            let mut next = Some(resource);
            while let Some(one) = next.filter(|_| types.len() <= resources.len()) {
                let written = one.type_name.item.name();
                types.push(one.configured_namespace().unwrap_or(written));
                let parent = one.parent.as_deref();
                next = parent.and_then(|parent| resources.get(&parent.item));
            }
            let logical = resource.logical_name.as_ref().unwrap_or(name);
            let first = *known
                .entry((types, logical.as_ref()))
                .or_insert(resource.span);
            if first != resource.span {
                self.found.push(
                    DUPLICATE_KEY
                        .new(format!(
                            "two resources of one type have the name `{logical}`"
                        ))
                        .label(resource.span, "its URN is that of another resource")
                        .label(first, "this one")
                        .help("give one of them another `name`, or leave it out"),
                );
            }
        }
    }

    /// Lowers the properties: a map, or one expression that gives a map.
    fn properties(&mut self, fields: &SectionFields<'_>, span: Span) -> Expr {
        if let Some(entry) = fields
            .entry("properties")
            .filter(|entry| is_null(entry.value))
        {
            wrong_shape(entry.value, "`properties`", "a map", &mut self.found);
        }
        let Some(node) = fields.written("properties") else {
            return Expr::new(ExprKind::Map(Vec::new()), span);
        };
        let place = value_span(node);
        if node.as_map().is_none() {
            let value = self.expr(node);
            let is_data = matches!(
                value.kind,
                ExprKind::List(_) | ExprKind::Literal(_) | ExprKind::Text(_)
            );
            if is_data {
                let kind = node_kind(node);
                let mistake = TYPE_MISMATCH
                    .new(format!("`properties` must be a map, found {kind}"))
                    .label(place, kind);
                return self.fail(mistake, place);
            }
            return value;
        }
        let all = entries(node, RepeatedKey::LastCounts, &mut self.found).unwrap_or_default();
        if let [only] = all.as_slice()
            && crate::call_forms::called_function(&only.key.item).is_some()
        {
            return self.expr(node);
        }
        self.plain_map(&all, place)
    }

    /// Notes which plugin of its package a resource is managed with, as far as the program says it.
    /// `options` are its own version and URL. Another version than the one that the package has here is
    /// reported.
    fn ask_for_plugin(
        &mut self,
        resource: &mut Resource,
        package: &str,
        options: [Option<&Node>; 2],
    ) {
        let Some(request) = self.packages.get(package) else {
            return;
        };
        let mut plugin = stated_plugin(request);
        let [version, url] = options;
        if let Some(node) = version
            && let (Some(own), Some(used)) = (node.text(), &plugin.version)
            && !is_same_version(own, used)
        {
            self.found.push(
                UNSUPPORTED_FEATURE
                    .new(format!(
                        "a program uses one version of the package `{package}` only"
                    ))
                    .label(value_span(node), format!("here it is `{used}`"))
                    .help("use one version for all resources of the package"),
            );
        }
        if let Some(own) = url.and_then(Node::text) {
            plugin.url = Some(unescaped(own));
        }
        if !plugin.is_empty() {
            resource.ties.get_or_insert_default().plugin = plugin;
        }
    }

    /// The fields of the configuration of a provider.
    fn provider_spec(&mut self, package: &str, settings: Expr, span: Span) -> Expr {
        let key = |name: &str| Spanned::new(Name::from(name), span);
        let package = Expr::literal(Value::Text(namespace(package)), span);
        let place = settings.span;
        let entries = vec![(key("namespace"), package), (key("settings"), settings)];
        Expr::new(ExprKind::Map(entries), place)
    }

    /// The type of a resource and its package. A mistake is reported, and the type is empty.
    fn type_name(
        &mut self,
        fields: &SectionFields<'_>,
        name: &Name,
        span: Span,
    ) -> (Spanned<blueprint::TypeId>, Name) {
        let none = |place: Span| (Spanned::new("".into(), place), Name::from(""));
        let Some(node) = fields.written("type") else {
            self.found.push(
                MISSING_FIELD
                    .new(format!("the resource `{name}` has no type"))
                    .label(span, "`type` is missing")
                    .help("add `type: package:module:Type`"),
            );
            return none(span);
        };
        let Some(token) = self.fixed_text(node, "`type`") else {
            return none(span);
        };
        let named = |name: Name| Spanned::new(name.into(), token.span);
        match TypeToken::read(token.item) {
            None => {
                let mistake = invalid_token(token, "type");
                self.found.push(mistake);
                none(token.span)
            }
            Some(TypeToken::Provider { package }) => {
                self.is_missing(package, token.span);
                (named(PROVIDER_TYPE.into()), package.into())
            }
            Some(TypeToken::Packaged { package, rest }) => {
                match self.is_missing(package, token.span) {
                    true => (Spanned::new("".into(), token.span), package.into()),
                    false => (named(qualified(package, rest)), package.into()),
                }
            }
        }
    }

    /// Reports keys that a resource does not have. Options beside `options` are returned, with a
    /// warning.
    pub(crate) fn misplaced_options<'t>(
        &mut self,
        fields: &SectionFields<'t>,
    ) -> Option<Vec<TextEntry<'t>>> {
        let mut misplaced = Vec::new();
        let mut unknown = Vec::new();
        for entry in &fields.others {
            let written = entry.key.item.as_ref();
            let mut known = shape::OPTIONS.keys.iter();
            if known.any(|key| key.name.eq_ignore_ascii_case(written)) {
                misplaced.push(entry.clone());
            } else {
                unknown.push(entry.clone());
            }
        }
        self.unknown_keys(&shape::RESOURCE, &unknown);
        for entry in &misplaced {
            let written = &entry.key.item;
            let misplaced = MISPLACED_OPTION
                .new(format!("`{written}` is an option"))
                .label(entry.key.span, "stands beside `options`");
            self.found.push(match fields.written("options") {
                None => misplaced.help(format!("move it: `options: {{{written}: ..}}`")),
                Some(options) => misplaced
                    .label(value_span(options), "options of the resource")
                    .help("move it under `options`: it has no effect here")
                    .with_severity(Severity::Error),
            });
        }
        (!misplaced.is_empty()).then_some(misplaced)
    }

    /// The options that stand beside the other keys of a resource.
    fn lifted_options(&mut self, misplaced: &[TextEntry<'_>]) -> ResourceOptions {
        let entries = misplaced.iter().map(|entry| syntax::MapEntry {
            key: entry.key_node.clone(),
            value: entry.value.clone(),
        });
        let span = misplaced.first().map_or(Span::NONE, |entry| entry.key.span);
        let node = Node::new(span, syntax::Content::Map(entries.collect()));
        self.options(&node)
    }

    /// Gives children what they inherit: the protection of their parent, whether it stays when it is
    /// deleted, and its provider if it serves their package. A resource without a provider then gets the default one.
    fn inherit(&self, resources: &mut IndexMap<Name, Resource>, families: &IndexMap<Name, Family>) {
        let names: Vec<Name> = resources.keys().cloned().collect();
        let mut settled: HashSet<Name> = HashSet::new();
        let mut passed = PassedProviders::default();
        for name in &names {
            // The resource with its ancestors that are not settled yet. A circle of parents is
            // reported by the check.
            let mut chain = Vec::new();
            let mut next = Some(name.clone());
            while let Some(one) = next.take().filter(|one| settled.insert(one.clone())) {
                let parent = families.get(&one).and_then(|family| family.parent.as_ref());
                next = parent.map(|parent| parent.item.clone());
                chain.push(one);
            }
            for one in chain.iter().rev() {
                self.inherit_one(one, resources, families, &passed);
                let own = passed_on(one, resources, families, &passed);
                passed.insert(one.clone(), own);
            }
        }
    }

    fn inherit_one(
        &self,
        name: &Name,
        resources: &mut IndexMap<Name, Resource>,
        families: &IndexMap<Name, Family>,
        passed: &PassedProviders,
    ) {
        let Some(family) = families.get(name) else {
            return;
        };
        let parent = family.parent.as_ref().map(|parent| &parent.item);
        let above = parent.and_then(|parent| {
            let provider = passed.get(parent).and_then(|all| all.get(&family.package));
            let provider = provider.cloned().map(Box::new);
            let parent = resources.get(parent)?;
            let protection = parent.protection.clone();
            let lifecycle = &parent.lifecycle;
            Some((lifecycle.protect, lifecycle.retain, protection, provider))
        });
        let (protect, retain, protection, provider) = above.unwrap_or_default();
        let Some(resource) = resources.get_mut(name) else {
            return;
        };
        if resource.type_name.item.name().as_ref() == PROVIDER_TYPE {
            return;
        }
        if !family.states_retention {
            resource.lifecycle.retain = retain;
        }
        if !family.states_protection {
            resource.lifecycle.protect = protect;
            resource.protection = protection;
        }
        if resource.provider.is_none() && !self.missing_packages.contains_key(&family.package) {
            let default = self.default_providers.get(&family.package);
            resource.provider = provider.or_else(|| default.cloned().map(Box::new));
        }
    }

    /// Finds the providers that serve a package by default.
    pub(crate) fn find_default_providers(&mut self, all: &[TextEntry<'_>]) {
        for entry in all {
            let part = |key: &str| part_of(entry.value, key);
            let Some(node) = part("defaultProvider").filter(|node| !is_null(node)) else {
                continue;
            };
            let token = part("type").and_then(Node::text).and_then(TypeToken::read);
            let Some(TypeToken::Provider { package }) = token else {
                self.found.push(
                    crate::codes::NOT_A_RESOURCE
                        .new("only a provider can be a default provider")
                        .label(value_span(node), "on a resource of another type")
                        .help("use it on a resource of type `pulumi:providers:PACKAGE`"),
                );
                continue;
            };
            if self.switch(node, "`defaultProvider`") == Some(true) {
                let name = Spanned::new(entry.key.item.clone(), entry.key.span);
                self.default_providers.insert(package.into(), name);
                let option = |key: &str| {
                    let node = part_of(part("options")?, key)?;
                    node.text().map(Name::from)
                };
                let plugin = [option("version"), option("pluginDownloadURL")];
                self.default_plugins.insert(package.into(), plugin);
            }
        }
    }

    /// Finds the providers that resources name, or inherit from their parents.
    pub(crate) fn find_written_providers(&mut self, all: &[TextEntry<'_>]) {
        let option = |entry: &TextEntry<'_>, key: &str| {
            let text = part_of(part_of(entry.value, "options")?, key)?.text()?;
            let name = text.strip_prefix("${")?.strip_suffix('}')?;
            Some(Name::from(name))
        };
        let parents: IndexMap<Name, Name> = all
            .iter()
            .filter_map(|entry| Some((entry.key.item.clone(), option(entry, "parent")?)))
            .collect();
        for entry in all {
            if let Some(provider) = option(entry, "provider") {
                self.written_providers
                    .insert(entry.key.item.clone(), provider);
            }
        }
        for entry in all {
            let mut next = Some(&entry.key.item);
            let mut passed: HashSet<&Name> = HashSet::new();
            while let Some(one) = next.filter(|one| passed.insert(one)) {
                if let Some(provider) = self.written_providers.get(one).cloned() {
                    let own = self.written_providers.entry(entry.key.item.clone());
                    own.or_insert(provider);
                    break;
                }
                next = parents.get(one);
            }
        }
    }

    /// The providers that the stack's configuration implies: one for each package that has settings
    /// and no default provider in the program. Later versions of the settings are compared with its
    /// record.
    pub(crate) fn implied_providers(&mut self, span: Span) -> IndexMap<Name, Resource> {
        let mut providers = IndexMap::default();
        let packages: Vec<Name> = self.packages.keys().cloned().collect();
        for package in packages {
            let is_unused = self.default_providers.contains_key(&package)
                || self.missing_packages.contains_key(&package);
            if is_unused {
                continue;
            }
            let mut settings: IndexMap<Name, Expr> = IndexMap::default();
            let own = self.package_settings.iter().filter_map(|(key, value)| {
                let rest = key.strip_prefix(package.as_ref())?.strip_prefix(':')?;
                Some((rest, value))
            });
            for (key, value) in own.chain(self.stack.of_namespace(&package)) {
                let value = Expr::literal(guessed(&value.item), span);
                settings.insert(key.into(), value);
            }
            if settings.is_empty() {
                continue;
            }
            let name = Name::from(format!("default:{package}"));
            let settings = settings
                .into_iter()
                .map(|(key, value)| (Spanned::new(key, span), value));
            let settings = Expr::new(ExprKind::Map(settings.collect()), span);
            let spec = self.provider_spec(&package, settings, span);
            let type_name = Spanned::new(PROVIDER_TYPE.into(), span);
            let mut provider = Resource::new(span, type_name, span, spec);
            provider.logical_name = Some("default".into());
            self.ask_for_plugin(&mut provider, &package, [None, None]);
            self.default_providers
                .insert(package, Spanned::new(name.clone(), span));
            providers.insert(name, provider);
        }
        providers
    }

    /// The kind of a resource's name.
    pub(crate) fn resource_kind(entry: &TextEntry<'_>) -> NamedKind {
        let part = |key: &str| part_of(entry.value, key);
        let token = part("type").and_then(Node::text).and_then(TypeToken::read);
        if part("get").is_some_and(|node| !is_null(node)) {
            return NamedKind::Read;
        }
        let written = part("type").and_then(Node::text);
        if written.is_some_and(is_stack_reference) {
            return NamedKind::Read;
        }
        match token {
            Some(TypeToken::Provider { .. }) => NamedKind::Provider,
            _ => NamedKind::Resource,
        }
    }
}

/// The providers that a resource gives its children: its own, those that it names for them, and
/// those of its parent.
fn passed_on(
    name: &Name,
    resources: &IndexMap<Name, Resource>,
    families: &IndexMap<Name, Family>,
    passed: &PassedProviders,
) -> IndexMap<Name, Spanned<Name>> {
    let Some(family) = families.get(name) else {
        return IndexMap::default();
    };
    let above = family.parent.as_ref();
    let above = above.and_then(|parent| passed.get(&parent.item));
    let mut all = above.cloned().unwrap_or_default();
    let own = resources.get(name).and_then(|one| one.provider.as_deref());
    if let Some(own) = own {
        all.insert(family.package.clone(), own.clone());
    }
    for provider in &family.providers {
        if let Some(of) = families.get(&provider.item) {
            all.insert(of.package.clone(), provider.clone());
        }
    }
    all
}

/// The value of a key in any case.
fn part_of<'n>(node: &'n Node, key: &str) -> Option<&'n Node> {
    let named = |written: &str| written.eq_ignore_ascii_case(key);
    let mut entries = node.as_map()?.iter();
    let found = entries.find(|entry| entry.key.text().is_some_and(named));
    found.map(|entry| &entry.value)
}
