//! The command line as typed. The doc comments here are the help text.
//!
//! Not here: the execution of commands (`commands`).

#[cfg(feature = "kubernetes")]
mod cluster;
mod groups;
mod inputs;
mod language;
mod path;
mod stacks;
mod test;
mod values;

use std::path::PathBuf;

use blueprint::Address;
use clap::{Args, Parser, Subcommand};
use engine::inspect::ChosenOperation;

#[cfg(feature = "kubernetes")]
pub(crate) use self::cluster::{
    ClusterArguments, ClusterCommand, Connection, Scripts, WebhookPlace,
};
pub(crate) use self::groups::{
    ApplyArguments, Consent, DriftArguments, InstanceArguments, InstanceFlag, LockArguments,
    PartArguments, PlanArguments, PlanFormat, RefreshArguments, Secrets,
};
pub(crate) use self::inputs::Inputs;
pub(crate) use self::language::{
    Console, Eval, Explain, Fmt, Functions, Graph, GraphFormat, Schema, Types,
};
use self::path::path;
pub(crate) use self::stacks::{
    ConfigArguments, ConfigCommand, DocumentFlag, StackArguments, StackCommand,
};
pub(crate) use self::test::Test;
pub(crate) use self::values::{Adopted, ProviderSetting};
use crate::terminal::ColorChoice;

/// Deploy infrastructure from documents.
///
/// A document describes the resources that should exist. `cyan stage` shows what would change,
/// `cyan deploy` changes it. Results go to stdout; progress, questions and diagnostics go to
/// stderr.
///
/// Exit codes: 0 success, 1 the document, the inputs, the plan, the state or a provider is unusable
/// and nothing was changed, 2 wrong usage or a question without a terminal to ask on, 3 there are
/// differences (with --exit-code), 4 an operation began and did not finish or a test failed, 5
/// another operation holds the instance, 70 a bug, 130 interrupted before anything began.
#[derive(Debug, Parser)]
#[command(name = "cyan", version, max_term_width = 100)]
#[command(subcommand_required = true, arg_required_else_help = true)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What every command takes.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Everywhere")]
pub(crate) struct Global {
    /// Run as if started in this folder
    #[arg(short = 'C', value_name = "DIR", global = true, value_parser = path())]
    pub(crate) start: Option<PathBuf>,
    /// Set the place of the state: `sqlite:PATH` or `memory:` [default: .cyan/state.db beside the
    /// document]
    #[arg(long, value_name = "URL", global = true, env = "CYAN_STATE")]
    pub(crate) state: Option<String>,
    /// Read this configuration file [default: cyan.toml beside the document]
    #[arg(long, value_name = "FILE", global = true, value_parser = path())]
    pub(crate) config: Option<PathBuf>,
    /// Print machine-readable JSON on stdout
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Treat warnings as errors
    #[arg(long, global = true)]
    pub(crate) strict: bool,
    /// Set when to use colours
    #[arg(long, value_enum, value_name = "WHEN", global = true)]
    pub(crate) color: Option<ColorChoice>,
    /// Print only results and errors
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Print notes and every field
    #[arg(short, long, global = true)]
    pub(crate) verbose: bool,
    /// Simulate every provider, with a separate state
    #[arg(long, global = true, value_name = "true|false", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "true", hide_possible_values = true)]
    pub(crate) simulate: Option<bool>,
    /// Add a catalogue of types, for commands that change nothing and for `--simulate`; repeatable
    #[arg(long, value_name = "FILE", global = true, value_parser = path())]
    pub(crate) catalog: Vec<PathBuf>,
    /// Set a setting of a provider, in place of the one in `cyan.toml`; repeatable
    #[arg(long, value_name = "NAME.KEY=VALUE", global = true)]
    pub(crate) provider: Vec<ProviderSetting>,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Init(Init),
    Validate(Validate),
    Test(Test),
    Stage(Stage),
    Deploy(Deploy),
    Destroy(Destroy),
    Reconcile(Reconcile),
    Rollback(Rollback),
    Drift(Drift),
    Refresh(Refresh),
    Import(Import),
    Stack(StackArguments),
    Config(ConfigArguments),
    State(State),
    List(List),
    Show(Show),
    Exports(Exports),
    History(History),
    Unlock(Unlock),
    Key(Key),
    #[cfg(feature = "kubernetes")]
    Cluster(ClusterArguments),
    #[cfg(feature = "kubernetes")]
    Render(Render),
    Fmt(Fmt),
    Graph(Graph),
    Explain(Explain),
    Types(Types),
    Functions(Functions),
    Eval(Eval),
    Console(Console),
    Schema(Schema),
    Completions(Completions),
    Man(Man),
}

