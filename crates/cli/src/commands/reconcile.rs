//! `cyan reconcile`.

use engine::Options;

use crate::arguments::{Global, Reconcile};
use crate::commands::destroy::from_state;
use crate::exit::{CommandError, Exit};
use crate::view::report::Report;

pub(crate) async fn run(arguments: Reconcile, global: &Global, report: &mut Report) -> Result<Exit, CommandError> {
    arguments.refuse_missing()?;
    let options = Options { reconcile: true, undone: arguments.retry, ..Options::default() };
    from_state(arguments.file.as_deref(), &arguments.which, options, &arguments.running, global, report).await
}
