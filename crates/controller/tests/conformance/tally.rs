//! The results of the cases of one area, and the time limit of a case.

use crate::place;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc;

/// The findings of a case: what differs, by level (1 to 4).
#[derive(Debug, Default)]
pub(crate) struct CaseResult {
    pub(crate) findings: Vec<(u8, String)>,
    /// The number of steps that were judged.
    pub(crate) judged: usize,
}

impl CaseResult {
    fn holds(&self, level: u8) -> bool {
        !self.findings.iter().any(|(of, _)| *of == level)
    }
}

/// The results of an area.
pub(crate) struct ClusterTally {
    area: &'static str,
    passed: usize,
    cases: usize,
    apart: usize,
    /// The number of cases that hold at each level.
    levels: [usize; 4],
}

impl ClusterTally {
    pub(crate) fn new(area: &'static str) -> ClusterTally {
        ClusterTally {
            area,
            passed: 0,
            cases: 0,
            apart: 0,
            levels: [0; 4],
        }
    }

    /// Runs a case on a thread of its own, and counts it.
    pub(crate) fn run(&mut self, name: &str, case: impl FnOnce() -> CaseResult + Send + 'static) {
        let (sender, receiver) = mpsc::channel();
        std::thread::spawn(move || {
            let result = catch_unwind(AssertUnwindSafe(case));
            // Nobody receives a result that comes too late.
            let _ = sender.send(result);
        });
        let result = match receiver.recv_timeout(place::limit()) {
            Ok(Ok(result)) => result,
            Ok(Err(_)) => failed("the case panics"),
            Err(_) => failed("the case takes longer than its limit"),
        };
        if result.judged == 0 {
            self.apart += 1;
            return;
        }
        self.cases += 1;
        for (level, count) in (1..).zip(&mut self.levels) {
            *count += usize::from(result.holds(level));
        }
        if (1..=3).all(|level| result.holds(level)) {
            self.passed += 1;
        }
        for (level, finding) in &result.findings {
            println!("{} {name}: level {level}: {finding}", self.area);
        }
    }

    /// Prints the counts, and fails below a share of passing cases in percent.
    pub(crate) fn finish(self, least: usize) {
        let ClusterTally {
            area,
            passed,
            cases,
            ..
        } = self;
        if self.apart > 0 {
            let apart = self.apart;
            println!("cartographer conformance {area}: {apart} judged by decisions of the project");
        }
        for (level, count) in (1..).zip(self.levels) {
            println!("cartographer conformance {area}, level {level}: {count} of {cases}");
        }
        println!("cartographer conformance {area}: {passed} of {cases}");
        assert!(
            passed * 100 >= cases * least,
            "{area}: {passed} of {cases} pass, at least {least} % must"
        );
    }
}

fn failed(why: &str) -> CaseResult {
    CaseResult {
        findings: (1..=4).map(|level| (level, why.to_owned())).collect(),
        judged: 1,
    }
}
