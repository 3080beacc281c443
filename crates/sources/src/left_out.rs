//! Sources that this build was made without. A document that needs one is told so.

use std::future::ready;
use std::sync::Arc;

use source::{BoxFuture, Digest, Location, ReadLimits, Request, Source, SourceError, SourceKind};

/// A kind of source that cannot be read, because a feature of the build is off.
#[derive(Debug)]
pub struct LeftOutSource {
    kind: &'static SourceKind,
    feature: &'static str,
}

impl LeftOutSource {
    /// The source of a kind that needs a feature of the build.
    pub fn new(kind: &'static SourceKind, feature: &'static str) -> LeftOutSource {
        LeftOutSource { kind, feature }
    }

    fn error(&self) -> SourceError {
        let feature = self.feature;
        SourceError::broken(format!(
            "this `cyan` was built without the feature `{feature}`; take a build with it"
        ))
    }
}

impl Source for LeftOutSource {
    fn kind(&self) -> &'static SourceKind {
        self.kind
    }

    fn resolve<'a>(
        &'a self,
        _request: &'a Request,
        _limits: &'a ReadLimits,
    ) -> BoxFuture<'a, Result<Location, SourceError>> {
        Box::pin(ready(Err(self.error())))
    }

    /// A location can be from a saved plan of another build.
    fn fetch<'a>(
        &'a self,
        _location: &'a Location,
        _pinned: Option<&'a Digest>,
        _limits: &'a ReadLimits,
    ) -> BoxFuture<'a, Result<Arc<[u8]>, SourceError>> {
        Box::pin(ready(Err(self.error())))
    }
}

#[cfg(test)]
mod tests {
    use std::task::{Context, Poll, Waker};

    use tokio_util::sync::CancellationToken;

    use super::{LeftOutSource, Location, ReadLimits, Source};
    use crate::kinds::AWS_S3;

    #[test]
    fn error_names_the_feature() {
        let left_out = LeftOutSource::new(&AWS_S3, "object_stores");
        let location = Location::new(AWS_S3.name, "s3://bucket/key".to_owned());
        let limits = ReadLimits::document(CancellationToken::new());
        let mut read = left_out.fetch(&location, None, &limits);
        let read = read.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        let Poll::Ready(Err(error)) = read else {
            panic!("{read:?}");
        };
        assert_eq!(
            error.to_string(),
            "it cannot be read: this `cyan` was built without the feature `object_stores`; take a \
             build with it"
        );
    }
}
