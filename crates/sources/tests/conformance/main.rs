//! The conformance suite of `source` on every source, and the behaviour of each source.

#![allow(clippy::unwrap_used, reason = "what fails here fails a test")]

mod disk;
mod https;
mod mixed;
mod object;
mod proxy;
mod server;

/// The address of a service emulator. `None`, with a message, if it was not started.
#[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
fn counterpart(variable: &str, what: &str) -> Option<String> {
    let found = std::env::var(variable)
        .ok()
        .filter(|address| !address.is_empty());
    if found.is_none() {
        assert!(
            std::env::var_os("CYAN_TEST_ALL").is_none(),
            "{what} should have been started: {variable} is not set"
        );
        eprintln!("skipped: {what} is needed; `cargo xtask test` starts one");
    }
    found
}
