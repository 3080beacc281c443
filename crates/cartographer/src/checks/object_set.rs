//! The objects of Cartographer among others, by kind and name.

use std::collections::BTreeMap;

use blueprint::Value;

use crate::kinds::{CartoKind, KindFamily};
use crate::validation::{Fault, ObjectPlace};

/// A fault of one of several objects.
#[derive(Clone, Debug, PartialEq)]
pub struct SetFault {
    /// The position of the object.
    pub object: usize,
    /// The fault.
    pub fault: Fault,
}

/// An object of Cartographer.
pub(crate) struct SetObject<'a> {
    /// Its position among all objects.
    pub(crate) at: usize,
    pub(crate) kind: CartoKind,
    pub(crate) object: &'a Value,
    pub(crate) place: ObjectPlace<'a>,
}

impl<'a> SetObject<'a> {
    /// Its `spec`.
    pub(crate) fn spec(&self) -> ObjectPlace<'a> {
        self.place.field("spec")
    }

    /// The place of its name.
    pub(crate) fn name(&self) -> ObjectPlace<'a> {
        self.place.field("metadata").field("name")
    }

    /// A fault of it.
    pub(crate) fn with(&self, fault: Fault) -> SetFault {
        SetFault {
            object: self.at,
            fault,
        }
    }
}

/// The objects of Cartographer.
pub(crate) struct ObjectSet<'a> {
    objects: Vec<SetObject<'a>>,
    by_name: BTreeMap<(CartoKind, &'a str), usize>,
}

impl<'a> ObjectSet<'a> {
    /// Finds the objects of Cartographer.
    pub(crate) fn new(objects: &'a [Value]) -> ObjectSet<'a> {
        let found = |(at, object): (usize, &'a Value)| {
            Some(SetObject {
                at,
                kind: CartoKind::of(object)?,
                object,
                place: ObjectPlace::root(object),
            })
        };
        let objects: Vec<SetObject<'a>> = objects.iter().enumerate().filter_map(found).collect();
        let mut by_name = BTreeMap::new();
        for (position, object) in objects.iter().enumerate() {
            if let Some(name) = object.name().text() {
                by_name.entry((object.kind, name)).or_insert(position);
            }
        }
        ObjectSet { objects, by_name }
    }

    /// All of them.
    pub(crate) fn all(&self) -> &[SetObject<'a>] {
        &self.objects
    }

    /// Those of a family.
    pub(crate) fn of_family(&self, family: KindFamily) -> impl Iterator<Item = &SetObject<'a>> {
        let is_member = move |object: &&SetObject<'a>| object.kind.family() == family;
        self.objects.iter().filter(is_member)
    }

    /// The first object of a kind with a name.
    pub(crate) fn named(&self, kind: CartoKind, name: &str) -> Option<&SetObject<'a>> {
        let position = self.by_name.get(&(kind, name))?;
        self.objects.get(*position)
    }
}
