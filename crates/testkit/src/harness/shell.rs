//! Shells and sessions without the faults and checks of the harness, for tests of single calls.
//!
//! Not here: the sessions in which documents are deployed (`session`).

use std::sync::Arc;

use blueprint::{IndexMap, Name};
use engine::run::{Rng, Shell};
use provider::Provider;
use providers::fake::{self, FakeOptions};

use super::Harness;

/// A session of a provider in a shell, without settings.
pub async fn session_without_settings(
    shell: &Shell,
    namespace: &str,
) -> Arc<dyn provider::Session> {
    let with = provider::Configuration {
        name: namespace.into(),
        settings: blueprint::Value::Null,
        former: blueprint::Value::Null,
        offline: false,
        root: shell.root.clone(),
        log: Arc::new(|_| {}),
    };
    let provider = shell.providers.get(namespace).expect("it is set").clone();
    provider
        .configure(with)
        .await
        .expect("it needs no settings")
        .session
}

/// The shell of a process on the cloud of a harness. Its provider `test` has no faults and checks no
/// invariants.
pub fn shell_without_faults(harness: &Harness) -> Shell {
    let provider = fake::provider(FakeOptions {
        world: Some(harness.world.clone()),
        ..FakeOptions::default()
    });
    let mut providers: IndexMap<Name, Arc<dyn Provider>> = IndexMap::default();
    providers.insert("test".into(), Arc::new(provider));
    Shell {
        call_records: None,
        instances: None,
        packages: None,
        providers: providers.into_iter().collect(),
        catalogs: harness.catalogs.clone(),
        settings: IndexMap::default(),
        places: None,
        offline: false,
        instance: harness.name.name().clone(),
        root: harness.folder.as_path().into(),
        access: Default::default(),
        working_directory: harness.working_directory.clone(),
        clock: harness.clock.clone(),
        rng: Rng::seeded(u64::from(u32::MAX)),
        sources: Default::default(),
        http: None,
        planning: None,
        log: None,
        secrets: Default::default(),
        remarks: Default::default(),
        cancel: tokio_util::sync::CancellationToken::new(),
    }
}
