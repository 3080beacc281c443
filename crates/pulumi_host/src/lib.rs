//! Hosts provider plugins of Pulumi: how they start and end, the calls of their protocol, and what the answers mean.
//!
//! ```text
//! PluginProgram ──plugins──> Plugin ──Client::connect──> Client ──configure──> Session: check, diff, create, ..
//! HostedPackage ──open──> provider::Provider ──configure──> provider::Session, on the calls above
//! ```
//!
//! [`open`] is what the engine uses: the contract of providers, answered by a plugin. `package.rs` has its catalogue
//! and configurations, `managed.rs` the calls about resources, `process.rs` the process behind them.
//!
//! Not here: the conversion of values and schemas (`pulumi_wire`), processes (`plugins`), connections (`grpc_client`),
//! and what the engine makes of the answers.

mod answer;
mod caller;
mod client;
mod engine;
mod failure;
mod fields;
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

pub use answer::{ChangeKind, CheckAnswer, Diff, DiffOf, PluginCapabilities, PropertyChange};
pub use client::{Client, Connecting, ProviderSettings};
pub use engine::{Engine, LogSink, Logged};
pub use failure::{AnswerProblem, CallFailure, MissingSetting, PropertyFailure};
pub use package::open;
pub use protocol::{AttachError, DEBUG_PROVIDERS, PluginProgram, PulumiProtocol, attached};
pub use session::{
    Autonaming, CallTarget, Created, Desired, Invoked, PluginSession, ReadResult, RecordedResource, Updated,
};
