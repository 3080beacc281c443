//! `cyan refresh`.

use engine::{Options, StateEdit};

use crate::arguments::{ApplyArguments, Global, Refresh};
use crate::commands::destroy::from_state;
use crate::exit::{CommandError, Exit};
use crate::view::report::Report;

/// Shows how resources differ from the state, asks for confirmation, and records the current values.
pub(crate) async fn run(
    arguments: Refresh,
    global: &Global,
    report: &mut Report,
) -> Result<Exit, CommandError> {
    let options = Options {
        refresh: true.into(),
        state_edit: Some(StateEdit::AcceptDrift),
        targets: arguments.target,
        ..Options::default()
    };
    let running = ApplyArguments {
        lock: arguments.lock,
        ..arguments.consent.into()
    };
    from_state(&arguments.selection, options, &running, global, report).await
}
