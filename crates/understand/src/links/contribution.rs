//! Contributions of links to specs: merging, finding and removing them (decisions/links#effects).
//!
//! A [`Merger`] and a [`ContributionIndex`] index their lists, so that the cost per contribution
//! does not grow with the number of links.

use std::sync::Arc;

use blueprint::{Address, Map, Name, Value};

use super::DeterministicMap;
use crate::compare::same;

/// One contribution. Its value may be Unknown.
#[derive(Clone, Debug, PartialEq)]
pub struct Contribution {
    /// The field, as dotted names.
    pub path: Name,
    /// The form in which the contribution is written into the field.
    pub form: ContributionForm,
    /// The value that is written.
    pub value: Value,
}

/// The form in which a contribution is written.
#[derive(Clone, Debug, PartialEq)]
pub enum ContributionForm {
    /// The whole field.
    Set,
    /// An entry of a map, under this key.
    Put(Name),
    /// An item of a list. This field of the item identifies it; with `None`, the whole value
    /// identifies it.
    Add(Option<Name>),
}

/// A conflict: two writers with different contents.
#[derive(Clone, Debug)]
pub struct WriteConflict {
    /// The place of the conflict: `owner`, `environment.X`, `statements[sid = x]`.
    pub place: String,
    /// The other link; `None` if the document is the other writer.
    pub other: Option<Address>,
}

impl Contribution {
    /// The text that identifies the contribution in its target; `None` while the text is unknown.
    pub fn identity(&self) -> Option<String> {
        match &self.form {
            ContributionForm::Set => Some(format!("{}\0", self.path)),
            ContributionForm::Put(key) => Some(format!("{}\0{key}", self.path)),
            ContributionForm::Add(by) => Some(format!(
                "{}\0{}",
                self.path,
                item_identity(by.as_ref(), &self.value)?
            )),
        }
    }

    /// The place for display.
    pub fn place(&self) -> String {
        match &self.form {
            ContributionForm::Set => self.path.to_string(),
            ContributionForm::Put(key) => format!("{}.{key}", self.path),
            ContributionForm::Add(Some(by)) => {
                let value = self
                    .value
                    .get(by)
                    .map(ToString::to_string)
                    .unwrap_or_default();
                format!("{}[{by} = {value}]", self.path)
            }
            ContributionForm::Add(None) => format!("{}[..]", self.path),
        }
    }
}

/// A spec in which contributions are looked up. The cost of a lookup does not grow with the length
/// of the list.
#[derive(Debug)]
pub struct ContributionIndex {
    spec: Value,
    /// The position of each item, by path and identifying field.
    items: DeterministicMap<(Name, Option<Name>), DeterministicMap<String, usize>>,
}

impl ContributionIndex {
    /// An index of `spec`, filled on demand.
    pub fn new(spec: Value) -> ContributionIndex {
        ContributionIndex {
            spec,
            items: DeterministicMap::default(),
        }
    }

    /// The value at the place of a contribution; `None` if there is none.
    pub fn value_of(&mut self, contribution: &Contribution) -> Option<&Value> {
        let field = at(&self.spec, &contribution.path)?;
        match &contribution.form {
            ContributionForm::Set => Some(field),
            ContributionForm::Put(key) => field.unmarked().get(key),
            ContributionForm::Add(by) => {
                let wanted = item_identity(by.as_ref(), &contribution.value)?;
                let items = field.unmarked().as_list()?;
                let index = self
                    .items
                    .entry((contribution.path.clone(), by.clone()))
                    .or_insert_with(|| {
                        // In reverse, so that the first of several items with the same identity
                        // takes precedence.
                        let numbered = items.iter().enumerate().rev();
                        numbered
                            .filter_map(|(at, item)| Some((item_identity(by.as_ref(), item)?, at)))
                            .collect()
                    });
                items.get(*index.get(&wanted)?)
            }
        }
        .filter(|value| !value.is_null())
    }

