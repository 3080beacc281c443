//! Types as tables: the properties of a type of Heat as fields of the objects of a service, and the
//! one handler that creates, reads, updates and deletes them.
//!
//! `table.rs` has the form of a table, `mapping.rs` the conversion of values, `collection.rs` the
//! operations, `deletion.rs` deletes, `refusal.rs` what a service cannot change, `names.rs` the ids of
//! names. `relation.rs` and `settings.rs` handle what is no object of a collection.
//!
//! Not here: the tables (`types`).

mod cloud_call;
mod collection;
mod deletion;
mod handler;
mod hooks;
mod mapping;
mod marks;
mod names;
mod refusal;
mod relation;
mod settings;
mod table;

pub(crate) use self::cloud_call::{CloudCall, IdTrust, Patience, pause};
pub(crate) use self::collection::Managed;
pub(crate) use self::handler::{Handler, Table, patiently};
pub(crate) use self::hooks::{ASIDE, Deletion, Hooks, LeftOver, NoHooks, PRIVATE, SpecChange};
pub(crate) use self::mapping::{body_of, json_of, texts_of, wrong_names};
pub(crate) use self::marks::{KEY, Mark, is_mark, mark_of};
pub(crate) use self::names::{NameCache, ObjectKind, Search};
pub(crate) use self::relation::{Related, Relation};
pub(crate) use self::settings::ObjectSetting;
#[cfg(test)]
pub(crate) use self::table::Target;
pub(crate) use self::table::{
    Busy, Form, JsonMap, Parent, Property, State, Unset, Update, each, hook, ignored, list,
    reference, renamed, same, spread,
};
