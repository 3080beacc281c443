//! The Kubernetes objects of a document as manifests.

use blueprint::{Address, Value};
use diag::{Diagnostic, Diagnostics};
use engine::{Session, StageRequest, StagedDocument};
use kubernetes_host::{is_object_type, rendered};
use serde_json::Value as Json;

use crate::exit::CommandError;
use crate::view::report::Report;

/// Whether secrets are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SecretParts {
    /// In clear text.
    Written,
    /// An object that has one is refused.
    Refused,
}

/// The objects of a document.
#[derive(Default)]
pub(crate) struct Rendering {
    /// The objects, namespaces and definitions of kinds first.
    pub(crate) objects: Vec<Json>,
    /// The number of resources of other providers.
    pub(crate) others: usize,
}

/// The objects of a document. `None` if one cannot be written, which is reported.
///
/// # Errors
/// If the document cannot be staged.
pub(crate) async fn render(
    session: &Session,
    request: StageRequest,
    secrets: SecretParts,
    report: &mut Report,
) -> Result<Option<Rendering>, CommandError> {
    let StagedDocument { document, planned } = session.stage(request, report).await?;
    let mut rendering = Rendering::default();
    let mut found = Diagnostics::new();
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
            match object(&type_name, &member.address, &member.spec, secrets) {
                Ok(object) => rendering.objects.push(object),
                Err(problem) => {
                    let place = evaluation.place_of(number);
                    found.push(problem.label(place, "this resource"));
                }
            }
        }
    }
    if found.has_errors() {
        report.diagnostics(&found, &document.files);
        return Ok(None);
    }
    // Tools that apply a stream in order need namespaces and kinds before what uses them.
    rendering.objects.sort_by_key(rank);
    Ok(Some(rendering))
}

/// The manifest of a resource. The error says why there is none.
fn object(
    type_name: &str,
    address: &Address,
    spec: &Value,
    secrets: SecretParts,
) -> Result<Json, Box<Diagnostic>> {
    let refuse = |why: String| {
        let message = format!("`{address}` cannot be written: {why}");
        engine::codes::NOT_RENDERED.new(message)
    };
    if secrets == SecretParts::Refused && spec.has_secret() {
        let refused = refuse("it has a secret".to_owned());
        let help = "`--reveal` writes secrets in clear text";
        return Err(Box::new(refused.help(help)));
    }
    let made = rendered(type_name, &spec.revealed()).map_err(|error| match &error.field {
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

/// The position of an object among others.
pub(crate) fn rank(object: &Json) -> u8 {
    match object["kind"].as_str() {
        Some("Namespace") => 0,
        Some("CustomResourceDefinition") => 1,
        _ => 2,
    }
}
