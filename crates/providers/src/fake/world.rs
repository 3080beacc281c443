//! The simulated cloud: objects by id. Several providers share the cloud, so that it outlives them
//! as a real cloud outlives a process. The cloud can be stored in a file (`world_file.rs`).
//!
//! All lookups use an index: by id, by address, by the token of a create, by unique value.

use std::path::Path;
use std::sync::{Arc, Mutex};

use blueprint::{FieldPath, IndexMap, Map, Name, Names, TypeId, Value};
use provider::{Catalog, Fit, ResourceType};

use super::answers::GivenAnswers;
use super::object::{DesiredObject, FakeObject, RecordedValues, facts_of};
use super::secret_mask::SentSecrets;
use super::values::{self, ValueFacts};
use super::world_file::{ChangeLine, WorldError, WorldFile};

/// A simulated cloud that several providers use.
pub type SharedCloud = Arc<Mutex<FakeCloud>>;

/// All objects of a simulated cloud.
#[derive(Debug, Default)]
pub struct FakeCloud {
    objects: IndexMap<Name, Box<FakeObject>>,
    /// The addresses, by `INSTANCE/ADDRESS`.
    places: IndexMap<Name, AddressState>,
    /// The ids, by the token of the create.
    tokens: IndexMap<Name, Name>,
    /// The owner of the value of a unique field, by type, field and value.
    unique: IndexMap<String, Name>,
    /// Addresses whose last call has an unknown outcome.
    unknown_outcomes: IndexMap<Name, ()>,
    /// The parts of objects that documents read, by type.
    parts: IndexMap<TypeId, Vec<FieldPath>>,
    /// Snapshots, by the id of the object, oldest first. They are not written to the file.
    snapshots: Vec<(Name, Value)>,
    /// The fields that a user gives to objects, by an address or by the name of a type.
    answers: GivenAnswers,
    fit: Fit,
    world_file: Option<WorldFile>,
}

/// The state of an address.
#[derive(Debug, Default)]
struct AddressState {
    /// The number of objects ever created at the address.
    made: u32,
    /// The existing objects, oldest first; two during a replacement.
    ids: Vec<Name>,
}

/// A refused operation. Nothing was changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OperationRefusal {
    /// Another object has the value of a unique field.
    Taken {
        /// The field with the unique value.
        field: Name,
    },
    /// The object does not exist.
    NotFound,
    /// The file of the world cannot be written.
    Unwritable(String),
}

impl FakeCloud {
    /// An empty world in memory.
    pub fn new() -> FakeCloud {
        FakeCloud::default()
    }

    /// Opens the world in a file; the world is empty if the file does not exist. Every change is
    /// written immediately, without fsync.
    pub fn open(path: &Path) -> Result<FakeCloud, WorldError> {
        let (mut world, mut names) = (FakeCloud::new(), Names::default());
        let mut shared = |mut object: Box<FakeObject>| {
            object.type_name.share(&mut names);
            object.fields.share_keys(&mut names);
            object
        };
        let keeper = WorldFile::load(path, |line| match line {
            ChangeLine::Created(object, count) => world.insert(shared(object), Some(count)),
            ChangeLine::Changed(object) => world.upsert(shared(object)),
            ChangeLine::Gone(id) => {
                world.remove_from_indexes(&id);
            }
            ChangeLine::Made(place, count) => {
                world.places.entry(place).or_default().made = count;
            }
        })?;
        world.world_file = Some(keeper);
        Ok(world)
    }

    /// The world for several providers.
    pub fn shared(self) -> SharedCloud {
        Arc::new(Mutex::new(self))
    }

    /// Makes the objects of the type, and the candidates of its data source, have the part at a path
    /// where their fields allow it: an entry of a map, an item of a list.
    pub fn make_part(&mut self, type_name: TypeId, path: FieldPath) {
        let parts = self.parts.entry(type_name).or_default();
        if !parts.contains(&path) {
            parts.push(path);
        }
    }

    /// Sets the fields that objects get in place of generated ones, by their address or by the
    /// name of their type. The candidates of a data source get those of its type.
    pub fn set_answers(&mut self, answers: impl IntoIterator<Item = (Name, Value)>) {
        self.answers = answers.into_iter().collect();
    }

