//! Runs the conformance pack of Cartographer, one module for each part of it. The pack is read where it
//! stands: `CYAN_CONFORMANCE_CARTOGRAPHER` names another folder with the same layout. A part that is
//! missing is said aloud and runs nothing.

#![expect(clippy::print_stdout, reason = "the report of the pack")]

mod inputs;
mod jsonpath;
mod pack;
mod template_tests;
mod templating_output;
mod templating_params;
mod templating_selection;
mod templating_stamp;
mod templating_status;
mod validation;
mod ytt;
