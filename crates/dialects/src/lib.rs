//! One folder per document language: recognise a tree, lower it to a [`Blueprint`](blueprint::Blueprint), bring its
//! sections and keys as data.
//!
//! A dialect holds no state and awaits nothing: what it needs beyond the tree it says with [`Dialect::wants`].
//!
//! Not here: whether names, types and fields fit (`engine::check`); evaluating anything (`expr`).
#![warn(clippy::disallowed_methods, clippy::disallowed_types)]

pub mod blueprint;
pub mod codes;
mod dialect;

pub use dialect::{Dialect, Document, Form, Key, Lowered, Offer, Section, Shape, dialect_of, dialects};
