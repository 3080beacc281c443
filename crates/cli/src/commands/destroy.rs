//! `cyan destroy`, and what it shares with `reconcile`: a plan from the state alone.

use diag::Files;
use engine::{Given, Options};

use crate::arguments::{Destroy, Global, Meant, Running};
use crate::commands::stage::{described, recorded_namespaces};
use crate::exit::{CommandError, Exit};
use crate::identity::chosen;
use crate::operation::{self, Wanted};
use crate::view::report::Report;

pub(crate) async fn run(arguments: Destroy, global: &Global, report: &mut Report) -> Result<Exit, CommandError> {
    let options = Options {
        refresh: !arguments.no_refresh,
        targets: arguments.target,
        force: arguments.force,
        ..Options::default()
    };
    from_state(&arguments.meant, options, &arguments.running, global, report).await
}

/// Makes a plan from the state alone, shows it, asks, and carries it out.
pub(crate) async fn from_state(
    meant: &Meant,
    mut options: Options,
    running: &Running,
    global: &Global,
    report: &mut Report,
) -> Result<Exit, CommandError> {
    let (mut setup, instance) = chosen(meant.file.as_deref(), &meant.which, global, report).await?;
    if operation::is_busy(&setup, &instance, report).await? {
        return Ok(Exit::Busy);
    }
    options.refresh &= !setup.config.no_refresh;
    let Some(snapshot) = operation::at_rest(&setup, &instance, report).await? else { return Ok(Exit::Busy) };
    described(&setup, &snapshot)?;
    let recorded = recorded_namespaces(&setup.global.offer, &snapshot);
    let mut registry = setup.global.offer.registry(|namespace| recorded.iter().any(|recorded| recorded == namespace));
    registry.open_world(&setup.place)?;
    let shell = setup.shell(&registry, &instance, setup.root_of(&snapshot))?;
    let wanted = Wanted { document: None, given: Given::default(), options, snapshot, answers: None };
    let files = Files::new();
    let Some(staged) = operation::stage(wanted, &setup, &shell, &registry, &files, report).await else {
        return Ok(Exit::Unusable);
    };
    operation::carry_out(staged, false, &mut setup, &shell, &instance, running, &files, report).await
}
