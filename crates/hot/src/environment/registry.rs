//! The registry: resolves the type of a resource to another type or a template.
//!
//! Matching entries are tried in this order: the user's entries before built-in ones, entries for
//! one resource before those for all, then by the order of their text. `*` sorts before letters, so
//! `C::*` precedes `C::D`. The target of an alias is resolved through the registry again. An entry
//! that leads to no type is skipped.

use std::cell::Cell;
use std::sync::Arc;

use blueprint::{IndexMap, Map, Name, Value};

use super::codes::REGISTRY_SHADOWED;
use crate::refusal::ValueRefusal;
use dialect::codes::{VALUE_NOT_ALLOWED, WRONG_SHAPE};

/// The built-in aliases.
const BUILT_IN: [(&str, &str); 7] = [
    ("OS::Quantum*", "OS::Neutron*"),
    ("OS::Metering::Alarm", "OS::Aodh::Alarm"),
    ("OS::Ceilometer::Alarm", "OS::Aodh::Alarm"),
    (
        "OS::Ceilometer::CombinationAlarm",
        "OS::Aodh::CombinationAlarm",
    ),
    (
        "OS::Ceilometer::GnocchiResourcesAlarm",
        "OS::Aodh::GnocchiResourcesAlarm",
    ),
    (
        "OS::Ceilometer::GnocchiAggregationByMetricsAlarm",
        "OS::Aodh::GnocchiAggregationByMetricsAlarm",
    ),
    (
        "OS::Ceilometer::GnocchiAggregationByResourcesAlarm",
        "OS::Aodh::GnocchiAggregationByResourcesAlarm",
    ),
];

/// Types that were removed from Heat. Templates may still use them; they do nothing.
const FORMER: [&str; 32] = [
    "OS::Aodh::CombinationAlarm",
    "OS::Designate::Domain",
    "OS::Designate::Record",
    "OS::Glance::Image",
    "OS::Heat::HARestarter",
    "OS::Magnum::Bay",
    "OS::Monasca::AlarmDefinition",
    "OS::Monasca::Notification",
    "OS::Neutron::HealthMonitor",
    "OS::Neutron::LBaaS::HealthMonitor",
    "OS::Neutron::LBaaS::L7Policy",
    "OS::Neutron::LBaaS::L7Rule",
    "OS::Neutron::LBaaS::Listener",
    "OS::Neutron::LBaaS::LoadBalancer",
    "OS::Neutron::LBaaS::Pool",
    "OS::Neutron::LBaaS::PoolMember",
    "OS::Neutron::LoadBalancer",
    "OS::Neutron::Pool",
    "OS::Neutron::PoolMember",
    "OS::Sahara::Cluster",
    "OS::Sahara::ClusterTemplate",
    "OS::Sahara::DataSource",
    "OS::Sahara::ImageRegistry",
    "OS::Sahara::Job",
    "OS::Sahara::JobBinary",
    "OS::Sahara::NodeGroupTemplate",
    "OS::Senlin::Cluster",
    "OS::Senlin::Node",
    "OS::Senlin::Policy",
    "OS::Senlin::Profile",
    "OS::Senlin::Receiver",
    "OS::Vitrage::Template",
];

/// The type that replaces the removed types.
const NONE: &str = "OS::Heat::None";

/// The hooks of a resource.
const HOOKS: [&str; 6] = [
    "pre-create",
    "pre-update",
    "pre-delete",
    "post-create",
    "post-update",
    "post-delete",
];

/// The actions that the registry can forbid.
const ACTIONS: [&str; 2] = ["update", "replace"];

/// The maximum length of a chain of aliases.
const LONGEST_CHAIN: usize = 64;

/// The maximum number of aliases that are followed for one type.
const MOST_ALIASES: usize = 1000;

/// The result of resolving a type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResolvedType {
    /// A known type.
    Type(Name),
    /// A template, by its path or address.
    Template(Name),
}

/// A resolved type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeResolution {
    /// The type or template.
    pub target: ResolvedType,
    /// The first followed entry, as its keys from the outermost; `None` for a type that resolves to
    /// itself, or for the path of a template.
    pub entry: Option<Vec<Name>>,
}

/// An entry: its keys from the outermost, and its value.
#[derive(Clone, Debug, PartialEq, Eq)]
struct RegistryEntry {
    path: Vec<Name>,
    value: Name,
}

/// The entries under `resources` for the resources with one name.
#[derive(Clone, Debug, Default)]
struct RegistryRules {
    types: IndexMap<Name, RegistryEntry>,
    hooks: Vec<Name>,
    restricted: Vec<Name>,
    inner: IndexMap<Name, Arc<RegistryRules>>,
}

