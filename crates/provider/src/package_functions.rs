//! The functions that packages offer to `invoke`, by `package/token`.
//!
//! Not here: the functions that expressions call by their own names ([`combine`](crate::combine)).

use std::sync::Arc;

use blueprint::{Name, TypeId};
use expr::{FunctionDef, Purity};

use crate::{Catalog, Catalogs, TypeRef};

impl Catalog {
    /// The function that the provider executes under a token: a function of the catalogue, or one of
    /// its source.
    pub fn package_function(&self, id: &TypeId) -> Option<Arc<FunctionDef>> {
        let own = self
            .functions
            .iter()
            .find(|function| token_of(function).is_some_and(|token| **token == *id.token()));
        match own {
            Some(function) => Some(Arc::new(function.clone())),
            None => self.source.as_ref()?.function(id.name()),
        }
    }

    /// The names of the functions that the provider executes, as `package/token`.
    pub fn package_function_names(&self) -> impl Iterator<Item = Name> {
        let package = self.key();
        let own = self.functions.iter().filter_map(token_of);
        let own = own.map(move |token| Name::from(format!("{package}/{token}")));
        let others = self
            .source
            .iter()
            .flat_map(|source| source.function_names().map(Name::from).collect::<Vec<_>>());
        own.chain(others)
    }
}

/// The provider's own name of a function that it executes.
fn token_of(function: &FunctionDef) -> Option<&Name> {
    match &function.purity {
        Purity::Provider { name, .. } => Some(name),
        _ => None,
    }
}

impl Catalogs {
    /// The function of a package with that name.
    pub fn package_function(&self, id: &TypeId) -> TypeRef<FunctionDef> {
        let Some(catalog) = self.of(id.package_name()) else {
            return TypeRef::UnknownNamespace;
        };
        match (catalog.package_function(id), &catalog.unavailable) {
            (Some(found), _) => TypeRef::Known(found),
            (None, Some(why)) => TypeRef::Unavailable(why.clone()),
            (None, None) => TypeRef::UnknownType,
        }
    }
}
