//! `cyan render`.

use blueprint::{Address, Value};
use diag::{Diagnostic, Diagnostics};
use engine::{Options, Session, StageRequest, StagedDocument};
use kubernetes_host::{is_object_type, rendered};
use serde_json::{Value as Json, json};

use crate::arguments::{Global, Render};
use crate::exit::{CommandError, Exit};
use crate::open;
use crate::view::manifests::yaml_stream;
use crate::view::report::Report;

/// The state of a rendering without a cluster.
const NO_STATE: &str = "memory:";

/// The objects, and what cannot be written.
#[derive(Default)]
struct Rendering {
    objects: Vec<Json>,
    found: Diagnostics,
    /// The number of resources of other providers.
    others: usize,
}

pub(crate) async fn run(
    arguments: Render,
    global: &Global,
    report: &mut Report,
) -> Result<Exit, CommandError> {
    let global = for_rendering(global);
    let source = open::source(arguments.file.as_deref())?;
    let session: Session = open::session_in(&global, &source.project_folder(), report)?;
    let request = StageRequest {
        instance: arguments.flag.instance,
        inputs: arguments.inputs.0,
        options: Options::default(),
        ..StageRequest::new(source)
    };
    let StagedDocument { document, planned } = session.stage(request, report).await?;
    let mut rendering = Rendering::default();
    if let Some(evaluation) = &planned.staged.evaluation {
        for (number, member) in evaluation.members() {
            let Some(ty) = evaluation.type_of(number) else {
                continue;
            };
            let type_name = ty.name.to_string();
            if !is_object_type(&type_name) {
                rendering.others += 1;
                continue;
            }
            let spec = match arguments.secrets.reveal {
                true => member.spec.revealed(),
                false => member.spec.clone(),
            };
            match object(&type_name, &member.address, &spec) {
                Ok(object) => rendering.objects.push(object),
                Err(problem) => {
                    let place = evaluation.place_of(number);
                    rendering.found.push(problem.label(place, "this resource"));
                }
            }
        }
    }
    finish(rendering, &document.files, report)
}

/// Prints the objects, or why they cannot be written.
fn finish(
    rendering: Rendering,
    files: &diag::Files,
    report: &mut Report,
) -> Result<Exit, CommandError> {
    let Rendering {
        mut objects,
        found,
        others,
    } = rendering;
    if found.has_errors() {
        report.diagnostics(&found, files);
        return Ok(Exit::Unusable);
    }
    // Tools that apply a stream in order need namespaces and kinds before what uses them.
    objects.sort_by_key(rank);
    if !report.is_json() {
        report.terminal.write_result(&yaml_stream(&objects)?);
        if others > 0 {
            let what = if others == 1 { "resource" } else { "resources" };
            report
                .terminal
                .write_message(format!("{others} {what} of other providers left out."));
        }
    }
    report.set_result(json!({"objects": objects, "others": others}));
    Ok(Exit::Done)
}

/// Without a choice of the user every provider is simulated, and no state is read: what a
/// simulated deploy has recorded is no value for a real cluster.
fn for_rendering(global: &Global) -> Global {
    match global.simulate {
        Some(_) => global.clone(),
        None => Global {
            simulate: Some(true),
            state: Some(NO_STATE.to_owned()),
            ..global.clone()
        },
    }
}

/// The manifest of a resource. The error says why there is none.
fn object(type_name: &str, address: &Address, spec: &Value) -> Result<Json, Box<Diagnostic>> {
    let refuse = |why: String| {
        let message = format!("`{address}` cannot be written: {why}");
        engine::codes::NOT_RENDERED.new(message)
    };
    if spec.has_secret() {
        let refused = refuse("it has a secret".to_owned());
        let help = "`--reveal` writes secrets in clear text";
        return Err(Box::new(refused.help(help)));
    }
    let made = rendered(type_name, spec).map_err(|error| match &error.field {
        Some(field) => Box::new(refuse(format!("`{field}`: {}", error.message))),
        None => Box::new(refuse(error.message.clone())),
    })?;
    let Some(unknown) = made.unknown.first() else {
        return Ok(made.object);
    };
    let refused = refuse(format!("`{unknown}` is known on deploy"));
    let help = "deploy the document, or run what gives the value; then `--simulate=false` reads it";
    Err(Box::new(refused.help(help)))
}

fn rank(object: &Json) -> u8 {
    match object["kind"].as_str() {
        Some("Namespace") => 0,
        Some("CustomResourceDefinition") => 1,
        _ => 2,
    }
}
