//! How far a script is with one object: pure, with the time as an argument.

use std::time::Duration;

use blueprint::{Map, Value};

use crate::script::Script;
use crate::status::{StatusOf, digest};

/// How far a script is with one object. Times count from a beginning that the caller chooses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Progress {
    inputs: String,
    run: u64,
    /// The step that comes next; the number of steps if the run is complete.
    next: usize,
    /// When the step before was reached.
    since: Duration,
}

/// What is to be done for an object.
#[derive(Clone, Debug, PartialEq)]
pub enum Due {
    /// Its status gets these entries. The answer is [`Progress::advance`].
    Status(Map),
    /// Nothing before this time.
    At(Duration),
    /// Nothing until the object changes.
    Nothing,
}

impl Progress {
    /// The progress for an object that was seen, with what was known about it. A change of its
    /// inputs begins a further run, number `run`. What the object already has is not played again,
    /// so a player that starts anew changes nothing.
    pub fn observe(
        script: &Script,
        object: &Value,
        before: Option<Progress>,
        run: u64,
        now: Duration,
    ) -> Progress {
        match before {
            Some(before) if digest(script, object, before.run) == before.inputs => before,
            Some(_) => Progress::begin(script, object, run, now),
            None => {
                let begun = Progress::begin(script, object, run, now);
                let steps = 0..script.steps.len();
                let reached = steps
                    .rev()
                    .find(|step| begun.status(script, object, *step).holds());
                Progress {
                    next: reached.map_or(0, |step| step + 1),
                    ..begun
                }
            }
        }
    }

    fn begin(script: &Script, object: &Value, run: u64, now: Duration) -> Progress {
        Progress {
            inputs: digest(script, object, run),
            run,
            next: 0,
            since: now,
        }
    }

    /// Whether the run has no further step.
    pub fn is_complete(&self, script: &Script) -> bool {
        self.next >= script.steps.len()
    }

    /// The number of the run.
    pub fn run(&self) -> u64 {
        self.run
    }

    /// The number of the step that comes next, from 0, and of all steps.
    pub fn steps(&self, script: &Script) -> (usize, usize) {
        (self.next, script.steps.len())
    }

    /// What is due now. `time` is the same moment as RFC 3339, for statuses. The error says why
    /// the status cannot be made.
    pub fn due(
        &mut self,
        script: &Script,
        object: &Value,
        now: Duration,
        time: &str,
    ) -> Result<Due, String> {
        let Some(step) = script.steps.get(self.next) else {
            let Some(every) = script.every else {
                return Ok(Due::Nothing);
            };
            let due = self.since + every;
            if now < due {
                return Ok(Due::At(due));
            }
            *self = Progress::begin(script, object, self.run + 1, now);
            return Ok(Due::At(now));
        };
        let due = self.since + step.after;
        if now < due {
            return Ok(Due::At(due));
        }
        let status = self.status(script, object, self.next);
        if status.holds() {
            self.advance(now);
            return Ok(Due::At(now));
        }
        status.at(time).map(Due::Status)
    }

    /// Notes that the step that was due is done.
    pub fn advance(&mut self, now: Duration) {
        self.next += 1;
        self.since = now;
    }

    fn status<'a>(&self, script: &'a Script, object: &'a Value, step: usize) -> StatusOf<'a> {
        StatusOf {
            script,
            object,
            step,
            run: self.run,
        }
    }
}
