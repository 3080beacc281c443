//! The simulated cloud: resources by id. Several providers share it, so that it outlives them as a real cloud outlives
//! a process. It can be stored in a file (`keep.rs`).
//!
//! All lookups use an index: by id, by address, by the token of a create, by unique value.

use std::path::Path;
use std::sync::{Arc, Mutex};

use blueprint::{IndexMap, Map, Name, Names, Value};
use provider::{Catalog, Fit, ResourceType};

use super::keep::{ChangeLine, Keeper, WorldError};
use super::thing::{RecordedValues, Thing, Wish, facts_of};
use super::values::{self, ValueFacts};
use super::veil::SentSecrets;

/// A simulated cloud that several providers use.
pub type SharedCloud = Arc<Mutex<FakeCloud>>;

/// All resources of a simulated cloud.
#[derive(Debug, Default)]
pub struct FakeCloud {
    things: IndexMap<Name, Box<Thing>>,
    /// By `INSTANCE/ADDRESS`.
    places: IndexMap<Name, AddressState>,
    /// By the token of the create.
    tokens: IndexMap<Name, Name>,
    /// The owner of the value of a unique field, by type, field and value.
    unique: IndexMap<String, Name>,
    /// Addresses whose last call has an unknown outcome.
    untraceable: IndexMap<Name, ()>,
    fit: Fit,
    keeper: Option<Keeper>,
}

/// The state of an address.
#[derive(Debug, Default)]
struct AddressState {
    /// The number of resources ever created there.
    made: u32,
    /// The existing resources, oldest first; two during a replacement.
    ids: Vec<Name>,
}

/// A refused operation. Nothing was changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OperationRefusal {
    /// Another resource has the value of a unique field.
    Taken {
        /// The field.
        field: Name,
    },
    /// The resource does not exist.
    NotThere,
    /// The file of the world cannot be written.
    Unwritable(String),
}

impl FakeCloud {
    /// An empty world in memory.
    pub fn new() -> FakeCloud {
        FakeCloud::default()
    }

    /// The world in a file; empty if the file does not exist. Every change is written at once, without fsync.
    pub fn open(path: &Path) -> Result<FakeCloud, WorldError> {
        let (mut world, mut names) = (FakeCloud::new(), Names::default());
        let mut shared = |mut thing: Box<Thing>| {
            thing.type_name.share(&mut names);
            thing.fields.share_keys(&mut names);
            thing
        };
        let keeper = Keeper::load(path, |line| match line {
            ChangeLine::Created(thing, count) => world.insert(shared(thing), Some(count)),
            ChangeLine::Changed(thing) => world.put(shared(thing)),
            ChangeLine::Gone(id) => {
                world.forget(&id);
            }
            ChangeLine::Made(place, count) => {
                world.places.entry(place).or_default().made = count;
            }
        })?;
        world.keeper = Some(keeper);
        Ok(world)
    }

    /// The world for several providers.
    pub fn shared(self) -> SharedCloud {
        Arc::new(Mutex::new(self))
    }

    /// All resources, in no particular order.
    pub fn things(&self) -> impl Iterator<Item = &Thing> {
        self.things.values().map(AsRef::as_ref)
    }

    /// The resource of an id.
    pub fn thing(&self, id: &str) -> Option<&Thing> {
        self.things.get(id).map(AsRef::as_ref)
    }

    /// The latest resource at an address of an instance.
    pub fn thing_at(&self, instance: &str, address: &str) -> Option<&Thing> {
        let id = self.places.get(format!("{instance}/{address}").as_str())?.ids.last()?;
        self.thing(id)
    }

    /// Changes a field from outside: its name, or a path with dots into objects. Null removes it.
    pub fn set(&mut self, instance: &str, address: &str, path: &str, value: Value) -> Result<(), OperationRefusal> {
        let thing = self.thing_at(instance, address).ok_or(OperationRefusal::NotThere)?.clone();
        let steps: Vec<&str> = path.split('.').collect();
        let fields = with(&thing.fields, &steps, &value);
        self.replace(Thing { fields, ..thing })
    }

    /// Deletes a resource from outside.
    pub fn vanish(&mut self, instance: &str, address: &str) -> Result<(), OperationRefusal> {
        let id = self.thing_at(instance, address).ok_or(OperationRefusal::NotThere)?.id.clone();
        self.remove(&id).map(|_| ())
    }

