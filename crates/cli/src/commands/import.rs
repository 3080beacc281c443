//! `cyan import`.

use engine::ImportRequest;

use crate::arguments::{Global, Import};
use crate::commands::state::{InstanceTarget, resolve_instance};
use crate::exit::{CommandError, Exit};
use crate::operation;
use crate::view::report::Report;

pub(crate) async fn run(
    arguments: Import,
    global: &Global,
    report: &mut Report,
) -> Result<Exit, CommandError> {
    let Import {
        type_name,
        id,
        address,
        flag,
        consent,
        lock,
    } = arguments;
    if id.is_empty() {
        return Err(CommandError::usage(
            "the id is empty; name the provider's id of the object",
        ));
    }
    let (mut session, instance) =
        resolve_instance(&InstanceTarget::MayBeNew(flag, None), global, report).await?;
    session.lock_wait = lock.wait();
    let request = ImportRequest {
        type_name: type_name.into(),
        id: id.into(),
        address,
    };
    let planned = session.import(instance, request, report).await?;
    operation::carry_out(
        planned,
        &diag::Files::new(),
        false,
        &mut session,
        &consent.into(),
        report,
    )
    .await
}
