//! Tests that kill the binary at random moments of deploys, updates and destroys.

use std::time::{Duration, Instant};

use crate::shop::{ExpectedEnd, Shop};

/// The default number of kills, in both worlds together.
const KILLS: u32 = 200;

/// The default seed for the moments. `CYAN_CRASH_SEED` overrides it.
pub(crate) const SEED: u64 = 20_230_420;

/// A pseudo-random generator (SplitMix64).
pub(crate) struct Rng(pub(crate) u64);

impl Rng {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a random duration up to `length`.
    pub(crate) fn within(&mut self, length: Duration) -> Duration {
        length.mul_f64((self.next() >> 11) as f64 / (1u64 << 53) as f64)
    }

    pub(crate) fn one_in(&mut self, many: u64) -> bool {
        self.next().is_multiple_of(many)
    }
}

/// The duration of each kind of run: the first deploy, a later one, a destroy.
#[derive(Clone)]
pub(crate) struct RunDurations([Duration; 3]);

impl RunDurations {
    pub(crate) fn measured() -> RunDurations {
        let mut shop = Shop::new();
        let mut timed = |aim| {
            let began = Instant::now();
            shop.begin(aim).wait();
            shop.next_round();
            began.elapsed()
        };
        RunDurations(
            [
                ExpectedEnd::Deploy,
                ExpectedEnd::Deploy,
                ExpectedEnd::Destroy,
            ]
            .map(&mut timed),
        )
    }

    pub(crate) fn of(&mut self, aim: ExpectedEnd, is_new: bool) -> &mut Duration {
        let [first, later, destroy] = &mut self.0;
        match aim {
            ExpectedEnd::Deploy if is_new => first,
            ExpectedEnd::Deploy => later,
            ExpectedEnd::Destroy => destroy,
        }
    }

    /// Adapts a duration to the speed of the machine. About one run in six should end before its
    /// kill.
    pub(crate) fn learn(&mut self, aim: ExpectedEnd, is_new: bool, was_there: bool) {
        let length = self.of(aim, is_new);
        *length = length.mul_f64(if was_there { 1.02 } else { 0.9 });
    }
}

pub(crate) fn number(name: &str, usual: u64) -> u64 {
    std::env::var(name)
        .ok()
        .map_or(usual, |text| text.parse().unwrap())
}

/// Runs deploys, updates and destroys, and kills each at a random moment. Sometimes kills the next
/// run too.
fn kill_runs_at_random_moments(seed: u64, kills: u32, mut lengths: RunDurations) {
    let mut draw = Rng(seed);
    let mut shop = Shop::new();
    let (mut killed, mut runs) = (0, 0);
    let mut is_new = true;
    while killed < kills {
        let aim = if !is_new && draw.one_in(4) {
            ExpectedEnd::Destroy
        } else {
            ExpectedEnd::Deploy
        };
        loop {
            runs += 1;
            assert!(
                runs < 3 * kills + 20,
                "{killed} of {runs} runs were still there when they were to be killed"
            );
            let delay = draw.within(*lengths.of(aim, is_new));
            let was_there = shop.while_another_process_reads(|| shop.begin(aim).kill_after(delay));
            killed += u32::from(was_there);
            lengths.learn(aim, is_new, was_there);
            shop.reopen();
            if !draw.one_in(3) {
                break;
            }
        }
        shop.run_to_completion(aim);
        is_new = aim == ExpectedEnd::Destroy;
        shop.next_round();
    }
    shop.run_to_completion(ExpectedEnd::Deploy);
    shop.run_to_completion(ExpectedEnd::Destroy);
    println!("{killed} of {runs} runs were killed");
}

/// After a kill at any moment: the state opens; the next run finishes without a question; the plan
/// after it is empty; no resource is created twice or forgotten; a destroy leaves nothing.
#[test]
fn a_kill_at_any_moment_loses_nothing_and_does_nothing_twice() {
    let seed = number("CYAN_CRASH_SEED", SEED);
    let kills = u32::try_from(number("CYAN_CRASH_KILLS", u64::from(KILLS))).unwrap();
    println!("{kills} kills at moments drawn from CYAN_CRASH_SEED={seed}");
    let lengths = RunDurations::measured();
    std::thread::scope(|scope| {
        let other =
            scope.spawn(|| kill_runs_at_random_moments(seed ^ 1, kills / 2, lengths.clone()));
        kill_runs_at_random_moments(seed, kills - kills / 2, lengths.clone());
        other.join().unwrap();
    });
}