/// Resolves types, and has the hooks and restricted actions of resources.
#[derive(Clone, Debug, Default)]
pub struct Registry {
    types: IndexMap<Name, RegistryEntry>,
    resources: IndexMap<Name, Arc<RegistryRules>>,
}

/// Whether a text names a template.
fn is_template(text: &str) -> bool {
    text.ends_with(".yaml") || text.ends_with(".template")
}

impl Registry {
    /// Reads the section `resource_registry`. Errors and warnings go to `found`.
    pub fn new(section: &Map, found: &mut Vec<ValueRefusal>) -> Registry {
        let mut registry = Registry::default();
        for (key, value) in section.iter() {
            let result = match (key.as_ref(), value.unmarked()) {
                ("resources", Value::Map(resources)) => {
                    registry.resources = inner(resources, &mut vec![key.clone()], found);
                    Ok(())
                }
                ("resources", Value::Null) => {
                    registry.resources.clear();
                    Ok(())
                }
                ("hooks" | "restricted_actions", _) => words(key, value).map(|_| ()),
                _ => register(&mut registry.types, key, value, &[]),
            };
            found.extend(result.err().map(|refusal| refusal.within(key.as_ref())));
        }
        registry.warn_about_shadowed_entries(found);
        registry
    }

    /// Warns about entries for all resources that a wildcard always precedes
    /// (decisions/heat#registry-entries-that-never-win).
    fn warn_about_shadowed_entries(&self, found: &mut Vec<ValueRefusal>) {
        for (key, _) in &self.types {
            let stem = key.strip_suffix('*').unwrap_or(key);
            let wildcard = stem.char_indices().find_map(|(at, next)| {
                let wildcard = format!("{}*", &stem[..at]);
                let entry = self.types.get(wildcard.as_str()).filter(|_| next > '*');
                let wins =
                    entry.is_some_and(|entry| *entry.value != **key && !is_template(&entry.value));
                wins.then_some(wildcard)
            });
            if let Some(wildcard) = wildcard {
                let message =
                    format!("`{key}` is never used, because `{wildcard}` takes precedence");
                let refusal = ValueRefusal::new(&REGISTRY_SHADOWED, message);
                let help = format!(
                    "write entries for the types that `{wildcard}` means, or put this one under `resources`"
                );
                found.push(refusal.help(help).within(key.as_ref()));
            }
        }
    }

    /// Resolves the type of a resource with this name; `exists` returns whether a type is known.
    /// `None` if the type does not resolve.
    pub fn resolve(
        &self,
        ty: &str,
        resource: Option<&str>,
        exists: &dyn Fn(&str) -> bool,
    ) -> Option<TypeResolution> {
        Resolving {
            registry: self,
            resource,
            exists,
            followed: Cell::new(0),
        }
        .resolve(ty, 0)
    }

    /// Resolves the types of resources, in the order of the template. An alias to a known type is
    /// recorded for its type, even if the entry is for one resource only. As in Heat, it then
    /// applies to later resources.
    pub fn resolve_all<'r>(
        &mut self,
        resources: impl IntoIterator<Item = (&'r str, &'r str)>,
        exists: &dyn Fn(&str) -> bool,
    ) -> Vec<Option<TypeResolution>> {
        let mut all = Vec::new();
        for (name, ty) in resources {
            let resolved = self.resolve(ty, Some(name), exists);
            if let Some(TypeResolution {
                target: ResolvedType::Type(_),
                entry: Some(path),
            }) = &resolved
                && let Some(entry) = self.entry(path)
            {
                self.types.insert(ty.into(), entry);
            }
            all.push(resolved);
        }
        all
    }

    /// The user's entry at a path.
    fn entry(&self, path: &[Name]) -> Option<RegistryEntry> {
        let found = match path {
            [key] => self.types.get(key),
            [.., resource, key] => self.resources.get(resource)?.types.get(key),
            [] => None,
        };
        found.cloned()
    }

    /// The registry of a nested template. `resource` is the name of its resource. `entry` is the
    /// entry that maps the type to the template; inside the template, the type is the built-in one.
    pub fn for_child(&self, resource: &str, entry: Option<&[Name]>) -> Registry {
        let entries = self.types.iter().map(|(key, entry)| {
            let own = RegistryEntry {
                path: vec![key.clone()],
                value: entry.value.clone(),
            };
            (key.clone(), own)
        });
        let mut child = Registry {
            types: entries.collect(),
            resources: IndexMap::default(),
        };
        if let Some([key]) = entry {
            child.types.shift_remove(key);
        }
        let fitting = self
            .resources
            .iter()
            .filter(|(pattern, _)| fits(resource, pattern));
        for rules in fitting
            .map(|(_, rules)| rules)
            .chain(self.resources.get(resource))
        {
            for (name, inner) in &rules.inner {
                child.resources.insert(name.clone(), inner.clone());
            }
        }
        child
    }

    /// The hooks of a resource, in their written order.
    pub fn hooks(&self, resource: &str) -> Vec<Name> {
        self.collected(resource, |rules| &rules.hooks)
    }

    /// The forbidden actions of a resource.
    pub fn restricted_actions(&self, resource: &str) -> Vec<Name> {
        self.collected(resource, |rules| &rules.restricted)
    }

    fn collected(&self, resource: &str, of: fn(&RegistryRules) -> &Vec<Name>) -> Vec<Name> {
        let mut all: Vec<Name> = Vec::new();
        for (_, rules) in self
            .resources
            .iter()
            .filter(|(pattern, _)| fits(resource, pattern))
        {
            for word in of(rules) {
                if !all.contains(word) {
                    all.push(word.clone());
                }
            }
        }
        all
    }
}

