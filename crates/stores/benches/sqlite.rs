//! The cost of a deploy of 10,000 resources in the SQLite store: commits in batches, and a load of
//! the result.

use std::sync::Arc;
use std::time::{Duration, Instant};

use blueprint::{Address, Value};
use contract_tests::store::samples::{began, intent, record};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use futures::executor::block_on;
use state::seal::Sealer;
use state::{Entry, EntryKind, InstanceName, Outcome, Revision, Store};
use stores::sqlite::{Mode, SqliteStore};

const RESOURCES: u32 = 10_000;

/// Intents and outcomes in turn, as a run that commits `batch` resources at a time writes them.
fn batches(batch: u32) -> Vec<Vec<Entry>> {
    let outcome = |step: u32| {
        let mut record = record(Value::map([(
            "input",
            Value::from(format!("value of resource {step}")),
        )]));
        record.outputs = Value::map([
            ("input", Value::from("value")),
            ("id", Value::from(format!("id-{step:08}"))),
        ]);
        record.dependencies = (1..=3)
            .map(|by| Address::root(format!("r_{:05}", step.saturating_sub(by * 100))))
            .collect();
        let address = Address::root(format!("r_{step:05}"));
        Entry {
            step,
            kind: EntryKind::Outcome(Arc::new(Outcome {
                address,
                record: Some(Arc::new(record)),
                error: None,
            })),
        }
    };
    let mut all = vec![vec![began("op-1")]];
    let mut step = 1;
    while step <= RESOURCES {
        let steps = step..(step + batch).min(RESOURCES + 1);
        all.push(
            steps
                .clone()
                .map(|step| intent(step, &format!("r_{step:05}")))
                .collect(),
        );
        all.push(steps.clone().map(outcome).collect());
        step = steps.end;
    }
    all
}

fn fill(store: &dyn Store, batches: Vec<Vec<Entry>>) {
    block_on(async {
        let name = InstanceName::from_free_text("bench");
        let lease = store
            .lease(&name, "bench", Duration::from_secs(60))
            .await
            .expect("a lease");
        let mut revision = Revision(0);
        for entries in batches {
            revision = store
                .commit(&lease, revision, entries)
                .await
                .expect("a commit");
        }
    });
}

fn sqlite(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("sqlite");
    group.sample_size(10);
    for batch in [16, 100, 500] {
        group.throughput(Throughput::Elements(u64::from(RESOURCES) * 2));
        group.bench_with_input(
            BenchmarkId::new("commit", batch),
            &batch,
            |bencher, batch| {
                bencher.iter_custom(|rounds| {
                    let mut spent = Duration::ZERO;
                    for _ in 0..rounds {
                        let folder = tempfile::tempdir().expect("a folder");
                        let path = folder.path().join("state.db");
                        let (store, entries) = (
                            SqliteStore::open(path, Sealer::none(), Mode::ReadWrite),
                            batches(*batch),
                        );
                        let begin = Instant::now();
                        fill(&store, entries);
                        spent += begin.elapsed();
                    }
                    spent
                });
            },
        );
    }
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("state.db");
    fill(
        &SqliteStore::open(&path, Sealer::none(), Mode::ReadWrite),
        batches(100),
    );
    group.throughput(Throughput::Elements(u64::from(RESOURCES)));
    group.bench_function("open and load", |bencher| {
        bencher.iter(|| {
            let store = SqliteStore::open(&path, Sealer::none(), Mode::ReadOnly);
            block_on(store.load(&InstanceName::from_free_text("bench"))).expect("a snapshot")
        });
    });
    group.finish();
}

criterion_group!(benches, sqlite);
criterion_main!(benches);
