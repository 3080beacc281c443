//! Diagnostic codes of loading a document. Those of checks are in
//! [`check::codes`](crate::check::codes).

pub use dialect::codes::{MISSING_VARIABLE, UNDECLARED_VARIABLE, UNSUPPORTED_FEATURE};
pub use syntax::DOCUMENT_TOO_LARGE;

diag::codes! {
    UNKNOWN_DIALECT = Error "unknown-dialect": "no dialect recognises this document";
}
