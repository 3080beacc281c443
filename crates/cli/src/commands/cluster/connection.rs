//! The connection to a cluster that a command names.

use kubernetes_host::{ClusterConnection, connect_watching};

use crate::arguments::Connection;
use crate::exit::CommandError;

/// Prepares the connection. Nothing is contacted.
///
/// # Errors
/// If there is no usable kubeconfig.
pub(super) async fn connect(wanted: &Connection) -> Result<ClusterConnection, CommandError> {
    let files: Vec<_> = wanted.kubeconfig.iter().cloned().collect();
    connect_watching(&files, wanted.context.as_deref())
        .await
        .map_err(|error| CommandError::World(Box::new(error)))
}
