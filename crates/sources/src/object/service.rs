//! What all object store services share: their description, and how a bucket is opened.

use std::time::Duration;

use object_store::{BackoffConfig, ObjectStore, RetryConfig};
use source::{SourceError, SourceKind};

use super::connection::Connector;
use crate::environment::Variables;

/// An opened bucket.
pub(super) type OpenedBucket = Result<Box<dyn ObjectStore>, SourceError>;

/// A service that stores objects.
pub(super) struct Service {
    /// How documents name it.
    pub(super) kind: &'static SourceKind,
    /// The key that names the bucket or container.
    pub(super) holder: &'static str,
    /// The service's word for a bucket.
    pub(super) holder_word: &'static str,
    /// Whether a text may name a bucket.
    pub(super) is_holder: fn(&str) -> bool,
    /// The region if the document names none.
    pub(super) usual_region: fn(&Variables) -> Option<String>,
    /// Opens the bucket of that name and region. It may block, because it may read files.
    pub(super) open: fn(&Variables, &str, Option<&str>, Connector) -> OpenedBucket,
    /// The credentials that the service looks for, as a phrase for people.
    pub(super) credentials: &'static str,
}

/// Two retries after failures of the network. The caller limits the total time.
pub(super) fn retries() -> RetryConfig {
    let backoff = BackoffConfig { init_backoff: Duration::from_millis(200), ..BackoffConfig::default() };
    RetryConfig { backoff, max_retries: 2, ..RetryConfig::default() }
}
