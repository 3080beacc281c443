//! Documents that stand in memory: for pages and tests, in place of the disk.

use std::collections::BTreeMap;
use std::sync::Arc;

use source::{BoxFuture, DISK, Digest, Key, Kind, Limits, Location, Request, Source, SourceError};

static KIND: Kind = Kind { name: DISK, about: "Documents in memory.", schemes: &[], keys: &[] };

/// Texts by absolute path.
#[derive(Clone, Debug, Default)]
pub struct Shelf {
    texts: Arc<BTreeMap<String, String>>,
}

impl Shelf {
    /// These texts, by absolute path without dots.
    pub fn new(texts: impl IntoIterator<Item = (String, String)>) -> Shelf {
        Shelf { texts: Arc::new(texts.into_iter().collect()) }
    }
}

impl Source for Shelf {
    fn kind(&self) -> &'static Kind {
        &KIND
    }

    fn resolve<'a>(&'a self, request: &'a Request, _: &'a Limits) -> BoxFuture<'a, Result<Location, SourceError>> {
        let folder = request.from.as_ref().and_then(Location::as_disk).and_then(|path| path.rsplit_once('/'));
        let path = match folder {
            Some((folder, _)) if !request.path.starts_with('/') => Location::disk(&*request.path).seen_from(folder),
            _ => Location::disk(&*request.path).seen_from("/"),
        };
        Box::pin(async move { Ok(path) })
    }

    fn fetch<'a>(
        &'a self,
        location: &'a Location,
        _: Option<&'a Digest>,
        _: &'a Limits,
    ) -> BoxFuture<'a, Result<Arc<[u8]>, SourceError>> {
        let text = self.texts.get(&**location.identity());
        let bytes = text.map(|text| text.as_bytes().into());
        Box::pin(async move { bytes.ok_or(SourceError::NotThere { words: String::new() }) })
    }
}

/// A kind of place that is far away, in a laboratory without a network: a request may be right, but nothing answers.
#[derive(Clone, Copy, Debug)]
pub struct FarAway(pub &'static Kind);

/// The kinds of places that documents name.
pub static FAR_AWAY: [Kind; 4] = [
    Kind { name: "https", about: "Servers.", schemes: &["https"], keys: &[required("host")] },
    Kind { name: "aws/s3", about: "Buckets.", schemes: &[], keys: &[required("bucket"), required("region")] },
    Kind { name: "googlecloud/storage", about: "Buckets.", schemes: &[], keys: &[required("bucket")] },
    Kind { name: "azure/blob", about: "Containers.", schemes: &[], keys: &[required("container")] },
];

const fn required(name: &'static str) -> Key {
    Key { name, required: true, about: "" }
}

impl Source for FarAway {
    fn kind(&self) -> &'static Kind {
        self.0
    }

    fn resolve<'a>(&'a self, request: &'a Request, _: &'a Limits) -> BoxFuture<'a, Result<Location, SourceError>> {
        Box::pin(async move { Ok(Location::new(self.0.name, &*request.path)) })
    }

    fn fetch<'a>(
        &'a self,
        _: &'a Location,
        _: Option<&'a Digest>,
        _: &'a Limits,
    ) -> BoxFuture<'a, Result<Arc<[u8]>, SourceError>> {
        Box::pin(async { Err(SourceError::broken("there is no network here")) })
    }
}
