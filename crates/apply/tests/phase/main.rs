//! The phase `apply` on the harness: when calls are made, how often, within which limits, and what
//! is recorded of them. The clock is virtual.

mod limits;
mod links;
mod questions;
mod rates;
mod retries;
mod schedule;
