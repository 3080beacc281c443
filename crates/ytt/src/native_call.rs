//! The arguments of a function of the evaluator.

use blueprint::Name;

use crate::halt::{Evaluated, fail};
use crate::value::StarValue;

/// A call of a function of the evaluator.
pub(crate) struct NativeCall {
    pub(crate) name: &'static str,
    /// What the function was bound to: of a method the value before the dot.
    pub(crate) bound: Vec<StarValue>,
    pub(crate) items: Vec<StarValue>,
    pub(crate) named: Vec<(Name, StarValue)>,
}

impl NativeCall {
    /// All values of the call.
    pub(crate) fn values(&self) -> impl Iterator<Item = &StarValue> {
        let named = self.named.iter().map(|(_, value)| value);
        self.bound.iter().chain(&self.items).chain(named)
    }

    /// All values of the call, to change them.
    pub(crate) fn values_mut(&mut self) -> impl Iterator<Item = &mut StarValue> {
        let named = self.named.iter_mut().map(|(_, value)| value);
        self.bound.iter_mut().chain(&mut self.items).chain(named)
    }

    /// The name in messages: of a method without the type.
    fn short_name(&self) -> &str {
        match self.name.split_once('.') {
            Some(("string" | "list" | "dict" | "set", method)) => method,
            _ => self.name,
        }
    }

    /// Checks the number of positional arguments, and that there are no others.
    ///
    /// # Errors
    /// If it does not fit.
    pub(crate) fn positional(&self, least: usize, most: usize) -> Evaluated<()> {
        let name = self.short_name();
        if !self.named.is_empty() {
            return fail(format!("{name}: unexpected keyword arguments"));
        }
        let count = self.items.len();
        if count < least {
            let bound = if least < most { "at least " } else { "" };
            return fail(format!(
                "{name}: got {count} arguments, want {bound}{least}"
            ));
        }
        if count > most {
            let bound = if least < most { "at most " } else { "" };
            return fail(format!("{name}: got {count} arguments, want {bound}{most}"));
        }
        Ok(())
    }

    /// Checks that there is exactly one positional argument, for functions of modules.
    ///
    /// # Errors
    /// If there are more or none.
    pub(crate) fn exactly(&self, count: usize) -> Evaluated<()> {
        match (self.items.len() == count, count) {
            (true, _) => Ok(()),
            (false, 0) => fail("expected no argument"),
            (false, 1) => fail("expected exactly one argument"),
            (false, 2) => fail("expected exactly two arguments"),
            (false, count) => fail(format!("expected exactly {count} arguments")),
        }
    }

    /// A positional argument; `None` if there are fewer.
    pub(crate) fn get(&self, at: usize) -> Option<&StarValue> {
        self.items.get(at)
    }

    /// A positional argument, or `None` of the language.
    pub(crate) fn item(&self, at: usize) -> &StarValue {
        self.items.get(at).unwrap_or(&StarValue::None)
    }

    /// The value before the dot.
    pub(crate) fn receiver(&self) -> &StarValue {
        self.bound.first().unwrap_or(&StarValue::None)
    }

    /// A named argument.
    pub(crate) fn named(&self, name: &str) -> Option<&StarValue> {
        let found = self.named.iter().find(|(own, _)| **own == *name);
        found.map(|(_, value)| value)
    }

    /// A positional or named argument.
    pub(crate) fn either(&self, at: usize, name: &str) -> Option<&StarValue> {
        self.get(at).or_else(|| self.named(name))
    }

    /// Checks the names of named arguments.
    ///
    /// # Errors
    /// If one is not among those.
    pub(crate) fn only_named(&self, names: &[&str]) -> Evaluated<()> {
        match self.named.iter().find(|(own, _)| !names.contains(&&**own)) {
            Some((name, _)) => fail(format!("invalid argument name: {name}")),
            None => Ok(()),
        }
    }

    /// A positional argument that is a text, for functions of modules.
    ///
    /// # Errors
    /// If it is something else.
    pub(crate) fn text(&self, at: usize) -> Evaluated<&Name> {
        let value = self.item(at);
        match value.as_text() {
            Some(text) => Ok(text),
            None => fail(format!("expected a string, but was {}", value.type_name())),
        }
    }

    /// A named argument that is true or false.
    ///
    /// # Errors
    /// If it is something else.
    pub(crate) fn flag(&self, name: &str, usual: bool) -> Evaluated<bool> {
        match self.named(name) {
            None => Ok(usual),
            Some(value) => as_bool(value),
        }
    }
}

/// A value that must be true or false.
///
/// # Errors
/// If it is something else.
pub(crate) fn as_bool(value: &StarValue) -> Evaluated<bool> {
    match value.open() {
        StarValue::Bool(flag) => Ok(*flag),
        other => fail(format!(
            "expected starlark.Bool, but was {}",
            other.type_name()
        )),
    }
}