/// Inserts an entry into its level, or removes entries from it.
fn register(
    level: &mut IndexMap<Name, RegistryEntry>,
    key: &Name,
    value: &Value,
    above: &[Name],
) -> Result<(), ValueRefusal> {
    match value.unmarked() {
        Value::Null => {
            match key.strip_suffix('*') {
                Some(prefix) => level.retain(|name, _| !name.starts_with(prefix)),
                None => {
                    level.shift_remove(key);
                }
            }
            Ok(())
        }
        Value::Text(value) => {
            let path = above.iter().chain(std::iter::once(key)).cloned().collect();
            level.insert(
                key.clone(),
                RegistryEntry {
                    path,
                    value: value.clone(),
                },
            );
            Ok(())
        }
        _ => Err(ValueRefusal::new(
            &WRONG_SHAPE,
            format!("`{key}` must lead to a type or a template"),
        )
        .help("write the name of a type, the path of a template, or null to take entries out")),
    }
}

/// The entries below `resources`, or below a resource of a nested template.
fn inner(
    level: &Map,
    above: &mut Vec<Name>,
    found: &mut Vec<ValueRefusal>,
) -> IndexMap<Name, Arc<RegistryRules>> {
    let mut all = IndexMap::default();
    for (name, value) in level.iter() {
        match value.unmarked() {
            Value::Map(entries) => {
                let mut own = Vec::new();
                above.push(name.clone());
                all.insert(name.clone(), Arc::new(rules(entries, above, &mut own)));
                above.pop();
                found.extend(
                    own.into_iter()
                        .map(|refusal| refusal.within(name.as_ref()).within("resources")),
                );
            }
            Value::Null => match name.strip_suffix('*') {
                Some(_) => {}
                None => {
                    all.shift_remove(name);
                }
            },
            _ => {
                let refusal = ValueRefusal::new(
                    &WRONG_SHAPE,
                    format!("the entries of `{name}` must be a map"),
                );
                found.push(refusal.within(name.as_ref()).within("resources"));
            }
        }
    }
    all
}

/// The section for the resources with one name. The paths of refusals begin below the section.
fn rules(entries: &Map, above: &mut Vec<Name>, found: &mut Vec<ValueRefusal>) -> RegistryRules {
    let mut rules = RegistryRules::default();
    for (key, value) in entries.iter() {
        let result = match (key.as_ref(), value.unmarked()) {
            ("hooks", Value::Null) => {
                rules.hooks.clear();
                Ok(())
            }
            ("restricted_actions", Value::Null) => {
                rules.restricted.clear();
                Ok(())
            }
            ("hooks", _) => words(key, value).map(|words| rules.hooks = words),
            ("restricted_actions", _) => words(key, value).map(|words| rules.restricted = words),
            (_, Value::Map(inner)) => {
                let mut own = Vec::new();
                above.push(key.clone());
                rules
                    .inner
                    .insert(key.clone(), Arc::new(self::rules(inner, above, &mut own)));
                above.pop();
                found.extend(own.into_iter().map(|refusal| refusal.within(key.as_ref())));
                Ok(())
            }
            _ => register(&mut rules.types, key, value, above),
        };
        found.extend(result.err().map(|refusal| refusal.within(key.as_ref())));
    }
    rules
}

