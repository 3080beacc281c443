//! The providers at hand, each made when it is first needed.

use std::fmt;
use std::sync::{Arc, LazyLock};

use blueprint::{IndexMap, Name};

use crate::Provider;

/// Providers by namespace.
#[derive(Clone, Default)]
pub struct Providers {
    by_namespace: IndexMap<Name, Arc<LazyProvider>>,
}

type Make = Box<dyn FnOnce() -> Arc<dyn Provider> + Send>;
type LazyProvider = LazyLock<Arc<dyn Provider>, Make>;

impl Providers {
    /// No provider.
    pub fn new() -> Providers {
        Providers::default()
    }

    /// Sets the provider of these namespaces. It is made when one of them is first needed.
    pub fn insert<F>(&mut self, namespaces: impl IntoIterator<Item = Name>, make: F)
    where
        F: FnOnce() -> Arc<dyn Provider> + Send + 'static,
    {
        let provider = Arc::new(LazyProvider::new(Box::new(make)));
        self.by_namespace.extend(namespaces.into_iter().map(|namespace| (namespace, provider.clone())));
    }

    /// Takes the provider of a namespace over from another set. It is made once for both.
    pub fn share(&mut self, namespace: &Name, from: &Providers) {
        if let Some(provider) = from.by_namespace.get(namespace) {
            self.by_namespace.insert(namespace.clone(), provider.clone());
        }
    }

    /// The provider of a namespace.
    pub fn get(&self, namespace: &str) -> Option<&Arc<dyn Provider>> {
        self.by_namespace.get(namespace).map(|provider| &***provider)
    }

    /// Whether there is a provider of this namespace. None is made.
    pub fn contains(&self, namespace: &str) -> bool {
        self.by_namespace.contains_key(namespace)
    }
}

impl FromIterator<(Name, Arc<dyn Provider>)> for Providers {
    fn from_iter<I: IntoIterator<Item = (Name, Arc<dyn Provider>)>>(providers: I) -> Providers {
        let mut all = Providers::new();
        for (namespace, provider) in providers {
            all.insert([namespace], move || provider);
        }
        all
    }
}

impl fmt::Debug for Providers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.by_namespace.keys()).finish()
    }
}
