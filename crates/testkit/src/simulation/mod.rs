//! Deterministic simulation: stories of an instance made up from a number, told as scenarios, and judged.
//!
//! A story is a few documents and what is done with them: deploys, destroys and rollbacks in any weather (slow,
//! throttled, refused and lost calls, things made in part, reads that lag behind, commits that fail, that took effect and
//! nobody was told, that were not durable, an end of the process at any moment), and what other people do in the cloud
//! meanwhile. It is told as a script of [`scenario`](crate::scenario), which runs it on a virtual clock and judges it:
//!
//! * a call is made only when its intent is durable, and reads only what is in the state, or stated
//!   there under the token that made it;
//! * nothing is deleted while something else uses it;
//! * nothing that was made is ever without somebody who knows of it, and nothing is made twice under one token;
//! * no event tells a secret;
//! * nothing goes on behind a breakpoint before an operation has ended that told of it;
//! * in fair weather it comes to rest, as an undisturbed run would have it, with nothing left to do, and as one without breakpoints would;
//! * a destroy leaves nothing.
//!
//! What goes wrong is made smaller as long as it goes wrong, and is then a script that shows it again.
//!
//! Not here: the engine; real processes and disks (the binary's tests have those).

mod linked;
mod sabotage;
mod sketch;
mod story;
mod watch;
mod weather;

use proptest::strategy::{Strategy as _, ValueTree as _};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

pub use linked::{Linked, linked};
pub use sabotage::Sabotage;
pub use sketch::{Condition, Element, Kind, Sketch, edit, sketch};
pub use story::{Story, story};
pub(crate) use watch::Watch;
pub use weather::{CommitFault, Weather};
pub(crate) use weather::{Kept, Late, Process, Reached};

/// The key that laboratories seal with.
pub(crate) const KEY: [u8; 32] = [7; 32];

/// The variable whose value is a secret in every story.
pub(crate) const SECRET: &str = "password";

/// At most so many attempts are made at a smaller story.
const ATTEMPTS: usize = 400;

/// A story that went wrong.
#[derive(Clone, Debug)]
pub struct Broken {
    /// From which number it was made.
    pub seed: u64,
    /// The smallest story like it, as a script for `testkit::scenario`.
    pub script: String,
    /// What the script says.
    pub told: String,
    /// The lines that say what must never be.
    pub what: Vec<String>,
}

impl std::fmt::Display for Broken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "# seed {}", self.seed)?;
        for what in &self.what {
            writeln!(f, "# {what}")?;
        }
        writeln!(f, "{}", self.script)?;
        self.told.lines().try_for_each(|line| writeln!(f, "# {line}"))
    }
}

/// Tells and judges the story of a number, with an engine that has this fault on purpose, if any. The smallest one like
/// it, if it goes wrong.
pub fn play(seed: u64, sabotage: Option<Sabotage>) -> Result<(), Box<Broken>> {
    let mut bytes = [0; 32];
    for (at, chunk) in bytes.chunks_mut(8).enumerate() {
        chunk.copy_from_slice(&weather::mix(seed.wrapping_add(at as u64)).to_le_bytes());
    }
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let Ok(mut tree) = story().new_tree(&mut runner) else { return Ok(()) };
    let judge = |story: &Story| {
        let script = story.script(sabotage);
        let (told, what) = tell(&script);
        if what.is_empty() { None } else { Some(Broken { seed, script, told, what }) }
    };
    let Some(mut smallest) = judge(&tree.current()) else { return Ok(()) };
    for _ in 0..ATTEMPTS {
        if !tree.simplify() {
            break;
        }
        loop {
            match judge(&tree.current()) {
                Some(broken) => {
                    smallest = broken;
                    break;
                }
                None if !tree.complicate() => return Err(Box::new(smallest)),
                None => {}
            }
        }
    }
    Err(Box::new(smallest))
}

/// Runs a script: what it says, and the lines of it that say what must never be.
pub fn tell(script: &str) -> (String, Vec<String>) {
    let ran = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| crate::scenario::run(script)));
    let told = match ran {
        Ok(Ok(told)) => told,
        Ok(Err(wrong)) => format!("    broken: the script cannot be run: {wrong}\n"),
        Err(panic) => {
            let words = panic.downcast_ref::<String>().map(String::as_str);
            let words = words.or_else(|| panic.downcast_ref::<&str>().copied());
            format!("    broken: a panic: {}\n", words.unwrap_or("without words"))
        }
    };
    let what = told.lines().filter_map(|line| line.trim().strip_prefix("broken: ")).map(str::to_owned).collect();
    (told, what)
}
