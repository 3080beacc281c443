//! The command line as typed. The doc comments here are the help text.
//!
//! Not here: the execution of commands (`commands`).

mod inputs;
mod path;
mod values;

use std::path::PathBuf;

use blueprint::Address;
use clap::{Args, Parser, Subcommand, ValueEnum};
use engine::Options;
use state::InstanceName;

pub(crate) use self::inputs::Inputs;
use self::path::path;
pub(crate) use self::values::{Adopted, DriftPolicy, OnFailureArgument};
use crate::terminal::ColorChoice;

/// Deploy infrastructure from documents.
///
/// A document describes the resources that should exist. `cyan stage` shows what would change,
/// `cyan deploy` changes it. Results go to stdout; progress, questions and diagnostics go to
/// stderr.
///
/// Exit codes: 0 success, 1 the document, the inputs, the plan, the state or a provider is unusable
/// and nothing was changed, 2 wrong usage or a question without a terminal to ask on, 3 there are
/// differences (with --exit-code), 4 an operation began and did not finish, 5 another operation
/// holds the instance, 70 a bug, 130 interrupted before anything began.
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
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Init(Init),
    Validate(Validate),
    Stage(Stage),
    Deploy(Deploy),
    Destroy(Destroy),
    Reconcile(Reconcile),
    Rollback(Rollback),
    Drift(Drift),
    Import(Import),
    State(State),
    List(List),
    Show(Show),
    Exports(Exports),
    History(History),
    Unlock(Unlock),
    Key(Key),
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
            Command::Stage(_) => "stage",
            Command::Deploy(_) => "deploy",
            Command::Destroy(_) => "destroy",
            Command::Reconcile(_) => "reconcile",
            Command::Rollback(_) => "rollback",
            Command::Drift(_) => "drift",
            Command::Import(_) => "import",
            Command::State(_) => "state",
            Command::List(_) => "list",
            Command::Show(_) => "show",
            Command::Exports(_) => "exports",
            Command::History(_) => "history",
            Command::Unlock(_) => "unlock",
            Command::Key(_) => "key",
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
            Command::Import(command) => command.consent.yes,
            Command::Unlock(command) => command.yes,
            Command::State(command) => match &command.command {
                StateCommand::Move { consent, .. }
                | StateCommand::Remove { consent, .. }
                | StateCommand::Prune { consent, .. }
                | StateCommand::Import { consent, .. } => consent.yes,
                StateCommand::Export { .. } | StateCommand::Verify | StateCommand::Rekey { .. } => {
                    false
                }
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
                | Command::Key(_)
                | Command::Graph(_)
                | Command::Explain(_)
                | Command::Types(_)
                | Command::Functions(_)
                | Command::Completions(_)
                | Command::Man(_)
        )
    }

    /// Whether the command changes an instance. Its machine output is then one line per event.
    pub(crate) fn is_operation(&self) -> bool {
        match self {
            Command::Deploy(_)
            | Command::Destroy(_)
            | Command::Reconcile(_)
            | Command::Rollback(_)
            | Command::Import(_) => true,
            Command::Drift(drift) => drift.accept,
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

/// The flag that selects an instance.
#[derive(Clone, Debug, Args)]
pub(crate) struct InstanceFlag {
    /// Select the instance by its name [default: the instance of the document]
    #[arg(short, long, value_name = "NAME")]
    pub(crate) instance: Option<InstanceName>,
}

/// The arguments that select an instance by its document or its name.
#[derive(Clone, Debug, Args)]
pub(crate) struct InstanceArguments {
    /// Document of the instance [default: the document in the current folder, else the only
    /// instance]
    #[arg(value_name = "FILE", value_parser = path())]
    pub(crate) file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) flag: InstanceFlag,
}

/// Whether a person has said yes beforehand.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(crate) struct Consent {
    /// Skip the confirmation
    #[arg(short, long)]
    pub(crate) yes: bool,
}

/// How secrets are shown.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct Secrets {
    /// Show secrets in clear text
    #[arg(long)]
    pub(crate) reveal: bool,
}

/// The document that expressions read.
#[derive(Clone, Debug, Args)]
pub(crate) struct ExpressionArguments {
    /// Document to read [default: the document in the current folder, if there is one]
    #[arg(value_name = "FILE", value_parser = path())]
    pub(crate) file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) flag: InstanceFlag,
    #[command(flatten)]
    pub(crate) inputs: Inputs,
    #[command(flatten)]
    pub(crate) secrets: Secrets,
}