impl Command {
    /// The name of the command, on the command line and in machine output.
    pub(crate) fn word(&self) -> &'static str {
        match self {
            Command::Init(_) => "init",
            Command::Validate(_) => "validate",
            Command::Test(_) => "test",
            Command::Stage(_) => "stage",
            Command::Deploy(_) => "deploy",
            Command::Destroy(_) => "destroy",
            Command::Reconcile(_) => "reconcile",
            Command::Rollback(_) => "rollback",
            Command::Drift(_) => "drift",
            Command::Refresh(_) => "refresh",
            Command::Import(_) => "import",
            Command::Stack(_) => "stack",
            Command::Config(_) => "config",
            Command::State(_) => "state",
            Command::List(_) => "list",
            Command::Show(_) => "show",
            Command::Exports(_) => "exports",
            Command::History(_) => "history",
            Command::Unlock(_) => "unlock",
            Command::Key(_) => "key",
            #[cfg(feature = "kubernetes")]
            Command::Cluster(_) => "cluster",
            #[cfg(feature = "kubernetes")]
            Command::Render(_) => "render",
            Command::Fmt(_) => "fmt",
            Command::Graph(_) => "graph",
            Command::Explain(_) => "explain",
            Command::Types(_) => "types",
            Command::Functions(_) => "functions",
            Command::Eval(_) => "eval",
            Command::Console(_) => "console",
            Command::Schema(_) => "schema",
            Command::Completions(_) => "completions",
            Command::Man(_) => "man",
        }
    }

    /// Whether the user confirmed in advance with `--yes`.
    pub(crate) fn has_consent(&self) -> bool {
        match self {
            Command::Deploy(command) => command.running.consent.yes,
            Command::Destroy(command) => command.running.consent.yes,
            Command::Reconcile(command) => command.running.consent.yes,
            Command::Rollback(command) => command.running.consent.yes,
            Command::Drift(command) => command.consent.yes,
            Command::Refresh(command) => command.consent.yes,
            Command::Import(command) => command.consent.yes,
            Command::Unlock(command) => command.yes,
            Command::Stack(command) => match &command.command {
                StackCommand::Rm { consent, .. } => consent.yes,
                _ => false,
            },
            Command::State(command) => match &command.command {
                StateCommand::Move { consent, .. }
                | StateCommand::Remove { consent, .. }
                | StateCommand::Unprotect { consent, .. }
                | StateCommand::Prune { consent, .. }
                | StateCommand::Rekey { consent, .. }
                | StateCommand::Import { consent, .. } => consent.yes,
                StateCommand::Export { .. } | StateCommand::Verify => false,
            },
            _ => false,
        }
    }

    /// Whether the command deals with objects, so that the user must be told if they are simulated.
    pub(crate) fn announces_simulation(&self) -> bool {
        !matches!(
            self,
            Command::Init(_)
                | Command::Validate(_)
                | Command::Test(_)
                | Command::Stack(_)
                | Command::Config(_)
                | Command::Key(_)
                | Command::Graph(_)
                | Command::Explain(_)
                | Command::Types(_)
                | Command::Functions(_)
                | Command::Completions(_)
                | Command::Man(_)
        ) && !self.is_about_objects_elsewhere()
    }

    /// Whether the command is about objects that it does not manage.
    fn is_about_objects_elsewhere(&self) -> bool {
        #[cfg(feature = "kubernetes")]
        return matches!(self, Command::Cluster(_) | Command::Render(_));
        #[cfg(not(feature = "kubernetes"))]
        return false;
    }

    /// Whether the command changes an instance. Its machine output is then one line per event.
    pub(crate) fn is_operation(&self) -> bool {
        match self {
            Command::Deploy(_)
            | Command::Destroy(_)
            | Command::Reconcile(_)
            | Command::Rollback(_)
            | Command::Refresh(_)
            | Command::Import(_) => true,
            Command::Drift(drift) => drift.accept,
            Command::Stack(stack) => {
                matches!(stack.command, StackCommand::Rm { force: true, .. })
            }
            Command::State(state) => !matches!(
                state.command,
                StateCommand::Export { .. } | StateCommand::Verify
            ),
            _ => false,
        }
    }
}

