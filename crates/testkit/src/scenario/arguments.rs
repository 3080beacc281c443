//! The words of a command: addresses, instances, options and faults.

use std::iter::Peekable;
use std::str::SplitWhitespace;

use blueprint::Address;
use engine::{Adoption, DriftPolicy, Options};
use provider::Operation;
use providers::fake::{FaultKind, ScriptedFault, When};
use state::InstanceName;

use crate::faults::{CommitFault, FaultPlan};

/// The options at the end of a command.
#[derive(Default)]
pub(super) struct CommandOptions {
    pub(super) plan: Options,
    /// The name under which the plan is saved.
    pub(super) save_as: Option<String>,
    pub(super) keep_going: bool,
    pub(super) roll_back: bool,
    pub(super) parallel: Option<usize>,
    pub(super) faults: FaultPlan,
    /// The step of the plan, from 1, at whose call the process ends.
    pub(super) crash_at: Option<(usize, When)>,
}

/// The words of a command.
pub(super) struct CommandWords<'a>(pub(super) Peekable<SplitWhitespace<'a>>);

impl<'a> CommandWords<'a> {
    pub(super) fn new(command: &'a str) -> CommandWords<'a> {
        CommandWords(command.split_whitespace().peekable())
    }

    /// The next word; `what` names it in the error.
    pub(super) fn next(&mut self, what: &str) -> Result<&'a str, String> {
        self.0.next().ok_or_else(|| format!("{what} is missing"))
    }

    fn number(&mut self, what: &str) -> Result<usize, String> {
        let word = self.next(what)?;
        word.parse().map_err(|_| format!("`{word}` is no number"))
    }

    fn count(&mut self, what: &str) -> Result<u32, String> {
        u32::try_from(self.number(what)?).map_err(|_| format!("{what}: the number is too large"))
    }

    fn operation(&mut self) -> Result<Operation, String> {
        match self.next("what is called")? {
            "create" => Ok(Operation::Create),
            "update" => Ok(Operation::Update),
            "delete" => Ok(Operation::Delete),
            other => Err(format!(
                "`{other}` is no call: create, update and delete are"
            )),
        }
    }

    pub(super) fn address(&mut self) -> Result<Address, String> {
        let word = self.next("the address")?;
        word.parse().map_err(|error| format!("`{word}`: {error}"))
    }

    /// `as NAME`.
    pub(super) fn instance(&mut self) -> Result<InstanceName, String> {
        match self.next("`as INSTANCE`")? {
            "as" => Ok(InstanceName::from_free_text(self.next("the instance")?)),
            other => Err(format!("`as` is needed, not `{other}`")),
        }
    }

    pub(super) fn end(&mut self) -> Result<(), String> {
        self.0.next().map_or(Ok(()), |word| {
            Err(format!("`{word}` is not understood here"))
        })
    }

    /// Parses the rest of the command as options.
    pub(super) fn arguments(&mut self) -> Result<CommandOptions, String> {
        let mut arguments = CommandOptions::default();
        while let Some(word) = self.0.next() {
            let understood = self.plan_option(word, &mut arguments)?
                || self.call_fault(word, &mut arguments)?
                || self.process_fault(word, &mut arguments.faults)?;
            if !understood {
                return Err(format!("`{word}` is not understood here"));
            }
        }
        Ok(arguments)
    }

