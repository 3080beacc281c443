//! Software deployments: configurations that an agent in a guest carries out.
//!
//! Each server has a container of Swift with one object for each deployment, and with the object that
//! the agent reads through a temporary URL: all deployments as the metadata of Heat. The agent
//! answers with a signal to the deployment.
//!
//! `server_container.rs` has the container, `derived.rs` the configuration that a guest gets,
//! `outcome.rs` the meaning of its answer, `deployment.rs` and `deployed_server.rs` the types.
//!
//! Not here: groups of deployments, which the dialect expands.

mod deployed_server;
mod deployment;
mod derived;
mod outcome;
mod server_container;
mod transport;

use crate::managed::Handler;

pub(super) use self::server_container::{ServerContainer, agent_metadata};
pub(super) use self::transport::{TRANSPORT, check_server_transport};

/// The types.
pub(super) static TYPES: &[&dyn Handler] = &[
    &deployment::SOFTWARE,
    &deployment::STRUCTURED,
    &deployed_server::DeployedServer,
];