impl Command {
    /// Whether the command accepts catalogues without a provider, because it changes nothing.
    pub(crate) fn takes_catalogs(&self) -> bool {
        matches!(
            self,
            Command::Validate(_)
                | Command::Test(_)
                | Command::Stage(_)
                | Command::Graph(_)
                | Command::Types(_)
                | Command::Functions(_)
                | Command::Eval(_)
                | Command::Console(_)
                | Command::Schema(_)
        )
    }

    /// Whether all diagnostics are shown in full on a terminal too.
    pub(crate) fn shows_all(&self) -> bool {
        match self {
            Command::Validate(arguments) => arguments.all,
            Command::Stage(arguments) => arguments.all,
            _ => false,
        }
    }
}

/// Create a small document to start from
///
/// Also writes a `.gitignore` with `.cyan/`, the folder of the state. Existing files are kept.
#[derive(Debug, Args)]
pub(crate) struct Init {
    /// Folder to write to; created if it is missing [default: .]
    #[arg(value_parser = path())]
    pub(crate) folder: Option<PathBuf>,
}

/// Check documents and report every mistake
///
/// Needs no state, no provider and no inputs. Inputs that are given are checked too. Of a folder,
/// all documents in it and below it are checked: files with a name such as `app.blueprint.yaml`,
/// and YAML and JSON files that state the version of a document. Hidden folders are skipped. A
/// summary says how many documents are valid, and which are not.
#[derive(Debug, Args)]
pub(crate) struct Validate {
    /// Documents, or folders of documents, to check [default: the document in the current folder];
    /// `-` reads standard input
    #[arg(value_name = "FILE", value_parser = path())]
    pub(crate) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) inputs: Inputs,
    /// Show every diagnostic in full, on a terminal too
    #[arg(long)]
    pub(crate) all: bool,
    /// Also ask clouds whether they have the objects that the documents name
    #[arg(long)]
    pub(crate) deep: bool,
}

/// Show what a deploy would change
///
/// Reads the existing resources, compares them with the document, and prints each step with its
/// reason. Nothing is changed. `--out` keeps the plan in a file; `cyan deploy PLAN` then does
/// exactly what it says. A plan file is printed as it is: no resource is read, and no state is
/// needed.
#[derive(Debug, Args)]
#[command(visible_aliases = ["plan", "preview"])]
pub(crate) struct Stage {
    /// Document or plan file [default: the document in the current folder]; `-` reads standard
    /// input
    #[arg(value_name = "FILE or PLAN", value_parser = path())]
    pub(crate) file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) flag: InstanceFlag,
    #[command(flatten)]
    pub(crate) inputs: Inputs,
    #[command(flatten)]
    pub(crate) planning: PlanArguments,
    /// Write the plan to this file, for `cyan deploy PLAN`
    #[arg(long, value_name = "PLAN", value_parser = path())]
    pub(crate) out: Option<PathBuf>,
    /// Set the output format
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    pub(crate) format: PlanFormat,
    /// Exit with 3 if anything would change
    #[arg(long)]
    pub(crate) exit_code: bool,
    /// Show every diagnostic in full, on a terminal too
    #[arg(long)]
    pub(crate) all: bool,
}

/// Print the Kubernetes objects of a document as manifests
///
/// For tools that apply manifests themselves, such as Flux, Argo CD and kubectl. Needs no cluster:
/// a value that only a running cluster knows, such as the output of a build, is refused. With
/// `--simulate=false` such values are read from the cluster and from the state. Resources of other
/// providers are left out.
#[cfg(feature = "kubernetes")]
#[derive(Debug, Args)]
pub(crate) struct Render {
    /// Document to read [default: the document in the current folder]; `-` reads standard input
    #[arg(value_name = "FILE", value_parser = path())]
    pub(crate) file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) flag: InstanceFlag,
    #[command(flatten)]
    pub(crate) inputs: Inputs,
    #[command(flatten)]
    pub(crate) secrets: Secrets,
}

/// Create, update and delete resources as the document says
///
/// Shows what will change, asks for confirmation, and changes it. A plan file of
/// `cyan stage --out PLAN` is carried out as it is or refused, without a question.
#[derive(Debug, Args)]
#[command(visible_aliases = ["apply", "up"])]
pub(crate) struct Deploy {
    /// Document or plan file [default: the document in the current folder]; `-` reads standard
    /// input
    #[arg(value_name = "FILE or PLAN", value_parser = path())]
    pub(crate) file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) flag: InstanceFlag,
    #[command(flatten)]
    pub(crate) inputs: Inputs,
    #[command(flatten)]
    pub(crate) planning: PlanArguments,
    #[command(flatten)]
    pub(crate) running: ApplyArguments,
}

