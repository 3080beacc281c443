//! Values on the wire: msgpack of the implied type of a schema.
//!
//! Objects have all of their attributes; an unknown value is an extension; a value of dynamic type
//! is a pair of the type as JSON and the value. Any bytes can be read: the result is a value or an
//! error with a path, in bounded depth.
//!
//! The facts about an unknown value ([refinements](https://github.com/zclconf/go-cty)) are checked
//! and dropped.

mod decode;
mod encode;

use crate::Path;

pub use decode::{decode, decode_with_types};
pub use encode::{encode, encode_with_types};

/// The extension type of an unknown value without refinements.
const UNKNOWN: i8 = 0;

/// The extension type of an unknown value with refinements.
const REFINED: i8 = 12;

/// The maximum nesting depth of values.
const DEEPEST: usize = 128;

/// The reason why bytes are not a value of a type, or a value cannot be written.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{}{problem}", place(path))]
pub struct WireError {
    /// The part at fault.
    pub path: Path,
    /// The problem of the part.
    pub problem: WireProblem,
}

/// The problem at a place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WireProblem {
    /// The bytes end inside a value.
    #[error("the value is cut off")]
    CutOff,
    /// Bytes follow the value.
    #[error("{0} bytes follow the value")]
    Trailing(usize),
    /// A value has the wrong kind.
    #[error("must be {wanted}, found {found}")]
    Kind {
        /// The expected kind.
        wanted: &'static str,
        /// The kind that was found.
        found: &'static str,
    },
    /// A text is not UTF-8.
    #[error("the text is not UTF-8")]
    NotUtf8,
    /// A number is invalid or too long.
    #[error("the number cannot be read")]
    NotANumber,
    /// An attribute of an object is missing.
    #[error("`{0}` is missing")]
    Missing(blueprint::Name),
    /// An object has an attribute that its type does not have.
    #[error("there is no attribute `{0}`")]
    Extra(blueprint::Name),
    /// A key occurs twice.
    #[error("`{0}` occurs twice")]
    Twice(blueprint::Name),
    /// A list has the wrong length.
    #[error("must have {wanted} items, found {found}")]
    Length {
        /// The expected length.
        wanted: usize,
        /// The length that was found.
        found: usize,
    },
    /// Values are nested too deeply.
    #[error("the value is nested too deep")]
    TooDeep,
    /// An extension is not an unknown value.
    #[error("there is no extension {0}")]
    Extension(i8),
    /// The refinements of an unknown value are malformed.
    #[error("the description of the unknown value is malformed")]
    Refinement,
    /// The type that is sent with a value is malformed.
    #[error("the type of the value is malformed")]
    Type,
}

fn place(path: &Path) -> String {
    if path.0.is_empty() {
        String::new()
    } else {
        format!("`{path}`: ")
    }
}
