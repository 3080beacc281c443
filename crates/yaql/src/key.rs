//! Python's equality and hashing: 1, 1.0 and true are equal.

use std::hash::{BuildHasher as _, Hash, Hasher};
use std::rc::Rc;

use foldhash::fast::FixedState;
use pycompat::BigInt;

use crate::arithmetic;
use crate::failure::{Evaluated, Halt};
use crate::model::{Datum, DatumKey, DatumList, DatumMap, Keys, View};

/// A text for a lookup among keys.
pub(crate) struct TextKey<'a> {
    hash: u64,
    text: &'a str,
}

impl DatumKey {
    /// Creates the key of a value. Fails with Python's message if the value cannot be a key.
    pub(crate) fn of(value: Datum) -> Evaluated<DatumKey> {
        let hash = hash(&value)?;
        Ok(DatumKey { hash, value })
    }

    /// Creates the key of a text.
    pub(crate) fn text(text: blueprint::Name) -> DatumKey {
        DatumKey {
            hash: hash_of_text(&text),
            value: Datum::Text(text),
        }
    }
}

impl<'a> TextKey<'a> {
    pub(crate) fn of(text: &'a str) -> TextKey<'a> {
        TextKey {
            hash: hash_of_text(text),
            text,
        }
    }
}

impl Hash for DatumKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash);
    }
}

impl PartialEq for DatumKey {
    fn eq(&self, other: &DatumKey) -> bool {
        self.hash == other.hash
            && (same(&self.value, &other.value) || equal(&self.value, &other.value))
    }
}

impl Eq for DatumKey {}

impl Hash for TextKey<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash);
    }
}

impl indexmap::Equivalent<DatumKey> for TextKey<'_> {
    fn equivalent(&self, key: &DatumKey) -> bool {
        matches!(&key.value, Datum::Text(text) if **text == *self.text)
    }
}

fn mix(tag: u8, parts: impl IntoIterator<Item = u64>) -> u64 {
    let mut hasher = FixedState::default().build_hasher();
    hasher.write_u8(tag);
    parts.into_iter().for_each(|part| hasher.write_u64(part));
    hasher.finish()
}

fn hash_of_text(text: &str) -> u64 {
    FixedState::default().hash_one(text)
}

fn hash_of_float(value: f64) -> u64 {
    match pycompat::exact_of_float(value) {
        Some(exact) if value.fract() == 0.0 => hash_of_integer(&exact),
        _ => mix(b'f', [value.to_bits()]),
    }
}

fn hash_of_integer(value: &BigInt) -> u64 {
    match i64::try_from(value) {
        Ok(value) => mix(b'n', [value as u64]),
        Err(_) => mix(b'N', value.to_u64_digits().1),
    }
}

fn address<T: ?Sized>(shared: &Rc<T>) -> u64 {
    mix(b'p', [Rc::as_ptr(shared).cast::<u8>() as usize as u64])
}

/// The hash of a value; equal values have equal hashes. Fails if the value cannot be a key.
fn hash(value: &Datum) -> Evaluated<u64> {
    Ok(match value {
        Datum::Null => mix(b'0', []),
        Datum::Absent => mix(b'-', []),
        Datum::Bool(value) => mix(b'n', [u64::from(*value)]),
        Datum::Int(value) => mix(b'n', [*value as u64]),
        Datum::Big(value) => hash_of_integer(value),
        Datum::Float(value) => hash_of_float(*value),
        Datum::Text(text) => hash_of_text(text),
        Datum::List(list) if list.tuple => {
            let parts: Vec<u64> = list.items.iter().map(hash).collect::<Evaluated<_>>()?;
            mix(b'(', parts)
        }
        Datum::Map(map) if map.frozen => {
            let mut all = 0;
            for (key, value) in &map.entries {
                all ^= mix(b':', [key.hash, hash(value)?]);
            }
            mix(b'{', [all])
        }
        Datum::Set(set) => mix(b's', [set.items.iter().fold(0, |all, key| all ^ key.hash)]),
        Datum::List(_) | Datum::Map(_) | Datum::View(View::Keys | View::Entries, _) => {
            return Err(Halt::failed(format!(
                "unhashable type: '{}'",
                value.type_name()
            )));
        }
        Datum::View(View::Values, map) => address(map),
        Datum::Stream(stream) => mix(b'p', [stream.address() as u64]),
        Datum::Memory(memory) => address(memory),
        Datum::Ordering(ordering) => address(ordering),
        Datum::Regex(regex) => hash_of_text(&regex.source),
        Datum::Moment(moment) => mix(b'm', [moment.instant() as u64]),
        Datum::Timespan(span) => mix(b't', [span.microseconds() as u64]),
        Datum::Scope(scope) => address(scope),
        Datum::Rule(rule) => address(rule),
        Datum::Lambda(lambda) => address(lambda),
    })
}

