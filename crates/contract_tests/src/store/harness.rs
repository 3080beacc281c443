//! Shared parts of the cases: a place with a clock, a writer, and the error of a case.

use std::sync::Arc;
use std::time::Duration;

use state::seal::Sealer;
use state::{Entry, InstanceName, Lease, Revision, Store, StoreError};

use super::host::TestHost;

/// A function that opens a store on a place as another process would, on the given host.
pub type StoreOpener = Box<dyn Fn(Sealer, Arc<TestHost>) -> Box<dyn Store>>;

/// A place that is empty at first, and the host of the stores that are opened on it.
pub(super) struct StorePlace {
    open: StoreOpener,
    host: Arc<TestHost>,
}

impl StorePlace {
    pub(super) fn new(open: StoreOpener) -> StorePlace {
        StorePlace {
            open,
            host: Arc::new(TestHost::at(NOW)),
        }
    }

    pub(super) fn open(&self, sealer: Sealer) -> Box<dyn Store> {
        (self.open)(sealer, self.host.clone())
    }

    /// Sets the clock to this second and returns the store.
    pub(super) fn at<'s, S>(&self, now: i64, store: &'s S) -> &'s S {
        self.host.set(now);
        store
    }
}

/// The failure of a case, as a message.
pub(super) struct Failed(pub(super) String);

impl From<StoreError> for Failed {
    fn from(error: StoreError) -> Failed {
        let cause = std::error::Error::source(&error)
            .map(|cause| format!(" ({cause})"))
            .unwrap_or_default();
        Failed(format!("unexpected error: {error}{cause}"))
    }
}

macro_rules! check {
    ($holds:expr, $($why:tt)+) => {
        if !$holds {
            return Err(Failed(format!($($why)+)));
        }
    };
}

macro_rules! check_eq {
    ($found:expr, $wanted:expr, $what:expr) => {
        match (&$found, &$wanted) {
            (found, wanted) => check!(
                *found == *wanted,
                "{}: {:?} instead of {:?}",
                $what,
                found,
                wanted
            ),
        }
    };
}

macro_rules! check_err {
    ($result:expr, $error:pat, $what:expr) => {
        match $result {
            Err($error) => {}
            Err(other) => return Err(Failed(format!("{}: refused as `{other}`", $what))),
            Ok(_) => return Err(Failed(format!("{}: not refused", $what))),
        }
    };
}

pub(super) const MINUTE: Duration = Duration::from_secs(60);
pub(super) const NOW: i64 = 1_700_000_000;

pub(super) fn instance(name: &str) -> InstanceName {
    InstanceName::from_free_text(name)
}

/// A writer: a store, a lease on it, and the revision after the last commit.
pub(super) struct TestWriter<'s> {
    pub(super) store: &'s dyn Store,
    pub(super) lease: Lease,
    pub(super) revision: Revision,
}

impl<'s> TestWriter<'s> {
    pub(super) async fn acquire(
        store: &'s dyn Store,
        name: &str,
    ) -> Result<TestWriter<'s>, Failed> {
        let lease = store.lease(&instance(name), "ann@host (1)", MINUTE).await?;
        let revision = lease.revision;
        check_eq!(
            store.head(&lease.instance).await?,
            revision,
            "where the instance stands under a new lease"
        );
        Ok(TestWriter {
            store,
            lease,
            revision,
        })
    }

    pub(super) async fn commit(&mut self, entries: Vec<Entry>) -> Result<(), Failed> {
        let revision = self
            .store
            .commit(&self.lease, self.revision, entries)
            .await?;
        check_eq!(
            revision,
            Revision(self.revision.0 + 1),
            "the revision after a commit"
        );
        self.revision = revision;
        Ok(())
    }

    pub(super) async fn try_commit(&self, entries: Vec<Entry>) -> Result<Revision, StoreError> {
        self.store.commit(&self.lease, self.revision, entries).await
    }

    pub(super) async fn release(self) -> Result<(), Failed> {
        Ok(self.store.release(&self.lease).await?)
    }
}
