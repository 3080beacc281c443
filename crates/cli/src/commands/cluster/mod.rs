//! `cyan cluster`, one file for each of its commands.

mod connection;
mod local;
mod manifests;
mod objects;
mod owner_states;
mod play;
mod rehearse;
mod run;
mod scripts;
mod serve;

use crate::arguments::{ClusterArguments, ClusterCommand, Global};
use crate::exit::{CommandError, Exit};
use crate::view::report::Report;

pub(crate) async fn run(
    arguments: ClusterArguments,
    global: &Global,
    report: &mut Report,
) -> Result<Exit, CommandError> {
    match arguments.command {
        ClusterCommand::Rehearse {
            paths,
            scripts,
            objects,
            limit,
        } => {
            let rehearsal = rehearse::Rehearsal {
                paths,
                scripts,
                objects,
                limit,
            };
            rehearse::run(rehearsal, global, report).await
        }
        ClusterCommand::Serve {
            paths,
            port,
            kubeconfig,
            scripts,
            no_controller,
        } => {
            let control = match no_controller {
                true => serve::Control::Off,
                false => serve::Control::On,
            };
            let served = serve::Served {
                paths,
                port: port.unwrap_or_default(),
                kubeconfig,
                scripts,
                control,
            };
            serve::run(served, global, report).await
        }
        ClusterCommand::Run {
            connection,
            no_lease,
            lease_namespace,
            workers,
            webhook,
        } => {
            let namespace = lease_namespace.unwrap_or_else(|| "default".to_owned());
            let controlling = run::Controlling {
                connection,
                lease: Some(namespace).filter(|_| !no_lease),
                workers,
                webhook: run::ServedWebhook::of(webhook),
            };
            run::run(controlling, report).await
        }
        ClusterCommand::Play {
            scripts,
            connection,
        } => play::run(&scripts, &connection, report).await,
        ClusterCommand::Scripts { name } => scripts::run(name.as_deref(), report),
        ClusterCommand::Manifests {
            image,
            namespace,
            replicas,
            webhook,
            ca,
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
                        webhook: match webhook {
                            true => Some(manifests::webhook_trust(ca.as_deref())?),
                            false => None,
                        },
                    })
                }
            };
            manifests::run(&wanted, report)
        }
    }
}
