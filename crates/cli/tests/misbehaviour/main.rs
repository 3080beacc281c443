//! Tests with a provider plugin that misbehaves on demand, in both families, with the real binary.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "what fails here fails a test; a plugin speaks on its standard streams"
)]
#![cfg(unix)]

mod creates;
mod files;
mod forecasts;
mod lab;
#[path = "../binary/machine.rs"]
#[allow(dead_code, reason = "the tests here check no machine output")]
mod machine;
mod matrix;
#[path = "../../../terraform_host/src/messages.rs"]
#[allow(dead_code, reason = "the stub serves a part of the protocol")]
mod messages;
#[path = "../../../terraform_host/src/messages6.rs"]
#[allow(dead_code, reason = "the stub serves a part of the protocol")]
mod messages6;
#[path = "../binary/place.rs"]
#[allow(dead_code, reason = "each test target uses a part of it")]
mod place;
mod plugins;
#[path = "../../../pulumi_host/src/messages.rs"]
#[allow(
    dead_code,
    unreachable_pub,
    reason = "the stub serves a part of the protocol"
)]
mod pulumi_messages;
mod stub;

/// The entry of the plugin: see [`stub`]. In a run of the tests it does nothing.
#[test]
fn plugin() {
    stub::serve_if_asked();
}
