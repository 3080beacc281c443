//! The command line as typed. The doc comments here are the help text.
//!
//! Not here: what it means (`setup`, `commands`).

use std::path::PathBuf;

use blueprint::Address;
use clap::{Args, Parser, Subcommand, ValueEnum};
use state::InstanceName;

use crate::exit::CommandError;
use crate::inputs::Written;
use crate::registry::Offer;
use crate::terminal::ColorChoice;

/// Deploy what a document describes, and remember what was done.
///
/// A document says what should be there; `stage` shows what would change, `deploy` changes it.
/// Results go to stdout, everything else to stderr.
///
/// Exit codes: 0 done, 1 cannot be used as it is (nothing was changed), 2 the command line is wrong or a question
/// could not be asked, 3 there are differences (with --exit-code), 4 an operation did not finish well, 5 another
/// operation holds the instance, 70 a bug, 130 interrupted.
#[derive(Debug, Parser)]
#[command(name = "cyan", version, disable_help_subcommand = false, max_term_width = 100)]
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
    /// Run as if started in this folder.
    #[arg(short = 'C', value_name = "DIR", global = true)]
    pub(crate) start: Option<PathBuf>,
    /// Where state lives: `sqlite:PATH` or `memory:`; without it, `.cyan/state.db` beside the document.
    #[arg(long, value_name = "URL", global = true, env = "CYAN_STATE")]
    pub(crate) state: Option<String>,
    /// The configuration file; without it, `cyan.toml` beside the document.
    #[arg(long, value_name = "FILE", global = true)]
    pub(crate) config: Option<PathBuf>,
    /// Machine output on stdout.
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Treat warnings as errors.
    #[arg(long, global = true)]
    pub(crate) strict: bool,
    /// When to use colours.
    #[arg(long, value_enum, value_name = "WHEN", global = true)]
    pub(crate) color: Option<ColorChoice>,
    /// Say only what was asked for and what is wrong.
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Say more: notes, and every field.
    #[arg(short, long, global = true)]
    pub(crate) verbose: bool,
    /// Rehearse: every provider is replaced by a simulation, and the state of rehearsals is kept apart.
    #[arg(long, global = true)]
    pub(crate) simulate: bool,
    /// One more catalogue of types, for `validate`, `stage` and `--simulate`; repeatable.
    #[arg(long, value_name = "FILE", global = true)]
    pub(crate) catalog: Vec<PathBuf>,
    /// What the two flags above put at hand.
    #[arg(skip)]
    pub(crate) offer: Offer,
}

fn refuse(flags: &[(&str, bool)]) -> Result<(), CommandError> {
    match flags.iter().find(|(_, given)| *given) {
        Some((flag, _)) => Err(CommandError::NotYet { flag: (*flag).to_owned() }),
        None => Ok(()),
    }
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
    Drift(Drift),
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
    /// The word on the command line, as machine output repeats it.
    pub(crate) fn word(&self) -> &'static str {
        match self {
            Command::Init(_) => "init",
            Command::Validate(_) => "validate",
            Command::Stage(_) => "stage",
            Command::Deploy(_) => "deploy",
            Command::Destroy(_) => "destroy",
            Command::Reconcile(_) => "reconcile",
            Command::Drift(_) => "drift",
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

    /// Whether it has to do with things, so that a person must know that they are simulated.
    pub(crate) fn rehearses(&self) -> bool {
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

    /// Whether it changes an instance: then machine output is a line per event.
    pub(crate) fn is_operation(&self) -> bool {
        matches!(self, Command::Deploy(_) | Command::Destroy(_) | Command::Reconcile(_))
    }
}

/// Which instance is meant.
#[derive(Clone, Debug, Args)]
pub(crate) struct Which {
    /// The name it is, or will be, deployed under; without it, the document's own.
    #[arg(short, long, value_name = "NAME")]
    pub(crate) instance: Option<InstanceName>,
}

/// Values for the document's inputs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Inputs {
    /// In the order in which they were written.
    pub(crate) written: Vec<Written>,
}

/// How a plan is made.
#[derive(Clone, Debug, Args)]
pub(crate) struct Planning {
    /// Do not look at what is there; compare with the state alone.
    #[arg(long)]
    pub(crate) no_refresh: bool,
    #[arg(long, value_name = "ADDRESS", hide = true)]
    target: Vec<Address>,
    #[arg(long, value_name = "ADDRESS", hide = true)]
    replace: Vec<Address>,
    #[arg(long, value_name = "ADDRESS", hide = true)]
    renew: Vec<Address>,
    #[arg(long, value_name = "POLICY", hide = true)]
    drift: Option<String>,
}

impl Planning {
    /// Refuses what this version does not have.
    pub(crate) fn refuse_missing(&self) -> Result<(), CommandError> {
        refuse(&[
            ("--target", !self.target.is_empty()),
            ("--replace", !self.replace.is_empty()),
            ("--renew", !self.renew.is_empty()),
            ("--drift", self.drift.is_some()),
        ])
    }
}

/// What to do when a step fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum OnFailure {
    /// Nothing new starts; what runs is waited for.
    Stop,
    /// Only what depends on it is left out.
    KeepGoing,
    /// Everything that was done is undone.
    #[value(hide = true)]
    Rollback,
}

