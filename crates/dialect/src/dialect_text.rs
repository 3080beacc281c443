//! A text that a dialect may parse itself, and where it is from.

use diag::FileId;
use syntax::Format;

/// A text that a dialect may parse itself.
#[derive(Clone, Copy, Debug)]
pub struct DialectText<'a> {
    /// The file.
    pub file: FileId,
    /// The text.
    pub text: &'a str,
    /// The format that the name of the file says.
    pub format: Format,
    /// Where the text is from.
    pub origin: TextOrigin,
}

/// Where a text is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextOrigin {
    /// A file with a document.
    File,
    /// A document that is written out in another one.
    WrittenOut,
    /// A file that is given together with the root.
    Companion,
}
