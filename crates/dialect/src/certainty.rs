//! How sure a dialect is that a document is one of its own: the answers of
//! [`Dialect::recognise`](crate::Dialect::recognise) from which conclusions are drawn.

/// A folder of the dialect that the dialect refuses, with the reason why. A search for documents passes
/// over it.
pub const REFUSED: u8 = 10;

/// A document that is certainly of the dialect, by its version or its name. A folder of this certainty
/// is one if no file in it is a document of another dialect; with less, one of its files must be a
/// document of the dialect, too.
pub const NAMED: u8 = 60;

/// A document that can be of no other dialect.
pub const SURE: u8 = 100;
