//! Values on the wire: msgpack of the implied type of a schema.
//!
//! Objects have all of their attributes; an unknown value is an extension; a value of dynamic type is a pair of the
//! type as JSON and the value. Reading is total: any bytes give a value or an error with a path, in bounded depth.
//!
//! What an unknown value is known to be like ([refinements](https://github.com/zclconf/go-cty)) is checked and dropped.

mod decode;
mod encode;

use crate::Path;

pub use decode::{decode, decode_with_types};
pub use encode::{encode, encode_with_types};

/// The extension type of an unknown value of which nothing is known.
const UNKNOWN: i8 = 0;

/// The extension type of an unknown value of which something is known.
const REFINED: i8 = 12;

/// The largest depth of nested values.
const DEEPEST: usize = 128;

/// Why bytes are no value of a type, or a value cannot be written.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{}{problem}", place(path))]
pub struct WireError {
    /// The part that is wrong.
    pub path: Path,
    /// What is wrong there.
    pub problem: WireProblem,
}

/// What is wrong at a place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WireProblem {
    /// The bytes end inside a value.
    #[error("the value is cut off")]
    CutOff,
    /// Bytes follow the value.
    #[error("{0} bytes follow the value")]
    Trailing(usize),
    /// A value of another kind.
    #[error("must be {wanted}, found {found}")]
    Kind {
        /// The kind that the type asks for.
        wanted: &'static str,
        /// What is there.
        found: &'static str,
    },
    /// A text that is not UTF-8.
    #[error("the text is not UTF-8")]
    NotUtf8,
    /// A number that is none, or is too long.
    #[error("the number cannot be read")]
    NotANumber,
    /// An attribute of an object is missing.
    #[error("`{0}` is missing")]
    Missing(blueprint::Name),
    /// An object has an attribute that its type does not have.
    #[error("there is no attribute `{0}`")]
    Extra(blueprint::Name),
    /// A key that occurs twice.
    #[error("`{0}` occurs twice")]
    Twice(blueprint::Name),
    /// A list of another length than its type has.
    #[error("must have {wanted} items, found {found}")]
    Length {
        /// The length of the type.
        wanted: usize,
        /// The length that is there.
        found: usize,
    },
    /// Values are nested too deep.
    #[error("the value is nested too deep")]
    TooDeep,
    /// An extension that is no unknown value.
    #[error("there is no extension {0}")]
    Extension(i8),
    /// The description of an unknown value is malformed.
    #[error("the description of the unknown value is malformed")]
    Refinement,
    /// The type that travels with a value is malformed.
    #[error("the type of the value is malformed")]
    Type,
}

fn place(path: &Path) -> String {
    if path.0.is_empty() { String::new() } else { format!("`{path}`: ") }
}