/// Delete all resources of an instance
///
/// Needs only the state; the document may be gone. Shows what will be deleted, and asks for
/// confirmation.
#[derive(Debug, Args)]
pub(crate) struct Destroy {
    #[command(flatten)]
    pub(crate) selection: InstanceArguments,
    #[command(flatten)]
    pub(crate) refresh: RefreshArguments,
    /// Delete only this resource; repeatable
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) target: Vec<Address>,
    #[command(flatten)]
    pub(crate) part: PartArguments,
    /// Forget resources that cannot be deleted, and list what may still exist
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) running: ApplyArguments,
}

/// Return to an earlier generation
///
/// Each operation that ended is a generation (`cyan history`), kept with its documents, its inputs
/// and the values that were read. Without a number, returns to the last successful generation.
/// Shows the plan first, and asks.
#[derive(Debug, Args)]
pub(crate) struct Rollback {
    /// Number of the generation [default: the last successful one]
    #[arg(value_name = "GENERATION")]
    pub(crate) generation: Option<u64>,
    #[command(flatten)]
    pub(crate) flag: InstanceFlag,
    #[command(flatten)]
    pub(crate) refresh: RefreshArguments,
    #[command(flatten)]
    pub(crate) running: ApplyArguments,
}

/// Settle interrupted and drifted resources
///
/// Finds out the result of calls that were interrupted, and reverts changes that others made. The
/// desired state stays the same. Where the result of a call cannot be found out, check it yourself
/// and pass --adopt, --retry or --forget.
#[derive(Debug, Args)]
pub(crate) struct Reconcile {
    #[command(flatten)]
    pub(crate) selection: InstanceArguments,
    /// Treat the interrupted call at this address as not done; repeatable
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) retry: Vec<Address>,
    /// Treat the interrupted call at this address as done; a create needs the provider's id;
    /// repeatable
    #[arg(long, value_name = "ADDRESS[=ID]")]
    pub(crate) adopt: Vec<Adopted>,
    /// Forget the resource at this address; repeatable
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) forget: Vec<Address>,
    /// Settle only this resource; repeatable
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) target: Vec<Address>,
    /// Settle only interrupted calls, without reading other resources
    #[arg(long)]
    pub(crate) no_refresh: bool,
    #[command(flatten)]
    pub(crate) drifted: DriftArguments,
    #[command(flatten)]
    pub(crate) running: ApplyArguments,
}

/// Show how resources differ from the state
#[derive(Debug, Args)]
pub(crate) struct Drift {
    #[command(flatten)]
    pub(crate) selection: InstanceArguments,
    /// Exit with 3 if anything differs
    #[arg(long)]
    pub(crate) exit_code: bool,
    /// Take the differences into the state; the document may then differ from it
    #[arg(long)]
    pub(crate) accept: bool,
    /// Read only this resource; repeatable
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) target: Vec<Address>,
    #[command(flatten)]
    pub(crate) consent: Consent,
}

/// Take the changes that others made into the state
///
/// Reads the existing resources and records how they are now. No resource is changed. It is the same
/// as `cyan drift --accept`.
#[derive(Debug, Args)]
pub(crate) struct Refresh {
    #[command(flatten)]
    pub(crate) selection: InstanceArguments,
    /// Read only this resource; repeatable
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) target: Vec<Address>,
    #[command(flatten)]
    pub(crate) consent: Consent,
    #[command(flatten)]
    pub(crate) lock: LockArguments,
}

/// Import an existing resource into the state
///
/// Reads the resource by the provider's id and records it at the address. The resource is not
/// changed. The next `stage` shows how it differs from the document.
#[derive(Debug, Args)]
pub(crate) struct Import {
    /// Type of the resource, such as `local/file`
    #[arg(value_name = "TYPE")]
    pub(crate) type_name: String,
    /// Id of the resource at its provider
    pub(crate) id: String,
    /// Address in the document, such as `disks[0]`
    pub(crate) address: Address,
    #[command(flatten)]
    pub(crate) flag: InstanceFlag,
    #[command(flatten)]
    pub(crate) consent: Consent,
    #[command(flatten)]
    pub(crate) lock: LockArguments,
}

/// Edit, export or import the state
///
/// Shows each change first, and asks for confirmation. No resource is changed.
#[derive(Debug, Args)]
pub(crate) struct State {
    #[command(subcommand)]
    pub(crate) command: StateCommand,
}