    /// Whether the spec contains a contribution. Additions of the provider to an item do not count.
    pub fn has(&mut self, contribution: &Contribution) -> bool {
        self.value_of(contribution)
            .is_some_and(|found| covers(found, &contribution.value))
    }
}

/// Whether a value contains all entries of another one.
fn covers(found: &Value, wanted: &Value) -> bool {
    match (found.unmarked(), wanted.unmarked()) {
        (Value::Map(found), Value::Map(wanted)) => wanted
            .iter()
            .filter(|(_, value)| !value.is_null())
            .all(|(key, value)| found.get(key).is_some_and(|found| covers(found, value))),
        (found, wanted) => same(found, wanted),
    }
}

fn item_identity(by: Option<&Name>, item: &Value) -> Option<String> {
    let identity = match by {
        Some(by) => item.unmarked().get(by)?,
        None => item,
    };
    (!identity.has_unknown() && !identity.is_null()).then(|| canonical(&identity.revealed()))
}

/// A text that is equal for equal values. The order of keys does not count.
fn canonical(value: &Value) -> String {
    match value {
        Value::Map(entries) => {
            let mut entries: Vec<_> = entries
                .iter()
                .filter(|(_, value)| !value.is_null())
                .collect();
            entries.sort_unstable_by_key(|(key, _)| *key);
            let entries: Vec<String> = entries
                .iter()
                .map(|(key, value)| format!("{key:?}:{}", canonical(value)))
                .collect();
            format!("{{{}}}", entries.join(","))
        }
        Value::List(items) | Value::Set(items) => {
            format!(
                "[{}]",
                items.iter().map(canonical).collect::<Vec<_>>().join(",")
            )
        }
        Value::Float(number) if number.fract() == 0.0 && number.abs() < 9e15 => {
            format!("{}", *number as i64)
        }
        Value::Text(text) => format!("{text:?}"),
        other => other.to_string(),
    }
}

fn at<'v>(spec: &'v Value, path: &str) -> Option<&'v Value> {
    path.split('.')
        .try_fold(spec, |here, name| here.unmarked().get(name))
        .filter(|value| !value.is_null())
}

/// Whether two values differ, regardless of their Unknown parts.
pub(crate) fn certainly_differ(a: &Value, b: &Value) -> bool {
    match (a.unmarked(), b.unmarked()) {
        (Value::Unknown(_), _) | (_, Value::Unknown(_)) => false,
        (Value::Map(a), Value::Map(b)) => {
            let differs = |(key, value): (&Name, &Value), other: &Map| match other.get(key) {
                Some(other) => certainly_differ(value, other),
                None => !value.is_null() && !value.is_unknown(),
            };
            a.iter().any(|entry| differs(entry, b)) || b.iter().any(|entry| differs(entry, a))
        }
        (Value::List(a) | Value::Set(a), Value::List(b) | Value::Set(b)) => {
            a.len() != b.len() || a.iter().zip(b.iter()).any(|(a, b)| certainly_differ(a, b))
        }
        (a, b) => !same(a, b),
    }
}

/// A spec into which contributions are merged.
pub struct Merger {
    spec: Value,
    /// The position of each item, by path.
    items: DeterministicMap<String, DeterministicMap<String, usize>>,
    /// The link that wrote each contribution, by identity.
    owners: DeterministicMap<String, Address>,
}

impl Merger {
    /// A merger that starts with `spec`.
    pub fn new(spec: Value) -> Merger {
        Merger {
            spec,
            items: DeterministicMap::default(),
            owners: DeterministicMap::default(),
        }
    }

    /// The merged spec.
    pub fn done(self) -> Value {
        self.spec
    }

