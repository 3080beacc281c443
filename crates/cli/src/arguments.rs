//! The command line as typed. The doc comments here are the help text.
//!
//! Not here: what it means (`setup`, `commands`).

use std::ffi::OsString;
use std::path::PathBuf;

use blueprint::Address;
use clap::{Args, CommandFactory as _, FromArgMatches as _, Parser, Subcommand, ValueEnum};
use engine::{Adoption, Options};
use state::InstanceName;

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

impl Arguments {
    /// What the words of a command line say, the program's name among them. An error has the text to be shown, which may be help.
    pub(crate) fn read(words: &[OsString]) -> Result<Arguments, clap::Error> {
        Self::of_one_command(words).map_or_else(|| Arguments::try_parse_from(words), Ok)
    }

    /// The same for words that begin with a command, whose arguments alone are made ready: each command has a copy of those that
    /// all take, and making all of them is a twelfth of what a check of a small document needs. What is not understood so is left to
    /// who knows all commands.
    fn of_one_command(words: &[OsString]) -> Option<Arguments> {
        let all = Arguments::command();
        let one = all.find_subcommand(words.get(1)?)?.clone();
        let alone = clap::Command::new("cyan").args(all.get_arguments().cloned()).subcommand(one);
        Arguments::from_arg_matches(&alone.try_get_matches_from(words).ok()?).ok()
    }
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
    #[arg(long, global = true, value_name = "true|false", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "true", hide_possible_values = true)]
    pub(crate) simulate: Option<bool>,
    /// One more catalogue of types, for commands that change nothing and for `--simulate`; repeatable.
    #[arg(long, value_name = "FILE", global = true)]
    pub(crate) catalog: Vec<PathBuf>,
    /// What the two flags above, or the configuration in their place, put at hand.
    #[arg(skip)]
    pub(crate) offer: Offer,
}

/// The commands.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
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
    /// The word on the command line, as machine output repeats it.
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
        match self {
            Command::Deploy(_)
            | Command::Destroy(_)
            | Command::Reconcile(_)
            | Command::Rollback(_)
            | Command::Import(_) => true,
            Command::Drift(drift) => drift.accept,
            Command::State(state) => !matches!(state.command, StateCommand::Export { .. }),
            _ => false,
        }
    }
}

/// Which instance is meant.
#[derive(Clone, Debug, Args)]
pub(crate) struct Which {
    /// The name it is, or will be, deployed under; without it, the document's own.
    #[arg(short, long, value_name = "NAME")]
    pub(crate) instance: Option<InstanceName>,
}

/// Which instance is meant, by its document too.
#[derive(Clone, Debug, Args)]
pub(crate) struct Meant {
    /// The document whose instance is meant; without it, the one in the current folder, else the only instance.
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) which: Which,
}

/// Whether a person has said yes beforehand.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(crate) struct Consent {
    /// Do not ask.
    #[arg(short, long)]
    pub(crate) yes: bool,
}

/// How secrets are shown.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct Secrets {
    /// Show secrets in clear.
    #[arg(long)]
    pub(crate) reveal: bool,
}

/// The document that expressions read.
#[derive(Clone, Debug, Args)]
pub(crate) struct Reading {
    /// The document; without it, the one in the current folder, if there is one.
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) which: Which,
    #[command(flatten)]
    pub(crate) inputs: Inputs,
    #[command(flatten)]
    pub(crate) secrets: Secrets,
}

/// What becomes of drift.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct Drifted {
    /// What becomes of what somebody else has changed [default: revert].
    #[arg(long, value_enum, value_name = "POLICY")]
    pub(crate) drift: Option<DriftPolicy>,
}

/// Values for the document's inputs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Inputs {
    /// In the order in which they were written.
    pub(crate) written: Vec<Written>,
    /// Environment files, in order.
    pub(crate) environments: Vec<PathBuf>,
}

