//! `cyan reconcile`.

use engine::{Options, Refresh};

use crate::arguments::{Global, Reconcile};
use crate::commands::destroy::from_state;
use crate::exit::{CommandError, Exit};
use crate::view::report::Report;

pub(crate) async fn run(
    arguments: Reconcile,
    global: &Global,
    report: &mut Report,
) -> Result<Exit, CommandError> {
    let options = Options {
        reconcile: true,
        refresh: Refresh::from(!arguments.no_refresh),
        undone: arguments.retry,
        adopted: arguments
            .adopt
            .into_iter()
            .map(|adopted| adopted.0)
            .collect(),
        forgotten: arguments.forget,
        targets: arguments.target,
        drift: arguments.drifted.policy(),
        ..Options::default()
    };
    from_state(
        &arguments.selection,
        options,
        &arguments.running,
        global,
        report,
    )
    .await
}
