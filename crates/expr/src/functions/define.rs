//! Builders for function definitions.

use blueprint::Type;

use crate::function::{Callback, Example, FunctionDef, Parameter, Purity, Returns, Signature};

/// Creates a pure function that returns `none` if an argument is `none`. The methods change these
/// defaults.
pub(super) fn function(name: &str, docs: &str, returns: Returns) -> FunctionDef {
    FunctionDef {
        name: name.into(),
        parameters: Vec::new(),
        rest: None,
        min_arguments: 0,
        returns,
        returned_function: None,
        takes_index: false,
        named: false,
        none_propagates: true,
        purity: Purity::Pure,
        not_in_specification: false,
        docs: docs.into(),
        examples: Vec::new(),
        native: None,
        rehearsed: None,
    }
}

/// A fixed result type.
pub(super) fn returns(ty: Type) -> Returns {
    Returns::Type(ty)
}

fn parameter(name: &str, ty: Type) -> Parameter {
    Parameter {
        name: name.into(),
        ty,
        optional: false,
        callback: None,
        absent_as_none: false,
    }
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
    /// Adds a required parameter.
    pub(super) fn required(mut self, name: &str, ty: Type) -> FunctionDef {
        self.parameters.push(parameter(name, ty));
        self.min_arguments = self.parameters.len();
        self
    }

    /// Adds an optional parameter. Optional parameters come last.
    pub(super) fn optional(mut self, name: &str, ty: Type) -> FunctionDef {
        self.parameters.push(Parameter {
            optional: true,
            ..parameter(name, ty)
        });
        self
    }

    /// Adds a required parameter for a function that is called with arguments of these types.
    pub(super) fn required_function(
        mut self,
        name: &str,
        parameters: &[Type],
        returns: Type,
        index: bool,
    ) -> FunctionDef {
        let callback = Callback {
            parameters: parameters.to_vec(),
            returns,
            index,
        };
        self.parameters.push(Parameter {
            callback: Some(callback),
            ..parameter(name, Type::Function)
        });
        self.min_arguments = self.parameters.len();
        self
    }

    /// Accepts further arguments. At least `min_arguments` arguments are required in total.
    pub(super) fn variadic(mut self, name: &str, ty: Type, min_arguments: usize) -> FunctionDef {
        self.rest = Some(parameter(name, ty));
        self.min_arguments = min_arguments;
        self
    }

    /// Accepts any number of functions, at least one.
    pub(super) fn variadic_functions(mut self, name: &str) -> FunctionDef {
        let callback = Callback {
            parameters: vec![Type::Any],
            returns: Type::Any,
            index: false,
        };
        self.rest = Some(Parameter {
            callback: Some(callback),
            ..parameter(name, Type::Function)
        });
        self.min_arguments = 1;
        self
    }

    /// Lets the parameters so far, including further arguments, treat an absent element as `none`
    /// (decisions/blueprint#absent-elements).
    pub(super) fn absent_as_none(mut self) -> FunctionDef {
        self.parameters
            .iter_mut()
            .chain(self.rest.iter_mut())
            .for_each(|parameter| parameter.absent_as_none = true);
        self
    }

    /// Sets the signature of the returned function.
    pub(super) fn returned_function(mut self, parameters: &[Type], returns: Type) -> FunctionDef {
        self.returned_function = Some(Signature {
            parameters: parameters.to_vec(),
            returns,
        });
        self
    }

    /// Marks a function that is not one of the 50 functions of the specification.
    pub(super) fn not_in_specification(mut self) -> FunctionDef {
        self.not_in_specification = true;
        self
    }

    /// Marks a function that handles `none` itself.
    pub(super) fn handles_none(mut self) -> FunctionDef {
        self.none_propagates = false;
        self
    }

    /// Sets the source of the result.
    pub(super) fn purity(mut self, purity: Purity) -> FunctionDef {
        self.purity = purity;
        self
    }

    /// Adds an example: a call and its result as JSON text, or `!` and a code.
    pub(super) fn example(mut self, call: &str, expected: &str) -> FunctionDef {
        self.examples.push(Example {
            call: call.into(),
            expected: expected.into(),
        });
        self
    }
}

/// `string` or `array`.
pub(super) fn text_or_list() -> Type {
    Type::union([Type::Text, any_list()])
}
