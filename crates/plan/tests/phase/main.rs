//! The phase `plan` on the harness: which steps a document, a state and the read objects lead to.

mod batches;
mod differences;
mod hooks;
mod metadata;
mod refresh;
mod replacement_orders;
mod saved_plans;
