//! The provider `std`: values in the state, a transform that generates unit files for services, and
//! functions.
//!
//! Not here: writing files (`local`).

mod functions;
mod services;
mod template;

use std::sync::{Arc, LazyLock};

use blueprint::{Name, Value};
use provider::{
    Applied, ApplyRequest, BoxFuture, Call, Catalog, CheckFindings, CheckRequest, Configuration,
    Configured, ErrorKind, InvokeRequest, Observed, Operation, Preflight, PreflightRequest,
    Provider, ProviderError, ReadOutcome, ReadRequest, Session, Transform, configured,
};
use sha2::{Digest, Sha256};

static CATALOG: LazyLock<Arc<Catalog>> = LazyLock::new(|| {
    let mut catalog = provider::read_catalog(include_str!("catalog.json"))
        .expect("the catalogue of `std` is part of the program");
    catalog
        .functions
        .iter_mut()
        .for_each(functions::attach_body);
    Arc::new(catalog)
});

/// The provider `std`.
pub fn provider() -> StdProvider {
    StdProvider {}
}

/// Stores values and renders templates.
pub struct StdProvider {}

impl Provider for StdProvider {
    fn catalog(&self) -> &Arc<Catalog> {
        &CATALOG
    }

    fn transform(&self, name: &str) -> Option<&dyn Transform> {
        (name == services::NAME).then_some(&services::Services)
    }

    fn configure(
        self: Arc<Self>,
        _: Configuration,
    ) -> BoxFuture<'static, Result<Configured, ProviderError>> {
        configured(self)
    }
}

impl Session for StdProvider {
    fn check<'a>(
        &'a self,
        call: &'a Call,
        request: CheckRequest<'a>,
    ) -> BoxFuture<'a, Result<CheckFindings, ProviderError>> {
        let checked = if request.type_name == "std/template" {
            template::check(call.files, request.spec)
        } else {
            CheckFindings::default()
        };
        Box::pin(async move { Ok(checked) })
    }

    fn invoke<'a>(
        &'a self,
        _call: &'a Call,
        request: InvokeRequest<'a>,
    ) -> BoxFuture<'a, Result<Value, ProviderError>> {
        let function = request.function;
        let by_position = request.arguments.positional();
        let answer = match by_position.and_then(|items| functions::call(function, items)) {
            Some(answer) => answer.map_err(|why| ProviderError::new(ErrorKind::Document, why)),
            None => Err(ProviderError::new(
                ErrorKind::Document,
                format!("there is no function `{function}` here"),
            )),
        };
        Box::pin(async move { answer })
    }

    /// Returns the recorded resource. A resource without a record does not exist.
    fn read<'a>(
        &'a self,
        _call: &'a Call,
        request: ReadRequest<'a>,
    ) -> BoxFuture<'a, Result<ReadOutcome, ProviderError>> {
        Box::pin(async move {
            let Some(id) = request.id.filter(|_| !request.outputs.is_null()) else {
                return Ok(ReadOutcome::Absent);
            };
            let fields = request.outputs.clone();
            Ok(ReadOutcome::Present(Observed {
                id: id.into(),
                fields,
                private: Value::Null,
                expired: None,
                ..Observed::default()
            }))
        })
    }

    fn preflight<'a>(
        &'a self,
        call: &'a Call,
        request: PreflightRequest<'a>,
    ) -> BoxFuture<'a, Result<Preflight, ProviderError>> {
        Box::pin(async move {
            let sources = match request.type_name {
                "std/template" => {
                    template::source_read(call, request.desired, request.changing).await?
                }
                _ => Vec::new(),
            };
            Ok(Preflight {
                sources,
                ..Preflight::default()
            })
        })
    }

    fn apply<'a>(
        &'a self,
        call: &'a Call,
        request: ApplyRequest<'a>,
    ) -> BoxFuture<'a, Result<Applied, ProviderError>> {
        Box::pin(async move {
            if request.operation == Operation::Delete {
                return Ok(Applied::ready("", Value::Null));
            }
            let mut fields = entries(request.desired);
            let kind = match request.type_name {
                "std/value" => {
                    fields.insert(
                        "output".into(),
                        request.desired.get("input").cloned().unwrap_or_default(),
                    );
                    "value"
                }
                "std/template" => {
                    fields.extend(template::render(call, request.desired).await?);
                    "template"
                }
                other => {
                    return Err(ProviderError::new(
                        ErrorKind::Document,
                        format!("there is no type `{other}` here"),
                    ));
                }
            };
            let id = request
                .id
                .filter(|id| !id.is_empty())
                .map_or_else(|| id_of(kind, &call.token), Name::from);
            fields.insert("id".into(), Value::Text(id.clone()));
            Ok(Applied::ready(id, Value::map(fields)))
        })
    }
}

fn entries(fields: &Value) -> blueprint::Map {
    fields.as_map().cloned().unwrap_or_default()
}

/// The id of a resource, derived from the token, so that a repeated create gives the same id.
fn id_of(kind: &str, token: &str) -> Name {
    let digest = data_encoding::HEXLOWER.encode(&Sha256::digest(token)[..6]);
    format!("{kind}-{digest}").into()
}