/// The words of `hooks` or `restricted_actions`: one word or a list.
fn words(key: &Name, value: &Value) -> Result<Vec<Name>, ValueRefusal> {
    let (known, class) = match key.as_ref() {
        "hooks" => (&HOOKS[..], "InvalidBreakPointHook"),
        _ => (&ACTIONS[..], "InvalidRestrictedAction"),
    };
    let items = match value.unmarked() {
        Value::List(items) => items.as_slice(),
        _ => std::slice::from_ref(value),
    };
    let texts: Vec<Name> = items
        .iter()
        .filter_map(Value::as_text)
        .map(Name::from)
        .collect();
    let wrong = items
        .iter()
        .find(|item| !item.as_text().is_some_and(|text| known.contains(&text)));
    let Some(wrong) = wrong else { return Ok(texts) };
    let shown = pycompat::text(value);
    let types = known
        .iter()
        .map(|word| format!("'{word}'"))
        .collect::<Vec<_>>()
        .join(", ");
    let words = match key.as_ref() {
        "hooks" => {
            format!(
                "Invalid hook type \"{shown}\" for resource breakpoint, acceptable hook types are: ({types})"
            )
        }
        _ => format!(
            "Invalid restricted_action type \"{shown}\" for resource, acceptable restricted_action types are: ({types})"
        ),
    };
    let wrong = pycompat::text(wrong);
    let help = match diag::nearest(&wrong, known.iter().copied()) {
        Some(nearest) => format!("did you mean `{nearest}`?"),
        None => format!(
            "use {}",
            known
                .iter()
                .map(|word| format!("`{word}`"))
                .collect::<Vec<_>>()
                .join(", ")
        ),
    };
    let what = if key.as_ref() == "hooks" {
        "hook"
    } else {
        "restricted action"
    };
    Err(
        ValueRefusal::new(&VALUE_NOT_ALLOWED, format!("there is no {what} `{wrong}`"))
            .heat(words)
            .class(class)
            .help(help),
    )
}

/// A piece of a pattern for names.
enum PatternPiece {
    Any,
    One,
    /// One of these characters, or with `true` any other character.
    OneOf(Vec<(char, char)>, bool),
    Same(char),
}

impl PatternPiece {
    fn takes(&self, character: char) -> bool {
        match self {
            PatternPiece::Any => false,
            PatternPiece::One => true,
            PatternPiece::OneOf(ranges, not) => {
                ranges
                    .iter()
                    .any(|(low, high)| (*low..=*high).contains(&character))
                    != *not
            }
            PatternPiece::Same(wanted) => *wanted == character,
        }
    }
}

/// The pieces of a pattern: `*` matches any text, `?` one character, `[..]` one of several
/// characters, `[!..]` any other character.
fn pieces(pattern: &str) -> Vec<PatternPiece> {
    let characters: Vec<char> = pattern.chars().collect();
    let mut pieces = Vec::with_capacity(characters.len());
    let mut at = 0;
    while let Some(next) = characters.get(at) {
        at += 1;
        pieces.push(match next {
            '*' => PatternPiece::Any,
            '?' => PatternPiece::One,
            '[' => {
                let not = characters.get(at) == Some(&'!');
                let first = at + usize::from(not);
                // The first character of a class may be its closing bracket.
                let end = characters
                    .iter()
                    .skip(first + 1)
                    .position(|next| *next == ']')
                    .map(|end| first + 1 + end);
                match end {
                    Some(end) => {
                        at = end + 1;
                        PatternPiece::OneOf(ranges(&characters[first..end]), not)
                    }
                    None => PatternPiece::Same('['),
                }
            }
            other => PatternPiece::Same(*other),
        });
    }
    pieces
}

fn ranges(class: &[char]) -> Vec<(char, char)> {
    let mut ranges = Vec::with_capacity(class.len());
    let mut at = 0;
    while let Some(low) = class.get(at) {
        match (class.get(at + 1), class.get(at + 2)) {
            (Some('-'), Some(high)) => {
                ranges.push((*low, *high));
                at += 3;
            }
            _ => {
                ranges.push((*low, *low));
                at += 1;
            }
        }
    }
    ranges
}

