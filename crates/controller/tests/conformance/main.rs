//! Runs the recorded cases of the controller: `cluster/kuttl` and `cluster/scenarios` of the pack of
//! Cartographer, with the controller on a local cluster in this process.
//!
//! The pack is read where it stands; `CYAN_CONFORMANCE_CARTOGRAPHER` names another folder with the
//! same layout, and `CYAN_CASES=immutable,retention` chooses cases. A part that is missing is said
//! aloud and runs nothing. With `CYAN_CARTOGRAPHER_ON_REAL=1` the cases run on the server that
//! `CYAN_TEST_KUBECONFIG` names, one after the other, in the namespace `case`. They delete all
//! objects of `carto.run` there.

#![allow(clippy::unwrap_used, reason = "what fails here fails a test")]
#![expect(clippy::print_stdout, reason = "the report of the pack")]

mod judge;
mod kuttl;
mod names;
mod pack;
mod place;
mod scenarios;
mod tally;
mod world;