    /// Creates a resource from outside, under a free id.
    pub fn make(&mut self, catalog: &Catalog, type_name: &str, id: &str, spec: &Value) -> Result<(), OperationRefusal> {
        let Some(resource_type) = catalog.resource_type(type_name) else { return Err(OperationRefusal::NotThere) };
        let id_field = resource_type.id_field.as_ref();
        if self.things.contains_key(id) {
            return Err(OperationRefusal::Taken { field: id_field.cloned().unwrap_or_else(|| "id".into()) });
        }
        let hash = values::hash_of_id(id, id_field, &resource_type.schema);
        let facts = ValueFacts { id, ..facts_of(&resource_type, spec, &hash, &self.fit, &SentSecrets::default()) };
        let fields = values::complete(&resource_type.schema, id_field, spec, None, &facts);
        let thing = Thing {
            id: id.into(),
            type_name: resource_type.name.clone(),
            place: Name::default(),
            fields,
            hash: hash.into(),
            updates: 1,
            token: Name::default(),
            update_token: Name::default(),
            secrets: Vec::new(),
            unique: resource_type.unique_fields().cloned().collect(),
            unsettled: Some(0),
        };
        self.free(&resource_type, &thing.fields, "")?;
        self.keep(|| ChangeLine::Changed(thing.veiled()))?;
        self.insert(Box::new(thing), None);
        Ok(())
    }

    /// Creates a resource at `place` (`INSTANCE/ADDRESS`), or returns the one that was created under the same token.
    pub(super) fn create(
        &mut self,
        resource_type: &ResourceType,
        place: &str,
        wish: Wish<'_>,
    ) -> Result<Thing, OperationRefusal> {
        let Wish { token, sent, secrets, unsettled } = wish;
        if let Some(thing) = self.by_token(token)
            && thing.place.as_ref() == place
            && thing.type_name == resource_type.name
        {
            return Ok(thing.clone());
        }
        self.free(resource_type, sent, "")?;
        let id_field = resource_type.id_field.as_ref();
        let count = self.places.get(place).map_or(0, |place| place.made) + 1;
        let mut hash = values::hash(&format!("{place}#{count}"));
        // Ids are shown and stored in clear, so they are not derived from secrets.
        let open =
            |id: Name, hash: &str| if secrets.are_in(&id) { values::plain_id(&resource_type.name, hash) } else { id };
        let mut id = match named_by(resource_type, sent).filter(|id| !self.things.contains_key(id)) {
            Some(id) => id,
            None => {
                values::id(id_field, &resource_type.schema, &facts_of(resource_type, sent, &hash, &self.fit, &secrets))
            }
        };
        id = open(id, &hash);
        // Eight digits collide among some ten thousand resources. The later one counts on in another way. Resources of
        // one name differ by the hash.
        let mut again = 0;
        while self.things.contains_key(&id) {
            again += 1;
            hash = values::hash(&format!("{place}#{count}+{again}"));
            let facts = ValueFacts { name: None, ..facts_of(resource_type, sent, &hash, &self.fit, &secrets) };
            id = open(values::id(id_field, &resource_type.schema, &facts), &hash);
            if again > 1 && self.things.contains_key(&id) {
                // No value of the id field is free.
                id = format!("{id}-{hash}").into();
            }
        }
        let facts = ValueFacts { id: &id, ..facts_of(resource_type, sent, &hash, &self.fit, &secrets) };
        let fields = values::complete(&resource_type.schema, id_field, sent, None, &facts);
        let secrets = secrets.places_in(&fields);
        let place: Name = place.into();
        let thing = Thing {
            id,
            type_name: resource_type.name.clone(),
            place,
            fields,
            hash: hash.into(),
            updates: 1,
            token: token.clone(),
            update_token: Name::default(),
            secrets,
            unique: resource_type.unique_fields().cloned().collect(),
            unsettled,
        };
        self.keep(|| ChangeLine::Created(thing.veiled(), count))?;
        self.insert(Box::new(thing.clone()), Some(count));
        Ok(thing)
    }

