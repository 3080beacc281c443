//! The arguments of `cyan stack` and `cyan config`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use state::InstanceName;

use super::groups::{Consent, InstanceFlag, Secrets};
use super::path::path;

/// Manage the stacks of a document: its instances and their files
///
/// The file of the stack `dev` of `Pulumi.yaml` is `Pulumi.dev.yaml`. Other documents have stacks
/// without files. Commands use the current stack of a document if they name no instance.
#[derive(Debug, Args)]
pub(crate) struct StackArguments {
    #[command(subcommand)]
    pub(crate) command: StackCommand,
    #[command(flatten)]
    pub(crate) document: DocumentFlag,
}

/// The flag that names a document.
#[derive(Clone, Debug, Args)]
pub(crate) struct DocumentFlag {
    /// Document of the stacks [default: the document in the current folder]
    #[arg(long, value_name = "FILE", global = true, value_parser = path())]
    pub(crate) document: Option<PathBuf>,
}

/// What to do with stacks.
#[derive(Debug, Subcommand)]
pub(crate) enum StackCommand {
    /// List the stacks of the document; `*` marks the current one
    #[command(visible_alias = "list")]
    Ls,
    /// Make a stack the current one
    Select {
        /// Name of the stack
        name: InstanceName,
        /// Make the stack if it does not exist
        #[arg(short, long)]
        create: bool,
    },
    /// Make a stack, and make it the current one
    ///
    /// Writes the file of the stack, if the document has such files. With a passphrase in
    /// `PULUMI_CONFIG_PASSPHRASE`, the file gets a key for secrets. Nothing is deployed.
    Init {
        /// Name of the stack
        name: InstanceName,
        /// Copy the configuration of this stack
        #[arg(long, value_name = "NAME")]
        copy_config_from: Option<InstanceName>,
        /// Leave the current stack as it is
        #[arg(long)]
        no_select: bool,
    },
    /// Rename a stack with its file and its history
    ///
    /// Names of objects that contain the name of the stack do not change.
    Rename {
        /// New name
        new: InstanceName,
        #[command(flatten)]
        flag: InstanceFlag,
    },
    /// Remove a stack without resources, with its file
    Rm {
        /// Name of the stack
        name: InstanceName,
        /// Forget its resources, without deleting them
        #[arg(long)]
        force: bool,
        /// Keep the file
        #[arg(long)]
        preserve_config: bool,
        #[command(flatten)]
        consent: Consent,
    },
}

/// Read and change the configuration of a stack
///
/// Changes the file of the stack, such as `Pulumi.dev.yaml`; its comments and its order stay. A key
/// without a namespace belongs to the project. Without a command, lists the configuration.
#[derive(Debug, Args)]
pub(crate) struct ConfigArguments {
    #[command(subcommand)]
    pub(crate) command: Option<ConfigCommand>,
    /// Select the stack by its name [default: the current stack]
    #[arg(short, long, value_name = "NAME", global = true, short_alias = 's')]
    #[arg(alias = "stack")]
    pub(crate) instance: Option<InstanceName>,
    #[command(flatten)]
    pub(crate) document: DocumentFlag,
    /// Show secrets in clear text
    #[arg(long, global = true, visible_alias = "show-secrets")]
    pub(crate) reveal: bool,
}

/// What to do with the configuration.
#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// List the configuration
    #[command(visible_alias = "ls")]
    List,
    /// Print a value
    Get {
        /// Key, such as `size` or `aws:region`
        key: String,
        /// Treat the key as a path, such as `names[0].first`
        #[arg(long)]
        path: bool,
    },
    /// Set a value
    ///
    /// Without a value, reads it from standard input, or asks. A value that was encrypted, or that
    /// the program declares as secret, is encrypted unless `--plaintext` is given. Below a path,
    /// `true`, `false` and integers are no strings.
    Set {
        /// Key, such as `size` or `aws:region`
        key: String,
        /// Value [default: standard input]
        #[arg(allow_hyphen_values = true)]
        value: Option<String>,
        /// Treat the key as a path, such as `names[0].first`
        #[arg(long)]
        path: bool,
        /// Encrypt the value
        #[arg(long, conflicts_with = "plaintext")]
        secret: bool,
        /// Write the value in clear text
        #[arg(long)]
        plaintext: bool,
    },
    /// Remove a value
    #[command(visible_alias = "remove")]
    Rm {
        /// Key, such as `size` or `aws:region`
        key: String,
        /// Treat the key as a path, such as `names[0].first`
        #[arg(long)]
        path: bool,
    },
}

impl ConfigArguments {
    /// How secrets are shown.
    pub(crate) fn secrets(&self) -> Secrets {
        Secrets {
            reveal: self.reveal,
        }
    }
}