/// What becomes of drift.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct DriftArguments {
    /// Set what happens to changes that others made [default: revert]
    #[arg(long, value_enum, value_name = "POLICY")]
    pub(crate) drift: Option<DriftPolicy>,
}

/// How a plan is made.
#[derive(Clone, Debug, Args)]
pub(crate) struct PlanArguments {
    /// Plan from the state alone, without reading resources
    #[arg(long)]
    pub(crate) no_refresh: bool,
    /// Change only this resource and what it depends on; repeatable
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) target: Vec<Address>,
    /// Replace this resource even if it is unchanged; repeatable
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) replace: Vec<Address>,
    /// Generate the values of `uuid()` and `datetime()` in this resource again; repeatable
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) renew: Vec<Address>,
    #[command(flatten)]
    pub(crate) drifted: DriftArguments,
}

impl DriftArguments {
    /// The policy, for a plan.
    pub(crate) fn policy(self) -> engine::DriftPolicy {
        self.drift.unwrap_or_default().policy()
    }
}

impl PlanArguments {
    /// The options of a plan, from the flags.
    pub(crate) fn options(&self) -> Options {
        Options {
            refresh: !self.no_refresh,
            targets: self.target.clone(),
            replace: self.replace.clone(),
            renew: self.renew.clone(),
            drift: self.drifted.policy(),
            ..Options::default()
        }
    }

    /// Whether any of the flags is given.
    pub(crate) fn is_given(&self) -> bool {
        self.no_refresh
            || self.drifted.drift.is_some()
            || !(self.target.is_empty() && self.replace.is_empty() && self.renew.is_empty())
    }
}

/// How a plan is carried out.
#[derive(Clone, Debug, Args)]
pub(crate) struct ApplyArguments {
    #[command(flatten)]
    pub(crate) consent: Consent,
    /// Limit the number of concurrent steps [default: 16]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) parallelism: Option<u16>,
    /// Set what to do when a step fails [default: stop]
    #[arg(long, value_enum, value_name = "WHAT")]
    pub(crate) on_failure: Option<OnFailureArgument>,
}

impl From<Consent> for ApplyArguments {
    fn from(consent: Consent) -> ApplyArguments {
        ApplyArguments {
            consent,
            parallelism: None,
            on_failure: None,
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
}

/// Show what a deploy would change
///
/// Reads the existing resources, compares them with the document, and prints each step with its
/// reason. Nothing is changed. `--out` keeps the plan in a file; `cyan deploy PLAN` then does
/// exactly what it says.
#[derive(Debug, Args)]
#[command(visible_aliases = ["plan", "preview"])]
pub(crate) struct Stage {
    /// Document to read [default: the document in the current folder]; `-` reads standard input
    #[arg(value_name = "FILE", value_parser = path())]
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
    /// Exit with 3 if anything would change
    #[arg(long)]
    pub(crate) exit_code: bool,
    /// Show every diagnostic in full, on a terminal too
    #[arg(long)]
    pub(crate) all: bool,
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
    /// Stop after this resource; the next deploy continues
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) until: Option<Address>,
    /// Reuse the inputs of the last deploy that are not given now
    #[arg(long)]
    pub(crate) keep_vars: bool,
}

/// Delete all resources of an instance
///
/// Needs only the state; the document may be gone. Shows what will be deleted, and asks for
/// confirmation.
#[derive(Debug, Args)]
pub(crate) struct Destroy {
    #[command(flatten)]
    pub(crate) selection: InstanceArguments,
    /// Delete without reading the resources first
    #[arg(long)]
    pub(crate) no_refresh: bool,
    /// Delete only this resource; repeatable
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) target: Vec<Address>,
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
    /// Plan from the state alone, without reading resources
    #[arg(long)]
    pub(crate) no_refresh: bool,
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
        /// secrets
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
    /// this folder and the resources are adopted.
    Import {
        /// File to read; `-` reads standard input
        #[arg(value_name = "FILE", value_parser = path())]
        file: PathBuf,
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
        /// File of the new key; created if it is missing
        #[arg(value_name = "FILE", value_parser = path())]
        file: PathBuf,
    },
}

