//! The provider `tls`: keys, certificates and certificate requests.
//!
//! The resources of this provider exist only in the state: `read` returns the record, and says when
//! a certificate is about to expire. Private keys are sensitive fields; no message contains a part
//! of a key.
//!
//! Not here: writing keys to files (`local`), requests to an authority over a network.

mod algorithm;
mod certificate;
mod der;
mod expiry;
mod names;
mod openssh;
mod private_key;
mod request;
mod usages;

use std::sync::Arc;

use blueprint::{Map, Name, Value};
use provider::{
    Applied, ApplyRequest, BoxFuture, Call, Catalog, CheckFindings, CheckRequest, Configuration,
    Configured, ErrorKind, Observed, Operation, Provider, ProviderError, ReadOutcome, ReadRequest,
    Session, configured, read_catalog,
};
use rcgen::KeyPair;

use self::algorithm::KeyAlgorithm;

/// The provider of namespace `tls`.
pub struct TlsProvider {
    catalog: Arc<Catalog>,
}

/// The provider.
pub fn provider() -> TlsProvider {
    let catalog =
        read_catalog(include_str!("catalog.json")).expect("the catalogue in this folder is tested");
    TlsProvider {
        catalog: Arc::new(catalog),
    }
}

impl Provider for TlsProvider {
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

impl Session for TlsProvider {
    fn check<'a>(
        &'a self,
        _call: &'a Call,
        request: CheckRequest<'a>,
    ) -> BoxFuture<'a, Result<CheckFindings, ProviderError>> {
        let mut found = CheckFindings::default();
        let spec = request.spec;
        let mut key = |field: &str| {
            if let Some(text) = spec.get(field).and_then(Value::as_text)
                && KeyPair::from_pem(text).is_err()
            {
                found.refuse(field, private_key::NO_KEY);
            }
        };
        match request.type_name {
            "tls/self-signed-certificate" => {
                key("privateKeyPem");
                names::check(spec, &mut found);
                expiry::check(spec, &mut found);
            }
            "tls/certificate-request" => {
                key("privateKeyPem");
                names::check(spec, &mut found);
            }
            "tls/signed-certificate" => {
                key("caPrivateKeyPem");
                let text = |field: &str| spec.get(field).and_then(Value::as_text);
                if let Some(problem) =
                    text("certificateRequestPem").and_then(certificate::check_request)
                {
                    found.refuse("certificateRequestPem", problem);
                }
                if let Some(problem) =
                    text("caCertificatePem").and_then(certificate::check_certificate)
                {
                    found.refuse("caCertificatePem", problem);
                }
                expiry::check(spec, &mut found);
            }
            _ => {}
        }
        Box::pin(async { Ok(found) })
    }

    fn read<'a>(
        &'a self,
        call: &'a Call,
        request: ReadRequest<'a>,
    ) -> BoxFuture<'a, Result<ReadOutcome, ProviderError>> {
        Box::pin(async move {
            // A resource without a record does not exist, and can be created again.
            let Some(outputs) = request.outputs.as_map() else {
                return Ok(ReadOutcome::Absent);
            };
            let mut fields = request.inputs.as_map().cloned().unwrap_or_default();
            fields.extend(
                outputs
                    .iter()
                    .map(|(name, value)| (name.clone(), value.clone())),
            );
            Ok(ReadOutcome::Present(Observed {
                id: request.id.unwrap_or_default().into(),
                fields: Value::Map(Arc::new(fields)),
                private: request.private.clone(),
                expired: expiry::renewal_reason(call.now, request.inputs, request.outputs),
                ..Observed::default()
            }))
        })
    }

    fn apply<'a>(
        &'a self,
        call: &'a Call,
        request: ApplyRequest<'a>,
    ) -> BoxFuture<'a, Result<Applied, ProviderError>> {
        Box::pin(async move {
            match request.operation {
                Operation::Create => create(call, &request).await,
                // Fields that are only recorded can change in place. A change of another field
                // replaces the resource.
                Operation::Update => {
                    let fields = merged(
                        request.prior,
                        request.desired.as_map().cloned().unwrap_or_default(),
                    );
                    Ok(applied(request.id.unwrap_or_default().into(), fields))
                }
                Operation::Delete => Ok(applied("".into(), Value::Null)),
            }
        })
    }
}

async fn create(call: &Call, request: &ApplyRequest<'_>) -> Result<Applied, ProviderError> {
    if call.cancel.is_cancelled() {
        return Err(cancelled());
    }
    let spec = request.desired;
    match request.type_name {
        "tls/private-key" => {
            let name = spec
                .get("algorithm")
                .and_then(Value::as_text)
                .unwrap_or("ecdsa-p256");
            let algorithm = KeyAlgorithm::named(name).ok_or_else(|| {
                ProviderError::new(ErrorKind::Document, "is no known algorithm").at("algorithm")
            })?;
            let made = run_blocking(call, move || private_key::generate(algorithm)).await?;
            let (id, fields) =
                made.ok_or_else(|| ProviderError::new(ErrorKind::Permanent, "no key can be made"))?;
            Ok(applied(id, merged(spec, fields)))
        }
        "tls/certificate-request" => {
            let (id, fields) = request::make(spec)?;
            Ok(applied(id, merged(spec, fields)))
        }
        "tls/self-signed-certificate" => Ok(certified(certificate::self_signed(call, spec)?, spec)),
        "tls/signed-certificate" => Ok(certified(certificate::signed(call, spec)?, spec)),
        other => Err(ProviderError::new(
            ErrorKind::Document,
            format!("there is no resource type `{other}` here"),
        )),
    }
}

/// Runs slow work on another thread and waits until the call ends. The thread itself is not
/// interrupted.
async fn run_blocking<T: Send + 'static>(
    call: &Call,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, ProviderError> {
    let work = tokio::task::spawn_blocking(work);
    let deadline = async {
        match call.deadline {
            Some(deadline) => tokio::time::sleep(deadline).await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        biased;
        () = call.cancel.cancelled() => Err(cancelled()),
        done = work => done.map_err(|_| ProviderError::new(ErrorKind::Permanent, "making the key failed")),
        () = deadline => Err(ProviderError::new(ErrorKind::TimedOut, "making the key took too long")),
    }
}

fn cancelled() -> ProviderError {
    ProviderError::new(ErrorKind::Cancelled, "cancelled before anything was made")
}

/// The fields of a map with `over` on top.
fn merged(base: &Value, over: Map) -> Value {
    let mut fields = base.as_map().cloned().unwrap_or_default();
    fields.extend(over);
    Value::Map(Arc::new(fields))
}

fn certified(made: certificate::Issued, spec: &Value) -> Applied {
    applied(made.id, merged(spec, made.fields)).with_warnings(made.warnings)
}

fn applied(id: Name, fields: Value) -> Applied {
    Applied::ready(id, fields)
}
