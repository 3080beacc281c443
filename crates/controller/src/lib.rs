//! The controller of supply chains: it carries out the requests of `cartographer::reconcile`.
//!
//! Not here: what is stamped and what a status says (`cartographer`).

pub mod install;