/// How a plan is carried out.
#[derive(Clone, Debug, Args)]
pub(crate) struct Running {
    /// Do not ask.
    #[arg(short, long)]
    pub(crate) yes: bool,
    /// How many things are worked on at once [default: 16].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) parallelism: Option<u16>,
    /// What to do when a step fails [default: stop].
    #[arg(long, value_enum, value_name = "WHAT")]
    pub(crate) on_failure: Option<OnFailure>,
}

/// Write a small document that runs as it is.
///
/// Also writes `.gitignore` with `.cyan/`, where state is kept. Files that are there stay as they are.
#[derive(Debug, Args)]
pub(crate) struct Init {
    /// The folder to begin in; it is made if it is missing.
    pub(crate) folder: Option<PathBuf>,
}

/// Read documents and say everything that is wrong with them.
///
/// Needs no state, no provider and no inputs.
#[derive(Debug, Args)]
pub(crate) struct Validate {
    /// The documents; without one, that in the current folder; `-` is standard input.
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
}

/// Show what a deploy would change, and change nothing.
///
/// Looks at what is there, compares, and prints each step with its reason. With `--out` the plan is kept in a file,
/// and `cyan deploy PLAN` does exactly what it says.
#[derive(Debug, Args)]
#[command(visible_aliases = ["plan", "preview"])]
pub(crate) struct Stage {
    /// The document; without it, the one in the current folder; `-` is standard input.
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) which: Which,
    #[command(flatten)]
    pub(crate) inputs: Inputs,
    #[command(flatten)]
    pub(crate) planning: Planning,
    /// Keep the plan in this file.
    #[arg(long, value_name = "PLAN")]
    pub(crate) out: Option<PathBuf>,
    /// Exit with 3 if anything would change.
    #[arg(long)]
    pub(crate) exit_code: bool,
}

/// Make things as the document says.
///
/// Stages, shows what will change, asks, and does it. A plan that was kept with `cyan stage --out` is carried out as
/// it is or refused, and nothing is asked.
#[derive(Debug, Args)]
#[command(visible_aliases = ["apply", "up"])]
pub(crate) struct Deploy {
    /// The document, or a kept plan; without it, the document in the current folder; `-` is standard input.
    #[arg(value_name = "FILE or PLAN")]
    pub(crate) file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) which: Which,
    #[command(flatten)]
    pub(crate) inputs: Inputs,
    #[command(flatten)]
    pub(crate) planning: Planning,
    #[command(flatten)]
    pub(crate) running: Running,
    #[arg(long, value_name = "ADDRESS", hide = true)]
    until: Option<Address>,
    #[arg(long, hide = true)]
    keep_vars: bool,
}

impl Deploy {
    /// Refuses what this version does not have.
    pub(crate) fn refuse_missing(&self) -> Result<(), CommandError> {
        refuse(&[("--until", self.until.is_some()), ("--keep-vars", self.keep_vars)])?;
        self.planning.refuse_missing()
    }
}

/// Take everything of an instance away.
///
/// Needs the state alone: the document may be gone. Shows what will be deleted, and asks.
#[derive(Debug, Args)]
pub(crate) struct Destroy {
    /// The document whose instance is meant; without it, the one in the current folder, else the only instance.
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) which: Which,
    #[command(flatten)]
    pub(crate) planning: Planning,
    #[command(flatten)]
    pub(crate) running: Running,
    #[arg(long, hide = true)]
    force: bool,
}

