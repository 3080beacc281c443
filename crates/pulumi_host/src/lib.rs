//! Hosts provider plugins of Pulumi: their start and end, the calls of their protocol, and the
//! meaning of the answers.
//!
//! ```text
//! Launch ──plugins──> Plugin ──Client::connect──> Client ──configure──> Session: check, diff, create, ..
//! HostedPackage ──open──> provider::Provider ──configure──> provider::Session, on the calls above
//! ```
//!
//! The engine uses [`open`]: the contract of providers, served by a plugin. `package.rs` has the
//! catalogue and the configurations of a package, `find.rs` its program if no table names it,
//! `managed.rs` the calls about resources,
//! `process.rs` how its processes are started, connected and configured.
//!
//! Not here: the conversion of values and schemas (`pulumi_wire`), processes (`plugins`), what the
//! hosts of all families share (`plugin_host`),
//! connections (`plugins::grpc`), and the use of the answers (the engine).

mod answer;
pub mod built_in;
mod caller;
mod client;
mod engine;
mod failure;
mod fields;
mod files;
mod find;
mod managed;
pub mod messages;
mod names;
mod package;
mod planning;
mod problems;
mod process;
mod protocol;
mod schema_cache;
mod session;

pub use answer::{ChangeKind, CheckAnswer, Diff, DiffDecider, PluginCapabilities, PropertyChange};
pub use client::{Client, ConnectOptions, ProviderSettings};
pub use engine::{Engine, LogSink, Logged};
pub use failure::{AnswerProblem, CallFailure, MissingSetting, PropertyFailure};
pub use find::find;
pub use package::open;
pub use process::FAMILY;
pub use protocol::{AttachError, DEBUG_PROVIDERS, PulumiProtocol, attached, launch_with_engine};
pub use session::{
    Autonaming, CallTarget, Created, Desired, Invoked, PluginSession, ReadResult, RecordedResource,
    Updated,
};
