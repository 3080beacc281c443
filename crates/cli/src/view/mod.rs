//! Text output for people: plans, events, tables, values.
//!
//! A view makes text from data; `terminal` writes it. Everything is readable without colour.

pub(crate) mod changes;
pub(crate) mod drawing;
pub(crate) mod events;
mod inline;
pub(crate) mod label;
pub(crate) mod lines;
pub(crate) mod live;
#[cfg(feature = "kubernetes")]
pub(crate) mod manifests;
pub(crate) mod markdown;
pub(crate) mod plan;
pub(crate) mod report;
pub(crate) mod stops;
pub(crate) mod table;
pub(crate) mod values;
pub(crate) mod wrap;
