//! `cyan cluster`, one file for each of its commands.

mod connection;
mod manifests;
mod play;
mod scripts;

use crate::arguments::{Cluster, ClusterCommand};
use crate::exit::{CommandError, Exit};
use crate::view::report::Report;

pub(crate) async fn run(arguments: Cluster, report: &mut Report) -> Result<Exit, CommandError> {
    match arguments.command {
        ClusterCommand::Play {
            scripts,
            connection,
        } => play::run(&scripts, &connection, report).await,
        ClusterCommand::Scripts { name } => scripts::run(name.as_deref(), report),
        ClusterCommand::Manifests {
            image,
            namespace,
            replicas,
            definitions,
            dockerfile,
        } => {
            let wanted = match (definitions, dockerfile, image) {
                (true, ..) => manifests::Wanted::Definitions,
                (_, true, _) => manifests::Wanted::Dockerfile,
                (_, _, image) => {
                    manifests::Wanted::Installation(controller::install::Installation {
                        namespace,
                        image: image.unwrap_or_default(),
                        replicas,
                    })
                }
            };
            manifests::run(&wanted, report)
        }
    }
}
