//! Hosts Terraform's provider plugins: the handshake, the messages of protocol 5 and 6, the rules
//! of a host, and the contract of providers on top of them.
//!
//! ```text
//! plugins::Plugin ──Client::open──> Client ── validate, configure
//!   (Handshake, Attachments)          │  ├── upgrade ─> read ─> plan ─> apply     one resource
//!   SchemaCache ──────────────────────┘  └── import, take_over, read_data, call_function
//! HostedPackage ──open──> provider::Provider ──configure──> provider::Session, on the calls above
//! ```
//!
//! The engine uses [`open`]: a plugin implements the contract of providers. `package.rs` has its
//! catalogue and configurations, `managed.rs` the calls about resources, `process.rs` how
//! its processes are started, connected and configured.
//!
//! A [`Client`] is one process with at most one configuration. Values go in and out as
//! [`blueprint::Value`]; answers are checked ([`terraform_wire::consistency`]) before they are returned.
//!
//! Not here: the existing objects, the records, and the repetition of calls.

mod attach;
mod change;
mod client;
mod configure;
mod data;
mod diagnostic;
mod fields;
mod handshake;
mod json;
mod managed;
mod marks;
mod messages;
mod messages5;
mod messages6;
mod object;
mod output;
mod package;
mod planning;
mod problems;
mod process;
mod program;
mod resource;
mod schema_cache;
mod schemas;
mod version;

pub use attach::{AttachError, Attachment, Attachments, REATTACH};
pub use change::{
    AppliedChange, ApplyRequest, ChangeVerdict, PlanRequest, PlannedChange, ReplacePolicy,
};
pub use client::{AnswerWithWarnings, Client, HOST_VERSION, OpenOptions};
pub use data::{FunctionFailure, Returned};
pub use diagnostic::{CallFailure, Deferral, Malformed, Severity, TerraformDiagnostic};
pub use handshake::Handshake;
pub use object::{Object, Stored, StoredIdentity};
pub use output::Output;
pub use package::open;
pub use plugin_host::{CacheError, ProgramDigest};
pub use process::FAMILY;
pub use resource::{ImportBy, Imported, Moved};
pub use schema_cache::SchemaCache;
pub use schemas::{Abilities, Schemas, TypeIdentity};
pub use version::ProtocolVersion;