    /// Parses an option of planning and carrying out; `false` if the word is none.
    fn plan_option(&mut self, word: &str, arguments: &mut CommandOptions) -> Result<bool, String> {
        let plan = &mut arguments.plan;
        match word {
            "no-refresh" => plan.refresh = false.into(),
            "target" => plan.targets.push(self.address()?),
            "replace" => plan.replace.push(self.address()?),
            "renew" => plan.renew.push(self.address()?),
            "force" => plan.force = true,
            "until" => plan.until = Some(self.address()?),
            "retry" => plan.undone.push(self.address()?),
            "forget" => plan.forgotten.push(self.address()?),
            "adopt" => {
                let word = self.next("the address")?;
                let (address, id) = match word.split_once('=') {
                    Some((address, id)) => (address, Some(id.into())),
                    None => (word, None),
                };
                let address = address
                    .parse()
                    .map_err(|error| format!("`{address}`: {error}"))?;
                plan.adopted.push(Adoption { address, id });
            }
            "drift" => {
                plan.drift = match self.next("the drift policy")? {
                    "revert" => DriftPolicy::Revert,
                    "accept" => DriftPolicy::Accept,
                    "ignore" => DriftPolicy::Ignore,
                    "refuse" => DriftPolicy::Refuse,
                    other => return Err(format!("`{other}` is no policy")),
                };
            }
            "keep" => arguments.save_as = Some(self.next("the name of the plan")?.to_owned()),
            "keep-going" => arguments.keep_going = true,
            "roll-back" => arguments.roll_back = true,
            "parallel" => arguments.parallel = Some(self.number("how many")?),
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Parses a fault of single calls; `false` if the word is none.
    fn call_fault(&mut self, word: &str, arguments: &mut CommandOptions) -> Result<bool, String> {
        let fault = |on, at: &str, times, kind| ScriptedFault {
            on,
            at: at.into(),
            skip: 0,
            times,
            kind,
        };
        let faults = &mut arguments.faults.faults;
        let new = match word {
            "crash-after" => {
                arguments.crash_at = Some((self.number("after which step")?, When::After));
                return Ok(true);
            }
            "crash-before" => {
                arguments.crash_at = Some((self.number("before which step")?, When::Before));
                return Ok(true);
            }
            "after" => {
                let skip = self.count("how many")?;
                faults
                    .last_mut()
                    .ok_or("`after` stands behind a call")?
                    .skip = skip;
                return Ok(true);
            }
            "crash" => {
                let when = match self.next("`before` or `after`")? {
                    "before" => When::Before,
                    "after" => When::After,
                    other => return Err(format!("`{other}` is neither `before` nor `after`")),
                };
                let on = self.operation()?;
                let at = self.next("the address")?;
                let untraceable = self.0.next_if_eq(&"untraceable").is_some();
                fault(Some(on), at, 1, FaultKind::Crash { when, untraceable })
            }
            "fail" | "partial" | "lose" | "unsure" => {
                let kind = match word {
                    "fail" => FaultKind::Permanent,
                    "partial" => FaultKind::Partial,
                    "unsure" => FaultKind::Unsure,
                    _ => FaultKind::Lost,
                };
                let on = self.operation()?;
                fault(Some(on), self.next("the address")?, 1, kind)
            }
            "trouble" | "throttle" => {
                let kind = if word == "trouble" {
                    FaultKind::Transient
                } else {
                    FaultKind::Throttled
                };
                let (on, at) = (self.operation()?, self.next("the address")?);
                fault(Some(on), at, self.count("how often")?, kind)
            }
            "slow" => {
                let at = self.next("the address")?;
                let checks = Some(self.count("how many checks")?);
                fault(None, at, 1, FaultKind::Slow { checks })
            }
            "never-stable" => fault(
                None,
                self.next("the address")?,
                1,
                FaultKind::Slow { checks: None },
            ),
            _ => return Ok(false),
        };
        faults.push(new);
        Ok(true)
    }

    /// Parses a fault of the whole process; `false` if the word is none.
    fn process_fault(&mut self, word: &str, faults: &mut FaultPlan) -> Result<bool, String> {
        match word {
            "latency" => {
                let seed = self.next("the seed")?;
                faults.latency = Some(seed.parse().map_err(|_| format!("`{seed}` is no number"))?);
            }
            "ends-at" => faults.ends_at = Some(self.count("the moment")?),
            "loses-from" => faults.loses_from = Some(self.count("the commit")?),
            "sees-late" => faults.read_delay = Some(self.count("how many seconds")?),
            "commit-fails" | "commit-unsure" => {
                let number = self.count("the commit")?;
                faults.commit_fails = Some(CommitFault {
                    number,
                    written: word == "commit-unsure",
                });
            }
            _ => return Ok(false),
        }
        Ok(true)
    }
}