    /// Updates a resource. A repeated update with the same token counts once.
    pub(super) fn update(
        &mut self,
        resource_type: &ResourceType,
        id: &str,
        place: &str,
        wish: Wish<'_>,
    ) -> Result<Thing, OperationRefusal> {
        let Wish { token, sent, secrets, unsettled } = wish;
        let thing = self.thing(id).ok_or(OperationRefusal::NotThere)?;
        if thing.update_token == *token {
            return Ok(thing.clone());
        }
        self.free(resource_type, sent, id)?;
        let updates = thing.updates + 1;
        let facts = ValueFacts { id, updates, ..facts_of(resource_type, sent, &thing.hash, &self.fit, &secrets) };
        let id_field = resource_type.id_field.as_ref();
        let fields = values::complete(&resource_type.schema, id_field, sent, Some(&thing.fields), &facts);
        let secrets = secrets.places_in(&fields);
        let place = if thing.place.as_ref() == place { thing.place.clone() } else { place.into() };
        let thing = Thing { fields, updates, place, secrets, update_token: token.clone(), unsettled, ..thing.clone() };
        self.replace(thing.clone())?;
        Ok(thing)
    }

    /// Restores the secrets of a resource, which its file does not hold, from what is `known` of it.
    pub(super) fn unveil(&mut self, resource_type: &ResourceType, id: &str, known: RecordedValues<'_>) {
        if let Some(thing) = self.things.get_mut(id) {
            thing.unveil(resource_type, known, &self.fit);
        }
    }

    /// The resource of an id with its secrets, some of which the caller passes as `known`. A resource without an owner
    /// gets the place of its first reader, which imports it.
    pub(super) fn read(
        &mut self,
        resource_type: &ResourceType,
        id: &str,
        known: RecordedValues<'_>,
        place: impl FnOnce() -> String,
    ) -> Option<&Thing> {
        if self.things.get(id)?.place.is_empty()
            && let Some(mut thing) = self.things.get(id).cloned()
        {
            thing.place = place().into();
            self.put(thing);
        }
        let thing = self.things.get_mut(id)?;
        thing.unveil(resource_type, known, &self.fit);
        Some(thing)
    }

    /// Deletes a resource. Returns whether it existed.
    pub(super) fn delete(&mut self, resource_type: &ResourceType, id: &str) -> Result<bool, OperationRefusal> {
        if self.things.get(id).is_none_or(|thing| thing.type_name != resource_type.name) {
            return Ok(false);
        }
        self.remove(id)
    }

    /// The resource that was created under a token.
    pub(super) fn by_token(&self, token: &str) -> Option<&Thing> {
        self.thing(self.tokens.get(token)?)
    }

    /// Polls a resource once. Returns whether it is ready.
    pub(super) fn poll_ready(&mut self, id: &str) -> bool {
        match self.things.get_mut(id).and_then(|thing| thing.unsettled.as_mut()) {
            Some(0) => true,
            Some(left) => {
                *left -= 1;
                false
            }
            // It is never ready, or does not exist.
            None => false,
        }
    }

    /// Makes the outcome of the last call for an address unknown.
    pub(super) fn forget_outcome(&mut self, place: &str) {
        self.untraceable.insert(place.into(), ());
    }

    /// Makes the outcome of calls for an address known again.
    pub(super) fn remember_outcome(&mut self, place: &str) {
        if !self.untraceable.is_empty() {
            self.untraceable.swap_remove(place);
        }
    }

    /// Whether the outcome of the last call for an address is unknown.
    pub(super) fn is_outcome_unknown(&self, place: impl FnOnce() -> String) -> bool {
        !self.untraceable.is_empty() && self.untraceable.contains_key(place().as_str())
    }

    /// Checks that every unique value in `fields` is free, or belongs to `own`.
    fn free(&self, resource_type: &ResourceType, fields: &Value, own: &str) -> Result<(), OperationRefusal> {
        for name in resource_type.unique_fields() {
            if let Some(key) = unique_key(&resource_type.name, name, fields)
                && self.unique.get(&key).is_some_and(|owner| owner.as_ref() != own)
            {
                return Err(OperationRefusal::Taken { field: name.clone() });
            }
        }
        Ok(())
    }

    /// Replaces a resource, in the file too.
    fn replace(&mut self, thing: Thing) -> Result<(), OperationRefusal> {
        self.keep(|| ChangeLine::Changed(thing.veiled()))?;
        self.put(Box::new(thing));
        Ok(())
    }

