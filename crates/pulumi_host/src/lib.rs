//! Hosts provider plugins of Pulumi: how they start and end, the calls of their protocol, and what the answers mean.
//!
//! ```text
//! PluginProgram ──plugins──> Plugin ──Client::connect──> Client ──configure──> Session: check, diff, create, ..
//! ```
//!
//! Not here: the conversion of values and schemas (`pulumi_wire`), processes (`plugins`), connections (`grpc_client`),
//! and what the engine makes of the answers.

mod answer;
mod caller;
mod client;
mod engine;
mod failure;
pub mod messages;
mod protocol;
mod session;

pub use answer::{Capabilities, Change, ChangeKind, Checked, Diff, DiffOf};
pub use client::{Client, Connecting, Settings};
pub use engine::{Engine, LogSink, Logged};
pub use failure::{AnswerProblem, Failure, MissingSetting, PropertyFailure};
pub use protocol::{AttachError, DEBUG_PROVIDERS, PluginProgram, PulumiProtocol, attached};
pub use session::{Autonaming, Created, Desired, Invoked, Read, Recorded, Session, Target, Updated};