/// List instances
#[derive(Debug, Args)]
pub(crate) struct List {
    /// Include destroyed instances
    #[arg(long)]
    pub(crate) all: bool,
}

/// Show an instance or one of its resources
#[derive(Debug, Args)]
pub(crate) struct Show {
    /// Address of a resource or a child document [default: the whole instance]
    pub(crate) address: Option<String>,
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
    /// Limit the number of operations
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) limit: usize,
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

/// Format documents
///
/// Keeps the meaning, comments, the order of keys and the style of strings. Indents with two spaces
/// and leaves at most one empty line between elements. Prints the names of files that change. A
/// document that cannot be parsed is kept as it is.
#[derive(Debug, Args)]
pub(crate) struct Fmt {
    /// Documents to format [default: the document in the current folder]; `-` formats standard
    /// input to stdout
    #[arg(value_name = "FILE", value_parser = path())]
    pub(crate) files: Vec<PathBuf>,
    /// Write nothing; exit with 3 if a file would change
    #[arg(long)]
    pub(crate) check: bool,
}

/// How a graph is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum GraphFormat {
    /// Plain text: each element, then what it reads
    #[default]
    Text,
    /// Graphviz
    Dot,
    /// Mermaid
    Mermaid,
    /// SVG drawing
    Svg,
}

/// Print the dependency graph of a document
///
/// As text, dependencies come first. In the other formats each arrow leads from an element to its
/// dependency.
#[derive(Debug, Args)]
pub(crate) struct Graph {
    /// Document to read [default: the document in the current folder]; `-` reads standard input
    #[arg(value_name = "FILE", value_parser = path())]
    pub(crate) file: Option<PathBuf>,
    /// Set the output format
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    pub(crate) format: GraphFormat,
    #[command(flatten)]
    pub(crate) inputs: Inputs,
}

/// Explain a diagnostic code
#[derive(Debug, Args)]
pub(crate) struct Explain {
    /// Code, such as `unknown-key` [default: list all codes]
    pub(crate) code: Option<String>,
}

/// List resource types, or describe one
#[derive(Debug, Args)]
pub(crate) struct Types {
    /// Type such as `local/file`, namespace, or group such as `aws/s3`
    #[arg(value_name = "TYPE")]
    pub(crate) name: Option<String>,
    /// Include the simulated cloud, namespace `test`
    #[arg(long)]
    pub(crate) all: bool,
}

/// List functions for expressions, or describe one
#[derive(Debug, Args)]
pub(crate) struct Functions {
    /// Name of a function
    pub(crate) name: Option<String>,
    /// Include functions of the simulated cloud
    #[arg(long)]
    pub(crate) all: bool,
}

/// Evaluate one expression
///
/// The expression may read what the document declares, and the state. A value that is known only on
/// deploy is marked.
#[derive(Debug, Args)]
pub(crate) struct Eval {
    /// Expression, with or without `${..}`; for a Heat template, a YAML value with functions
    pub(crate) expression: String,
    /// Evaluate a yaql expression
    #[arg(long)]
    pub(crate) yaql: bool,
    #[command(flatten)]
    pub(crate) reading: ExpressionArguments,
}

/// Evaluate expressions at a prompt
///
/// The document is staged once. In a pipe, reads expressions from standard input, one per line or
/// over several lines while brackets are open, and prints results without a prompt.
#[derive(Debug, Args)]
pub(crate) struct Console {
    #[command(flatten)]
    pub(crate) reading: ExpressionArguments,
}

/// Print the JSON Schema of a dialect, for editors
///
/// Each type has its own definition, selected by the value of `type`. Large namespaces are included
/// only with `--with`: `--with aws` for all types, `--with aws/lambda` for a group. The fields of a
/// type that is not included are free.
#[derive(Debug, Args)]
pub(crate) struct Schema {
    /// Name of the dialect
    #[arg(default_value = "blueprint")]
    pub(crate) dialect: String,
    /// Include the types of this namespace or group, such as `aws/lambda`; repeatable
    #[arg(long, value_name = "TYPES")]
    pub(crate) with: Vec<String>,
    /// Exclude the types of this namespace or group; repeatable
    #[arg(long, value_name = "TYPES")]
    pub(crate) without: Vec<String>,
    /// Include the simulated cloud, namespace `test`
    #[arg(long)]
    pub(crate) all: bool,
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
