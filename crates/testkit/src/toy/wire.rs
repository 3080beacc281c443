//! The line protocol between a toy provider in another process and its client: one JSON object per
//! line, each question followed by its answer.
//!
//! This module has the plugin's half: it carries out questions. The client is `remote`.

use std::path::Path;
use std::sync::Arc;

use blueprint::{Name, Value};
use provider::{
    Applied, ApplyRequest, Call, ErrorKind, Observed, Operation, PlanMode, PlanPhase, PlanRequest,
    ProviderDiagnostic, ProviderError, ProviderSeverity, ReadOutcome, ReadRequest, Ready, Session,
    UpgradeRequest, Verdict,
};
use serde::{Deserialize, Serialize};

/// The kind of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Verb {
    /// `Session::plan`.
    Plan(PlanMode),
    /// `Session::read`.
    Read,
    /// `Session::apply`.
    Apply(Operation),
    /// `Session::upgrade`.
    Upgrade,
}

/// One question. Fields that a call does not have are null or empty.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ToyRequest {
    /// The call.
    pub verb: Verb,
    /// The instance.
    pub instance: String,
    /// The address.
    pub address: String,
    /// The token of the call.
    pub token: String,
    /// The time in seconds since 1970 UTC.
    pub now: i64,
    /// The resource type.
    pub type_name: String,
    /// The provider's own id.
    pub id: Option<String>,
    /// The token of the call whose outcome is looked up.
    pub sought: Option<String>,
    /// Whether the plan is a preview.
    pub preview: bool,
    /// The inputs as last sent.
    pub inputs: Value,
    /// The fields as last answered.
    pub prior: Value,
    /// The schema version of `inputs` and `prior`.
    pub version: u32,
    /// Opaque data.
    pub private: Value,
    /// The reasons why the resource is unhealthy.
    pub unhealthy: Vec<String>,
    /// The desired spec.
    pub desired: Value,
    /// The planned outputs.
    pub planned: Value,
    /// The seed.
    pub seed: String,
}

/// An answer.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ToyResponse {
    /// Class and message of the error, if the call failed.
    pub error: Option<(ErrorKind, String)>,
    /// Whether a read found the resource; `None` if the provider cannot tell.
    pub present: Option<bool>,
    /// The verdict of a plan.
    pub verdict: Verdict,
    /// Paths that force a replacement.
    pub replaces: Vec<String>,
    /// The provider's own id.
    pub id: String,
    /// The inputs, if the provider returns them.
    pub inputs: Option<Value>,
    /// Planned or current fields.
    pub fields: Value,
    /// Opaque data.
    pub private: Value,
    /// The reasons why the resource is broken.
    pub broken: Vec<String>,
    /// Diagnostics: whether each is an error, its path and its summary.
    pub diagnostics: Vec<(bool, String, String)>,
}

/// Carries out a question and returns the answer.
pub async fn answer(session: &dyn Session, asked: &ToyRequest) -> ToyResponse {
    match carry_out(session, asked).await {
        Ok(answered) => answered,
        Err(error) => ToyResponse {
            error: Some((error.kind, error.message)),
            ..ToyResponse::default()
        },
    }
}

/// The call that a request is about.
fn call_of(asked: &ToyRequest) -> Result<Call, ProviderError> {
    let address = asked.address.parse();
    let address = address
        .map_err(|_| ProviderError::new(ErrorKind::Document, "the address cannot be read"))?;
    Ok(Call {
        call_records: None,
        instances: None,
        instance: asked.instance.as_str().into(),
        address,
        urn: Default::default(),
        token: asked.token.as_str().into(),
        deadline: None,
        cancel: Default::default(),
        root: Path::new("").into(),
        folder: Path::new("").into(),
        settings: Value::Null,
        files: provider::FileAccess::default(),
        now: asked.now,
        progress: Arc::new(|_| {}),
    })
}

