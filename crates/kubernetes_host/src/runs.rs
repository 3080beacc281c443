//! Runs: the resource `kubernetes/run`, whose objects are never changed. A further one is made for
//! every change of its template (decisions/cartographer#runs).
//!
//! ```text
//! template ── differs from the newest run ──> POST ──> runs of the series ──> retention
//!                                                          │
//!                                                 newest healthy: `object`
//! ```
//!
//! `spec.rs` reads what a document declares, `series.rs` finds the runs and judges them. The rules for
//! health and retention are those of `cartographer`.
//!
//! Not here: objects that are changed in place (`applying`).

mod applying;
mod planning;
mod reading;
mod run_type;
mod series;
mod spec;

pub(crate) use applying::{apply_run, delete_runs};
pub(crate) use planning::plan_run;
pub(crate) use reading::{poll_run, read_run};
pub(crate) use run_type::run_type;
pub(crate) use spec::{RUN_TYPE, RunSpec, check_run};