    /// The fields that a user gives to objects.
    pub(super) fn answers(&self) -> &GivenAnswers {
        &self.answers
    }

    /// The parts that the objects of a type have because documents read them.
    pub(super) fn parts_of(&self, type_name: &TypeId) -> &[FieldPath] {
        self.parts.get(type_name).map_or(&[], Vec::as_slice)
    }

    /// All objects, in no particular order.
    pub fn objects(&self) -> impl Iterator<Item = &FakeObject> {
        self.objects.values().map(AsRef::as_ref)
    }

    /// The object with an id.
    pub fn object(&self, id: &str) -> Option<&FakeObject> {
        self.objects.get(id).map(AsRef::as_ref)
    }

    /// The snapshots that were taken before deletes, oldest first: the id of each object, and its
    /// fields at that time.
    pub fn snapshots(&self) -> &[(Name, Value)] {
        &self.snapshots
    }

    /// The latest object at an address of an instance.
    pub fn object_at(&self, instance: &str, address: &str) -> Option<&FakeObject> {
        let id = self
            .places
            .get(format!("{instance}/{address}").as_str())?
            .ids
            .last()?;
        self.object(id)
    }

    /// Changes a field from outside the engine. `path` is its name, or a path with dots into
    /// objects. Null removes the field.
    pub fn set(
        &mut self,
        instance: &str,
        address: &str,
        path: &str,
        value: Value,
    ) -> Result<(), OperationRefusal> {
        let object = self
            .object_at(instance, address)
            .ok_or(OperationRefusal::NotFound)?
            .clone();
        let steps: Vec<&str> = path.split('.').collect();
        let fields = with_value_at(&object.fields, &steps, &value);
        self.replace(FakeObject { fields, ..object })
    }

    /// Deletes an object from outside the engine.
    pub fn delete_externally(
        &mut self,
        instance: &str,
        address: &str,
    ) -> Result<(), OperationRefusal> {
        let id = self
            .object_at(instance, address)
            .ok_or(OperationRefusal::NotFound)?
            .id
            .clone();
        self.remove(&id).map(|_| ())
    }

    /// Creates an object from outside the engine, under a free id.
    pub fn make(
        &mut self,
        catalog: &Catalog,
        type_name: &str,
        id: &str,
        spec: &Value,
    ) -> Result<(), OperationRefusal> {
        let Some(resource_type) = catalog.resource_type(type_name) else {
            return Err(OperationRefusal::NotFound);
        };
        let id_field = resource_type.id_field.as_ref();
        if self.objects.contains_key(id) {
            return Err(OperationRefusal::Taken {
                field: id_field.cloned().unwrap_or_else(|| "id".into()),
            });
        }
        let hash = values::hash_of_id(id, id_field, &resource_type.schema);
        let facts = ValueFacts {
            id,
            parts: self.parts_of(&resource_type.name),
            ..facts_of(
                &resource_type,
                spec,
                &hash,
                &self.fit,
                &SentSecrets::default(),
            )
        };
        let fields = values::complete(&resource_type.schema, id_field, spec, None, &facts);
        let object = FakeObject {
            id: id.into(),
            type_name: resource_type.name.clone(),
            place: Name::default(),
            fields,
            metadata: Value::Null,
            hash: hash.into(),
            updates: 1,
            token: Name::default(),
            update_token: Name::default(),
            secrets: Vec::new(),
            unique: resource_type.unique_fields().cloned().collect(),
            unsettled: Some(0),
        };
        self.check_unique(&resource_type, &object.fields, "")?;
        self.write_change(|| ChangeLine::Changed(object.masked()))?;
        self.insert(Box::new(object), None);
        Ok(())
    }

