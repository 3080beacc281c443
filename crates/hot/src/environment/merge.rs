//! Merges environment files: a later value replaces an earlier one, or is combined with it by a
//! strategy.

use std::collections::HashMap;
use std::sync::Arc;

use blueprint::{IndexMap, Map, Name, Value};

use super::HeatEnvironment;
use super::codes::{MERGE_CONFLICT, MERGE_KIND};
use crate::parameters::ParameterKind;
use crate::refusal::ValueRefusal;

/// An environment file.
pub struct NamedEnvironment<'a> {
    /// The name, for messages.
    pub name: &'a str,
    /// The content.
    pub environment: HeatEnvironment,
}

/// The strategy by which the value of a parameter is combined with its earlier value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Strategy {
    Overwrite,
    Merge,
    DeepMerge,
}

impl Strategy {
    fn of(value: &Value) -> Option<Strategy> {
        match value.as_text()? {
            "overwrite" => Some(Strategy::Overwrite),
            "merge" => Some(Strategy::Merge),
            "deep_merge" => Some(Strategy::DeepMerge),
            _ => None,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Strategy::Overwrite => "overwrite",
            Strategy::Merge => "merge",
            Strategy::DeepMerge => "deep_merge",
        }
    }
}

/// Merges files into `base`, in order. `kinds` returns the kind of a parameter of the root; an
/// undeclared parameter takes its first value. Mistakes go to `found`, with the number of the file.
pub fn merge(
    base: HeatEnvironment,
    files: Vec<NamedEnvironment<'_>>,
    kinds: &dyn Fn(&str) -> Option<ParameterKind>,
    found: &mut Vec<(usize, ValueRefusal)>,
) -> HeatEnvironment {
    let mut merging = Merging {
        kinds,
        used: HashMap::new(),
        found,
    };
    let mut merged = base;
    for (number, NamedEnvironment { name, environment }) in files.into_iter().enumerate() {
        let strategies = environment.strategies;
        let mut section = |section: &'static str, old: &mut Map, new: Map| {
            merging.parameters(number, name, section, old, new, &strategies);
        };
        section("parameters", &mut merged.parameters, environment.parameters);
        section(
            "parameter_defaults",
            &mut merged.parameter_defaults,
            environment.parameter_defaults,
        );
        if merged.registry.is_empty() {
            merged.registry = environment.registry;
        } else {
            overwrite_entries(&mut merged.registry, environment.registry);
        }
        merged.encrypted.extend(environment.encrypted);
        merged.event_sinks.extend(environment.event_sinks);
    }
    merged
}

/// Overwrites entries of `old` with those of `new`. Null entries are skipped.
fn overwrite_entries(old: &mut Map, new: Map) {
    for (key, value) in new.iter().filter(|(_, value)| !value.is_null()) {
        old.insert(key.clone(), value.clone());
    }
}

struct Merging<'a> {
    kinds: &'a dyn Fn(&str) -> Option<ParameterKind>,
    /// The strategy of the first file that gave a parameter.
    used: HashMap<Name, Strategy>,
    found: &'a mut Vec<(usize, ValueRefusal)>,
}