/// Whether two values are the same object.
fn same(left: &Datum, right: &Datum) -> bool {
    match (left, right) {
        (Datum::List(left), Datum::List(right)) => Rc::ptr_eq(left, right),
        (Datum::Map(left), Datum::Map(right)) => Rc::ptr_eq(left, right),
        (Datum::Set(left), Datum::Set(right)) => Rc::ptr_eq(left, right),
        _ => false,
    }
}

/// Whether `left == right` in Python. NaN is equal to nothing.
pub(crate) fn equal(left: &Datum, right: &Datum) -> bool {
    if same(left, right) {
        return true;
    }
    match (left, right) {
        (Datum::Null, Datum::Null) | (Datum::Absent, Datum::Absent) => true,
        (Datum::Text(left), Datum::Text(right)) => left == right,
        (Datum::Int(left), Datum::Int(right)) => left == right,
        (Datum::List(left), Datum::List(right)) => equal_lists(left, right),
        (Datum::Map(left), Datum::Map(right)) => equal_maps(left, right),
        (left, right) if left.is_set() && right.is_set() => equal_sets(left, right),
        (Datum::View(View::Values, left), Datum::View(View::Values, right)) => {
            Rc::ptr_eq(left, right)
        }
        (Datum::Stream(left), Datum::Stream(right)) => left.address() == right.address(),
        (Datum::Memory(left), Datum::Memory(right)) => Rc::ptr_eq(left, right),
        (Datum::Ordering(left), Datum::Ordering(right)) => Rc::ptr_eq(left, right),
        (Datum::Regex(left), Datum::Regex(right)) => {
            Rc::ptr_eq(left, right) || (left.source == right.source && left.flags == right.flags)
        }
        (Datum::Moment(left), Datum::Moment(right)) => left.instant() == right.instant(),
        (Datum::Timespan(left), Datum::Timespan(right)) => left == right,
        (Datum::Scope(left), Datum::Scope(right)) => Rc::ptr_eq(left, right),
        (Datum::Rule(left), Datum::Rule(right)) => Rc::ptr_eq(left, right),
        (Datum::Lambda(left), Datum::Lambda(right)) => Rc::ptr_eq(left, right),
        (left, right) => arithmetic::compare(left, right).is_some_and(std::cmp::Ordering::is_eq),
    }
}

fn equal_lists(left: &DatumList, right: &DatumList) -> bool {
    left.tuple == right.tuple
        && left.items.len() == right.items.len()
        && left
            .items
            .iter()
            .zip(&right.items)
            .all(|(left, right)| equal(left, right))
}

fn equal_maps(left: &DatumMap, right: &DatumMap) -> bool {
    left.entries.len() == right.entries.len()
        && left.entries.iter().all(|(key, left)| {
            right
                .entries
                .get(key)
                .is_some_and(|right| equal(left, right))
        })
}

fn equal_sets(left: &Datum, right: &Datum) -> bool {
    match (set_of(left), set_of(right)) {
        (Ok(left), Ok(right)) => {
            left.len() == right.len() && left.iter().all(|key| right.contains(key))
        }
        // Entries whose values cannot be keys are compared one by one.
        _ => match (left, right) {
            (Datum::View(_, left), Datum::View(_, right)) => equal_maps(left, right),
            _ => false,
        },
    }
}

/// Returns the items of a set, or of a view that acts as a set. Fails if an item cannot be a key.
pub(crate) fn set_of(set: &Datum) -> Evaluated<Keys> {
    match set {
        Datum::Set(set) => Ok(set.items.clone()),
        Datum::View(View::Keys, map) => Ok(map.entries.keys().cloned().collect()),
        Datum::View(View::Entries, map) => map
            .entries
            .iter()
            .map(|(key, value)| DatumKey::of(Datum::tuple(vec![key.value.clone(), value.clone()])))
            .collect(),
        other => Err(Halt::failed(format!(
            "'{}' object is not a set",
            other.type_name()
        ))),
    }
}

/// Whether a list contains a value that equals `value` or is the same object.
pub(crate) fn contains(items: &[Datum], value: &Datum) -> bool {
    items.iter().any(|item| equal(item, value))
}
