//! The provider `cyan`: further configurations of providers, as resources. They exist only in the
//! state.
//!
//! Not here: the meaning of the settings (the provider of the namespace), the choice of a session
//! for a resource (`run`).

use std::sync::{Arc, LazyLock};

use blueprint::{Name, Value};
use provider::{
    Applied, ApplyRequest, BoxFuture, Call, Catalog, Configuration, Configured, ErrorKind,
    Observed, Operation, Provider, ProviderError, ReadOutcome, ReadRequest, Session, configured,
};

static CATALOG: LazyLock<Arc<Catalog>> = LazyLock::new(|| {
    Arc::new(
        provider::read_catalog(include_str!("catalog.json"))
            .expect("the catalogue of `cyan` is part of the program"),
    )
});

/// The provider `cyan`.
pub fn provider() -> CyanProvider {
    CyanProvider {}
}

/// Records configurations of providers.
pub struct CyanProvider {}

impl Provider for CyanProvider {
    fn catalog(&self) -> &Arc<Catalog> {
        &CATALOG
    }

    fn configure(
        self: Arc<Self>,
        _: Configuration,
    ) -> BoxFuture<'static, Result<Configured, ProviderError>> {
        configured(self)
    }
}

impl Session for CyanProvider {
    /// Returns the recorded resource. A configuration without a record does not exist.
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
            if call.cancel.is_cancelled() {
                return Err(ProviderError::new(
                    ErrorKind::Cancelled,
                    "cancelled before anything was recorded",
                ));
            }
            if request.operation == Operation::Delete {
                return Ok(Applied::deleted());
            }
            let id = request.id.map_or_else(|| call.token.clone(), Name::from);
            let mut fields = request.desired.as_map().cloned().unwrap_or_default();
            fields.insert("id".into(), Value::Text(id.clone()));
            Ok(Applied::ready(id, Value::Map(Arc::new(fields))))
        })
    }
}