    /// Creates an object at `place` (`INSTANCE/ADDRESS`), or returns the one that was created under
    /// the same token.
    pub(super) fn create(
        &mut self,
        resource_type: &ResourceType,
        place: &str,
        wish: DesiredObject<'_>,
    ) -> Result<FakeObject, OperationRefusal> {
        let DesiredObject {
            token,
            sent,
            metadata,
            secrets,
            unsettled,
        } = wish;
        if let Some(object) = self.by_token(token)
            && object.place.as_ref() == place
            && object.type_name == resource_type.name
        {
            return Ok(object.clone());
        }
        self.check_unique(resource_type, sent, "")?;
        let id_field = resource_type.id_field.as_ref();
        let count = self.places.get(place).map_or(0, |place| place.made) + 1;
        let mut hash = values::hash(&format!("{place}#{count}"));
        // Ids are shown and stored unencrypted, so they are not derived from secrets.
        let open = |id: Name, hash: &str| {
            if secrets.occur_in(&id) {
                values::plain_id(&resource_type.name, hash)
            } else {
                id
            }
        };
        let mut id = match named_by(resource_type, sent).filter(|id| !self.objects.contains_key(id))
        {
            Some(id) => id,
            None => values::id(
                id_field,
                &resource_type.schema,
                &facts_of(resource_type, sent, &hash, &self.fit, &secrets),
            ),
        };
        if let Some(answered) = self.answers.id(resource_type, place) {
            id = answered;
        }
        id = open(id, &hash);
        // Eight digits collide among some ten thousand objects. An object whose id is taken gets
        // another hash. Resources with the same name differ by the hash.
        let mut again = 0;
        while self.objects.contains_key(&id) {
            again += 1;
            hash = values::hash(&format!("{place}#{count}+{again}"));
            let facts = ValueFacts {
                name: None,
                ..facts_of(resource_type, sent, &hash, &self.fit, &secrets)
            };
            id = open(values::id(id_field, &resource_type.schema, &facts), &hash);
            if again > 1 && self.objects.contains_key(&id) {
                // The value of the id field is taken.
                id = format!("{id}-{hash}").into();
            }
        }
        let facts = ValueFacts {
            id: &id,
            parts: self.parts_of(&resource_type.name),
            ..facts_of(resource_type, sent, &hash, &self.fit, &secrets)
        };
        let fields = values::complete(&resource_type.schema, id_field, sent, None, &facts);
        let fields = self.answers.on(fields, place, resource_type);
        let secrets = secrets.places_in(&fields);
        let place: Name = place.into();
        let object = FakeObject {
            id,
            type_name: resource_type.name.clone(),
            place,
            fields,
            metadata: metadata.clone(),
            hash: hash.into(),
            updates: 1,
            token: token.clone(),
            update_token: Name::default(),
            secrets,
            unique: resource_type.unique_fields().cloned().collect(),
            unsettled,
        };
        self.write_change(|| ChangeLine::Created(object.masked(), count))?;
        self.insert(Box::new(object.clone()), Some(count));
        Ok(object)
    }

    /// Updates an object. A repeated update with the same token counts once.
    pub(super) fn update(
        &mut self,
        resource_type: &ResourceType,
        id: &str,
        place: &str,
        wish: DesiredObject<'_>,
    ) -> Result<FakeObject, OperationRefusal> {
        let DesiredObject {
            token,
            sent,
            metadata,
            secrets,
            unsettled,
        } = wish;
        let object = self.object(id).ok_or(OperationRefusal::NotFound)?;
        if object.update_token == *token {
            return Ok(object.clone());
        }
        self.check_unique(resource_type, sent, id)?;
        let updates = object.updates + 1;
        let facts = ValueFacts {
            id,
            updates,
            parts: self.parts_of(&resource_type.name),
            ..facts_of(resource_type, sent, &object.hash, &self.fit, &secrets)
        };
        let id_field = resource_type.id_field.as_ref();
        let fields = values::complete(
            &resource_type.schema,
            id_field,
            sent,
            Some(&object.fields),
            &facts,
        );
        let fields = self.answers.on(fields, place, resource_type);
        let secrets = secrets.places_in(&fields);
        let place = if object.place.as_ref() == place {
            object.place.clone()
        } else {
            place.into()
        };
        let object = FakeObject {
            fields,
            metadata: metadata.clone(),
            updates,
            place,
            secrets,
            update_token: token.clone(),
            unsettled,
            ..object.clone()
        };
        self.replace(object.clone())?;
        Ok(object)
    }

