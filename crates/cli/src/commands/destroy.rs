//! `cyan destroy`, and the function that it shares with `reconcile` and `drift --accept`.

use diag::Files;
use engine::Options;

use crate::arguments::{ApplyArguments, Destroy, Global, InstanceArguments};
use crate::exit::{CommandError, Exit};
use crate::view::report::Report;
use crate::{open, operation};

pub(crate) async fn run(
    arguments: Destroy,
    global: &Global,
    report: &mut Report,
) -> Result<Exit, CommandError> {
    let options = arguments.part.restrict(Options {
        refresh: arguments.refresh.wanted(),
        targets: arguments.target,
        force: arguments.force,
        ..Options::default()
    });
    from_state(
        &arguments.selection,
        options,
        &arguments.running,
        global,
        report,
    )
    .await
}

/// Makes a plan from the state alone, shows it, asks for confirmation, and applies it.
pub(crate) async fn from_state(
    selection: &InstanceArguments,
    options: Options,
    running: &ApplyArguments,
    global: &Global,
    report: &mut Report,
) -> Result<Exit, CommandError> {
    let (mut session, instance) =
        open::session_and_instance(selection.file.as_deref(), &selection.flag, global, report)
            .await?;
    session.lock_wait = running.lock.wait();
    let planned = session.stage_state(instance, options, report).await?;
    operation::carry_out(planned, &Files::new(), false, &mut session, running, report).await
}
