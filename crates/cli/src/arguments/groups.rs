//! Arguments that several commands take.

use std::path::PathBuf;
use std::time::Duration;

use blueprint::Address;
use clap::Args;
use engine::apply::OnFailure;
use engine::{Options, Refresh};
use state::InstanceName;

use super::inputs::Inputs;
use super::path::path;
use super::values::{DriftPolicy, number_of_steps, on_failure, wait_time};

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

/// The form in which a plan is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum PlanFormat {
    /// Plain text
    #[default]
    Text,
    /// A comment for a review, with folded changes
    Markdown,
}

/// Whether a command waits for another operation.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(crate) struct LockArguments {
    /// Wait this long for another operation on the instance to end, such as `10m` [default: 0s]
    #[arg(long, value_name = "DURATION", value_parser = wait_time)]
    lock_wait: Option<Duration>,
}

impl LockArguments {
    /// The time to wait.
    pub(crate) fn wait(self) -> Duration {
        self.lock_wait.unwrap_or_default()
    }
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

impl DriftArguments {
    /// The policy, for a plan.
    pub(crate) fn policy(self) -> engine::DriftPolicy {
        self.drift.unwrap_or_default().policy()
    }
}

/// Whether a plan reads the existing resources.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct RefreshArguments {
    /// Read the existing resources first [default: yes, except for Pulumi programs]
    #[arg(long, overrides_with = "no_refresh")]
    refresh: bool,
    /// Plan from the state alone, without reading resources
    #[arg(long)]
    no_refresh: bool,
}

impl RefreshArguments {
    /// What the user asked for.
    pub(crate) fn wanted(self) -> Refresh {
        match (self.refresh, self.no_refresh) {
            (true, _) => Refresh::Always,
            (_, true) => Refresh::Never,
            _ => Refresh::Usual,
        }
    }
}

/// Which part of the resources may not change, or may change too.
#[derive(Clone, Debug, Args)]
pub(crate) struct PartArguments {
    /// With --target, change what depends on the targets too
    #[arg(long, requires = "target")]
    target_dependents: bool,
    /// Do not change this resource; repeatable
    #[arg(long, value_name = "ADDRESS", conflicts_with = "target")]
    exclude: Vec<Address>,
    /// With --exclude, do not change what depends on the excluded resources either
    #[arg(long, requires = "exclude")]
    exclude_dependents: bool,
}

impl PartArguments {
    /// Adds the part to the options of a plan.
    pub(crate) fn restrict(&self, options: Options) -> Options {
        Options {
            excluded: self.exclude.clone(),
            with_dependents: self.target_dependents || self.exclude_dependents,
            ..options
        }
    }

    /// Whether any of the flags is given.
    fn is_given(&self) -> bool {
        self.target_dependents || !self.exclude.is_empty()
    }
}

/// How a plan is made.
#[derive(Clone, Debug, Args)]
pub(crate) struct PlanArguments {
    #[command(flatten)]
    pub(crate) refresh: RefreshArguments,
    /// Change only this resource and what it depends on; repeatable
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) target: Vec<Address>,
    #[command(flatten)]
    pub(crate) part: PartArguments,
    /// Replace this resource even if it is unchanged; repeatable
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) replace: Vec<Address>,
    /// Generate the values of `uuid()` and `datetime()` in this resource again; repeatable
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) renew: Vec<Address>,
    #[command(flatten)]
    pub(crate) drifted: DriftArguments,
    /// Fail if a resource would change
    #[arg(long)]
    pub(crate) expect_no_changes: bool,
    /// Stop after this resource; the next deploy continues
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) until: Option<Address>,
    /// Reuse the inputs of the last deploy that are not given now
    #[arg(long)]
    pub(crate) keep_vars: bool,
}

impl PlanArguments {
    /// The options of a plan, from the flags.
    pub(crate) fn options(&self) -> Options {
        let options = Options {
            refresh: self.refresh.wanted(),
            targets: self.target.clone(),
            replace: self.replace.clone(),
            renew: self.renew.clone(),
            drift: self.drifted.policy(),
            until: self.until.clone(),
            ..Options::default()
        };
        self.part.restrict(options)
    }

    /// Whether any of the flags is given.
    pub(crate) fn is_given(&self) -> bool {
        self.refresh.wanted() != Refresh::Usual
            || self.drifted.drift.is_some()
            || self.part.is_given()
            || self.expect_no_changes
            || self.keep_vars
            || self.until.is_some()
            || !(self.target.is_empty() && self.replace.is_empty() && self.renew.is_empty())
    }
}

/// How a plan is carried out.
#[derive(Clone, Debug, Args)]
pub(crate) struct ApplyArguments {
    #[command(flatten)]
    pub(crate) consent: Consent,
    #[command(flatten)]
    pub(crate) lock: LockArguments,
    /// Limit the number of concurrent steps [default: 16]
    #[arg(long, value_name = "N", value_parser = number_of_steps)]
    pub(crate) parallelism: Option<u16>,
    /// Limit the time to wait until objects that others make ready, such as those of Kubernetes,
    /// are ready; 0s to not wait [default: 10m]
    #[arg(long, value_name = "DURATION", value_parser = wait_time)]
    pub(crate) wait: Option<Duration>,
    /// Set what to do when a step fails [default: stop]
    #[arg(long, value_name = "WHAT", value_parser = on_failure())]
    pub(crate) on_failure: Option<OnFailure>,
}

impl From<Consent> for ApplyArguments {
    fn from(consent: Consent) -> ApplyArguments {
        ApplyArguments {
            consent,
            lock: LockArguments::default(),
            parallelism: None,
            wait: None,
            on_failure: None,
        }
    }
}