    fn remove(&mut self, id: &str) -> Result<bool, OperationRefusal> {
        if !self.things.contains_key(id) {
            return Ok(false);
        }
        self.keep(|| ChangeLine::Gone(id.into()))?;
        self.forget(id);
        Ok(true)
    }

    /// Inserts or replaces a resource in every index.
    fn put(&mut self, thing: Box<Thing>) {
        match self.things.get(&thing.id) {
            // Its order among those at its address stays.
            Some(before) if before.place == thing.place && before.token == thing.token => {
                let before = before.clone();
                self.release(&before);
                self.claim(&thing);
                self.things.insert(thing.id.clone(), thing);
            }
            _ => {
                let id = thing.id.clone();
                self.forget(&id);
                self.insert(thing, None);
            }
        }
    }

    /// Inserts a new resource into every index. `made` is the number of resources created at its address.
    fn insert(&mut self, thing: Box<Thing>, made: Option<u32>) {
        if !thing.token.is_empty() {
            self.tokens.insert(thing.token.clone(), thing.id.clone());
        }
        if !thing.place.is_empty() {
            let known = self.places.entry(thing.place.clone()).or_default();
            if let Some(made) = made {
                known.made = made;
            }
            // Nearly always there is one.
            known.ids.reserve_exact(1);
            known.ids.push(thing.id.clone());
        }
        self.claim(&thing);
        self.things.insert(thing.id.clone(), thing);
    }

    fn forget(&mut self, id: &str) {
        let Some(thing) = self.things.swap_remove(id) else { return };
        self.tokens.swap_remove(&thing.token);
        if let Some(place) = self.places.get_mut(&thing.place) {
            place.ids.retain(|other| *other != thing.id);
        }
        self.release(&thing);
    }

    fn claim(&mut self, thing: &Thing) {
        for key in thing.unique.iter().filter_map(|name| unique_key(&thing.type_name, name, &thing.fields)) {
            self.unique.insert(key, thing.id.clone());
        }
    }

    fn release(&mut self, thing: &Thing) {
        for key in thing.unique.iter().filter_map(|name| unique_key(&thing.type_name, name, &thing.fields)) {
            if self.unique.get(&key) == Some(&thing.id) {
                self.unique.swap_remove(&key);
            }
        }
    }

    /// Writes a change to the file, if there is one, before it is made.
    fn keep(&mut self, line: impl FnOnce() -> ChangeLine) -> Result<(), OperationRefusal> {
        let FakeCloud { things, places, keeper, .. } = self;
        match keeper {
            None => Ok(()),
            Some(keeper) => keeper
                .write(&line(), || {
                    let made = places.iter().filter(|(_, known)| known.made > 0);
                    let made = made.map(|(place, known)| ChangeLine::Made(place.clone(), known.made));
                    made.chain(things.values().map(|thing| ChangeLine::Changed(thing.veiled())))
                })
                .map_err(|error| OperationRefusal::Unwritable(error.to_string())),
        }
    }
}

/// The id that a document sets: the value of the id field, if a change of it replaces the resource.
fn named_by(resource_type: &ResourceType, sent: &Value) -> Option<Name> {
    let name = resource_type.id_field.as_ref()?;
    let field = resource_type.schema.fields.get(name)?;
    match sent.get(name)? {
        Value::Text(id) if field.must_recreate && !field.sensitive && !id.is_empty() => Some(id.clone()),
        _ => None,
    }
}

fn unique_key(type_name: &str, field: &str, fields: &Value) -> Option<String> {
    let value = fields.get(field).filter(|value| !value.is_null())?;
    Some(format!("{type_name}\0{field}\0{value}"))
}

/// A map with another value at a path. Null removes the field.
fn with(fields: &Value, path: &[&str], value: &Value) -> Value {
    let [first, rest @ ..] = path else { return value.clone() };
    let mut map: Map = fields.as_map().cloned().unwrap_or_default();
    let inner = match rest {
        [] => value.clone(),
        _ => with(map.get(first).unwrap_or(&Value::Null), rest, value),
    };
    if inner.is_null() {
        map.shift_remove(first);
    } else {
        map.insert((*first).into(), inner);
    }
    Value::Map(Arc::new(map))
}
