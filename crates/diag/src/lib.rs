//! Source files, places in them, and diagnostics.
//!
//! A [`Span`] is a byte range in a file. A [`Diagnostic`] states what is wrong at a place, why, and
//! what to do. All front ends (terminal, JSON, editor, HTTP) render the same `Diagnostic`.
//!
//! Not here: knowledge of documents, dialects or resources; reading files; exit codes.
#![warn(clippy::disallowed_methods, clippy::disallowed_types)]

mod code;
mod diagnostic;
mod draw;
mod file;
mod foreign_word;
mod native_message;
mod nearest;
mod text_map;
mod visible;

pub use code::{Code, Severity};
pub use diagnostic::{Diagnostic, Diagnostics, Fix, Label, Trail};
pub use draw::{Colors, draw};
pub use file::{File, FileId, Files, Position, Span, Spanned};
pub use foreign_word::{Counterpart, FOREIGN_COMMANDS, FOREIGN_FLAGS, ForeignWord, foreign_word};
pub use native_message::NativeMessage;
pub use nearest::{help_for_unknown, nearest};
pub use text_map::{TextMap, find_substitution};
pub use visible::{is_hidden, visible, visible_json, visible_line};
