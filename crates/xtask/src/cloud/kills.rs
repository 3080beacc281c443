//! Kills of `cyan` at random times, and the question what its next run makes of them.

use std::collections::BTreeSet;
use std::io;
use std::time::Duration;

use super::instance::{CommandEnd, CyanInstance, InstanceStep};
use super::life::{ComparisonPlace, LifeStep, in_project, settled};
use super::state::differences;
use super::template::TestTemplate;

/// A template with its life without kills.
pub(super) struct UndisturbedLife<'a> {
    pub(super) template: &'a TestTemplate,
    pub(super) steps: &'a [LifeStep],
}

/// Kills `cyan` that often, and runs the killed command again each time. Returns what differs from
/// the life without kills, one for each line.
///
/// # Errors
/// If a project cannot be made, listed or deleted, or commands end before they are killed too often.
pub(super) fn kill(
    place: &ComparisonPlace<'_>,
    lives: &[UndisturbedLife<'_>],
    count: usize,
    seed: u64,
) -> io::Result<Vec<String>> {
    let mut random = KillTimes(seed | 1);
    let mut problems = Vec::new();
    let mut killed = 0;
    let mut turns = 0;
    while killed < count {
        let index = usize::try_from(random.below(lives.len() as u64)).unwrap_or_default();
        let Some(life) = lives.get(index).filter(|_| turns < 10 + count * 2) else {
            return Err(io::Error::other(format!(
                "only {killed} of {count} kills are possible"
            )));
        };
        turns += 1;
        let folder = place.folder.join(format!("kills-{turns}"));
        let side = format!("kills-{turns}");
        in_project(place, life.template, &side, |admin, project| {
            let instance =
                CyanInstance::new(place.program, life.template, &project.login, &folder)?;
            let mut before = BTreeSet::new();
            for (index, step) in life.steps.iter().enumerate() {
                let form = life.template.forms.get(index);
                let command = form.map_or(InstanceStep::Destroy, InstanceStep::Deploy);
                let longest = u64::try_from(step.time.as_millis()).unwrap_or(u64::MAX);
                let after = Duration::from_millis(random.below(longest));
                let mut place = format!("{}, {}", life.template.name, step.name);
                // When enough are killed, the rest of this life is undisturbed.
                let time = if killed < count { after } else { Duration::MAX };
                let mut done = instance.run_and_kill(command, time);
                if let Ok(CommandEnd::Killed) = done {
                    killed += 1;
                    place = format!("{place} killed after {} ms", after.as_millis());
                    println!("{place}");
                    done = instance.run(command).map(|()| CommandEnd::Finished);
                }
                if let Err(error) = done {
                    problems.push(format!("{place}: the next run failed: {error}"));
                    break;
                }
                let found = settled(admin, project, life.template, &mut before)?;
                let expected = step.state.as_deref().unwrap_or_default();
                let lines = differences(["an undisturbed run", "the next run"], expected, &found);
                problems.extend(lines.iter().map(|line| format!("{place}: {line}")));
                // Later steps would show the same.
                if !lines.is_empty() {
                    break;
                }
            }
            Ok(())
        })?;
    }
    Ok(problems)
}

/// A generator of numbers, xorshift64. Its state is never zero.
struct KillTimes(u64);

impl KillTimes {
    /// A number below the limit, or zero if the limit is.
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        // The lowest bits of the first numbers depend on few bits of the seed.
        (self.0 >> 11).checked_rem(limit).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::KillTimes;

    #[test]
    fn a_seed_gives_the_same_times_again() {
        let draw = |seed| {
            let mut random = KillTimes(seed);
            (0..8).map(|_| random.below(1000)).collect::<Vec<_>>()
        };
        assert_eq!(draw(7), draw(7));
        assert_ne!(draw(7), draw(9));
        assert!(draw(7).iter().all(|time| *time < 1000));
        assert_eq!(KillTimes(7).below(0), 0);
    }
}
