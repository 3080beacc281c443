//! How the parts of a document are checked: by their types, or by their values.

/// How a part is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckedBy {
    /// Types are inferred from the text alone and compared with the declared ones.
    Type,
    /// Expressions are evaluated as far as they are known before a deployment, and the dialect's rules check the
    /// values.
    Value,
}

/// How each part of a document is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checks {
    /// Inputs and their defaults.
    pub inputs: CheckedBy,
    /// Named intermediate values. Evaluating a resource, child or export needs these by value, too.
    pub locals: CheckedBy,
    /// Resources, with everything that is written in them.
    pub resources: CheckedBy,
    /// Children, with what they are given for their inputs.
    pub children: CheckedBy,
    /// Exports.
    pub exports: CheckedBy,
}

impl Checks {
    /// Everything by its type: the native way.
    pub const BY_TYPE: Checks = Checks::all(CheckedBy::Type);
    /// Everything by its value.
    pub const BY_VALUE: Checks = Checks::all(CheckedBy::Value);

    const fn all(by: CheckedBy) -> Checks {
        Checks { inputs: by, locals: by, resources: by, children: by, exports: by }
    }
}
