//! How the parts of a document are checked: by their types, or by their values.

/// The way in which a part is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckedBy {
    /// Types are inferred from the text alone and compared with the declared ones.
    Type,
    /// Expressions are evaluated with the values that are known before a deployment, and the
    /// dialect's rules check the results.
    Value,
}

/// The way in which each part of a document is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checks {
    /// Inputs and their defaults.
    pub inputs: CheckedBy,
    /// Named intermediate values. Evaluating a resource, child or export needs these by value, too.
    pub locals: CheckedBy,
    /// Resources, with all their parts.
    pub resources: CheckedBy,
    /// Children, with the values for their inputs.
    pub children: CheckedBy,
    /// Exports.
    pub exports: CheckedBy,
}

impl Checks {
    /// Everything is checked by its type: the native way.
    pub const BY_TYPE: Checks = Checks::all(CheckedBy::Type);
    /// Everything is checked by its value.
    pub const BY_VALUE: Checks = Checks::all(CheckedBy::Value);

    const fn all(by: CheckedBy) -> Checks {
        Checks {
            inputs: by,
            locals: by,
            resources: by,
            children: by,
            exports: by,
        }
    }
}