    /// Merges one contribution; `none` writes nothing. Returns a conflict if the place has a
    /// different content.
    pub fn merge(
        &mut self,
        contribution: &Contribution,
        link: &Address,
    ) -> Result<(), WriteConflict> {
        if contribution.value.is_null() {
            return Ok(());
        }
        let identity = contribution.identity();
        let refused = |merger: &Merger| WriteConflict {
            place: contribution.place(),
            other: identity
                .as_ref()
                .and_then(|identity| merger.owners.get(identity))
                .cloned(),
        };
        match &contribution.form {
            ContributionForm::Set => {
                let existing = at(&self.spec, &contribution.path);
                if existing.is_some_and(|there| certainly_differ(there, &contribution.value)) {
                    return Err(refused(self));
                }
                if let Some(slot) = slot(&mut self.spec, &contribution.path) {
                    *slot = contribution.value.clone();
                }
            }
            ContributionForm::Put(key) => {
                let existing =
                    at(&self.spec, &contribution.path).and_then(|map| map.unmarked().get(key));
                if existing.is_some_and(|there| {
                    !there.is_null() && certainly_differ(there, &contribution.value)
                }) {
                    return Err(refused(self));
                }
                if let Some(map) = slot(&mut self.spec, &contribution.path).and_then(map_in) {
                    map.insert(key.clone(), contribution.value.clone());
                }
            }
            ContributionForm::Add(by) => {
                let index = match self.items.get_mut(contribution.path.as_ref()) {
                    Some(index) => index,
                    None => {
                        let items = at(&self.spec, &contribution.path)
                            .and_then(|list| list.unmarked().as_list());
                        let index = items.into_iter().flatten().enumerate();
                        let index = index
                            .filter_map(|(at, item)| Some((item_identity(by.as_ref(), item)?, at)))
                            .collect();
                        self.items
                            .entry(contribution.path.to_string())
                            .or_insert(index)
                    }
                };
                let own = item_identity(by.as_ref(), &contribution.value);
                let existing_index = own.as_ref().and_then(|own| index.get(own)).copied();
                let Some(list) = slot(&mut self.spec, &contribution.path).and_then(list_in) else {
                    return Ok(());
                };
                match existing_index.and_then(|at| list.get(at)) {
                    Some(there) if certainly_differ(there, &contribution.value) => {
                        return Err(refused(self));
                    }
                    Some(_) => {}
                    None => {
                        if let Some(own) = own {
                            index.insert(own, list.len());
                        }
                        list.push(contribution.value.clone());
                    }
                }
            }
        }
        if let Some(identity) = identity {
            self.owners.entry(identity).or_insert_with(|| link.clone());
        }
        Ok(())
    }
}

/// The slot of a field, created if it is missing. `None` if the path leads through another kind of
/// value.
fn slot<'v>(spec: &'v mut Value, path: &str) -> Option<&'v mut Value> {
    path.split('.').try_fold(spec, |here, name| {
        Some(map_in(here)?.get_or_insert_with(name.into(), || Value::Null))
    })
}

fn map_in(value: &mut Value) -> Option<&mut Map> {
    if value.is_null() {
        *value = Value::Map(Arc::default());
    }
    match value {
        Value::Map(map) => Some(Arc::make_mut(map)),
        Value::Secret(inner) => map_in(Arc::make_mut(inner)),
        _ => None,
    }
}

fn list_in(value: &mut Value) -> Option<&mut Vec<Value>> {
    if value.is_null() {
        *value = Value::List(Arc::default());
    }
    match value {
        Value::List(items) | Value::Set(items) => Some(Arc::make_mut(items)),
        Value::Secret(inner) => list_in(Arc::make_mut(inner)),
        _ => None,
    }
}

