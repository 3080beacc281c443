//! A large part that most elements leave as it is by default.

use std::ops::{Deref, DerefMut};

use crate::{Lifecycle, ResourceMetadata};

/// A part that most elements do not write: a pointer, and nothing behind it where it is as by default.
///
/// A document may declare ten thousand resources of which none says anything about its life.
#[derive(Clone, Debug, Default)]
pub struct Seldom<T>(Option<Box<T>>);

/// What a part is where nothing is written.
pub trait Usual: Default + 'static {
    /// The default, shared by all.
    fn usual() -> &'static Self;
}

impl<T: Usual> Deref for Seldom<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.0.as_deref().unwrap_or_else(|| T::usual())
    }
}

impl<T: Usual> DerefMut for Seldom<T> {
    fn deref_mut(&mut self) -> &mut T {
        self.0.get_or_insert_default()
    }
}

impl<T> From<T> for Seldom<T> {
    fn from(part: T) -> Seldom<T> {
        Seldom(Some(Box::new(part)))
    }
}

/// Written as the part itself, whoever reads it need not know that it is seldom.
impl<T: Usual + serde::Serialize> serde::Serialize for Seldom<T> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (**self).serialize(serializer)
    }
}

impl<'de, T: serde::Deserialize<'de>> serde::Deserialize<'de> for Seldom<T> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Seldom<T>, D::Error> {
        T::deserialize(deserializer).map(Seldom::from)
    }
}

impl Usual for Lifecycle {
    fn usual() -> &'static Lifecycle {
        static USUAL: Lifecycle = Lifecycle::USUAL;
        &USUAL
    }
}

impl Usual for ResourceMetadata {
    fn usual() -> &'static ResourceMetadata {
        static USUAL: ResourceMetadata = ResourceMetadata::NONE;
        &USUAL
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_written_is_as_by_default_until_it_is() {
        let mut lifecycle = Seldom::<Lifecycle>::default();
        assert_eq!(*lifecycle, Lifecycle::default());
        assert!(lifecycle.0.is_none());
        lifecycle.protect = true;
        assert!(lifecycle.protect && !lifecycle.retain);
        assert_eq!(size_of::<Seldom<Lifecycle>>(), size_of::<usize>());
    }
}
