//! The registry: resolves the type of a resource to another type or a template.
//!
//! Of all entries that fit, the user's go before built-in ones, those for one resource before those for all, and then
//! the order of their text decides: `*` stands before letters, so `C::*` goes before `C::D`. An alias is followed
//! through the registry again; an entry that leads nowhere is passed over.

use std::cell::Cell;
use std::sync::Arc;

use ::blueprint::{IndexMap, Map, Name, Value};

use super::codes::REGISTRY_SHADOWED;
use crate::codes::{VALUE_NOT_ALLOWED, WRONG_SHAPE};
use crate::hot::refusal::ValueRefusal;

/// The built-in aliases.
const BUILT_IN: [(&str, &str); 7] = [
    ("OS::Quantum*", "OS::Neutron*"),
    ("OS::Metering::Alarm", "OS::Aodh::Alarm"),
    ("OS::Ceilometer::Alarm", "OS::Aodh::Alarm"),
    ("OS::Ceilometer::CombinationAlarm", "OS::Aodh::CombinationAlarm"),
    ("OS::Ceilometer::GnocchiResourcesAlarm", "OS::Aodh::GnocchiResourcesAlarm"),
    ("OS::Ceilometer::GnocchiAggregationByMetricsAlarm", "OS::Aodh::GnocchiAggregationByMetricsAlarm"),
    ("OS::Ceilometer::GnocchiAggregationByResourcesAlarm", "OS::Aodh::GnocchiAggregationByResourcesAlarm"),
];

/// Types that were taken out of Heat. Templates may still name them; they do nothing.
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

/// The type that replaces them.
const NONE: &str = "OS::Heat::None";

/// The moments at which a resource can be stopped.
const HOOKS: [&str; 6] = ["pre-create", "pre-update", "pre-delete", "post-create", "post-update", "post-delete"];

/// The actions that can be forbidden.
const ACTIONS: [&str; 2] = ["update", "replace"];

/// How many aliases are followed one after the other.
const LONGEST_CHAIN: usize = 64;

/// How many aliases are followed for one type in all.
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
    /// The first entry that was followed, from the outermost key; `None` for a type that resolves to itself, or the
    /// path of a template.
    pub entry: Option<Vec<Name>>,
}

/// An entry: its keys from the outermost, and its value.
#[derive(Clone, Debug, PartialEq, Eq)]
struct RegistryEntry {
    path: Vec<Name>,
    value: Name,
}

/// Keys under `resources`, for the resources of a name.
#[derive(Clone, Debug, Default)]
struct RegistryRules {
    types: IndexMap<Name, RegistryEntry>,
    hooks: Vec<Name>,
    restricted: Vec<Name>,
    inner: IndexMap<Name, Arc<RegistryRules>>,
}

