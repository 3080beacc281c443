//! Which runs of an immutable template are kept, and which one counts
//! (decisions/cartographer#runs).

use std::cmp::Reverse;

use blueprint::Value;

use crate::conditions::{FALSE, TRUE};
use crate::timestamps;

/// How many runs are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunLimits {
    /// Runs that are not healthy.
    pub failed: i64,
    /// Healthy runs.
    pub successful: i64,
}

impl RunLimits {
    /// The limits of a `retentionPolicy`, ten of each where it says nothing.
    pub fn of(policy: &Value) -> RunLimits {
        let limit = |key: &str| policy.get(key).and_then(Value::as_int).unwrap_or(10);
        RunLimits {
            failed: limit("maxFailedRuns"),
            successful: limit("maxSuccessfulRuns"),
        }
    }
}

/// A run: an object that was stamped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StampedRun<'a> {
    /// Its name.
    pub name: &'a str,
    /// When it was created, in RFC 3339. A text that is no time is older than any time.
    pub created: &'a str,
    /// `True` if it is healthy, `False` if it is not; anything else while nobody knows.
    pub health: &'a str,
}

/// The positions of the runs to delete, newest first. Runs of which nobody knows the health stay.
pub fn surplus_runs(runs: &[StampedRun<'_>], limits: RunLimits) -> Vec<usize> {
    let mut kept = KeptRuns::new(limits);
    let mut surplus = newest_first(runs);
    surplus.retain(|at| runs.get(*at).is_some_and(|run| !kept.keep(run.health)));
    surplus
}

/// Counts runs that are shown to it from the newest to the oldest.
pub struct KeptRuns {
    limits: RunLimits,
    failed: i64,
    successful: i64,
}

impl KeptRuns {
    /// Nothing is counted yet.
    pub fn new(limits: RunLimits) -> KeptRuns {
        KeptRuns {
            limits,
            failed: 0,
            successful: 0,
        }
    }

    /// Whether the next run is kept, by its health. A run of which nobody knows the health is.
    pub fn keep(&mut self, health: &str) -> bool {
        let (count, limit) = match health {
            TRUE => (&mut self.successful, self.limits.successful),
            FALSE => (&mut self.failed, self.limits.failed),
            _ => return true,
        };
        *count += 1;
        *count <= limit
    }
}

/// The position of the newest healthy run, whose output counts.
pub fn newest_healthy(runs: &[StampedRun<'_>]) -> Option<usize> {
    let is_healthy = |at: &usize| runs.get(*at).is_some_and(|run| run.health == TRUE);
    newest_first(runs).into_iter().find(is_healthy)
}

/// The positions by creation, newest first; runs of one second by name.
fn newest_first(runs: &[StampedRun<'_>]) -> Vec<usize> {
    let mut positions: Vec<usize> = (0..runs.len()).collect();
    positions.sort_by_key(|at| {
        let run = runs.get(*at);
        let created = run.and_then(|run| timestamps::seconds(run.created));
        (Reverse(created), run.map(|run| run.name))
    });
    positions
}

#[cfg(test)]
mod tests {
    use super::{RunLimits, StampedRun, newest_healthy, surplus_runs};

    fn run<'a>(name: &'a str, created: &'a str, health: &'a str) -> StampedRun<'a> {
        StampedRun {
            name,
            created,
            health,
        }
    }

    #[test]
    fn the_newest_runs_of_each_sort_are_kept() {
        let runs = [
            run("a", "2024-01-01T00:00:01Z", "True"),
            run("b", "2024-01-01T00:00:02Z", "Unknown"),
            run("c", "2024-01-01T00:00:03Z", "True"),
            run("d", "2024-01-01T00:00:04Z", "False"),
            run("e", "2024-01-01T00:00:05+00:00", "False"),
        ];
        let limits = RunLimits {
            failed: 1,
            successful: 1,
        };
        assert_eq!(surplus_runs(&runs, limits), [3, 0]);
        assert_eq!(newest_healthy(&runs), Some(2));
    }

    #[test]
    fn runs_of_one_second_are_ordered_by_name() {
        let runs = ["c", "a", "b"].map(|name| run(name, "2024-01-01T00:00:00Z", "True"));
        assert_eq!(newest_healthy(&runs), Some(1));
    }
}