/// What to do with the state.
#[derive(Debug, Subcommand)]
pub(crate) enum StateCommand {
    /// Move a resource to another address
    ///
    /// A template or a child document moves with everything in it.
    Move {
        /// Present address
        from: Address,
        /// New address
        to: Address,
        #[command(flatten)]
        flag: InstanceFlag,
        #[command(flatten)]
        consent: Consent,
        #[command(flatten)]
        lock: LockArguments,
    },
    /// Remove resources from the state, without deleting them
    Remove {
        /// Addresses of the resources
        #[arg(required = true, value_name = "ADDRESS")]
        addresses: Vec<Address>,
        #[command(flatten)]
        flag: InstanceFlag,
        #[command(flatten)]
        consent: Consent,
        #[command(flatten)]
        lock: LockArguments,
    },
    /// Take the protection of resources out of the state
    ///
    /// They can be deleted and replaced then. A deploy of a document that protects them protects them
    /// again.
    Unprotect {
        /// Addresses of the resources
        #[arg(required = true, value_name = "ADDRESS")]
        addresses: Vec<Address>,
        #[command(flatten)]
        flag: InstanceFlag,
        #[command(flatten)]
        consent: Consent,
        #[command(flatten)]
        lock: LockArguments,
    },
    /// Export the state as text, with secrets encrypted
    ///
    /// The export is complete: `import` elsewhere gives the same state with its history, its
    /// generations and its interrupted calls.
    Export {
        /// File to write [default: standard output]
        #[arg(value_name = "FILE", value_parser = path())]
        file: Option<PathBuf>,
        #[command(flatten)]
        flag: InstanceFlag,
        /// Export in the format of another tool: `heat`, as `openstack stack abandon`, without
        /// secrets; `pulumi`, as `pulumi stack export`
        #[arg(long = "as", value_name = "FORM")]
        form: Option<String>,
        /// Write secrets in clear text, with --as
        #[arg(long, requires = "form")]
        reveal: bool,
    },
    /// Import an exported state
    ///
    /// A new instance gets everything, history included. An existing instance gets the present
    /// resources only. From the output of `openstack stack abandon`, the documents are written to
    /// this folder and the resources are adopted; `--from heat STACK` does the same with a stack
    /// that Heat still has. A deployment of `pulumi stack export` becomes the state of a stack; its
    /// secrets need the passphrase in `PULUMI_CONFIG_PASSPHRASE`. FILE can be the folder of
    /// Pulumi's file store.
    Import {
        /// File to read; `-` reads standard input. With --from, the name or id of the stack
        #[arg(value_name = "FILE|STACK", value_parser = path())]
        file: PathBuf,
        /// Ask another tool for the stack: `heat`, through its API
        #[arg(long, value_name = "FORM")]
        from: Option<String>,
        #[command(flatten)]
        inputs: Inputs,
        #[command(flatten)]
        flag: InstanceFlag,
        #[command(flatten)]
        consent: Consent,
    },
    /// Check every row of the state against its authentication code
    ///
    /// Rows that were written with a key are checked with that key: a change without the key is
    /// detected. Rows that were written without a key are checked for damage. An older copy of the
    /// whole file is not detected.
    Verify,
    /// Remove old operations from the history
    ///
    /// Keeps the newest generations, the newest that succeeded, and what rollback and interrupted
    /// operations need. Removes the journal and the documents of all older operations. The
    /// resources and their records do not change.
    Prune {
        /// Generations to keep [default: `keep` under `[history]` in `cyan.toml`]
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
        keep: Option<u64>,
        #[command(flatten)]
        flag: InstanceFlag,
        #[command(flatten)]
        consent: Consent,
    },
    /// Encrypt all secrets of the state with another key
    ///
    /// Needs the present key, and that no operation runs. Changes all secrets or none.
    Rekey {
        /// File of the new key; created after a question if it is missing
        #[arg(value_name = "FILE", value_parser = path())]
        file: PathBuf,
        #[command(flatten)]
        consent: Consent,
    },
}

/// List instances
#[derive(Debug, Args)]
pub(crate) struct List {
    /// Include destroyed instances
    #[arg(long)]
    pub(crate) all: bool,
}

