//! `cyan render`.

use engine::{Options, StageRequest};
use serde_json::json;

use crate::arguments::{Global, Render};
use crate::exit::{CommandError, Exit};
use crate::open;
use crate::rendering::{SecretParts, render};
use crate::view::manifests::yaml_stream;
use crate::view::report::Report;

/// The state of a rendering without a cluster.
const NO_STATE: &str = "memory:";

pub(crate) async fn run(
    arguments: Render,
    global: &Global,
    report: &mut Report,
) -> Result<Exit, CommandError> {
    let global = for_rendering(global);
    let source = open::source(arguments.file.as_deref())?;
    let session = open::session_in(&global, &source.project_folder(), report)?;
    let request = StageRequest {
        instance: arguments.flag.instance,
        inputs: arguments.inputs.0,
        options: Options::default(),
        ..StageRequest::new(source)
    };
    let secrets = match arguments.secrets.reveal {
        true => SecretParts::Written,
        false => SecretParts::Refused,
    };
    let Some(rendering) = render(&session, request, secrets, report).await? else {
        return Ok(Exit::Unusable);
    };
    let others = rendering.others;
    if !report.is_json() {
        report
            .terminal
            .write_result(&yaml_stream(&rendering.objects)?);
        if others > 0 {
            let what = if others == 1 { "resource" } else { "resources" };
            report
                .terminal
                .write_message(format!("{others} {what} of other providers left out."));
        }
    }
    report.set_result(json!({"objects": rendering.objects, "others": others}));
    Ok(Exit::Done)
}

/// Without a choice of the user every provider is simulated, and no state is read: what a
/// simulated deploy has recorded is no value for a real cluster.
pub(crate) fn for_rendering(global: &Global) -> Global {
    match global.simulate {
        Some(_) => global.clone(),
        None => Global {
            simulate: Some(true),
            state: Some(NO_STATE.to_owned()),
            ..global.clone()
        },
    }
}
