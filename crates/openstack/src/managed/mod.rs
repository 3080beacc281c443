//! Types as tables: the properties of a type of Heat as fields of the objects of a service, and the
//! one handler that creates, reads, updates and deletes them.
//!
//! `table.rs` has the form of a table, `mapping.rs` the conversion of values, `handler.rs` the
//! operations, `names.rs` the ids of names, `relation.rs` what is no object of a collection.
//!
//! Not here: the tables (`types`).

mod cloud_call;
mod handler;
mod hooks;
mod mapping;
mod marks;
mod names;
mod relation;
mod table;

pub(crate) use self::cloud_call::{CloudCall, pause};
#[cfg(test)]
pub(crate) use self::handler::Table;
pub(crate) use self::handler::{Handler, Managed, patiently};
pub(crate) use self::hooks::{Hooks, SpecChange};
pub(crate) use self::mapping::{JsonMap, body_of, json_of};
pub(crate) use self::marks::Mark;
pub(crate) use self::names::{NameCache, ObjectKind, Search};
pub(crate) use self::relation::{Related, Relation};
#[cfg(test)]
pub(crate) use self::table::Target;
pub(crate) use self::table::{
    Busy, Form, Parent, Property, State, Unset, Update, each, hook, ignored, list, reference,
    renamed, same, spread,
};
