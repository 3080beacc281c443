//! One folder per document language: recognise a tree, lower it to a [`Blueprint`](blueprint::Blueprint), bring its
//! sections and keys as data.
//!
//! A dialect holds no state and awaits nothing: what it needs beyond the tree it says with [`Dialect::wants`].
//!
//! Not here: whether names, types and fields fit (`engine::check`); evaluating anything (`expr`).
#![warn(clippy::disallowed_methods, clippy::disallowed_types)]

pub mod blueprint;
pub mod codes;
mod conventions;
mod dialect;
mod document;
mod expansion;
pub mod hot;
mod list;
mod mistake;
mod settings;
mod shape;
mod surroundings;

pub use conventions::{Conventions, Given, SpecAt};
pub use dialect::{Dialect, Explained};
pub use document::{Document, Lowered};
pub use expansion::{Evaluating, Expanded, Expanding, UNFINISHED};
pub use list::{codes as all_codes, conventions, dialect, dialect_of, dialects, is_document, surround};
pub use mistake::{Mistake, Part, Place};
pub use settings::{Limits, Room, Setting, Settings};
pub use shape::{Detail, Form, Key, Offer, Section, Shape};
pub use surroundings::{Beside, Own, Surrounded, Surroundings, Types};

/// Adds to the functions of the native dialect and of providers those of all other dialects, as they are set.
pub fn insert_functions(table: &mut expr::FunctionTable, settings: &Settings) {
    hot::insert_functions(table, settings);
}
