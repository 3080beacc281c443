//! What a controller does on a local cluster: which requests it sends, and what it makes of refused
//! ones, lost ones, and its own end. Time is virtual.

#![allow(clippy::unwrap_used, reason = "what fails here fails a test")]

mod at_rest;
mod documents;
mod kills;
mod leaders;
mod lifetimes;
mod refusals;
mod setup;
