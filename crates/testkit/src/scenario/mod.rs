//! The runner of scenarios: scripts of operations on instances on the simulated cloud.
//!
//! A script has one command a line; `#` begins a comment. The runner writes each command and,
//! indented, its effects. Tests compare this output with the recorded output beside the script.
//!
//! ```text
//! document disks.yaml              the indented lines below are its text; `@sizes@` in it is substituted
//! write sizes 10, 20               from now on, substitutes `10, 20` for `@sizes@`
//! input region eu                  from now on, sets the variable `region`
//! stage disks.yaml as lab          shows the plan of a deploy
//! stage disks.yaml as lab keep monday      the same, and saves the plan
//! apply monday                     carries out the saved plan, or refuses
//! deploy disks.yaml as lab         stages and carries out
//! destroy as lab                   deletes every resource
//! drift-world disk[0] input 5 as lab       changes a field in the cloud, as another person would
//! vanish disk[0] as lab            deletes a resource in the cloud, as another person would
//! hook disk pre-create post-update         from now on, sets breakpoints at a resource or an include
//! hold as lab / release            takes the lease for another operation, and gives it back
//! rollback as lab                  to the last generation that ended well; `rollback 2 as lab`: to generation 2
//! world                            shows the cloud
//! state as lab                     shows the state
//! setting planner {"region": "eu"}         from now on, the settings of a provider
//! wait 60                          lets so many seconds pass
//! toy-schema old                   from now on, toy providers have the schemas before the current ones (`new`)
//! toy-defect foreign-id            from now on, toy providers have a defect; `none`: they have none
//! ```
//!
//! Also: `make TYPE ID SPEC` (creates a resource as another person would; the spec is JSON),
//! `reconcile as lab` (corrects drift without a document), and edits of the state:
//! `import TYPE ID ADDRESS as lab`, `move FROM TO as lab`, `remove ADDRESS as lab`,
//! `accept-drift as lab`, `save as lab` and `load as lab` (the state as text, and back).
//!
//! Options of `stage`, `deploy`, `destroy` and `reconcile`: `no-refresh`, `target ADDRESS`,
//! `replace ADDRESS`, `renew ADDRESS`, `drift revert|accept|ignore|refuse`, `force`,
//! `until ADDRESS`; of `reconcile` also `retry`, `forget` and `adopt ADDRESS[=ID]`; of `deploy` and
//! `destroy` also `keep-going`, `roll-back`, `parallel N`.
//!
//! Faults of calls, as further options: `crash-after N` and `crash-before N` (the process ends
//! after or before the call of step N of the plan, with one call at a time),
//! `crash before|after CALL`, `fail CALL` (refused for good), `trouble CALL N` (refused N times,
//! may be tried again), `throttle CALL N`, `lose CALL` (done, but the answer is lost),
//! `unsure CALL` (done, but the outcome is unknown), `partial CALL` (failed, but the resource
//! exists), `slow ADDRESS N` (ready at check N + 1), `never-stable ADDRESS`. A CALL is
//! `create ADDRESS`, `update ADDRESS` or `delete ADDRESS`; `after N` behind it lets N such calls
//! succeed first.
//!
//! Faults of the process: `latency SEED`, `ends-at MOMENT`, `commit-fails N`, `commit-unsure N`
//! (fails, but is written), `loses-from N` (commits from N on are acknowledged and lost),
//! `sees-late SECONDS`; see [`FaultPlan`](crate::faults::FaultPlan).
//!
//! `check-invariants` checks each call and the result of each run. `settle disks.yaml as lab` (or
//! `settle nothing as lab`) deploys without faults until nothing is left to do, and checks the
//! result. A violation is a line `violation:`. `planted-bug NAME` simulates an engine with a bug.
//!
//! Documents may include one another by name.
//!
//! Not here: the logic of the engine; the output of the front end.

mod arguments;
mod breakpoints;
mod commands;
mod report;
mod runner;
mod settling;

use std::fmt::Write as _;

use crate::runtime::in_runtime;
use runner::Runner;

/// Runs a script and returns its output: each command with its effects below it. `Err` if the
/// script has a command that does not exist or cannot be carried out.
pub fn run(script: &str) -> Result<String, String> {
    in_runtime(async {
        let mut runner = Runner::new();
        let mut lines = script.lines().enumerate().peekable();
        while let Some((number, line)) = lines.next() {
            let command = line.split('#').next().unwrap_or_default().trim_end();
            if command.is_empty() {
                continue;
            }
            let mut block = String::new();
            if command.starts_with("document ") {
                while let Some((_, line)) =
                    lines.next_if(|(_, line)| line.starts_with(' ') || line.is_empty())
                {
                    let _ = writeln!(block, "{}", line.strip_prefix("    ").unwrap_or(line));
                }
            }
            runner
                .command(command, block)
                .await
                .map_err(|error| format!("line {}: {error}", number + 1))?;
        }
        Ok(runner.output)
    })?
}
