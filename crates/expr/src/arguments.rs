//! The arguments of a call of a provider's function.

use std::sync::Arc;

use blueprint::{Map, Name, Value};
use diag::Spanned;

/// The arguments of a provider's function. Its definition says which form it takes
/// ([`FunctionDef::named`](crate::FunctionDef::named)).
#[derive(Clone, Debug, PartialEq)]
pub enum Arguments {
    /// By position, in the order of the parameters.
    Positional(Vec<Value>),
    /// By the names of the parameters. An argument that is not given is missing.
    Named(Arc<Map>),
}

impl Arguments {
    /// Arguments by name.
    pub fn named<K: Into<Name>>(entries: impl IntoIterator<Item = (K, Value)>) -> Arguments {
        let entries = entries
            .into_iter()
            .map(|(name, value)| (name.into(), value));
        Arguments::Named(Arc::new(entries.collect()))
    }

    /// All values, in order.
    pub fn values(&self) -> impl Iterator<Item = &Value> {
        let (items, entries) = match self {
            Arguments::Positional(items) => (items.as_slice(), None),
            Arguments::Named(entries) => (&[][..], Some(entries)),
        };
        let named = entries.into_iter().flat_map(|entries| entries.values());
        items.iter().chain(named)
    }

    /// The arguments by position; `None` if they are given by name.
    pub fn positional(&self) -> Option<&[Value]> {
        match self {
            Arguments::Positional(items) => Some(items),
            Arguments::Named(_) => None,
        }
    }

    /// The argument with a name; `None` if it is missing or the arguments are given by position.
    pub fn get(&self, name: &str) -> Option<&Value> {
        match self {
            Arguments::Positional(_) => None,
            Arguments::Named(entries) => entries.get(name),
        }
    }

    /// Whether an argument is not fully known.
    pub fn has_unknown(&self) -> bool {
        self.values().any(Value::has_unknown)
    }

    /// Whether an argument contains a secret.
    pub fn has_secret(&self) -> bool {
        self.values().any(Value::has_secret)
    }

    /// The arguments as one value without secret marks: a list or a map.
    pub fn revealed(&self) -> Value {
        match self {
            Arguments::Positional(items) => Value::list(items.iter().map(Value::revealed)),
            Arguments::Named(entries) => Value::Map(entries.clone()).revealed(),
        }
    }
}

impl From<Vec<Value>> for Arguments {
    fn from(items: Vec<Value>) -> Arguments {
        Arguments::Positional(items)
    }
}

/// The configuration of the provider that a call uses.
#[derive(Clone, Debug, PartialEq)]
pub enum CallConfiguration {
    /// The default configuration.
    Default,
    /// The configuration that the document inherits for the namespace, or else the default one.
    Inherited,
    /// The configuration that this resource of the document declares.
    Declared(Spanned<Name>),
}
