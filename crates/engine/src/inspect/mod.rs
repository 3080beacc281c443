//! The results of read-only requests: instances, details of an instance, its history; types,
//! functions, codes and names.
//!
//! Not here: their JSON forms (`json`); tables and texts for people (the front end).

mod codes;
mod exports;
mod functions;
mod history;
mod instances;
mod names;
mod schema;
mod show;
mod types;
mod waiting;

pub use self::codes::{diagnostic_code, diagnostic_codes};
pub use self::exports::Exports;
pub use self::functions::Functions;
pub use self::history::{CallEnd, ChosenOperation, History, JournalCall, OperationDetails};
pub use self::instances::{Instances, is_destroyed, status};
pub use self::names::Names;
pub use self::schema::SchemaTypes;
pub use self::show::{
    ChildDetails, Details, InstanceDetails, PendingDetails, ResourceDetails, computed, is_link,
    link_failed_at,
};
pub use self::types::{TypeDetails, TypeEntry, TypeList, Types, filter_words, inner_schema};
pub use self::waiting::{Pending, Waiting};