    /// Restores the secrets of an object, which its file does not contain, from `known` values.
    pub(super) fn restore_secrets(
        &mut self,
        resource_type: &ResourceType,
        id: &str,
        known: RecordedValues<'_>,
    ) {
        let parts = self.parts.get(&resource_type.name);
        if let Some(object) = self.objects.get_mut(id) {
            let parts = parts.map_or(&[][..], Vec::as_slice);
            object.restore_secrets(resource_type, known, &self.fit, parts);
        }
    }

    /// The object with an id, with its secrets restored from `known`. An object without an owner
    /// gets the place of its first reader, which imports it.
    pub(super) fn read(
        &mut self,
        resource_type: &ResourceType,
        id: &str,
        known: RecordedValues<'_>,
        place: impl FnOnce() -> String,
    ) -> Option<&FakeObject> {
        if self.objects.get(id)?.place.is_empty()
            && let Some(mut object) = self.objects.get(id).cloned()
        {
            object.place = place().into();
            self.upsert(object);
        }
        self.restore_secrets(resource_type, id, known);
        self.object(id)
    }

    /// Takes a snapshot of an object, if it exists.
    pub(super) fn take_snapshot(&mut self, id: &str) {
        if let Some(object) = self.objects.get(id) {
            self.snapshots
                .push((object.id.clone(), object.fields.clone()));
        }
    }

    /// Deletes an object. Returns whether it existed.
    pub(super) fn delete(
        &mut self,
        resource_type: &ResourceType,
        id: &str,
    ) -> Result<bool, OperationRefusal> {
        if self
            .objects
            .get(id)
            .is_none_or(|object| object.type_name != resource_type.name)
        {
            return Ok(false);
        }
        self.remove(id)
    }

    /// The object that was created under a token.
    pub(super) fn by_token(&self, token: &str) -> Option<&FakeObject> {
        self.object(self.tokens.get(token)?)
    }

    /// Polls an object once. Returns whether it is ready.
    pub(super) fn poll_ready(&mut self, id: &str) -> bool {
        match self
            .objects
            .get_mut(id)
            .and_then(|object| object.unsettled.as_mut())
        {
            Some(0) => true,
            Some(left) => {
                *left -= 1;
                false
            }
            // The object is never ready, or does not exist.
            None => false,
        }
    }

    /// Makes the outcome of the last call for an address unknown.
    pub(super) fn forget_outcome(&mut self, place: &str) {
        self.unknown_outcomes.insert(place.into(), ());
    }

    /// Makes the outcome of calls for an address known again.
    pub(super) fn remember_outcome(&mut self, place: &str) {
        if !self.unknown_outcomes.is_empty() {
            self.unknown_outcomes.swap_remove(place);
        }
    }

    /// Whether the outcome of the last call for an address is unknown.
    pub(super) fn is_outcome_unknown(&self, place: impl FnOnce() -> String) -> bool {
        !self.unknown_outcomes.is_empty() && self.unknown_outcomes.contains_key(place().as_str())
    }

    /// Checks that every unique value in `fields` is free, or belongs to `own`.
    fn check_unique(
        &self,
        resource_type: &ResourceType,
        fields: &Value,
        own: &str,
    ) -> Result<(), OperationRefusal> {
        for name in resource_type.unique_fields() {
            if let Some(key) = unique_key(&resource_type.name, name, fields)
                && self
                    .unique
                    .get(&key)
                    .is_some_and(|owner| owner.as_ref() != own)
            {
                return Err(OperationRefusal::Taken {
                    field: name.clone(),
                });
            }
        }
        Ok(())
    }

    /// Replaces an object, in the file too.
    fn replace(&mut self, object: FakeObject) -> Result<(), OperationRefusal> {
        self.write_change(|| ChangeLine::Changed(object.masked()))?;
        self.upsert(Box::new(object));
        Ok(())
    }

    fn remove(&mut self, id: &str) -> Result<bool, OperationRefusal> {
        if !self.objects.contains_key(id) {
            return Ok(false);
        }
        self.write_change(|| ChangeLine::Gone(id.into()))?;
        self.remove_from_indexes(id);
        Ok(true)
    }

