//! `cyan destroy`.

use diag::Files;
use engine::{Given, Options};

use crate::arguments::{Destroy, Global};
use crate::commands::stage::recorded_namespaces;
use crate::exit::{CommandError, Exit};
use crate::operation::{self, Wanted};
use crate::registry::registry;
use crate::setup::chosen;
use crate::view::report::Report;

pub(crate) async fn run(arguments: Destroy, global: &Global, report: &mut Report) -> Result<Exit, CommandError> {
    arguments.refuse_missing()?;
    let (mut setup, instance) =
        chosen(arguments.file.as_deref(), &arguments.which, global, &mut report.terminal).await?;
    let snapshot = setup.store(false).load(&instance).await?;
    let recorded = recorded_namespaces(&snapshot);
    let mut registry = registry(|namespace| recorded.iter().any(|recorded| recorded == namespace));
    registry.open_world(&setup.place)?;
    let shell = setup.shell(&registry, &instance, setup.root_of(&snapshot))?;
    let options = Options { refresh: !arguments.planning.no_refresh && !setup.config.no_refresh, ..Options::default() };
    let wanted = Wanted { document: None, given: Given::default(), options, snapshot, answers: None };
    let files = Files::new();
    let Some(staged) = operation::stage(wanted, &setup, &shell, &registry, &files, report).await else {
        return Ok(Exit::Unusable);
    };
    operation::carry_out(staged, false, &mut setup, &shell, &instance, &arguments.running, &files, report).await
}
