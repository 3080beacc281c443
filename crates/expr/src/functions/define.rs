//! Builders for function definitions.

use blueprint::Type;

use crate::function::{Callback, Example, FunctionDef, Parameter, Purity, Returns, Signature};

/// A pure function that returns `none` if an argument is `none`. The methods change these defaults.
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

/// A fixed result type.
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

/// `array` with any items.
pub(super) fn any_list() -> Type {
    Type::list(Type::Any)
}

/// `map` with any values.
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

    /// Adds a parameter for a function that is called with arguments of these types.
    pub(super) fn takes_function(mut self, name: &str, parameters: &[Type], returns: Type, index: bool) -> FunctionDef {
        let callback = Callback { parameters: parameters.to_vec(), returns, index };
        self.parameters.push(Parameter { callback: Some(callback), ..parameter(name, Type::Function) });
        self.least = self.parameters.len();
        self
    }

    /// Accepts further arguments. At least `least` arguments are required in total.
    pub(super) fn and_more(mut self, name: &str, ty: Type, least: usize) -> FunctionDef {
        self.rest = Some(parameter(name, ty));
        self.least = least;
        self
    }

    /// Accepts any number of functions, at least one.
    pub(super) fn and_functions(mut self, name: &str) -> FunctionDef {
        let callback = Callback { parameters: vec![Type::Any], returns: Type::Any, index: false };
        self.rest = Some(Parameter { callback: Some(callback), ..parameter(name, Type::Function) });
        self.least = 1;
        self
    }

    /// Lets the parameters so far, including further arguments, read absent elements (decision S31).
    pub(super) fn guarding(mut self) -> FunctionDef {
        self.parameters.iter_mut().chain(self.rest.iter_mut()).for_each(|parameter| parameter.guards = true);
        self
    }

    /// The result is a function with this signature.
    pub(super) fn gives_function(mut self, parameters: &[Type], returns: Type) -> FunctionDef {
        self.gives = Some(Signature { parameters: parameters.to_vec(), returns });
        self
    }

    pub(super) fn later(mut self) -> FunctionDef {
        self.later = true;
        self
    }

    /// The function handles `none` itself.
    pub(super) fn sees_none(mut self) -> FunctionDef {
        self.spreads_none = false;
        self
    }

    pub(super) fn from(mut self, purity: Purity) -> FunctionDef {
        self.purity = purity;
        self
    }

    /// Adds an example: a call and its result as JSON text, or `!` and a code.
    pub(super) fn example(mut self, call: &str, gives: &str) -> FunctionDef {
        self.examples.push(Example { call: call.into(), gives: gives.into() });
        self
    }
}

/// `string` or `array`.
pub(super) fn text_or_list() -> Type {
    Type::union([Type::Text, any_list()])
}
