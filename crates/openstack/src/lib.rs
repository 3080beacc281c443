//! Manages OpenStack clouds: the contract of providers on the APIs of their services.
//!
//! ```text
//! Provider ──configure──> Session ──first call that needs a cloud──> Cloud (token, catalogue)
//!                            │                                         │
//!              type ──> Handler: a table (Managed) or code             │
//!                            └── create, read, update, delete ──> ServiceRequest
//! ```
//!
//! The types are those of OpenStack Heat, so that its templates work as they are written. Most are
//! tables: a `Managed` maps the properties of a type to the fields of a service's objects, and one
//! handler carries all of them out. `types/` has the tables, one file for each service.
//!
//! `catalog/` has the facts about all types, offline; `heat/` the types that need no cloud;
//! `client/` what talks to the services; `heat_stacks` reads a stack of real Heat, which is taken
//! over.
//!
//! Not here: templates (`hot`), the order and repetition of calls (`apply`), records.

pub mod catalog;
mod client;
mod data;
mod functions;
pub mod heat;
mod heat_stacks;
mod managed;
mod object_store;
pub mod packed;
mod provider;
mod provider_types;
mod session;
mod types;

pub use self::functions::STACK_FUNCTION;
pub use self::provider::{OpenStackProvider, provider};
pub use self::provider_types::{NAME, NAMESPACES};