/// How a plan is made.
#[derive(Clone, Debug, Args)]
pub(crate) struct Planning {
    /// Do not look at what is there; compare with the state alone.
    #[arg(long)]
    pub(crate) no_refresh: bool,
    /// Change only this, with everything it depends on; repeatable.
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) target: Vec<Address>,
    /// Make this anew, even if nothing about it differs; repeatable.
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) replace: Vec<Address>,
    /// Draw the remembered values of this anew, those of `uuid()` and `datetime()`; repeatable.
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) renew: Vec<Address>,
    #[command(flatten)]
    pub(crate) drifted: Drifted,
}

impl Drifted {
    /// The policy, for a plan.
    pub(crate) fn policy(self) -> engine::DriftPolicy {
        self.drift.unwrap_or_default().policy()
    }
}

impl Planning {
    /// What the flags say, for a plan.
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

/// What becomes of what somebody else has changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum DriftPolicy {
    /// It is set back.
    #[default]
    Revert,
    /// The state takes it where the document says nothing; elsewhere the document has to be changed.
    Accept,
    /// It is left as it is.
    Ignore,
    /// There is no plan.
    Refuse,
}

impl DriftPolicy {
    pub(crate) fn policy(self) -> engine::DriftPolicy {
        match self {
            DriftPolicy::Revert => engine::DriftPolicy::Revert,
            DriftPolicy::Accept => engine::DriftPolicy::Accept,
            DriftPolicy::Ignore => engine::DriftPolicy::Ignore,
            DriftPolicy::Refuse => engine::DriftPolicy::Refuse,
        }
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
    /// As stop; then everything goes back to the last generation that ended well.
    Rollback,
}

/// How a plan is carried out.
#[derive(Clone, Debug, Args)]
pub(crate) struct Running {
    #[command(flatten)]
    pub(crate) consent: Consent,
    /// How many things are worked on at once [default: 16].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) parallelism: Option<u16>,
    /// What to do when a step fails [default: stop].
    #[arg(long, value_enum, value_name = "WHAT")]
    pub(crate) on_failure: Option<OnFailure>,
}

impl From<Consent> for Running {
    fn from(consent: Consent) -> Running {
        Running { consent, parallelism: None, on_failure: None }
    }
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
/// Needs no state, no provider and no inputs; those that are given are checked too.
#[derive(Debug, Args)]
pub(crate) struct Validate {
    /// The documents; without one, that in the current folder; `-` is standard input.
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) inputs: Inputs,
    /// Show every diagnostic, not only the first of each kind, on a terminal too.
    #[arg(long)]
    pub(crate) all: bool,
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
    /// Show every diagnostic, not only the first of each kind, on a terminal too.
    #[arg(long)]
    pub(crate) all: bool,
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
    /// Stop once this is done; the next deploy goes on.
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) until: Option<Address>,
    /// Keep the inputs of the last deploy that are not given now.
    #[arg(long)]
    pub(crate) keep_vars: bool,
}

/// Take everything of an instance away.
///
/// Needs the state alone: the document may be gone. Shows what will be deleted, and asks.
#[derive(Debug, Args)]
pub(crate) struct Destroy {
    #[command(flatten)]
    pub(crate) meant: Meant,
    /// Delete without looking at what is there.
    #[arg(long)]
    pub(crate) no_refresh: bool,
    /// Delete only this; repeatable.
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) target: Vec<Address>,
    /// Forget what cannot be deleted, and say what may still exist.
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) running: Running,
}

/// Go back to an earlier generation: its document, its inputs, and what was read then.
///
/// Every operation that ended is a generation, kept whole (`cyan history`). Without a number, the last one that ended well
/// is meant: after a failed deployment the one before it. The plan is shown first, like any other.
#[derive(Debug, Args)]
pub(crate) struct Rollback {
    /// The number of the generation.
    #[arg(value_name = "GENERATION")]
    pub(crate) generation: Option<u64>,
    #[command(flatten)]
    pub(crate) which: Which,
    /// Plan without looking at what is there.
    #[arg(long)]
    pub(crate) no_refresh: bool,
    #[command(flatten)]
    pub(crate) running: Running,
}