impl Merging<'_> {
    fn parameters(
        &mut self,
        number: usize,
        file: &str,
        section: &'static str,
        old: &mut Map,
        new: Map,
        strategies: &Map,
    ) {
        let mut chosen: IndexMap<&Name, (ParameterKind, Strategy)> = IndexMap::default();
        for (name, _) in new.iter().filter(|(_, value)| !value.is_null()) {
            let Some(kind) = (self.kinds)(name) else {
                continue;
            };
            let strategy = self.strategy(name, strategies);
            match self.used.get(name) {
                None => {
                    self.used.insert(name.clone(), strategy);
                    chosen.insert(name, (kind, strategy));
                }
                Some(used) if *used == strategy => {
                    chosen.insert(name, (kind, strategy));
                }
                Some(used) => {
                    let (used, strategy) = (used.word(), strategy.word());
                    let message = format!(
                        "`{name}` is combined by `{strategy}` in `{file}`, and by `{used}` before"
                    );
                    let words = format!(
                        "Conflicting merge strategy '{strategy}' for parameter '{name}' in file '{file}'."
                    );
                    let refusal = ValueRefusal::new(&MERGE_CONFLICT, message)
                        .heat(words)
                        .class("ConflictingMergeStrategyForParam")
                        .help(format!(
                            "say `{name}: {used}` in `parameter_merge_strategies` of every file"
                        ));
                    self.found
                        .push((number, refusal.within(name.as_ref()).within(section)));
                }
            }
        }
        if old.is_empty() {
            *old = new;
            return;
        }
        for (name, (kind, strategy)) in chosen {
            let Some(value) = new.get(name) else { continue };
            let combined = match strategy {
                Strategy::Overwrite => Some(value.clone()),
                strategy => combine(kind, old.get(name), value, strategy == Strategy::DeepMerge),
            };
            match combined {
                Some(combined) => {
                    old.insert(name.clone(), combined);
                }
                None => {
                    let ty = kind.parameter_name();
                    let message =
                        format!("`{name}` in `{file}` cannot be merged into what came before");
                    let refusal = ValueRefusal::new(&MERGE_KIND, message)
                        .heat("Invalid parameter in environment .")
                        .class("ValueError")
                        .help(format!(
                            "a parameter of type `{ty}` takes text, a list or a map as it is merged; use `overwrite`"
                        ));
                    self.found
                        .push((number, refusal.within(name.as_ref()).within(section)));
                }
            }
        }
    }

    /// The strategy that the file gives for the name, otherwise that of an earlier file, otherwise
    /// the file's default.
    fn strategy(&self, name: &Name, strategies: &Map) -> Strategy {
        let default = strategies
            .get("default")
            .and_then(Strategy::of)
            .unwrap_or(Strategy::Overwrite);
        match strategies.get(name) {
            Some(own) => Strategy::of(own).unwrap_or(default),
            None => self.used.get(name).copied().unwrap_or(default),
        }
    }
}

/// Combines the value of a parameter with an earlier one; `None` if these values cannot be
/// combined.
fn combine(kind: ParameterKind, old: Option<&Value>, new: &Value, deep: bool) -> Option<Value> {
    match (kind, new) {
        (ParameterKind::String, Value::Text(new)) => match old {
            None | Some(Value::Null) => Some(Value::Text(new.clone())),
            Some(Value::Text(old)) => Some(Value::from(format!("{old}{new}"))),
            Some(_) => None,
        },
        (ParameterKind::List, Value::Text(_) | Value::List(_)) => {
            match old.filter(|old| pycompat::truth(old)) {
                None => Some(new.clone()),
                Some(old) => lists(old, new),
            }
        }
        (ParameterKind::Map, _) => {
            let new = parsed(new)?;
            match old.filter(|old| pycompat::truth(old)) {
                None => Some(new),
                Some(old) => match (parsed(old)?, new) {
                    (Value::Map(old), Value::Map(new)) => {
                        Some(Value::Map(maps((*old).clone(), &new, deep).into()))
                    }
                    _ => None,
                },
            }
        }
        _ => None,
    }
}

/// Parses the value of a json parameter.
fn parsed(value: &Value) -> Option<Value> {
    match value {
        Value::Text(text) if !text.is_empty() => pycompat::parse_json(text).ok(),
        other => Some(other.clone()),
    }
}

/// Combines lists: lists are appended, comma-delimited texts are joined, and of a list and a text,
/// the list gets the items of the text.
fn lists(old: &Value, new: &Value) -> Option<Value> {
    let items = |value: &Value| match value {
        Value::List(items) => Some(items.to_vec()),
        Value::Text(text) => Some(text.split(',').map(Value::from).collect()),
        _ => None,
    };
    if let (Value::Text(old), Value::Text(new)) = (old, new) {
        return Some(Value::from(format!("{old},{new}")));
    }
    let mut all = items(old)?;
    all.extend(items(new)?);
    Some(Value::list(all))
}

/// Overwrites entries of a map, skipping null entries. With `deep`, maps, lists and texts are
/// combined instead.
fn maps(mut old: Map, new: &Map, deep: bool) -> Map {
    for (key, value) in new.iter().filter(|(_, value)| !value.is_null()) {
        let before = old
            .get(key)
            .filter(|before| deep && pycompat::truth(before));
        let combined = match (before, value) {
            (Some(Value::Map(before)), Value::Map(value)) => {
                Value::Map(Arc::new(maps((**before).clone(), value, deep)))
            }
            (Some(Value::List(before)), Value::List(value)) => {
                Value::list(before.iter().chain(value.iter()).cloned())
            }
            (Some(Value::Text(before)), Value::Text(value)) => {
                Value::from(format!("{before}{value}"))
            }
            _ => value.clone(),
        };
        old.insert(key.clone(), combined);
    }
    old
}
