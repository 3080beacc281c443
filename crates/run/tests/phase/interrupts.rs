//! Interrupts: what an operation still finishes, which calls it cancels, and when it ends. And the
//! events of planning in a shell.

use std::time::Duration;

use diag::Diagnostics;
use engine::Staged;
use engine::generation::RollbackTarget;
use engine::run::{Interrupt, Operated, PlanningEvent, RollbackPlanner};
use provider::{BoxFuture, ErrorKind};
use state::OperationOutcome::{Failed, Interrupted};
use testkit::harness::run_with_paused_clock;
use testkit::policies::{PolicyHarness, ScriptedFault, refusals};

const ONE: &str = "
version: 2023-04-20
resources:
  a: {type: test/data, spec: {input: 1}}
";

/// A data source that can be read only during the run, and a function that can be called only then.
const ASKING: &str = "
version: 2023-04-20
resources:
  a: {type: test/data, spec: {input: vpc-1}}
  b: {type: test/data, spec: {input: \"${datasources.net.name}\"}}
  c: {type: test/data, spec: {input: \"${test_settings(resources.a.spec.id)}\"}}
datasources:
  net:
    type: test/network
    filter: {field: name, operator: \"!=\", search: \"${resources.a.spec.id}\"}
    exports: {name: {type: string}}
";

const CLUSTER: &str = "
version: 2023-04-20
resources:
  cluster: {type: test/cluster, spec: {name: main}}
";

const LIMITED: &str = "
version: 2023-04-20
resources:
  a: {type: test/data, metadata: {annotations: {cyan.timeout.create: 1m}}, spec: {input: 1}}
  b: {type: test/data, spec: {input: \"${resources.a.spec.id}\"}}
  c: {type: test/data, spec: {input: 3}}
";

#[test]
fn interrupt_cancels_calls_after_two_minutes() {
    run_with_paused_clock(async {
        let mut bench = PolicyHarness::new();
        bench.interrupts = vec![(Duration::from_secs(10), Interrupt::Graceful)];
        bench.script_faults("create a", [ScriptedFault::Takes(Duration::from_secs(100))]);
        bench.script_faults("create c", [ScriptedFault::Hangs]);
        let ran = bench
            .apply(Some(
                LIMITED.replace("cyan.timeout.create: 1m", "x: y").as_str(),
            ))
            .await;
        assert_eq!(ran.ended(), Some(Interrupted));
        assert_eq!(ran.elapsed, Duration::from_secs(10 + 120));
        assert_eq!(
            ran.said(),
            ["error provider-failed: the create of `c` was cut short"]
        );
        assert_eq!(
            bench.statuses().await,
            ["a: create ready", "c: create failed"]
        );
        assert_eq!(bench.cloud.times_of("create b").len(), 0);
    });
}

#[test]
fn second_interrupt_cancels_calls_at_once() {
    run_with_paused_clock(async {
        let mut bench = PolicyHarness::new();
        bench.interrupts = vec![
            (Duration::from_secs(10), Interrupt::Graceful),
            (Duration::from_secs(11), Interrupt::Immediate),
        ];
        bench.script_faults("create a", [ScriptedFault::Hangs]);
        let ran = bench.apply(Some(LIMITED)).await;
        let Operated::Aborted(lost) = &ran.operated else {
            panic!("{:?}", ran.operated)
        };
        assert_eq!(<[u64; 4]>::from(lost.counts), [1, 0, 0, 0]);
        assert_eq!(ran.elapsed, Duration::from_secs(11));
        assert_eq!(bench.statuses().await, ["c: create ready", "a: open"]);
    });
}

#[test]
fn interrupt_ends_waiting_retries() {
    for call in ["create a", "fetch data", "call function"] {
        run_with_paused_clock(async {
            let mut bench = PolicyHarness::new();
            bench.interrupts = vec![(Duration::from_secs(11), Interrupt::Graceful)];
            bench.script_faults(call, refusals(5, ErrorKind::Transient));
            let ran = bench.apply(Some(ASKING)).await;
            assert_eq!(ran.ended(), Some(Interrupted), "{call}");
            assert_eq!(ran.elapsed, Duration::from_secs(11), "{call}");
            bench.interrupts.clear();
            bench.script_faults(call, []);
        });
    }
}

#[test]
fn interrupted_poll_leaves_readiness_unknown() {
    run_with_paused_clock(async {
        let mut bench = PolicyHarness::new();
        bench.interrupts = vec![(Duration::from_secs(10), Interrupt::Graceful)];
        bench.script_faults("stable cluster", [ScriptedFault::Hangs]);
        bench.script_faults("create a", [ScriptedFault::Hangs]);
        let text = format!("{CLUSTER}  a: {{type: test/data, spec: {{input: 1}}}}\n");
        let ran = bench.apply(Some(&text)).await;
        assert_eq!(ran.ended(), Some(Interrupted));
        assert_eq!(
            ran.said(),
            ["error provider-failed: the create of `a` was cut short"]
        );
        assert_eq!(
            bench.statuses().await,
            ["cluster: create configured", "a: create failed"]
        );
    });
}

/// A planner of rollbacks that finishes no plan, because a read never answers.
struct StalledRollbackPlanner;

impl RollbackPlanner for StalledRollbackPlanner {
    fn stage<'a>(
        &'a self,
        _: RollbackTarget,
        _: &'a mut Diagnostics,
    ) -> BoxFuture<'a, Option<Staged>> {
        Box::pin(std::future::pending())
    }

    fn flatten_places(&self, found: Diagnostics) -> Diagnostics {
        found
    }
}

#[test]
fn interrupt_ends_the_planning_of_a_rollback() {
    run_with_paused_clock(async {
        let mut bench = PolicyHarness::new();
        bench.settings.on_failure = engine::apply::OnFailure::Rollback;
        bench.rollback_planner = Some(&StalledRollbackPlanner);
        bench.interrupts = vec![(Duration::from_secs(10), Interrupt::Graceful)];
        bench.script_faults("create a", refusals(1, ErrorKind::Permanent));
        let ran = bench.apply(Some(ONE)).await;
        assert_eq!(
            (ran.ended(), ran.elapsed),
            (Some(Failed), Duration::from_secs(10))
        );
        assert!(
            ran.said()[1].starts_with("error rollback-incomplete"),
            "{:?}",
            ran.said()
        );
    });
}

#[test]
fn retries_of_planning_are_reported() {
    run_with_paused_clock(async {
        let bench = PolicyHarness::new();
        bench.apply(Some(ONE)).await;
        bench.script_faults("read a", refusals(2, ErrorKind::Throttled));
        let retries = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
        let heard = retries.clone();
        let mut shell = bench.shell();
        shell.planning = Some(std::sync::Arc::new(move |event| {
            if let PlanningEvent::AskedAgain { what, pause, why } = event {
                let line = format!("{what} {}s {why}", pause.as_secs_f64().round());
                heard
                    .lock()
                    .expect("no holder of the lock panics")
                    .push(line);
            }
        }));
        let snapshot = bench.harness.snapshot().await;
        let looked = engine::drift(
            &snapshot,
            &bench.harness.catalogs,
            &shell,
            &mut Diagnostics::new(),
        )
        .await;
        assert!(looked.unread.is_empty());
        let retries = retries.lock().expect("no thread panics with it").clone();
        assert_eq!(
            retries,
            ["a 2s too much at the moment", "a 4s too much at the moment"]
        );
    });
}
