//! The toy store under the conformance suite of stores.

use std::sync::Arc;

use futures::executor::block_on;
use state::{Store, conformance};
use testkit::toy::store::{Bucket, BucketStore};

#[test]
fn toy_store_passes_the_conformance_suite() {
    let failures = block_on(conformance::store(&|| {
        let bucket = Bucket::default();
        Box::new(move |sealer, host: Arc<conformance::TestHost>| {
            Box::new(BucketStore::open(&bucket, sealer, host)) as Box<dyn Store>
        })
    }));
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}
