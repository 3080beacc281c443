//! Writing a definition down in a line or two.

use blueprint::Type;

use crate::function::{Callback, Example, FunctionDef, Parameter, Purity, Returns, Signature};

/// A pure function that gives `none` as soon as an argument is `none`; the methods say what differs.
pub(super) fn function(name: &str, docs: &str, returns: Returns) -> FunctionDef {
    FunctionDef {
        name: name.into(),
        parameters: Vec::new(),
        rest: None,
        least: 0,
        returns,
        gives: None,
        takes_index: false,
        named: false,
        spreads_none: true,
        purity: Purity::Pure,
        later: false,
        docs: docs.into(),
        examples: Vec::new(),
        native: None,
    }
}

/// A result that is always of one type.
pub(super) fn gives(ty: Type) -> Returns {
    Returns::Type(ty)
}

fn parameter(name: &str, ty: Type) -> Parameter {
    Parameter { name: name.into(), ty, optional: false, callback: None, guards: false }
}

/// `string` or `binary`.
pub(super) fn text_or_bytes() -> Type {
    Type::union([Type::Text, Type::Bytes])
}

/// `array` of anything.
pub(super) fn any_list() -> Type {
    Type::list(Type::Any)
}

/// `map` of anything.
pub(super) fn any_map() -> Type {
    Type::map(Type::Any)
}

impl FunctionDef {
    pub(super) fn takes(mut self, name: &str, ty: Type) -> FunctionDef {
        self.parameters.push(parameter(name, ty));
        self.least = self.parameters.len();
        self
    }

    pub(super) fn may_take(mut self, name: &str, ty: Type) -> FunctionDef {
        self.parameters.push(Parameter { optional: true, ..parameter(name, ty) });
        self
    }

    /// A parameter for a function, called with arguments of these types.
    pub(super) fn takes_function(mut self, name: &str, parameters: &[Type], returns: Type, index: bool) -> FunctionDef {
        let callback = Callback { parameters: parameters.to_vec(), returns, index };
        self.parameters.push(Parameter { callback: Some(callback), ..parameter(name, Type::Function) });
        self.least = self.parameters.len();
        self
    }

    /// Any number of further arguments, at least `least` in all.
    pub(super) fn and_more(mut self, name: &str, ty: Type, least: usize) -> FunctionDef {
        self.rest = Some(parameter(name, ty));
        self.least = least;
        self
    }

    /// Any number of functions, at least one.
    pub(super) fn and_functions(mut self, name: &str) -> FunctionDef {
        let callback = Callback { parameters: vec![Type::Any], returns: Type::Any, index: false };
        self.rest = Some(Parameter { callback: Some(callback), ..parameter(name, Type::Function) });
        self.least = 1;
        self
    }

    /// The parameters so far, further ones included, may read something absent (decision S31).
    pub(super) fn guarding(mut self) -> FunctionDef {
        self.parameters.iter_mut().chain(self.rest.iter_mut()).for_each(|parameter| parameter.guards = true);
        self
    }

    /// The result is a function that is called like this.
    pub(super) fn gives_function(mut self, parameters: &[Type], returns: Type) -> FunctionDef {
        self.gives = Some(Signature { parameters: parameters.to_vec(), returns });
        self
    }

    pub(super) fn later(mut self) -> FunctionDef {
        self.later = true;
        self
    }

    /// Looks at `none` itself.
    pub(super) fn sees_none(mut self) -> FunctionDef {
        self.spreads_none = false;
        self
    }

    pub(super) fn from(mut self, purity: Purity) -> FunctionDef {
        self.purity = purity;
        self
    }

    /// A call and its result as JSON text, or `!` and a code.
    pub(super) fn example(mut self, call: &str, gives: &str) -> FunctionDef {
        self.examples.push(Example { call: call.into(), gives: gives.into() });
        self
    }
}

/// `string` or `array`.
pub(super) fn text_or_list() -> Type {
    Type::union([Type::Text, any_list()])
}