impl Destroy {
    /// Refuses what this version does not have.
    pub(crate) fn refuse_missing(&self) -> Result<(), CommandError> {
        refuse(&[("--force", self.force)])?;
        self.planning.refuse_missing()
    }
}

/// Settle what was cut off, without changing what is desired.
///
/// Looks what became of calls whose outcome is unknown, and records it. Where nobody can tell, a person must: look
/// whether it was done, and if it was not, say so with `--retry`.
#[derive(Debug, Args)]
pub(crate) struct Reconcile {
    /// The document whose instance is meant; without it, the one in the current folder, else the only instance.
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) which: Which,
    /// The call that was cut off at this address was not done, or has been undone; repeatable.
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) retry: Vec<Address>,
    #[command(flatten)]
    pub(crate) running: Running,
    #[arg(long, value_name = "ADDRESS", hide = true)]
    adopt: Vec<Address>,
    #[arg(long, value_name = "ADDRESS", hide = true)]
    forget: Vec<Address>,
}

impl Reconcile {
    /// Refuses what this version does not have.
    pub(crate) fn refuse_missing(&self) -> Result<(), CommandError> {
        refuse(&[("--adopt", !self.adopt.is_empty()), ("--forget", !self.forget.is_empty())])
    }
}

/// Show what differs between the state and the world.
#[derive(Debug, Args)]
pub(crate) struct Drift {
    /// The document whose instance is meant; without it, the one in the current folder, else the only instance.
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) which: Which,
    /// Exit with 3 if anything differs.
    #[arg(long)]
    pub(crate) exit_code: bool,
    #[arg(long, hide = true)]
    accept: bool,
}

impl Drift {
    /// Refuses what this version does not have.
    pub(crate) fn refuse_missing(&self) -> Result<(), CommandError> {
        refuse(&[("--accept", self.accept)])
    }
}

/// List the instances.
#[derive(Debug, Args)]
pub(crate) struct List {
    /// Also those that were destroyed.
    #[arg(long)]
    pub(crate) all: bool,
}

/// Show an instance, or one thing in it.
#[derive(Debug, Args)]
pub(crate) struct Show {
    /// The address of the thing, as `stage` prints it; without it, all of the instance.
    pub(crate) address: Option<String>,
    #[command(flatten)]
    pub(crate) which: Which,
    /// Show secrets in clear.
    #[arg(long)]
    pub(crate) reveal: bool,
}

/// Print the exported values of an instance.
///
/// A single value that is no list and no map is printed bare, for scripts.
#[derive(Debug, Args)]
#[command(visible_alias = "output")]
pub(crate) struct Exports {
    /// The name of the one to print; without it, all.
    pub(crate) name: Option<String>,
    #[command(flatten)]
    pub(crate) which: Which,
    /// Show secrets in clear.
    #[arg(long)]
    pub(crate) reveal: bool,
}

/// Show what was done to an instance: who, when, what, and how it ended.
#[derive(Debug, Args)]
pub(crate) struct History {
    #[command(flatten)]
    pub(crate) which: Which,
    /// Show at most so many operations.
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) limit: usize,
}

/// End a hold on an instance whose owner is gone.
#[derive(Debug, Args)]
pub(crate) struct Unlock {
    #[command(flatten)]
    pub(crate) which: Which,
    /// Do not ask, even if the owner may still be at work.
    #[arg(short, long)]
    pub(crate) yes: bool,
}

/// See to the key for secrets.
#[derive(Debug, Args)]
pub(crate) struct Key {
    #[command(subcommand)]
    pub(crate) command: KeyCommand,
}

/// What to do with the key.
#[derive(Debug, Subcommand)]
pub(crate) enum KeyCommand {
    /// Write a new key; does nothing where there is one.
    New {
        /// The file; without it, the usual place.
        #[arg(value_name = "FILE")]
        file: Option<PathBuf>,
    },
}

/// Write documents in house style.
///
/// Keeps what they mean, every comment, the order of keys and how texts are written; two spaces for each level, at most
/// one empty line between elements. Prints the names of files that change. A document that cannot be read stays as it is.
#[derive(Debug, Args)]
pub(crate) struct Fmt {
    /// The documents, YAML or JSON; without one, that in the current folder; `-` formats standard input to stdout.
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Write nothing; exit with 3 if a file would change.
    #[arg(long)]
    pub(crate) check: bool,
}