/// Settle what was cut off and what has drifted, without changing what is desired.
///
/// Looks what became of calls whose outcome is unknown, and sets back what somebody else has changed. Where nobody can
/// tell what became of a call, a person must: look whether it was done, and say so with one of the flags.
#[derive(Debug, Args)]
pub(crate) struct Reconcile {
    #[command(flatten)]
    pub(crate) meant: Meant,
    /// The call that was cut off at this address was not done, or has been undone; repeatable.
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) retry: Vec<Address>,
    /// The call that was cut off at this address was done; of a thing that was made, the provider's id; repeatable.
    #[arg(long, value_name = "ADDRESS[=ID]")]
    pub(crate) adopt: Vec<Adopted>,
    /// Forget what is at this address, whatever became of the call that was cut off; repeatable.
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) forget: Vec<Address>,
    /// Set only this right; repeatable.
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) target: Vec<Address>,
    /// Settle only what was cut off; do not look at anything else.
    #[arg(long)]
    pub(crate) no_refresh: bool,
    #[command(flatten)]
    pub(crate) drifted: Drifted,
    #[command(flatten)]
    pub(crate) running: Running,
}

/// `ADDRESS` or `ADDRESS=ID`.
#[derive(Clone, Debug)]
pub(crate) struct Adopted(pub(crate) Adoption);

impl std::str::FromStr for Adopted {
    type Err = blueprint::AddressError;

    fn from_str(text: &str) -> Result<Adopted, blueprint::AddressError> {
        // An id may hold any character, an address has `=` in a key alone.
        let cut = text.match_indices('=').map(|(at, _)| at).find_map(|at| Some((text[..at].parse().ok()?, at)));
        Ok(Adopted(match cut {
            Some((address, at)) => Adoption { address, id: Some(text[at + 1..].into()) },
            None => Adoption { address: text.parse()?, id: None },
        }))
    }
}

/// Show what differs between the state and the world.
#[derive(Debug, Args)]
pub(crate) struct Drift {
    #[command(flatten)]
    pub(crate) meant: Meant,
    /// Exit with 3 if anything differs.
    #[arg(long)]
    pub(crate) exit_code: bool,
    /// Take what was seen into the state; the document then differs from it.
    #[arg(long)]
    pub(crate) accept: bool,
    /// Look only at this; repeatable.
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) target: Vec<Address>,
    #[command(flatten)]
    pub(crate) consent: Consent,
}

/// Take a thing that is there under management.
///
/// Reads it by the provider's id and remembers it under the address; the thing itself is not touched. The next `stage`
/// shows how it differs from the document.
#[derive(Debug, Args)]
pub(crate) struct Import {
    /// Its type, as in `local/file`.
    #[arg(value_name = "TYPE")]
    pub(crate) type_name: String,
    /// The provider's id of it.
    pub(crate) id: String,
    /// The address it gets, as in `disks[0]`.
    pub(crate) address: Address,
    #[command(flatten)]
    pub(crate) which: Which,
    #[command(flatten)]
    pub(crate) consent: Consent,
}

/// Change what is remembered, and nothing else.
///
/// Each change is shown first, and asked for. Nothing in the world is touched.
#[derive(Debug, Args)]
pub(crate) struct State {
    #[command(subcommand)]
    pub(crate) command: StateCommand,
}

