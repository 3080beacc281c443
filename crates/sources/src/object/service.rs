//! The common parts of object store services: their description, and the retries of their clients.

use std::time::Duration;

use object_store::{BackoffConfig, ObjectStore, RetryConfig};
use source::{SourceError, SourceKind};

use super::connection::Connector;
use crate::environment::Variables;

/// An opened bucket.
pub(super) type OpenedBucket = Result<Box<dyn ObjectStore>, SourceError>;

/// A service that stores objects.
pub(super) struct Service {
    /// The kind of source, with its name and keys in documents.
    pub(super) kind: &'static SourceKind,
    /// The document key for the bucket or container.
    pub(super) bucket_key: &'static str,
    /// The service's word for a bucket.
    pub(super) bucket_word: &'static str,
    /// Whether a text is a valid name of a bucket.
    pub(super) is_bucket_name: fn(&str) -> bool,
    /// The region if the document sets none.
    pub(super) default_region: fn(&Variables) -> Option<String>,
    /// Opens the bucket with this name and region. It may block, because it may read files.
    pub(super) open: fn(&Variables, &str, Option<&str>, Connector) -> OpenedBucket,
    /// The credentials that the service looks for, as a phrase for people.
    pub(super) credentials: &'static str,
}

/// The retry configuration: two retries after failures of the network. The caller limits the total
/// time.
pub(super) fn retries() -> RetryConfig {
    let backoff = BackoffConfig {
        init_backoff: Duration::from_millis(200),
        ..BackoffConfig::default()
    };
    RetryConfig {
        backoff,
        max_retries: 2,
        ..RetryConfig::default()
    }
}