/// How a graph is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum GraphFormat {
    /// One line for each element, and what it needs below it.
    #[default]
    Text,
    /// The language of Graphviz.
    Dot,
    /// The language of Mermaid, which wikis and code hosts draw.
    Mermaid,
    /// A drawing that a browser shows, light or dark as it likes.
    Svg,
}

/// Print what needs what in a document.
///
/// As text, what is needed comes first. In the other forms each arrow leads from an element to what it needs.
#[derive(Debug, Args)]
pub(crate) struct Graph {
    /// The document; without it, the one in the current folder; `-` is standard input.
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// How to write it.
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    pub(crate) format: GraphFormat,
}

/// Explain a diagnostic: what it means and how to mend it.
#[derive(Debug, Args)]
pub(crate) struct Explain {
    /// The code, as in `unknown-key`; without it, all codes are listed.
    pub(crate) code: Option<String>,
}

/// Show the types that providers offer, or one with its fields and an example.
#[derive(Debug, Args)]
pub(crate) struct Types {
    /// A type as in `local/file`, a namespace, or a part of one as in `aws/s3`.
    #[arg(value_name = "TYPE")]
    pub(crate) name: Option<String>,
    /// Also the simulated cloud, namespace `test`.
    #[arg(long)]
    pub(crate) all: bool,
}

/// Show the functions that expressions can call, or one with examples.
#[derive(Debug, Args)]
pub(crate) struct Functions {
    /// The name of a function.
    pub(crate) name: Option<String>,
    /// Also those of the simulated cloud.
    #[arg(long)]
    pub(crate) all: bool,
}

/// Work out one expression as the document would.
///
/// The expression may read what the document declares, and the state. What is known only on deploy is shown so.
#[derive(Debug, Args)]
pub(crate) struct Eval {
    /// The expression, with or without `${..}`.
    pub(crate) expression: String,
    /// The document; without it, the one in the current folder, if there is one.
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) which: Which,
    #[command(flatten)]
    pub(crate) inputs: Inputs,
    /// Show secrets in clear.
    #[arg(long)]
    pub(crate) reveal: bool,
}

/// Ask for expressions at a prompt, and work each out as the document would.
///
/// The document is staged once. In a pipe, expressions are read from standard input, one on a line or over several while
/// brackets are open, and results are printed without a prompt.
#[derive(Debug, Args)]
pub(crate) struct Console {
    /// The document; without it, the one in the current folder, if there is one.
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) which: Which,
    #[command(flatten)]
    pub(crate) inputs: Inputs,
    /// Show secrets in clear.
    #[arg(long)]
    pub(crate) reveal: bool,
}

/// Print a JSON Schema of a dialect with the fields of all known types, for editors.
///
/// Each type has a definition of its own, chosen by the value of `type`. Namespaces with very many types are described
/// only as far as `--with` asks for: `--with aws` for all of them, `--with aws/lambda` for a part. A type that is not described may
/// still be named, and nothing is said about its fields.
#[derive(Debug, Args)]
pub(crate) struct Schema {
    /// The dialect.
    #[arg(default_value = "blueprint")]
    pub(crate) dialect: String,
    /// Describe the types of this namespace, group or name too, as in `aws/lambda`; repeatable.
    #[arg(long, value_name = "TYPES")]
    pub(crate) with: Vec<String>,
    /// Leave out the types of this namespace, group or name; repeatable.
    #[arg(long, value_name = "TYPES")]
    pub(crate) without: Vec<String>,
    /// Also the simulated cloud, namespace `test`.
    #[arg(long)]
    pub(crate) all: bool,
}

/// Print a script that completes commands and flags in a shell.
#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// The shell.
    pub(crate) shell: clap_complete::Shell,
}

/// Print a page of the manual, for the program `man`.
///
/// `cyan man | man -l -` shows it; `cyan man --out DIR` writes the pages of all commands.
#[derive(Debug, Args)]
pub(crate) struct Man {
    /// The command to print the page of, as in `key new`; without it, the page of `cyan`.
    #[arg(value_name = "COMMAND", num_args = 1.., conflicts_with = "out")]
    pub(crate) command: Option<Vec<String>>,
    /// Write a page for `cyan` and one for each command into this folder.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
}
