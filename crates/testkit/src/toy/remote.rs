//! The client of a toy provider in another process: a session that sends each question over a new
//! connection.
//!
//! Not here: starting the process. The caller supplies a connector, which starts a process if none
//! runs.

use std::sync::Arc;

use blueprint::Value;
use provider::{
    Applied, ApplyRequest, BoxFuture, Call, Catalog, Configuration, Configured, ErrorKind,
    Observed, Operation, PlanPhase, PlanRequest, Planned, Provider, ProviderDiagnostic,
    ProviderError, ReadOutcome, ReadRequest, Ready, Session, UpgradeRequest, Upgraded, configured,
};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;

use super::planner;
use super::wire::{ToyRequest, ToyResponse, Verb};

/// Connects to the plugin. The error is a phrase.
pub type Connect = Arc<dyn Fn() -> BoxFuture<'static, Result<TcpStream, String>> + Send + Sync>;

/// The provider of `planner/server` in another process.
pub struct RemotePlanner {
    catalog: Arc<Catalog>,
    connect: Connect,
}

impl RemotePlanner {
    /// A provider that uses a connector.
    pub fn new(connect: Connect) -> RemotePlanner {
        RemotePlanner {
            catalog: planner::catalog(false),
            connect,
        }
    }

    async fn ask(&self, asked: ToyRequest) -> Result<ToyResponse, ProviderError> {
        let transient = |what: String| ProviderError::new(ErrorKind::Transient, what);
        let mut stream = (self.connect)().await.map_err(transient)?;
        let mut line =
            serde_json::to_string(&asked).map_err(|error| transient(error.to_string()))?;
        line.push('\n');
        let asking = async {
            stream.write_all(line.as_bytes()).await?;
            let mut answer = String::new();
            BufReader::new(&mut stream).read_line(&mut answer).await?;
            std::io::Result::Ok(answer)
        };
        // If the call is lost after this point, the plugin may have carried it out.
        let call_lost = |why: &dyn std::fmt::Display| {
            let kind = match asked.verb {
                Verb::Apply(_) => ErrorKind::OutcomeUnknown,
                _ => ErrorKind::Transient,
            };
            ProviderError::new(kind, format!("the plugin ended during the call ({why})"))
        };
        let answer = asking.await.map_err(|error| call_lost(&error.kind()))?;
        let answered: ToyResponse =
            serde_json::from_str(&answer).map_err(|_| call_lost(&"no answer"))?;
        match answered.error {
            Some((kind, message)) => Err(ProviderError::new(kind, message)),
            None => Ok(answered),
        }
    }

    fn new_request(verb: Verb, call: &Call, type_name: &str, id: Option<&str>) -> ToyRequest {
        ToyRequest {
            verb,
            instance: call.instance.to_string(),
            address: call.address.to_string(),
            token: call.token.to_string(),
            now: call.now,
            type_name: type_name.to_owned(),
            id: id.map(str::to_owned),
            sought: None,
            preview: false,
            inputs: Value::Null,
            prior: Value::Null,
            version: 0,
            private: Value::Null,
            unhealthy: Vec::new(),
            desired: Value::Null,
            planned: Value::Null,
            seed: String::new(),
        }
    }
}

fn diagnostics(reported: Vec<(bool, String, String)>) -> Vec<ProviderDiagnostic> {
    let one = |(is_error, path, summary): (bool, String, String)| match is_error {
        true => ProviderDiagnostic::error(path.as_str(), summary),
        false => ProviderDiagnostic::warning(path.as_str(), summary),
    };
    reported.into_iter().map(one).collect()
}

impl Provider for RemotePlanner {
    fn catalog(&self) -> &Arc<Catalog> {
        &self.catalog
    }

    fn configure(
        self: Arc<Self>,
        _: Configuration,
    ) -> BoxFuture<'static, Result<Configured, ProviderError>> {
        configured(self)
    }
}