/// Removes contributions from a spec: their keys and items, and whole fields, which return to the
/// value in `document`.
pub fn remove_contributions<'c>(
    spec: &Value,
    contributions: impl Iterator<Item = &'c Contribution>,
    document: &Value,
) -> Value {
    let mut spec = spec.clone();
    let mut lists: blueprint::IndexMap<
        &Name,
        (
            Option<&Name>,
            std::collections::HashSet<String, foldhash::fast::FixedState>,
        ),
    > = blueprint::IndexMap::default();
    for contribution in contributions {
        if at(&spec, &contribution.path).is_none() {
            continue;
        }
        match &contribution.form {
            ContributionForm::Set => replace(
                &mut spec,
                &contribution.path,
                at(document, &contribution.path).cloned(),
            ),
            ContributionForm::Put(key) => {
                if let Some(map) = slot(&mut spec, &contribution.path).and_then(map_in) {
                    map.shift_remove(key);
                    if map.is_empty() && at(document, &contribution.path).is_none() {
                        replace(&mut spec, &contribution.path, None);
                    }
                }
            }
            ContributionForm::Add(by) => {
                let entry = lists
                    .entry(&contribution.path)
                    .or_insert_with(|| (by.as_ref(), Default::default()));
                entry
                    .1
                    .extend(item_identity(by.as_ref(), &contribution.value));
            }
        }
    }
    for (path, (by, identities)) in lists {
        let Some(list) = slot(&mut spec, path).and_then(list_in) else {
            continue;
        };
        list.retain(|item| {
            !item_identity(by, item).is_some_and(|identity| identities.contains(&identity))
        });
        if list.is_empty() && at(document, path).is_none() {
            replace(&mut spec, path, None);
        }
    }
    spec
}

fn replace(spec: &mut Value, path: &str, value: Option<Value>) {
    let (above, name) = match path.rsplit_once('.') {
        Some((above, name)) => (slot(spec, above), name),
        None => (Some(spec), path),
    };
    let Some(map) = above.and_then(map_in) else {
        return;
    };
    match value {
        Some(value) => drop(map.insert(name.into(), value)),
        None => drop(map.shift_remove(name)),
    }
}

/// Replaces the contributions in `spec` by their values in `from`, and removes contributions that
/// `from` lacks. Values that the document sets stay, even an empty list.
pub fn carry_over<'c>(
    spec: &Value,
    contributions: impl Iterator<Item = &'c Contribution> + Clone,
    from: &Value,
    document: &Value,
) -> Value {
    let mut carried = remove_contributions(spec, contributions.clone(), document);
    let no_link = Address::root("");
    let mut lists: blueprint::IndexMap<
        &Name,
        (
            Option<&Name>,
            std::collections::HashSet<String, foldhash::fast::FixedState>,
        ),
    > = blueprint::IndexMap::default();
    for contribution in contributions {
        match &contribution.form {
            ContributionForm::Set => {
                let source_value = at(from, &contribution.path).cloned();
                if source_value.is_some() {
                    if let Some(slot) = slot(&mut carried, &contribution.path) {
                        *slot = source_value.unwrap_or(Value::Null);
                    }
                } else {
                    replace(&mut carried, &contribution.path, None);
                }
            }
            ContributionForm::Put(key) => {
                let source_value = at(from, &contribution.path)
                    .and_then(|map| map.unmarked().get(key))
                    .cloned();
                if let Some(value) = source_value
                    && let Some(map) = slot(&mut carried, &contribution.path).and_then(map_in)
                {
                    map.insert(key.clone(), value);
                }
            }
            ContributionForm::Add(by) => {
                let entry = lists
                    .entry(&contribution.path)
                    .or_insert_with(|| (by.as_ref(), Default::default()));
                entry
                    .1
                    .extend(item_identity(by.as_ref(), &contribution.value));
            }
        }
    }
    // Keep the order that the items have in `from`.
    let mut merger = Merger::new(carried);
    for (path, (by, identities)) in lists {
        let items = at(from, path).and_then(|list| list.unmarked().as_list());
        for item in items.into_iter().flatten() {
            if item_identity(by, item).is_some_and(|identity| identities.contains(&identity)) {
                let how = ContributionForm::Add(by.cloned());
                let _ = merger.merge(
                    &Contribution {
                        path: path.clone(),
                        form: how,
                        value: item.clone(),
                    },
                    &no_link,
                );
            }
        }
    }
    merger.done()
}
