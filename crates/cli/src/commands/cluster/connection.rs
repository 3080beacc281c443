//! The connection to a cluster that a command names.

use std::error::Error;

use kubernetes_host::{ClusterConnection, connect_watching};

use crate::arguments::Connection;
use crate::exit::CommandError;

/// Connects, and checks that the cluster answers.
///
/// # Errors
/// If there is no usable kubeconfig, or if the cluster does not answer.
pub(super) async fn connect(wanted: &Connection) -> Result<ClusterConnection, CommandError> {
    let files: Vec<_> = wanted.kubeconfig.iter().cloned().collect();
    let connection = connect_watching(&files, wanted.context.as_deref()).await;
    let connection = connection.map_err(|error| CommandError::Cluster(Box::new(error)))?;
    if let Err(error) = connection.client.apiserver_version().await {
        let why = innermost(&error);
        let message = format!("{} does not answer: {why}", connection.title);
        return Err(CommandError::Cluster(message.into()));
    }
    Ok(connection)
}

/// The error at the end of a chain of errors: the others only say where it came through.
fn innermost(error: &dyn Error) -> String {
    let mut inner = error;
    while let Some(source) = inner.source() {
        inner = source;
    }
    inner.to_string()
}