/// Show an instance, one of its resources, or a saved plan
///
/// A plan file of `cyan stage --out PLAN` is printed as `cyan stage` printed it. That needs no state,
/// no key and no account.
#[derive(Debug, Args)]
pub(crate) struct Show {
    /// Address of a resource or a child document, or a plan file [default: the whole instance]
    #[arg(value_name = "ADDRESS or PLAN")]
    pub(crate) address: Option<String>,
    /// Set the output format of a plan file [default: text]
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) format: Option<PlanFormat>,
    #[command(flatten)]
    pub(crate) flag: InstanceFlag,
    #[command(flatten)]
    pub(crate) secrets: Secrets,
}

/// Print exported values
///
/// A single scalar value is printed bare, for scripts.
#[derive(Debug, Args)]
#[command(visible_alias = "output")]
pub(crate) struct Exports {
    /// Name of one export [default: all]
    pub(crate) name: Option<String>,
    #[command(flatten)]
    pub(crate) flag: InstanceFlag,
    #[command(flatten)]
    pub(crate) secrets: Secrets,
}

/// List the operations of an instance: who, when, what, result
#[derive(Debug, Args)]
pub(crate) struct History {
    #[command(flatten)]
    pub(crate) flag: InstanceFlag,
    /// Show one operation: the number of its generation, or `last`
    #[arg(value_name = "GENERATION", value_parser = values::chosen_operation, conflicts_with = "limit")]
    pub(crate) operation: Option<ChosenOperation>,
    /// Limit the number of operations
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) limit: usize,
    /// Print times as dates in UTC
    #[arg(long)]
    pub(crate) absolute: bool,
}

/// Release the lock of an operation that is gone
#[derive(Debug, Args)]
pub(crate) struct Unlock {
    #[command(flatten)]
    pub(crate) flag: InstanceFlag,
    /// Skip the confirmation, even if the owner may still be at work
    #[arg(short, long)]
    pub(crate) yes: bool,
}

/// Manage the key that encrypts secrets
#[derive(Debug, Args)]
pub(crate) struct Key {
    #[command(subcommand)]
    pub(crate) command: KeyCommand,
}

/// What to do with the key.
#[derive(Debug, Subcommand)]
pub(crate) enum KeyCommand {
    /// Write a new key, unless there is one
    New {
        /// File to write [default: cyan/key in the configuration folder of the user]
        #[arg(value_name = "FILE", value_parser = path())]
        file: Option<PathBuf>,
    },
}

/// Print a shell completion script
#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// Name of the shell
    pub(crate) shell: clap_complete::Shell,
}

/// Print manual pages
///
/// `cyan man | man -l -` shows a page; `cyan man --out DIR` writes the pages of all commands.
#[derive(Debug, Args)]
pub(crate) struct Man {
    /// Command of the page, such as `key new` [default: cyan]
    #[arg(value_name = "COMMAND", num_args = 1.., conflicts_with = "out")]
    pub(crate) command: Option<Vec<String>>,
    /// Write the pages of all commands to this folder
    #[arg(long, value_name = "DIR", value_parser = path())]
    pub(crate) out: Option<PathBuf>,
}

#[cfg(test)]
mod tests {
    use clap::error::ErrorKind;
    use clap::{Arg, Command, CommandFactory as _};

    use super::*;

    /// Returns the error of a command for the value `~/x` of an argument.
    fn said(command: &Command, arg: &Arg) -> clap::Error {
        let flag = arg.get_long().map(|long| format!("--{long}"));
        let flag = flag.or_else(|| arg.get_short().map(|short| format!("-{short}")));
        let before = arg.get_index().map_or(0, |index| index - 1);
        let words = std::iter::once("cyan")
            .chain(flag.as_deref())
            .chain(std::iter::repeat_n("x", before))
            .chain(["~/x"]);
        let command = command
            .clone()
            .args_override_self(true)
            .mut_args(|arg| arg.required(false));
        command
            .try_get_matches_from(words)
            .expect_err("it takes a path from `~` on")
    }

    #[test]
    fn no_path_begins_with_a_tilde() {
        let mut whole = Arguments::command();
        whole.build();
        let mut open = vec![whole];
        let mut count = 0;
        while let Some(command) = open.pop() {
            for arg in command.get_arguments() {
                if arg.get_value_parser().type_id() == std::any::TypeId::of::<PathBuf>() {
                    let error = said(&command, arg);
                    assert_eq!(
                        error.kind(),
                        ErrorKind::ValueValidation,
                        "{} {arg}: {error}",
                        command.get_name()
                    );
                    assert!(
                        error.to_string().contains("does not mean the home folder"),
                        "{error}"
                    );
                    count += 1;
                }
            }
            open.extend(command.get_subcommands().cloned());
        }
        assert!(count > 40, "{count}");
    }
}
