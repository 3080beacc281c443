//! A whole [`Blueprint`] outside the core: what transforms take and give (reference 4.2).
//!
//! One JSON object: `format`, `blueprint`, and `resources` as a list of pairs of name and resource, in order. The list
//! can say that one name was given to two resources, which a map could not. Everything else is written as the fields of
//! [`Blueprint`] are called, in camel case; `at` is a place, three numbers that mean something only to the engine. Who
//! makes one element from another gives it the places of that one.
//!
//! Not here: which dialect it was written in, which the engine knows.

use serde::{Deserialize, Serialize};

use crate::{Blueprint, IndexMap, Name, Resource};

/// A blueprint on its way through a transform.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Document {
    /// The version of this form: [`VERSION`](super::VERSION).
    pub format: u32,
    /// Everything but the resources.
    pub blueprint: Blueprint,
    /// The resources, in order.
    pub resources: Vec<(Name, Resource)>,
}

/// A text is no blueprint in this form.
#[derive(Debug)]
pub struct WireError(
    /// What is wrong with it.
    pub String,
);

impl std::fmt::Display for WireError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for WireError {}

impl Document {
    /// The form of a blueprint.
    pub fn of(mut blueprint: Blueprint) -> Document {
        let resources = std::mem::take(&mut blueprint.resources).into_iter().collect();
        Document { format: super::VERSION, blueprint, resources }
    }

    /// The blueprint, and the positions of resources whose names are taken by earlier ones; those are left out.
    pub fn into_blueprint(self) -> (Blueprint, Vec<(usize, Name)>) {
        let Document { mut blueprint, resources, .. } = self;
        let mut named = IndexMap::with_capacity_and_hasher(resources.len(), Default::default());
        let mut twice = Vec::new();
        for (at, (name, resource)) in resources.into_iter().enumerate() {
            match named.entry(name) {
                indexmap::map::Entry::Occupied(taken) => twice.push((at, taken.key().clone())),
                indexmap::map::Entry::Vacant(place) => drop(place.insert(resource)),
            }
        }
        blueprint.resources = named;
        (blueprint, twice)
    }

    /// The form as JSON text. `Err` if something in it cannot be written, such as a function as a value.
    pub fn to_json(&self) -> Result<String, WireError> {
        serde_json::to_string(self).map_err(|error| WireError(error.to_string()))
    }

    /// Reads the form. `Err` if the text is no such form, of another version, or nested more than some thirty deep.
    pub fn from_json(text: &str) -> Result<Document, WireError> {
        let document: Document = serde_json::from_str(text).map_err(|error| WireError(error.to_string()))?;
        if document.format != super::VERSION {
            return Err(WireError(format!("format {} is not known", document.format)));
        }
        Ok(document)
    }
}
