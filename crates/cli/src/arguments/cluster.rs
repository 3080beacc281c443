//! `cyan cluster`: scripts, and the controller of supply chains.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::path::path;

/// Work with a cluster: play scripts, print manifests
///
/// Scripts stand for the controllers of other kinds, such as Flux and kpack, where these are not
/// there.
#[derive(Debug, Args)]
pub(crate) struct Cluster {
    #[command(subcommand)]
    pub(crate) command: ClusterCommand,
}

/// What to do with a cluster.
#[derive(Debug, Subcommand)]
pub(crate) enum ClusterCommand {
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
        /// Print only the definitions of the kinds
        #[arg(long, conflicts_with_all = ["image", "dockerfile"])]
        definitions: bool,
        /// Print a Dockerfile for the image
        #[arg(long, conflicts_with = "image")]
        dockerfile: bool,
    },
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
