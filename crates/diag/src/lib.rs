//! Files, places in them, and the one form of "you wrote something wrong".
//!
//! A [`Span`] is a byte range in a file and is kept from the first line of text on; a [`Diagnostic`] says what is
//! wrong there, why, and what to do. Every face (terminal, JSON, editor, HTTP) draws the same `Diagnostic`.
//!
//! Not here: any knowledge of documents, dialects or resources; reading files; deciding exit codes.
#![warn(clippy::disallowed_methods, clippy::disallowed_types)]

mod code;
mod diagnostic;
mod draw;
mod file;
mod nearest;
mod text_map;
mod visible;
mod words;

pub use code::{Code, Severity};
pub use diagnostic::{Diagnostic, Diagnostics, Fix, Label, Trail};
pub use draw::{Colors, draw};
pub use file::{File, FileId, Files, Position, Span, Spanned};
pub use nearest::nearest;
pub use text_map::{TextMap, opening};
pub use visible::{is_hidden, visible, visible_json, visible_line};
pub use words::Words;
