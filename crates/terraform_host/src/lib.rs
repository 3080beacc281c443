//! Hosts Terraform's provider plugins: the handshake, the messages of protocol 5 and 6, and the rules of a host.
//!
//! ```text
//! plugins::Plugin ──Client::open──> Client ── validate, configure
//!   (Handshake, Attachments)          │  ├── upgrade ─> read ─> plan ─> apply     one resource
//!   SchemaCache ──────────────────────┘  └── import, take_over, read_data, call_function
//! ```
//!
//! A [`Client`] is one process with at most one configuration. Values go in and out as [`blueprint::Value`]; answers
//! are checked ([`terraform::agree`]) before they are returned.
//!
//! Not here: which objects exist, what is recorded, when calls are repeated, and the provider contract of the engine.

mod attach;
mod change;
mod client;
mod configure;
mod data;
mod diagnostic;
mod handshake;
mod json;
mod marks;
mod messages;
mod messages5;
mod messages6;
mod object;
mod output;
mod resource;
mod schema_cache;
mod schemas;
mod version;

pub use attach::{AttachError, Attachment, Attachments, REATTACH};
pub use change::{Applied, ApplyRequest, PlanRequest, Planned, Replacing, Verdict};
pub use client::{Answer, Client, HOST_VERSION, Opening};
pub use data::{FunctionFailure, Returned};
pub use diagnostic::{Deferral, Diagnostic, Failure, Malformed, Severity};
pub use handshake::Handshake;
pub use object::{Object, Stored, StoredIdentity};
pub use output::Output;
pub use resource::{ImportBy, Imported, Moved};
pub use schema_cache::{CacheError, Digest, SchemaCache};
pub use schemas::{Abilities, Identity, Schemas};
pub use version::Version;