/// Resolves types, and knows the hooks and restricted actions of resources.
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
    /// Reads the section `resource_registry`. All that is wrong goes to `found`, warnings too.
    pub fn new(section: &Map, found: &mut Vec<ValueRefusal>) -> Registry {
        let mut registry = Registry::default();
        for (key, value) in section.iter() {
            let result = match (key.as_ref(), value.bare()) {
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
        registry.shadowed(found);
        registry
    }

    /// Warns about entries for all resources that a wildcard always precedes (decision D19).
    fn shadowed(&self, found: &mut Vec<ValueRefusal>) {
        for (key, _) in &self.types {
            let stem = key.strip_suffix('*').unwrap_or(key);
            let wildcard = stem.char_indices().find_map(|(at, next)| {
                let wildcard = format!("{}*", &stem[..at]);
                let entry = self.types.get(wildcard.as_str()).filter(|_| next > '*');
                let wins = entry.is_some_and(|entry| *entry.value != **key && !is_template(&entry.value));
                wins.then_some(wildcard)
            });
            if let Some(wildcard) = wildcard {
                let message = format!("`{key}` never counts, because `{wildcard}` stands before it");
                let refusal = ValueRefusal::new(&REGISTRY_SHADOWED, message);
                let help =
                    format!("write entries for the types that `{wildcard}` means, or put this one under `resources`");
                found.push(refusal.help(help).within(key.as_ref()));
            }
        }
    }

    /// Resolves a type for a resource with that name; `exists` returns whether a type is known. `None` if it does not
    /// resolve.
    pub fn resolve(&self, ty: &str, resource: Option<&str>, exists: &dyn Fn(&str) -> bool) -> Option<TypeResolution> {
        Resolving { registry: self, resource, exists, followed: Cell::new(0) }.resolve(ty, 0)
    }

    /// What the types of resources mean, in the order of the template. An alias that leads to a known type is
    /// remembered for its type, also where it was meant for one resource only: as in Heat, it counts for resources that
    /// come later.
    pub fn resolve_all<'r>(
        &mut self,
        resources: impl IntoIterator<Item = (&'r str, &'r str)>,
        exists: &dyn Fn(&str) -> bool,
    ) -> Vec<Option<TypeResolution>> {
        let mut all = Vec::new();
        for (name, ty) in resources {
            let resolved = self.resolve(ty, Some(name), exists);
            if let Some(TypeResolution { target: ResolvedType::Type(_), entry: Some(path) }) = &resolved
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

    /// The registry of a nested template that the resource of that name is; `entry` is the one that made it one, whose
    /// type is the built-in one inside.
    pub fn for_child(&self, resource: &str, entry: Option<&[Name]>) -> Registry {
        let entries = self.types.iter().map(|(key, entry)| {
            let own = RegistryEntry { path: vec![key.clone()], value: entry.value.clone() };
            (key.clone(), own)
        });
        let mut child = Registry { types: entries.collect(), resources: IndexMap::default() };
        if let Some([key]) = entry {
            child.types.shift_remove(key);
        }
        let fitting = self.resources.iter().filter(|(pattern, _)| fits(resource, pattern));
        for rules in fitting.map(|(_, rules)| rules).chain(self.resources.get(resource)) {
            for (name, inner) in &rules.inner {
                child.resources.insert(name.clone(), inner.clone());
            }
        }
        child
    }

    /// The hooks of a resource, in the order in which they are written.
    pub fn hooks(&self, resource: &str) -> Vec<Name> {
        self.collected(resource, |rules| &rules.hooks)
    }

    /// The actions that are forbidden for a resource.
    pub fn restricted_actions(&self, resource: &str) -> Vec<Name> {
        self.collected(resource, |rules| &rules.restricted)
    }

    fn collected(&self, resource: &str, of: fn(&RegistryRules) -> &Vec<Name>) -> Vec<Name> {
        let mut all: Vec<Name> = Vec::new();
        for (_, rules) in self.resources.iter().filter(|(pattern, _)| fits(resource, pattern)) {
            for word in of(rules) {
                if !all.contains(word) {
                    all.push(word.clone());
                }
            }
        }
        all
    }
}

/// Puts an entry into its level, or takes entries out of it.
fn register(
    level: &mut IndexMap<Name, RegistryEntry>,
    key: &Name,
    value: &Value,
    above: &[Name],
) -> Result<(), ValueRefusal> {
    match value.bare() {
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
            level.insert(key.clone(), RegistryEntry { path, value: value.clone() });
            Ok(())
        }
        _ => Err(ValueRefusal::new(&WRONG_SHAPE, format!("`{key}` must lead to a type or a template"))
            .help("write the name of a type, the path of a template, or null to take entries out")),
    }
}

/// The entries below `resources`, or below a resource of a nested template.
fn inner(level: &Map, above: &mut Vec<Name>, found: &mut Vec<ValueRefusal>) -> IndexMap<Name, Arc<RegistryRules>> {
    let mut all = IndexMap::default();
    for (name, value) in level.iter() {
        match value.bare() {
            Value::Map(entries) => {
                let mut own = Vec::new();
                above.push(name.clone());
                all.insert(name.clone(), Arc::new(rules(entries, above, &mut own)));
                above.pop();
                found.extend(own.into_iter().map(|refusal| refusal.within(name.as_ref()).within("resources")));
            }
            Value::Null => match name.strip_suffix('*') {
                Some(_) => {}
                None => {
                    all.shift_remove(name);
                }
            },
            _ => {
                let refusal = ValueRefusal::new(&WRONG_SHAPE, format!("what counts for `{name}` is a map"));
                found.push(refusal.within(name.as_ref()).within("resources"));
            }
        }
    }
    all
}

/// The section for the resources of a name. Paths of refusals begin below it.
fn rules(entries: &Map, above: &mut Vec<Name>, found: &mut Vec<ValueRefusal>) -> RegistryRules {
    let mut rules = RegistryRules::default();
    for (key, value) in entries.iter() {
        let result = match (key.as_ref(), value.bare()) {
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
                rules.inner.insert(key.clone(), Arc::new(self::rules(inner, above, &mut own)));
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

/// The words of `hooks` or `restricted_actions`: one, or a list.
fn words(key: &Name, value: &Value) -> Result<Vec<Name>, ValueRefusal> {
    let (known, class) = match key.as_ref() {
        "hooks" => (&HOOKS[..], "InvalidBreakPointHook"),
        _ => (&ACTIONS[..], "InvalidRestrictedAction"),
    };
    let items = match value.bare() {
        Value::List(items) => items.as_slice(),
        _ => std::slice::from_ref(value),
    };
    let texts: Vec<Name> = items.iter().filter_map(Value::as_text).map(Name::from).collect();
    let wrong = items.iter().find(|item| !item.as_text().is_some_and(|text| known.contains(&text)));
    let Some(wrong) = wrong else { return Ok(texts) };
    let shown = pycompat::text(value);
    let types = known.iter().map(|word| format!("'{word}'")).collect::<Vec<_>>().join(", ");
    let words = match key.as_ref() {
        "hooks" => {
            format!("Invalid hook type \"{shown}\" for resource breakpoint, acceptable hook types are: ({types})")
        }
        _ => format!(
            "Invalid restricted_action type \"{shown}\" for resource, acceptable restricted_action types are: ({types})"
        ),
    };
    let wrong = pycompat::text(wrong);
    let help = match diag::nearest(&wrong, known.iter().copied()) {
        Some(nearest) => format!("did you mean `{nearest}`?"),
        None => format!("use {}", known.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")),
    };
    let what = if key.as_ref() == "hooks" { "hook" } else { "restricted action" };
    Err(ValueRefusal::new(&VALUE_NOT_ALLOWED, format!("there is no {what} `{wrong}`"))
        .heat(words)
        .class(class)
        .help(help))
}

/// A piece of a pattern for names.
enum PatternPiece {
    Any,
    One,
    /// One of these, or none of these.
    OneOf(Vec<(char, char)>, bool),
    Same(char),
}

impl PatternPiece {
    fn takes(&self, character: char) -> bool {
        match self {
            PatternPiece::Any => false,
            PatternPiece::One => true,
            PatternPiece::OneOf(ranges, not) => {
                ranges.iter().any(|(low, high)| (*low..=*high).contains(&character)) != *not
            }
            PatternPiece::Same(wanted) => *wanted == character,
        }
    }
}

/// The pieces of a pattern: `*` stands for anything, `?` for one character, `[..]` for one of several, `[!..]` for
/// another one.
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
                let end = characters.iter().skip(first + 1).position(|next| *next == ']').map(|end| first + 1 + end);
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

/// Whether a name fits a pattern.
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
    pieces[piece..].iter().all(|piece| matches!(piece, PatternPiece::Any))
}

struct Resolving<'a> {
    registry: &'a Registry,
    resource: Option<&'a str>,
    exists: &'a dyn Fn(&str) -> bool,
    /// How many aliases were followed so far.
    followed: Cell<usize>,
}

impl Resolving<'_> {
    fn resolve(&self, ty: &str, depth: usize) -> Option<TypeResolution> {
        self.followed.set(self.followed.get() + 1);
        if depth > LONGEST_CHAIN || self.followed.get() > MOST_ALIASES {
            return None;
        }
        // A template without an entry of its own is treated as an entry that maps to itself.
        let itself = RegistryEntry { path: vec![ty.into()], value: ty.into() };
        let mut fitting: Vec<&RegistryEntry> = self.own_entry(ty).into_iter().collect();
        fitting.extend(self.registry.types.get(ty).or(is_template(ty).then_some(&itself)));
        let wildcards = wildcards(ty).filter_map(|key| self.registry.types.get(key.as_str()));
        // An entry that leads to a template means the very text of its key.
        fitting.extend(wildcards.filter(|entry| *entry.value != *ty && !is_template(&entry.value)));
        fitting.sort_by(|one, other| other.path.len().cmp(&one.path.len()).then_with(|| one.path.cmp(&other.path)));
        for entry in fitting {
            let key = entry.path.last().map(AsRef::as_ref).unwrap_or_default();
            let target = if is_template(key) {
                Some(ResolvedType::Template(key.into()))
            } else if is_template(&entry.value) {
                Some(ResolvedType::Template(entry.value.clone()))
            } else {
                let next = led_to(key, &entry.value, ty);
                self.resolve(&next, depth + 1).map(|resolved| resolved.target)
            };
            if let Some(target) = target {
                let entry = (*entry != itself).then(|| entry.path.clone());
                return Some(TypeResolution { target, entry });
            }
        }
        self.built_in(ty)
    }

    /// The entry for this very resource.
    fn own_entry(&self, ty: &str) -> Option<&RegistryEntry> {
        self.registry.resources.get(self.resource?)?.types.get(ty)
    }

    /// The target of a built-in alias, or the type itself if it is known.
    fn built_in(&self, ty: &str) -> Option<TypeResolution> {
        let aliases = BUILT_IN.iter().filter(|(key, value)| match key.strip_suffix('*') {
            Some(prefix) => ty.starts_with(prefix) && ty != *value,
            None => ty == *key,
        });
        let led = aliases.map(|(key, value)| led_to(key, value, ty)).find(|next| (self.exists)(next));
        let known = led.or_else(|| (self.exists)(ty).then(|| ty.to_owned()));
        let former = |ty: &String| FORMER.contains(&ty.as_str()) && (self.exists)(NONE);
        let known = known.map(|ty| if former(&ty) { NONE.to_owned() } else { ty });
        known.map(|known| TypeResolution { target: ResolvedType::Type(known.into()), entry: None })
    }
}

/// All wildcards that a type can fit.
fn wildcards(ty: &str) -> impl Iterator<Item = String> {
    let ends = ty.char_indices().map(|(at, _)| at).chain(std::iter::once(ty.len()));
    ends.map(|at| format!("{}*", &ty[..at]))
}

/// The target of an entry. If both contain `*`, the target gets the text that the key's `*` matched.
fn led_to(key: &str, value: &str, ty: &str) -> String {
    match (key.strip_suffix('*'), value.strip_suffix('*')) {
        (Some(prefix), Some(stem)) => format!("{stem}{}", ty.get(prefix.len()..).unwrap_or_default()),
        _ => value.to_owned(),
    }
}
