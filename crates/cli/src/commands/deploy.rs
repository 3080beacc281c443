//! `cyan deploy`.

use crate::arguments::{Deploy, Global};
use crate::commands::stage::{Ready, ready};
use crate::exit::{CommandError, Exit};
use crate::operation;
use crate::setup::{Setup, Source};
use crate::view::report::Report;

pub(crate) async fn run(arguments: Deploy, global: &Global, report: &mut Report) -> Result<Exit, CommandError> {
    arguments.refuse_missing()?;
    let source = Source::find(arguments.file.as_deref())?;
    let setup = Setup::beside(global, &source.folder, &mut report.terminal)?;
    let ready = ready(setup, source, &arguments.which, &arguments.inputs, &arguments.planning, report).await?;
    let Some(Ready { mut setup, document, instance, shell, staged }) = ready else { return Ok(Exit::Unusable) };
    operation::carry_out(staged, false, &mut setup, &shell, &instance, &arguments.running, &document.files, report)
        .await
}
