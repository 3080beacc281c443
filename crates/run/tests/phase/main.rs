//! The runtime on the harness: leases, interrupts, and secrets in the messages of providers.

mod interrupts;
mod leases;
mod provider_messages;

use engine::{Given, Options};
use testkit::harness::{Harness, StageResult};

fn harness() -> Harness {
    Harness::new(std::path::PathBuf::from("/nowhere"), Vec::new())
}

async fn stage(harness: &Harness, text: &str) -> StageResult {
    harness
        .stage("main.yaml", text, Given::default(), Options::default())
        .await
}
