//! One folder per document language: recognise a tree, lower it to a [`Blueprint`](::blueprint::Blueprint), bring its
//! sections and keys as data.
//!
//! A dialect holds no state and awaits nothing: what it needs beyond the tree it returns from [`Dialect::wants`]. What
//! differs between dialects after lowering it states as [`DialectRules`].
//!
//! Not here: whether names, types and fields fit (`engine::check`); evaluating anything (`expr`).
#![warn(clippy::disallowed_methods, clippy::disallowed_types)]

pub mod blueprint;
pub mod codes;
mod dialect;
mod document;
mod expansion;
mod explained;
pub mod hot;
mod list;
mod load_context;
mod mistake;
pub mod rules;
mod settings;
mod shape;
mod wanted;

pub use dialect::Dialect;
pub use document::{Document, Lowered};
pub use expansion::{Evaluating, Expanded, Expanding, UNFINISHED};
pub use explained::Explained;
pub use list::Dialects;
pub use load_context::{Companion, DialectContext, LoadContext, LoadedCompanions, TypeLookup};
pub use mistake::{ExpressionPart, ExpressionPlace, Mistake};
pub use rules::{Absence, CheckedBy, Checks, DialectRules, GivenValue, SpecAt};
pub use settings::{DialectLimits, DialectSetting, DialectSettings, DocumentLimits, DocumentSettings};
pub use shape::{Detail, KeyForm, Offer, Section, SectionKey, Shape};
pub use wanted::{Answer, Answers, Wanted};
