//! `cyan cluster`: a local cluster, scripts, and the controller of supply chains.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};

use super::path::path;

/// Run supply chains: a local cluster, a rehearsal, a controller
///
/// The controller reconciles workloads, deliverables and runnables of Cartographer. Scripts stand
/// for the controllers of other kinds, such as Flux and kpack, where these are not there.
#[derive(Debug, Args)]
pub(crate) struct ClusterArguments {
    #[command(subcommand)]
    pub(crate) command: ClusterCommand,
}

/// What to do with a cluster.
#[derive(Debug, Subcommand)]
pub(crate) enum ClusterCommand {
    /// Rehearse manifests in a cluster in memory, and show what comes of them
    ///
    /// Applies the manifests, runs the controller and scripts until nothing moves, and prints the
    /// owners with their resources. Scripts do not wait. Exit code 4 if an owner is not ready.
    Rehearse {
        /// Files and folders with manifests
        #[arg(value_name = "PATH", required = true, value_parser = path())]
        paths: Vec<PathBuf>,
        #[command(flatten)]
        scripts: Scripts,
        /// Print the objects that were stamped, as YAML
        #[arg(long)]
        objects: bool,
        /// Give up after this time
        #[arg(long, value_name = "DURATION", default_value = "60s", value_parser = duration)]
        limit: Duration,
    },
    /// Serve a local cluster to kubectl, with the controller and scripts
    ///
    /// Listens on loopback until Ctrl-C, and writes a kubeconfig. Kinds that the manifests use and
    /// that nothing defines get a definition with free fields.
    Serve {
        /// Files and folders with manifests to apply at the start
        #[arg(value_name = "PATH", value_parser = path())]
        paths: Vec<PathBuf>,
        /// Port to listen on [default: a free one]
        #[arg(long, value_name = "PORT")]
        port: Option<u16>,
        /// Kubeconfig to write
        #[arg(long, value_name = "FILE", default_value = ".cyan/kubeconfig", value_parser = path())]
        kubeconfig: PathBuf,
        #[command(flatten)]
        scripts: Scripts,
        /// Run no controller
        #[arg(long)]
        no_controller: bool,
    },
    /// Run the controller against a cluster
    ///
    /// Reconciles until Ctrl-C. Do not run it beside another controller of the same kinds.
    Run {
        #[command(flatten)]
        connection: Connection,
        /// Lead without a lease: no other replica may run
        #[arg(long)]
        no_lease: bool,
        /// Namespace of the lease [default: POD_NAMESPACE, else `default`]
        #[arg(
            long,
            value_name = "NAME",
            env = "POD_NAMESPACE",
            hide_env_values = true
        )]
        lease_namespace: Option<String>,
        /// Limit the number of owners that are reconciled at once
        #[arg(long, value_name = "N", default_value_t = 8)]
        workers: usize,
        #[command(flatten)]
        webhook: WebhookPlace,
    },
    /// Play scripts against a cluster, in place of missing controllers
    ///
    /// Gives the objects of the scripts' kinds their statuses until Ctrl-C.
    Play {
        /// Ready-made scripts by name, and files with scripts
        #[arg(value_name = "SCRIPT", required = true)]
        scripts: Vec<String>,
        #[command(flatten)]
        connection: Connection,
    },
    /// List the ready-made scripts, or print one
    Scripts {
        /// Name of a ready-made script
        #[arg(value_name = "NAME")]
        name: Option<String>,
    },
    /// Print what a cluster needs to run the controller, for `kubectl apply`
    Manifests {
        /// Image of the controller
        #[arg(long, value_name = "IMAGE", required_unless_present_any = ["dockerfile", "definitions"])]
        image: Option<String>,
        /// Namespace of the controller
        #[arg(long, value_name = "NAME", default_value = "cyan-system")]
        namespace: String,
        /// Number of replicas, of which one leads
        #[arg(long, value_name = "N", default_value_t = 1)]
        replicas: u32,
        /// Add a webhook that refuses invalid objects, with a certificate of cert-manager
        #[arg(long, conflicts_with_all = ["definitions", "dockerfile"])]
        webhook: bool,
        /// Authority of the webhook's certificate in PEM: use the secret `cyan-controller-tls`
        /// instead of cert-manager
        #[arg(long, value_name = "FILE", requires = "webhook", value_parser = path())]
        ca: Option<PathBuf>,
        /// Print only the definitions of the kinds
        #[arg(long, conflicts_with_all = ["image", "dockerfile"])]
        definitions: bool,
        /// Print a Dockerfile for the image
        #[arg(long, conflicts_with = "image")]
        dockerfile: bool,
    },
}

/// Which scripts are played.
#[derive(Debug, Args)]
pub(crate) struct Scripts {
    /// Play this script before the ready-made ones: a file, or a ready-made script by name;
    /// repeatable
    #[arg(long = "script", value_name = "SCRIPT")]
    pub(crate) scripts: Vec<String>,
    /// Play no ready-made scripts but those named with --script
    #[arg(long)]
    pub(crate) no_ready_made: bool,
}

/// Where a webhook is served, and with which certificate.
#[derive(Debug, Args)]
pub(crate) struct WebhookPlace {
    /// Port of the webhook, health and metrics over HTTPS [default: none is served]
    #[arg(long, value_name = "PORT", requires_all = ["tls_cert", "tls_key"])]
    pub(crate) webhook_port: Option<u16>,
    /// Certificate of the webhook in PEM; a changed file is read again
    #[arg(long, value_name = "FILE", requires = "webhook_port", value_parser = path())]
    pub(crate) tls_cert: Option<PathBuf>,
    /// Key of the certificate in PEM
    #[arg(long, value_name = "FILE", requires = "webhook_port", value_parser = path())]
    pub(crate) tls_key: Option<PathBuf>,
}

/// How to connect to a cluster.
#[derive(Debug, Args)]
pub(crate) struct Connection {
    /// Kubeconfig to read [default: KUBECONFIG, else ~/.kube/config, else the account of the pod]
    #[arg(long, value_name = "FILE", value_parser = path())]
    pub(crate) kubeconfig: Option<PathBuf>,
    /// Context to use [default: the current one]
    #[arg(long, value_name = "NAME")]
    pub(crate) context: Option<String>,
}

fn duration(text: &str) -> Result<Duration, String> {
    blueprint::parse_duration(text).map_err(|error| error.to_string())
}