/// What to do with the state.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum StateCommand {
    /// Give a thing another address; a template or a child document moves with everything in it.
    Move {
        /// The address it has.
        from: Address,
        /// The address it gets.
        to: Address,
        #[command(flatten)]
        which: Which,
        #[command(flatten)]
        consent: Consent,
    },
    /// Forget things; they stay in the world.
    Remove {
        /// Their addresses.
        #[arg(required = true, value_name = "ADDRESS")]
        addresses: Vec<Address>,
        #[command(flatten)]
        which: Which,
        #[command(flatten)]
        consent: Consent,
    },
    /// Write the state as a text; secrets in it are sealed.
    ///
    /// Nothing is left out: `import` elsewhere gives the same state with its history, generations to go back to, and calls
    /// that were cut off, and writing it again gives the same text.
    Export {
        /// The file to write; without it, standard output.
        #[arg(value_name = "FILE")]
        file: Option<PathBuf>,
        #[command(flatten)]
        which: Which,
        /// A form of another tool: `heat` is what `openstack stack abandon` prints, with secrets left out.
        #[arg(long = "as", value_name = "FORM")]
        form: Option<String>,
        /// Write secrets in clear, where the form is another tool's.
        #[arg(long, requires = "form")]
        reveal: bool,
    },
    /// Read back what `export` wrote, into a new instance or beside what is there.
    ///
    /// A new instance is as it was exported, history included. Beside something, only what is there now is taken in. Of a form of another tool
    /// (what `openstack stack abandon` prints) the documents are written here, and what they describe is taken over, not made.
    Import {
        /// The file; `-` is standard input.
        #[arg(value_name = "FILE")]
        file: PathBuf,
        #[command(flatten)]
        which: Which,
        #[command(flatten)]
        consent: Consent,
    },
    /// Seal the secrets of all instances of this state with another key.
    ///
    /// The key at hand opens them; nothing may be under way. All of them or none.
    Rekey {
        /// The file of the new key; made if it is not there.
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
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
    #[command(flatten)]
    pub(crate) secrets: Secrets,
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
    #[command(flatten)]
    pub(crate) secrets: Secrets,
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
    #[command(flatten)]
    pub(crate) inputs: Inputs,
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
    /// The expression, with or without `${..}`; for a template of Heat a value with calls, in YAML.
    pub(crate) expression: String,
    /// The expression is one in yaql; `$` is a map without data.
    #[arg(long)]
    pub(crate) yaql: bool,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

/// Ask for expressions at a prompt, and work each out as the document would.
///
/// The document is staged once. In a pipe, expressions are read from standard input, one on a line or over several while
/// brackets are open, and results are printed without a prompt.
#[derive(Debug, Args)]
pub(crate) struct Console {
    #[command(flatten)]
    pub(crate) reading: Reading,
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

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        std::iter::once("cyan").chain(line.split_whitespace()).map(OsString::from).collect()
    }

    #[test]
    fn a_command_alone_understands_what_it_does_among_all() {
        for line in [
            "validate",
            "validate a.yaml --json --strict",
            "stage a.yaml --out plan --var a=1 --var b=2 -q",
            "deploy --yes --parallelism 10 --on-failure keep-going --instance shop --state memory:",
            "deploy -y -C folder --color always",
            "destroy --instance shop",
            "state export shop.json",
            "state import file --yes",
            "key new",
            "types test/data",
            "eval 1+1",
        ] {
            let words = words(line);
            let all = Arguments::try_parse_from(&words).unwrap();
            let alone = Arguments::of_one_command(&words).unwrap();
            assert_eq!(format!("{alone:?}"), format!("{all:?}"), "{line}");
        }
    }

    #[test]
    fn what_is_no_command_or_wrong_is_said_by_who_knows_all() {
        for line in [
            "",
            "--version",
            "--help",
            "help deploy",
            "deploy --help",
            "depoly",
            "deploy --bogus",
            "stage -q -v",
            "--json deploy",
        ] {
            let words = words(line);
            assert!(Arguments::of_one_command(&words).is_none(), "{line}");
            let all =
                Arguments::try_parse_from(&words).map(|read| format!("{read:?}")).map_err(|error| error.to_string());
            let read = Arguments::read(&words).map(|read| format!("{read:?}")).map_err(|error| error.to_string());
            assert_eq!(read, all, "{line}");
        }
    }
}
