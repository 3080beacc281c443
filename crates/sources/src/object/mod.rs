//! Object stores: S3, Google Cloud Storage, Azure Blob Storage.
//!
//! A location is an address such as `s3://bucket/folder/main.yaml?region=eu-west-1`. Keys have no
//! folders of their own, but a relative path in a document starts at the folder of the including
//! document, as elsewhere. Credentials and addresses of services come from the usual environment
//! variables.
//!
//! Not here: writing, listing, versions of an object.

mod address;
mod azure;
mod connection;
mod google;
mod refusal;
mod s3;
mod service;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use futures::StreamExt as _;
use object_store::{GetOptions, ObjectStore};
use source::{BoxFuture, Digest, Location, ReadLimits, Request, Source, SourceError, SourceKind};

use self::address::ObjectAddress;
use self::connection::Connector;
use self::service::Service;
use crate::cache::Cache;
use crate::environment::Variables;
use crate::limit::{blocking, run_limited};

/// One object store service.
pub struct ObjectSource {
    service: &'static Service,
    environment: Variables,
    connector: Connector,
    cache: Option<Cache>,
    /// Opened buckets, so that credentials are requested once.
    open: Mutex<BTreeMap<String, Arc<dyn ObjectStore>>>,
}

/// `aws/s3`: Amazon S3 and compatible services.
pub fn s3(environment: Variables) -> ObjectSource {
    ObjectSource::new(&s3::SERVICE, environment)
}

/// `googlecloud/storage`: Google Cloud Storage.
pub fn google(environment: Variables) -> ObjectSource {
    ObjectSource::new(&google::SERVICE, environment)
}

/// `azure/blob`: Azure Blob Storage.
pub fn azure(environment: Variables) -> ObjectSource {
    ObjectSource::new(&azure::SERVICE, environment)
}

impl ObjectSource {
    fn new(service: &'static Service, environment: Variables) -> ObjectSource {
        let (connector, open) = (Connector::default(), Mutex::default());
        ObjectSource {
            service,
            environment,
            connector,
            cache: None,
            open,
        }
    }

    /// Keeps documents in a cache.
    pub fn cached(self, cache: Cache) -> ObjectSource {
        ObjectSource {
            cache: Some(cache),
            ..self
        }
    }

    /// The opened bucket of an address.
    async fn bucket(&self, address: &ObjectAddress) -> Result<Arc<dyn ObjectStore>, SourceError> {
        let name = address.bucket_alone();
        let opened = || self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(store) = opened().get(&name) {
            return Ok(store.clone());
        }
        let (environment, connector) = (self.environment.clone(), self.connector.clone());
        let (open, address) = (self.service.open, address.clone());
        let open = move || {
            open(
                &environment,
                &address.bucket,
                address.region.as_deref(),
                connector,
            )
        };
        let store: Arc<dyn ObjectStore> = blocking(open).await?.into();
        Ok(opened().entry(name).or_insert(store).clone())
    }

    /// Returns the bytes of an object, from the cache if the service says that it has not changed.
    async fn get(
        &self,
        location: &Location,
        limits: &ReadLimits,
    ) -> Result<Arc<[u8]>, SourceError> {
        let address = ObjectAddress::parse(self.service, location.identity())?;
        let store = self.bucket(&address).await?;
        let mut kept = None;
        if let Some(cache) = &self.cache
            && let Some(seen) = cache.last_entry(location).await
        {
            kept = cache
                .get(seen.digest, limits.bytes)
                .await
                .map(|bytes| (seen.tag, bytes));
        }
        let options = GetOptions {
            if_none_match: kept.as_ref().map(|(tag, _)| tag.clone()),
            ..GetOptions::default()
        };
        let refused = |error| refusal::of(self.service, &address, error);
        let found = match store.get_opts(&address.path()?, options).await {
            Ok(found) => found,
            Err(object_store::Error::NotModified { .. }) => {
                return kept
                    .map(|(_, bytes)| bytes)
                    .ok_or_else(|| SourceError::broken("it answers that nothing changed"));
            }
            Err(error) => return Err(refused(error)),
        };
        if found.meta.size > limits.bytes {
            return Err(SourceError::TooLarge {
                limit: limits.bytes,
            });
        }
        let tag = found.meta.e_tag.clone();
        let mut bytes = Vec::new();
        let mut parts = found.into_stream();
        while let Some(part) = parts.next().await {
            let part = part.map_err(refused)?;
            if (bytes.len() + part.len()) as u64 > limits.bytes {
                return Err(SourceError::TooLarge {
                    limit: limits.bytes,
                });
            }
            bytes.extend_from_slice(&part);
        }
        let bytes: Arc<[u8]> = bytes.into();
        if let Some(cache) = &self.cache {
            cache.store(location, tag, bytes.clone()).await;
        }
        Ok(bytes)
    }
}

impl Source for ObjectSource {
    fn kind(&self) -> &'static SourceKind {
        self.service.kind
    }

    fn resolve<'a>(
        &'a self,
        request: &'a Request,
        _limits: &'a ReadLimits,
    ) -> BoxFuture<'a, Result<Location, SourceError>> {
        let resolved = address::resolve(self.service, &self.environment, request)
            .map(|address| Location::new(self.service.kind.name, address.to_string()));
        Box::pin(std::future::ready(resolved))
    }

    fn fetch<'a>(
        &'a self,
        location: &'a Location,
        pinned: Option<&'a Digest>,
        limits: &'a ReadLimits,
    ) -> BoxFuture<'a, Result<Arc<[u8]>, SourceError>> {
        Box::pin(run_limited(limits, async move {
            if let (Some(cache), Some(pinned)) = (&self.cache, pinned)
                && let Some(bytes) = cache.get(*pinned, limits.bytes).await
            {
                return Ok(bytes);
            }
            self.get(location, limits).await
        }))
    }
}

impl fmt::Debug for ObjectSource {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Object")
            .field("kind", &self.service.kind.name)
            .finish_non_exhaustive()
    }
}