/// Whether a name matches a pattern.
fn fits(name: &str, pattern: &str) -> bool {
    if !pattern.contains(['*', '?', '[']) {
        return name == pattern;
    }
    let (pieces, name): (Vec<PatternPiece>, Vec<char>) = (pieces(pattern), name.chars().collect());
    let (mut at, mut piece) = (0, 0);
    // The position of the last `*`, and the end of the part of the name that it matches so far.
    let mut star: Option<(usize, usize)> = None;
    while at < name.len() {
        match pieces.get(piece) {
            Some(PatternPiece::Any) => {
                star = Some((piece, at));
                piece += 1;
            }
            Some(other) if other.takes(name[at]) => {
                at += 1;
                piece += 1;
            }
            _ => match &mut star {
                Some((starred, reached)) => {
                    *reached += 1;
                    at = *reached;
                    piece = *starred + 1;
                }
                None => return false,
            },
        }
    }
    pieces[piece..]
        .iter()
        .all(|piece| matches!(piece, PatternPiece::Any))
}

struct Resolving<'a> {
    registry: &'a Registry,
    resource: Option<&'a str>,
    exists: &'a dyn Fn(&str) -> bool,
    /// The number of aliases followed so far.
    followed: Cell<usize>,
}

impl Resolving<'_> {
    fn resolve(&self, ty: &str, depth: usize) -> Option<TypeResolution> {
        self.followed.set(self.followed.get() + 1);
        if depth > LONGEST_CHAIN || self.followed.get() > MOST_ALIASES {
            return None;
        }
        // A template without an entry of its own is treated as an entry that maps to itself.
        let itself = RegistryEntry {
            path: vec![ty.into()],
            value: ty.into(),
        };
        let mut fitting: Vec<&RegistryEntry> = self.own_entry(ty).into_iter().collect();
        fitting.extend(
            self.registry
                .types
                .get(ty)
                .or(is_template(ty).then_some(&itself)),
        );
        let wildcards = wildcards(ty).filter_map(|key| self.registry.types.get(key.as_str()));
        // An entry with a template as target matches only the exact text of its key.
        fitting.extend(wildcards.filter(|entry| *entry.value != *ty && !is_template(&entry.value)));
        fitting.sort_by(|one, other| {
            other
                .path
                .len()
                .cmp(&one.path.len())
                .then_with(|| one.path.cmp(&other.path))
        });
        for entry in fitting {
            let key = entry.path.last().map(AsRef::as_ref).unwrap_or_default();
            let target = if is_template(key) {
                Some(ResolvedType::Template(key.into()))
            } else if is_template(&entry.value) {
                Some(ResolvedType::Template(entry.value.clone()))
            } else {
                let next = entry_target(key, &entry.value, ty);
                self.resolve(&next, depth + 1)
                    .map(|resolved| resolved.target)
            };
            if let Some(target) = target {
                let entry = (*entry != itself).then(|| entry.path.clone());
                return Some(TypeResolution { target, entry });
            }
        }
        self.built_in(ty)
    }

    /// The entry for this resource only.
    fn own_entry(&self, ty: &str) -> Option<&RegistryEntry> {
        self.registry.resources.get(self.resource?)?.types.get(ty)
    }

    /// The target of a built-in alias, or the type itself if it is known.
    fn built_in(&self, ty: &str) -> Option<TypeResolution> {
        let aliases = BUILT_IN
            .iter()
            .filter(|(key, value)| match key.strip_suffix('*') {
                Some(prefix) => ty.starts_with(prefix) && ty != *value,
                None => ty == *key,
            });
        let led = aliases
            .map(|(key, value)| entry_target(key, value, ty))
            .find(|next| (self.exists)(next));
        let known = led.or_else(|| (self.exists)(ty).then(|| ty.to_owned()));
        let former = |ty: &String| FORMER.contains(&ty.as_str()) && (self.exists)(NONE);
        let known = known.map(|ty| if former(&ty) { NONE.to_owned() } else { ty });
        known.map(|known| TypeResolution {
            target: ResolvedType::Type(known.into()),
            entry: None,
        })
    }
}

/// All wildcards that a type can match.
fn wildcards(ty: &str) -> impl Iterator<Item = String> {
    let ends = ty
        .char_indices()
        .map(|(at, _)| at)
        .chain(std::iter::once(ty.len()));
    ends.map(|at| format!("{}*", &ty[..at]))
}

/// The target of an entry. If both contain `*`, the target gets the text that the key's `*`
/// matched.
fn entry_target(key: &str, value: &str, ty: &str) -> String {
    match (key.strip_suffix('*'), value.strip_suffix('*')) {
        (Some(prefix), Some(stem)) => {
            format!("{stem}{}", ty.get(prefix.len()..).unwrap_or_default())
        }
        _ => value.to_owned(),
    }
}
