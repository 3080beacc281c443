//! `cyan cluster run`.

use std::net::{Ipv4Addr, Ipv6Addr};
use std::time::Duration;

use controller::webhook::{CertificateFailure, CertificateFiles, Webhook, WebhookOptions};
use controller::{Controller, ControllerError, ControllerOptions, LeaderElection, clients_for};
use serde_json::json;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::connection::connect;
use super::play::clock;
use crate::arguments::{Connection, WebhookPlace};
use crate::exit::{CommandError, Exit};
use crate::signals;
use crate::view::report::Report;

/// The name of the lease.
const LEASE: &str = "cyan-controller";

/// How often machine output has the counters.
const COUNTED: Duration = Duration::from_secs(30);

/// How a controller runs.
pub(super) struct Controlling {
    pub(super) connection: Connection,
    /// The namespace of the lease; `None` if the controller leads without one.
    pub(super) lease: Option<String>,
    pub(super) workers: usize,
    /// The webhook; `None` if none is served.
    pub(super) webhook: Option<ServedWebhook>,
}

/// A webhook beside the controller.
pub(super) struct ServedWebhook {
    port: u16,
    certificate: CertificateFiles,
}

impl ServedWebhook {
    /// The webhook of the arguments, of which all or none are given.
    pub(super) fn of(place: WebhookPlace) -> Option<ServedWebhook> {
        Some(ServedWebhook {
            port: place.webhook_port?,
            certificate: CertificateFiles {
                certificate: place.tls_cert?,
                key: place.tls_key?,
            },
        })
    }

    /// Opens the port on all addresses, and reads the certificate.
    async fn open(self, controller: &Controller) -> Result<(TcpListener, Webhook), CommandError> {
        let options = WebhookOptions::new(self.certificate);
        let webhook = Webhook::new(options, controller.clone());
        let webhook = webhook.map_err(unusable)?;
        // Machines without IPv6 have no such address.
        let listener = match TcpListener::bind((Ipv6Addr::UNSPECIFIED, self.port)).await {
            Ok(listener) => Ok(listener),
            Err(_) => TcpListener::bind((Ipv4Addr::UNSPECIFIED, self.port)).await,
        };
        let listener = listener.map_err(|source| CommandError::Machine {
            what: "the port of the webhook cannot be opened",
            source,
        })?;
        Ok((listener, webhook))
    }
}

pub(super) async fn run(
    controlling: Controlling,
    report: &mut Report,
) -> Result<Exit, CommandError> {
    let cluster = connect(&controlling.connection).await?;
    let mut options = ControllerOptions::new(clock());
    options.workers = controlling.workers.max(1);
    options.accounts = clients_for(&cluster.config);
    if let Some(namespace) = controlling.lease {
        options.leader_election = Some(LeaderElection::new(namespace, LEASE, identity()));
    }
    let waits = options.leader_election.is_some();
    let message = match waits {
        true => format!(
            "Reconciling on {} while this process leads. Ctrl-C stops.",
            cluster.title
        ),
        false => format!("Reconciling on {}. Ctrl-C stops.", cluster.title),
    };
    report.terminal.write_message(message);
    let controller = Controller::new(cluster.client, options);
    let stop = CancellationToken::new();
    // Reviews are answered until the controller has ended.
    let last = CancellationToken::new();
    let webhook = match controlling.webhook {
        Some(webhook) => {
            let (listener, webhook) = webhook.open(&controller).await?;
            Some(tokio::spawn(webhook.serve(listener, last.clone())))
        }
        None => None,
    };
    let mut running = std::pin::pin!(controller.run(stop.clone()));
    let mut signals = signals::listen();
    let mut counting = tokio::time::interval(COUNTED);
    let ended = loop {
        tokio::select! {
            ended = &mut running => break ended,
            // The objects in work are finished, and the lease is given back.
            () = signals.next(), if !stop.is_cancelled() => stop.cancel(),
            _ = counting.tick(), if report.is_json() => count(&controller, report),
        }
    };
    last.cancel();
    if let Some(webhook) = webhook {
        let _ = webhook.await;
    }
    ended.map_err(failure)?;
    Ok(Exit::Done)
}

fn count(controller: &Controller, report: &mut Report) {
    let metrics = controller.metrics();
    let sum = |counts: &mut dyn Iterator<Item = &u64>| counts.sum::<u64>();
    report.json_line(json!({
        "event": "controller",
        "queued": metrics.queue_length,
        "working": metrics.working,
        "waiting": metrics.waiting,
        "watches": metrics.watches,
        "reconciles": sum(&mut metrics.reconciles.values()),
        "failures": sum(&mut metrics.failures.values()),
        "requests": sum(&mut metrics.requests.values()),
    }));
    report.flush();
}

fn unusable(error: CertificateFailure) -> CommandError {
    match error {
        CertificateFailure::Unreadable { path, source } => CommandError::Unreadable {
            name: path.display().to_string(),
            source,
        },
        other => CommandError::Usage {
            message: other.to_string(),
            help: None,
        },
    }
}

fn failure(error: ControllerError) -> CommandError {
    match error {
        ControllerError::DefinitionsMissing(_) => CommandError::Usage {
            message: error.to_string(),
            help: Some(
                "`cyan cluster manifests --definitions | kubectl apply --server-side -f -` \
                 defines them"
                    .to_owned(),
            ),
        },
        other => CommandError::Cluster(Box::new(other)),
    }
}

/// A name that no other process of a cluster has: a pod's name, and the process.
fn identity() -> String {
    let host = std::env::var("HOSTNAME").unwrap_or_else(|_| "cyan".to_owned());
    format!("{host}-{}", std::process::id())
}