    /// Inserts or replaces an object in every index.
    fn upsert(&mut self, object: Box<FakeObject>) {
        match self.objects.get(&object.id) {
            // The object keeps its position among the objects at its address.
            Some(before) if before.place == object.place && before.token == object.token => {
                let before = before.clone();
                self.unindex_unique_values(&before);
                self.index_unique_values(&object);
                self.objects.insert(object.id.clone(), object);
            }
            _ => {
                let id = object.id.clone();
                self.remove_from_indexes(&id);
                self.insert(object, None);
            }
        }
    }

    /// Inserts a new object into every index. `made` is the number of objects created at its
    /// address.
    fn insert(&mut self, object: Box<FakeObject>, made: Option<u32>) {
        if !object.token.is_empty() {
            self.tokens.insert(object.token.clone(), object.id.clone());
        }
        if !object.place.is_empty() {
            let known = self.places.entry(object.place.clone()).or_default();
            if let Some(made) = made {
                known.made = made;
            }
            // Usually an address has one object.
            known.ids.reserve_exact(1);
            known.ids.push(object.id.clone());
        }
        self.index_unique_values(&object);
        self.objects.insert(object.id.clone(), object);
    }

    fn remove_from_indexes(&mut self, id: &str) {
        let Some(object) = self.objects.swap_remove(id) else {
            return;
        };
        self.tokens.swap_remove(&object.token);
        if let Some(place) = self.places.get_mut(&object.place) {
            place.ids.retain(|other| *other != object.id);
        }
        self.unindex_unique_values(&object);
    }

    fn index_unique_values(&mut self, object: &FakeObject) {
        for key in object
            .unique
            .iter()
            .filter_map(|name| unique_key(&object.type_name, name, &object.fields))
        {
            self.unique.insert(key, object.id.clone());
        }
    }

    fn unindex_unique_values(&mut self, object: &FakeObject) {
        for key in object
            .unique
            .iter()
            .filter_map(|name| unique_key(&object.type_name, name, &object.fields))
        {
            if self.unique.get(&key) == Some(&object.id) {
                self.unique.swap_remove(&key);
            }
        }
    }

    /// Writes a change to the file, if the world has one, before the change is made.
    fn write_change(&mut self, line: impl FnOnce() -> ChangeLine) -> Result<(), OperationRefusal> {
        let FakeCloud {
            objects,
            places,
            world_file: keeper,
            ..
        } = self;
        match keeper {
            None => Ok(()),
            Some(keeper) => keeper
                .write(&line(), || {
                    let made = places.iter().filter(|(_, known)| known.made > 0);
                    let made =
                        made.map(|(place, known)| ChangeLine::Made(place.clone(), known.made));
                    made.chain(
                        objects
                            .values()
                            .map(|object| ChangeLine::Changed(object.masked())),
                    )
                })
                .map_err(|error| OperationRefusal::Unwritable(error.to_string())),
        }
    }
}

/// The id that a document sets: the value of the id field, if a change of that field replaces the
/// object.
fn named_by(resource_type: &ResourceType, sent: &Value) -> Option<Name> {
    let name = resource_type.id_field.as_ref()?;
    let field = resource_type.schema.fields.get(name)?;
    match sent.get(name)? {
        Value::Text(id) if field.must_recreate && !field.sensitive && !id.is_empty() => {
            Some(id.clone())
        }
        _ => None,
    }
}

fn unique_key(type_name: &str, field: &str, fields: &Value) -> Option<String> {
    let value = fields.get(field).filter(|value| !value.is_null())?;
    Some(format!("{type_name}\0{field}\0{value}"))
}

/// A map with another value at a path. Null removes the field.
fn with_value_at(fields: &Value, path: &[&str], value: &Value) -> Value {
    let [first, rest @ ..] = path else {
        return value.clone();
    };
    let mut map: Map = fields.as_map().cloned().unwrap_or_default();
    let inner = match rest {
        [] => value.clone(),
        _ => with_value_at(map.get(first).unwrap_or(&Value::Null), rest, value),
    };
    if inner.is_null() {
        map.shift_remove(first);
    } else {
        map.insert((*first).into(), inner);
    }
    Value::Map(Arc::new(map))
}
