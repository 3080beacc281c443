//! Reads documents from web servers.
//!
//! Only `https` is supported, and plain `http` for this machine. No credentials are sent, not even
//! those of an address (`user:password@host` is refused). Private documents belong in a source that
//! has credentials.
//!
//! The location of a document is the address as written, not the target of redirects, which may
//! change over time.
//!
//! Not here: `http_resource()` and the provider `http`, which talk to any server.

mod address;
mod exchange;

use std::sync::Arc;

use http_client::Clients;
use source::{BoxFuture, Digest, Location, ReadLimits, Request, Source, SourceError, SourceKind};

use self::address::KIND;
use crate::cache::Cache;
use crate::limit::run_limited;

/// The source for web servers.
#[derive(Debug, Default)]
pub struct Https {
    clients: Clients,
    cache: Option<Cache>,
}

impl Https {
    /// Trusts the servers that the machine trusts.
    pub fn new() -> Https {
        Https::default()
    }

    /// Trusts only servers with a certificate from one of these authorities (in PEM form).
    pub fn trusting(authorities: &str) -> Https {
        Https {
            clients: Clients::trusting(authorities),
            cache: None,
        }
    }

    /// Keeps documents in a cache.
    pub fn cached(self, cache: Cache) -> Https {
        Https {
            cache: Some(cache),
            ..self
        }
    }
}

impl Source for Https {
    fn kind(&self) -> &'static SourceKind {
        &KIND
    }

    fn resolve<'a>(
        &'a self,
        request: &'a Request,
        _limits: &'a ReadLimits,
    ) -> BoxFuture<'a, Result<Location, SourceError>> {
        let resolved =
            address::resolve(request).map(|url| Location::new(KIND.name, String::from(url)));
        Box::pin(std::future::ready(resolved))
    }

    fn fetch<'a>(
        &'a self,
        location: &'a Location,
        pinned: Option<&'a Digest>,
        limits: &'a ReadLimits,
    ) -> BoxFuture<'a, Result<Arc<[u8]>, SourceError>> {
        Box::pin(run_limited(limits, async move {
            let cache = self.cache.as_ref();
            if let (Some(cache), Some(pinned)) = (cache, pinned)
                && let Some(bytes) = cache.get(*pinned, limits.bytes).await
            {
                return Ok(bytes);
            }
            let url = address::parse(location.identity())?;
            exchange::get(&self.clients, cache, location, url, limits.bytes).await
        }))
    }
}
