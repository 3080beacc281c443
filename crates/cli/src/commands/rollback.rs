//! `cyan rollback`.

use state::Generation;

use crate::arguments::{Global, Rollback};
use crate::exit::{CommandError, Exit};
use crate::view::report::Report;
use crate::{open, operation};

pub(crate) async fn run(
    arguments: Rollback,
    global: &Global,
    report: &mut Report,
) -> Result<Exit, CommandError> {
    let (mut session, instance) =
        open::session_and_instance(None, &arguments.flag, global, report).await?;
    session.lock_wait = arguments.running.lock.wait();
    let generation = arguments.generation.map(Generation);
    let (planned, files) = session
        .rollback(instance, generation, arguments.refresh.wanted(), report)
        .await?;
    operation::carry_out(
        planned,
        &files,
        false,
        &mut session,
        &arguments.running,
        report,
    )
    .await
}
