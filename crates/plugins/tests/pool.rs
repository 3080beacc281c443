//! Shared processes: one for each key, a limit, restarts, the end of a run.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "what fails here fails a test")]

mod peer;

use std::fs;
use std::path::Path;
use std::time::Duration;

use peer::{STAYS, alive, protocol, shell, until};
use plugins::{
    Endpoint, ListenAddress, Logs, PluginError, PluginLease, Pool, PoolKey, PoolLimits, Start,
};
use tokio::task::JoinSet;

fn key(settings: &str) -> PoolKey {
    PoolKey {
        binary: "peer".into(),
        settings: settings.into(),
    }
}

fn pool(processes: usize) -> Pool {
    Pool::new(
        PoolLimits {
            processes,
            within: Duration::from_secs(3600),
            ..PoolLimits::default()
        },
        Logs::default(),
    )
}

fn begin(folder: &Path, script: &str) -> Start {
    Start::Launch(shell(folder, script), protocol())
}

async fn get(pool: &Pool, folder: &Path, settings: &str) -> PluginLease {
    pool.get(&key(settings), begin(folder, STAYS))
        .await
        .unwrap()
}

/// The error of a request that must fail.
async fn refused(pool: &Pool, start: Start) -> PluginError {
    match pool.get(&key("a"), start).await {
        Ok(_) => panic!("the plugin was usable"),
        Err(error) => error,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_requests_of_a_key_start_one_process() {
    let folder = tempfile::tempdir().unwrap();
    let pool = pool(8);
    let mut requests = JoinSet::new();
    for _ in 0..50 {
        let (pool, start) = (
            pool.clone(),
            begin(
                folder.path(),
                "echo started >> starts; echo ready 1; exec sleep 600",
            ),
        );
        requests.spawn(async move { pool.get(&key("a"), start).await.unwrap().id() });
    }
    let ids = requests.join_all().await;
    assert!(ids.iter().all(|id| *id == ids[0]));
    assert_eq!(
        fs::read_to_string(folder.path().join("starts")).unwrap(),
        "started\n"
    );
    assert_ne!(get(&pool, folder.path(), "b").await.id(), ids[0]);
    pool.close().await;
}

#[tokio::test]
async fn the_process_that_is_idle_for_longest_makes_room() {
    let folder = tempfile::tempdir().unwrap();
    let pool = pool(2);
    let first = get(&pool, folder.path(), "a").await.clone();
    let second = get(&pool, folder.path(), "b").await.clone();
    // The first process is used again, so the second one is idle for longer.
    drop(get(&pool, folder.path(), "a").await);
    let third = get(&pool, folder.path(), "c").await;
    assert!(second.exit().is_some_and(|exit| exit.requested));
    assert!(first.exit().is_none());
    drop(get(&pool, folder.path(), "b").await);
    assert!(
        first.exit().is_some() && third.exit().is_none(),
        "the leased one stays"
    );
    pool.close().await;
    assert!(third.exit().is_some());
}

#[tokio::test]
async fn the_limit_is_exceeded_while_no_process_is_idle() {
    let folder = tempfile::tempdir().unwrap();
    let pool = pool(1);
    let first = get(&pool, folder.path(), "a").await;
    let second = get(&pool, folder.path(), "b").await;
    let both = [(*first).clone(), (*second).clone()];
    drop(second);
    until("the surplus one ends", || both[1].exit().is_some()).await;
    assert!(both[0].exit().is_none());
    drop(first);
    assert_eq!(
        get(&pool, folder.path(), "a").await.id(),
        both[0].id(),
        "the last one stays for later"
    );
    pool.close().await;
}

#[tokio::test]
async fn a_crashed_process_is_started_again_until_it_crashed_too_often() {
    let folder = tempfile::tempdir().unwrap();
    let pool = pool(8);
    let mut ids = Vec::new();
    for _ in 0..4 {
        let lease = pool
            .get(
                &key("a"),
                begin(folder.path(), "echo ready 1; echo boom >&2; exit 7"),
            )
            .await
            .unwrap();
        ids.push(lease.id());
        lease.exited().await;
    }
    ids.dedup();
    assert_eq!(ids.len(), 4);
    let error = refused(&pool, begin(folder.path(), STAYS)).await;
    assert_eq!(
        error.to_string(),
        "provider `peer` failed 4 times within 3600 s, last: it exited with code 7"
    );
    assert_eq!(error.output(), "boom");
    // Other keys are not affected.
    drop(get(&pool, folder.path(), "b").await);
    pool.close().await;
}

#[tokio::test]
async fn failed_starts_count_and_missing_programs_do_not() {
    let folder = tempfile::tempdir().unwrap();
    let pool = pool(8);
    let script = "echo started >> starts; echo 'no key' >&2; exit 2";
    let mut messages = Vec::new();
    for _ in 0..6 {
        let mut missing = shell(folder.path(), "");
        missing.program = folder.path().join("missing");
        let error = refused(&pool, Start::Launch(missing, protocol())).await;
        messages.push(matches!(error, PluginError::NotFound { .. }));
        let error = refused(&pool, begin(folder.path(), script)).await;
        assert_eq!(error.output(), "no key");
    }
    assert_eq!(messages[..3], [true; 3]);
    assert_eq!(
        fs::read_to_string(folder.path().join("starts"))
            .unwrap()
            .lines()
            .count(),
        4
    );
}

#[tokio::test]
async fn failures_are_forgotten_after_their_time() {
    let folder = tempfile::tempdir().unwrap();
    let limits = PoolLimits {
        crashes: 0,
        within: Duration::ZERO,
        ..PoolLimits::default()
    };
    let pool = Pool::new(limits, Logs::default());
    for _ in 0..3 {
        let lease = pool
            .get(&key("a"), begin(folder.path(), "echo ready 1; exit 7"))
            .await
            .unwrap();
        lease.exited().await;
    }
}

#[tokio::test]
async fn a_stopped_process_is_no_crash() {
    let folder = tempfile::tempdir().unwrap();
    let limits = PoolLimits {
        crashes: 0,
        ..PoolLimits::default()
    };
    let pool = Pool::new(limits, Logs::default());
    for _ in 0..3 {
        get(&pool, folder.path(), "a").await.stop().await;
    }
    pool.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn close_ends_everything_and_refuses_requests() {
    let folder = tempfile::tempdir().unwrap();
    let pool = pool(8);
    let lease = get(&pool, folder.path(), "a").await;
    let script = "echo $$ > pid.new; mv pid.new pid; exec sleep 600";
    let (other, start) = (pool.clone(), begin(folder.path(), script));
    let waiting = tokio::spawn(async move {
        other
            .get(&key("hangs"), start)
            .await
            .map(|lease| lease.id())
    });
    let file = folder.path().join("pid");
    until("the second one starts", || file.exists()).await;
    let process = fs::read_to_string(file).unwrap().trim().parse().unwrap();
    pool.close().await;
    assert!(!alive(process), "the starting one has ended too");
    assert!(lease.exit().is_some_and(|exit| exit.requested));
    assert!(matches!(
        waiting.await.unwrap(),
        Err(PluginError::Closed { .. })
    ));
    assert!(matches!(
        refused(&pool, begin(folder.path(), STAYS)).await,
        PluginError::Closed { .. }
    ));
}

#[tokio::test]
async fn processes_end_with_the_pool_and_its_leases() {
    let folder = tempfile::tempdir().unwrap();
    let pool = pool(8);
    let lease = get(&pool, folder.path(), "a").await;
    let exited = lease.exited();
    drop(pool);
    assert!(lease.exit().is_none());
    drop(lease);
    assert!(exited.await.requested);
}

#[tokio::test]
async fn a_dropped_request_leaves_the_key_usable() {
    let folder = tempfile::tempdir().unwrap();
    let pool = pool(8);
    let (other, start) = (
        pool.clone(),
        begin(folder.path(), "echo x > begun; exec sleep 600"),
    );
    let hanging =
        tokio::spawn(async move { other.get(&key("a"), start).await.map(|lease| lease.id()) });
    let file = folder.path().join("begun");
    until("the first one starts", || file.exists()).await;
    hanging.abort();
    assert!(get(&pool, folder.path(), "a").await.exit().is_none());
    pool.close().await;
}

#[tokio::test]
async fn an_attached_process_is_shared_and_counts_for_no_limit() {
    let folder = tempfile::tempdir().unwrap();
    let pool = pool(1);
    let endpoint = Endpoint::new(ListenAddress::Tcp(([127, 0, 0, 1], 9).into()));
    let attach = || Start::Attach("provider `peer`".into(), endpoint.clone());
    let first = pool.get(&key("a"), attach()).await.unwrap().id();
    drop(get(&pool, folder.path(), "b").await);
    assert_eq!(pool.get(&key("a"), attach()).await.unwrap().id(), first);
    pool.close().await;
}