impl Session for RemotePlanner {
    fn plan<'a>(
        &'a self,
        call: &'a Call,
        request: PlanRequest<'a>,
    ) -> BoxFuture<'a, Result<Planned, ProviderError>> {
        let asked = ToyRequest {
            preview: request.phase == PlanPhase::Preview,
            inputs: request.prior_inputs.clone(),
            prior: request.prior.clone(),
            version: request.schema_version,
            private: request.private.clone(),
            unhealthy: request.unhealthy.iter().map(ToString::to_string).collect(),
            desired: request.desired.clone(),
            seed: request.seed.to_owned(),
            ..RemotePlanner::new_request(
                Verb::Plan(request.mode),
                call,
                request.type_name,
                request.id,
            )
        };
        Box::pin(async move {
            let answered = self.ask(asked).await?;
            Ok(Planned {
                verdict: answered.verdict,
                inputs: answered.inputs,
                outputs: Some(answered.fields).filter(|fields| !fields.is_null()),
                replaces: answered
                    .replaces
                    .iter()
                    .map(|path| path.as_str().into())
                    .collect(),
                private: answered.private,
                diagnostics: diagnostics(answered.diagnostics),
                ..Planned::default()
            })
        })
    }

    fn read<'a>(
        &'a self,
        call: &'a Call,
        request: ReadRequest<'a>,
    ) -> BoxFuture<'a, Result<ReadOutcome, ProviderError>> {
        let asked = ToyRequest {
            inputs: request.inputs.clone(),
            prior: request.outputs.clone(),
            version: request.schema_version,
            private: request.private.clone(),
            sought: request.token.map(str::to_owned),
            ..RemotePlanner::new_request(Verb::Read, call, request.type_name, request.id)
        };
        Box::pin(async move {
            let ToyResponse {
                present,
                id,
                fields,
                inputs,
                private,
                ..
            } = self.ask(asked).await?;
            Ok(match present {
                Some(true) => {
                    let id = id.into();
                    ReadOutcome::Present(Observed {
                        id,
                        fields,
                        inputs,
                        private,
                        ..Observed::default()
                    })
                }
                Some(false) => ReadOutcome::Absent,
                None => ReadOutcome::Unknown,
            })
        })
    }

    fn apply<'a>(
        &'a self,
        call: &'a Call,
        request: ApplyRequest<'a>,
    ) -> BoxFuture<'a, Result<Applied, ProviderError>> {
        let asked = ToyRequest {
            inputs: request.prior_inputs.clone(),
            prior: request.prior.clone(),
            version: request.schema_version,
            private: request.private.clone(),
            desired: request.desired.clone(),
            planned: request.planned.clone(),
            ..RemotePlanner::new_request(
                Verb::Apply(request.operation),
                call,
                request.type_name,
                request.id,
            )
        };
        Box::pin(async move {
            if call.cancel.is_cancelled() {
                return Err(ProviderError::new(
                    ErrorKind::Cancelled,
                    "the call was cancelled",
                ));
            }
            let answered = self.ask(asked).await?;
            if request.operation == Operation::Delete {
                return Ok(Applied {
                    diagnostics: diagnostics(answered.diagnostics),
                    ..Applied::deleted()
                });
            }
            let why: Vec<_> = answered
                .broken
                .iter()
                .map(|why| why.as_str().into())
                .collect();
            Ok(Applied {
                id: answered.id.into(),
                fields: answered.fields,
                private: answered.private,
                ready: if why.is_empty() {
                    Ready::Yes
                } else {
                    Ready::Broken(why)
                },
                inputs: answered.inputs,
                diagnostics: diagnostics(answered.diagnostics),
            })
        })
    }

    fn upgrade<'a>(
        &'a self,
        call: &'a Call,
        request: UpgradeRequest<'a>,
    ) -> BoxFuture<'a, Result<Upgraded, ProviderError>> {
        let asked = ToyRequest {
            inputs: request.inputs.clone(),
            prior: request.fields.clone(),
            version: request.schema_version,
            private: request.private.clone(),
            ..RemotePlanner::new_request(Verb::Upgrade, call, request.type_name, None)
        };
        Box::pin(async move {
            let answered = self.ask(asked).await?;
            let inputs = answered.inputs.unwrap_or_default();
            Ok(Upgraded {
                inputs,
                fields: answered.fields,
                private: answered.private,
            })
        })
    }
}
