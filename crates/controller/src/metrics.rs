//! Counters of the controller, and their text for Prometheus.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Mutex, PoisonError};

use cartographer::kinds::CartoKind;

/// What a controller has done and has to do, at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ControllerMetrics {
    /// The number of objects that wait for a worker.
    pub queue_length: usize,
    /// The number of objects in work.
    pub working: usize,
    /// The number of failed objects that wait for their next try.
    pub waiting: usize,
    /// The number of watches, those of the kinds of `carto.run` included.
    pub watches: usize,
    /// Why watches fail now, by resource, such as `things.demo.test`. Before all kinds of
    /// `carto.run` and the service accounts are watched, nothing is reconciled.
    pub failing_watches: BTreeMap<String, String>,
    /// Finished reconciles by kind.
    pub reconciles: BTreeMap<CartoKind, u64>,
    /// Reconciles by kind that are tried again after a wait.
    pub failures: BTreeMap<CartoKind, u64>,
    /// Requests by verb and resource, such as `patch` and `deployments.apps`. Watches and the lists
    /// that start them are not counted.
    pub requests: BTreeMap<(&'static str, String), u64>,
}

impl ControllerMetrics {
    /// The number of requests with a verb such as `patch`, for all resources.
    pub fn requests_of(&self, verb: &str) -> u64 {
        let of_verb = self.requests.iter().filter(|((own, _), _)| *own == verb);
        of_verb.map(|(_, count)| count).sum()
    }

    /// The text that Prometheus reads.
    pub fn prometheus_text(&self) -> String {
        let mut text = String::new();
        let gauges = [
            ("cyan_queue_length", self.queue_length),
            ("cyan_working", self.working),
            ("cyan_waiting", self.waiting),
            ("cyan_watches", self.watches),
            ("cyan_failing_watches", self.failing_watches.len()),
        ];
        for (name, value) in gauges {
            // Writing to a `String` cannot fail.
            let _ = writeln!(text, "# TYPE {name} gauge\n{name} {value}");
        }
        let by_kind = [
            ("cyan_reconciles_total", &self.reconciles),
            ("cyan_reconcile_failures_total", &self.failures),
        ];
        for (name, counts) in by_kind {
            let _ = writeln!(text, "# TYPE {name} counter");
            for (kind, count) in counts {
                let _ = writeln!(text, "{name}{{kind=\"{}\"}} {count}", kind.name());
            }
        }
        let _ = writeln!(text, "# TYPE cyan_requests_total counter");
        for ((verb, resource), count) in &self.requests {
            let labels = format!("verb=\"{verb}\",resource=\"{}\"", label_value(resource));
            let _ = writeln!(text, "cyan_requests_total{{{labels}}} {count}");
        }
        text
    }
}

/// A text inside the quotes of a label.
fn label_value(text: &str) -> String {
    text.replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
}

/// The counters that the parts of a controller share.
#[derive(Debug, Default)]
pub(crate) struct Counters(Mutex<ControllerMetrics>);

impl Counters {
    /// Counts a request.
    pub(crate) fn count_request(&self, verb: &'static str, resource: &str) {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *counts
            .requests
            .entry((verb, resource.to_owned()))
            .or_default() += 1;
    }

    /// Counts a finished reconcile.
    pub(crate) fn count_reconcile(&self, kind: CartoKind) {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *counts.reconciles.entry(kind).or_default() += 1;
    }

    /// Counts a reconcile that is tried again.
    pub(crate) fn count_failure(&self, kind: CartoKind) {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *counts.failures.entry(kind).or_default() += 1;
    }

    /// The counts up to now. The numbers of the queue and of watches are zero.
    pub(crate) fn counts(&self) -> ControllerMetrics {
        let counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        counts.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_has_a_line_for_each_count() {
        let counters = Counters::default();
        counters.count_request("patch", "things.demo.test");
        counters.count_request("patch", "things.demo.test");
        counters.count_request("get", "a\"b");
        counters.count_reconcile(CartoKind::Workload);
        let metrics = counters.counts();
        assert_eq!(metrics.requests_of("patch"), 2);
        let text = metrics.prometheus_text();
        for line in [
            "cyan_queue_length 0",
            "cyan_reconciles_total{kind=\"Workload\"} 1",
            "cyan_requests_total{verb=\"patch\",resource=\"things.demo.test\"} 2",
            "cyan_requests_total{verb=\"get\",resource=\"a\\\"b\"} 1",
        ] {
            assert!(text.lines().any(|own| own == line), "{line} in\n{text}");
        }
    }
}
