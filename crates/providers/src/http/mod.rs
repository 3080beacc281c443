//! The provider `http`: resources behind any web API, and documents from the web.
//!
//! Secret parts of a request are never shown: they are removed from messages, and an answer that
//! repeats a secret is secret.
//!
//! Not here: including remote documents, `http_resource()` (they belong to the engine).

mod address;
mod answer;
mod exchange;
mod get;
mod json;
mod request;
mod secrecy;
mod secrets;

use std::sync::Arc;

use http_client::Clients;
use provider::{
    Applied, ApplyRequest, BoxFuture, Call, Catalog, CheckFindings, CheckRequest, Configuration,
    Configured, ErrorKind, FetchRequest, Fetched, Operation, PlanRequest, Planned, Provider,
    ProviderError, ReadOutcome, ReadRequest, Session, configured, read_catalog,
};

/// The provider of namespace `http`.
pub struct HttpProvider {
    catalog: Arc<Catalog>,
    clients: Clients,
}

/// The provider.
pub fn provider() -> HttpProvider {
    let catalog =
        read_catalog(include_str!("catalog.json")).expect("the catalogue in this folder is tested");
    HttpProvider {
        catalog: Arc::new(catalog),
        clients: Clients::default(),
    }
}

impl Provider for HttpProvider {
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

impl Session for HttpProvider {
    fn check<'a>(
        &'a self,
        _call: &'a Call,
        asked: CheckRequest<'a>,
    ) -> BoxFuture<'a, Result<CheckFindings, ProviderError>> {
        let mut found = CheckFindings::default();
        request::check(asked.spec, &mut found);
        Box::pin(async { Ok(found) })
    }

    fn read<'a>(
        &'a self,
        call: &'a Call,
        asked: ReadRequest<'a>,
    ) -> BoxFuture<'a, Result<ReadOutcome, ProviderError>> {
        Box::pin(async move { request::read(call, &asked, &self.clients).await })
    }

    fn plan<'a>(
        &'a self,
        _call: &'a Call,
        asked: PlanRequest<'a>,
    ) -> BoxFuture<'a, Result<Planned, ProviderError>> {
        let planned = request::plan(&asked);
        Box::pin(async { Ok(planned) })
    }

    fn apply<'a>(
        &'a self,
        call: &'a Call,
        asked: ApplyRequest<'a>,
    ) -> BoxFuture<'a, Result<Applied, ProviderError>> {
        Box::pin(async move {
            match asked.operation {
                Operation::Create => request::create(call, &asked, &self.clients).await,
                Operation::Update => request::update(call, &asked, &self.clients).await,
                Operation::Delete => request::delete(call, &asked, &self.clients).await,
            }
        })
    }

    fn fetch<'a>(
        &'a self,
        call: &'a Call,
        asked: FetchRequest<'a>,
    ) -> BoxFuture<'a, Result<Fetched, ProviderError>> {
        Box::pin(async move {
            if asked.type_name != "http/get" {
                let message = format!("there is no data source `{}` here", asked.type_name);
                return Err(ProviderError::new(ErrorKind::Document, message));
            }
            get::fetch(call, &asked, &self.clients).await
        })
    }
}