async fn carry_out(
    session: &dyn Session,
    asked: &ToyRequest,
) -> Result<ToyResponse, ProviderError> {
    let call = call_of(asked)?;
    let (type_name, id) = (asked.type_name.as_str(), asked.id.as_deref());
    match asked.verb {
        Verb::Plan(mode) => {
            let unhealthy: Vec<Name> = asked
                .unhealthy
                .iter()
                .map(|why| why.as_str().into())
                .collect();
            let request = PlanRequest {
                mode,
                phase: if asked.preview {
                    PlanPhase::Preview
                } else {
                    PlanPhase::Apply
                },
                type_name,
                id,
                prior_inputs: &asked.inputs,
                prior: &asked.prior,
                schema_version: asked.version,
                private: &asked.private,
                unhealthy: &unhealthy,
                desired: &asked.desired,
                ignored: &[],
                replacing: &[],
                seed: &asked.seed,
            };
            let planned = session.plan(&call, request).await?;
            Ok(ToyResponse {
                verdict: planned.verdict,
                replaces: planned.replaces.iter().map(ToString::to_string).collect(),
                inputs: planned.inputs,
                fields: planned.outputs.unwrap_or_default(),
                private: planned.private,
                diagnostics: wire_diagnostics(&planned.diagnostics),
                ..ToyResponse::default()
            })
        }
        Verb::Read => {
            let request = ReadRequest {
                type_name,
                id,
                inputs: &asked.inputs,
                outputs: &asked.prior,
                schema_version: asked.version,
                private: &asked.private,
                token: asked.sought.as_deref(),
            };
            Ok(match session.read(&call, request).await? {
                ReadOutcome::Absent => ToyResponse {
                    present: Some(false),
                    ..ToyResponse::default()
                },
                ReadOutcome::Unknown => ToyResponse::default(),
                ReadOutcome::Present(Observed {
                    id,
                    fields,
                    inputs,
                    private,
                    ..
                }) => ToyResponse {
                    present: Some(true),
                    id: id.to_string(),
                    fields,
                    inputs,
                    private,
                    ..ToyResponse::default()
                },
            })
        }
        Verb::Apply(operation) => {
            let request = ApplyRequest {
                operation,
                type_name,
                id,
                prior_inputs: &asked.inputs,
                prior: &asked.prior,
                desired: &asked.desired,
                schema_version: asked.version,
                planned: &asked.planned,
                private: &asked.private,
                sources: &[],
                metadata: &Value::Null,
                delete_mode: blueprint::DeleteMode::Delete,
            };
            let Applied {
                id,
                fields,
                private,
                ready,
                inputs,
                diagnostics,
            } = session.apply(&call, request).await?;
            let broken = match ready {
                Ready::Broken(why) => why.iter().map(ToString::to_string).collect(),
                _ => Vec::new(),
            };
            let diagnostics = wire_diagnostics(&diagnostics);
            Ok(ToyResponse {
                id: id.to_string(),
                fields,
                private,
                inputs,
                broken,
                diagnostics,
                ..ToyResponse::default()
            })
        }
        Verb::Upgrade => {
            let request = UpgradeRequest {
                type_name,
                schema_version: asked.version,
                inputs: &asked.inputs,
                fields: &asked.prior,
                private: &asked.private,
            };
            let upgraded = session.upgrade(&call, request).await?;
            let (inputs, fields, private) =
                (Some(upgraded.inputs), upgraded.fields, upgraded.private);
            Ok(ToyResponse {
                inputs,
                fields,
                private,
                ..ToyResponse::default()
            })
        }
    }
}

fn wire_diagnostics(diagnostics: &[ProviderDiagnostic]) -> Vec<(bool, String, String)> {
    let one = |it: &ProviderDiagnostic| {
        (
            it.severity == ProviderSeverity::Error,
            it.path.to_string(),
            it.summary.clone(),
        )
    };
    diagnostics.iter().map(one).collect()
}
