//! Scopes: variables, and functions that an expression defines.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use blueprint::Name;

use crate::model::{Datum, Lambda, LambdaBody, Scope};
use crate::tree::Variable;

impl Lambda {
    pub(crate) fn depth(&self) -> u32 {
        match self {
            Lambda::Written(_, scope) => scope.depth() + 1,
            Lambda::Always(value) => value.depth() + 1,
        }
    }
}

impl Scope {
    /// Creates the outermost scope.
    pub(crate) fn root() -> Rc<Scope> {
        Scope::new(None, Vec::new())
    }

    /// Creates a nested scope with variables.
    pub(crate) fn inside(parent: &Rc<Scope>, variables: Vec<(Variable, Datum)>) -> Rc<Scope> {
        Scope::new(Some(parent.clone()), variables)
    }

    fn new(parent: Option<Rc<Scope>>, variables: Vec<(Variable, Datum)>) -> Rc<Scope> {
        let around = parent.as_ref().map_or(0, |parent| parent.depth());
        let held = variables
            .iter()
            .map(|(_, value)| value.depth())
            .max()
            .unwrap_or(0);
        Rc::new(Scope {
            defines: Cell::new(parent.as_ref().is_some_and(|parent| parent.defines.get())),
            depth: Cell::new(around.max(held) + 1),
            parent,
            variables: RefCell::new(variables),
            functions: RefCell::default(),
        })
    }

    /// The levels of nesting.
    pub(crate) fn depth(&self) -> u32 {
        self.depth.get()
    }

    /// The value of a variable; null if it is not set.
    pub(crate) fn get(&self, variable: &Variable) -> Datum {
        let mut place = Some(self);
        while let Some(scope) = place {
            if let Some((_, value)) = scope
                .variables
                .borrow()
                .iter()
                .rev()
                .find(|(name, _)| name == variable)
            {
                return value.clone();
            }
            place = scope.parent.as_deref();
        }
        Datum::Null
    }

    /// Sets a variable in this scope.
    pub(crate) fn set(&self, variable: Variable, value: Datum) {
        self.depth.set(self.depth.get().max(value.depth() + 1));
        let mut variables = self.variables.borrow_mut();
        match variables.iter_mut().find(|(name, _)| *name == variable) {
            Some((_, held)) => *held = value,
            None => variables.push((variable, value)),
        }
    }

    /// Defines a function in this scope.
    pub(crate) fn define(&self, name: Name, function: LambdaBody) {
        self.defines.set(true);
        if let LambdaBody::Always(value) = &function {
            self.depth.set(self.depth.get().max(value.depth() + 1));
        }
        self.functions.borrow_mut().push((name, function));
    }

    /// Whether this scope or an enclosing one may define functions.
    pub(crate) fn defines(&self) -> bool {
        self.defines.get()
    }

    /// Returns the function with a name that this scope or an enclosing one defines, with the
    /// defining scope.
    pub(crate) fn defined(self: &Rc<Scope>, name: &str) -> Option<(Rc<Scope>, LambdaBody)> {
        let mut place = Some(self);
        while let Some(scope) = place.filter(|scope| scope.defines.get()) {
            if let Some((_, body)) = scope
                .functions
                .borrow()
                .iter()
                .find(|(known, _)| **known == *name)
            {
                return Some((scope.clone(), body.clone()));
            }
            place = scope.parent.as_ref();
        }
        None
    }
}
