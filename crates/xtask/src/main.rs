//! The workshop: `cargo xtask test`, `tidy`, `accept`, `catalog`, `fuzz`, `mutants`, `instructions`, `bench`.
//!
//! Each command only starts other programs and reads what they say. The tidy checks themselves are ordinary tests
//! (`tests/tidy`), so that plain `cargo test` runs them too.
//!
//! Not here: anything the product needs.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "talking to a terminal is what this program is for")]

mod bench;
mod catalog;
mod counterparts;
mod fuzz;
mod instructions;
mod mutants;
mod servers;
mod suite;

use std::path::PathBuf;
use std::process::ExitCode;

const USAGE: &str = "\
The workshop of this repository.

cargo xtask test [ARGUMENTS]    everything: tests, tidy checks, generated files, examples; ARGUMENTS go to `cargo test`
cargo xtask simulate [N]        makes N stories up and judges them (a million; FROM..TO picks some), where the tests tell 10,000
cargo xtask crashes [N]         kills the binary N times (2000), where a run of the tests does so 200 times; CYAN_CRASH_SEED draws other moments
cargo xtask tidy                the tidy checks alone
cargo xtask docs                writes the reference pages anew
cargo xtask accept              writes anew what tests compare with: reference pages, README's output, records of scenarios
cargo xtask catalog aws         the catalogue of AWS, made anew from CloudFormation's schemas; --check compares, if they are at hand
cargo xtask catalog openstack   the catalogue of OpenStack, made anew from the interfaces of Heat's types; --check compares
cargo xtask fuzz TARGET         looks for inputs that break a law: [--cases N] [--seed S] [--libfuzzer SECONDS]; without TARGET it lists them
cargo xtask mutants try         makes small changes that a test should notice: [--shard I/N] [--in PATH]; `summary` counts
cargo xtask performance         measures cyan against Terraform and writes the tables of bench/performance.md
cargo xtask instructions        counts instructions of the heart with callgrind and holds them against bench/instructions.json; --write keeps them
cargo xtask bench [ARGUMENTS]   whole processes against the clock; ARGUMENTS go to bench/bench.py in place of the usual ones
";

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let command = arguments.next();
    let rest: Vec<String> = arguments.collect();
    let done = match command.as_deref() {
        Some("test") => suite::test(&root(), &rest),
        Some("simulate") => suite::simulate(&root(), &rest),
        Some("crashes") => suite::crashes(&root(), &rest),
        Some("tidy") => suite::tidy(&root()),
        Some("docs") => suite::docs(&root()),
        Some("accept") => suite::accept(&root()),
        Some("fuzz") => fuzz::run(&root(), &rest),
        Some("mutants") => mutants::run(&root(), &rest),
        Some("performance") => bench::performance(&root(), &rest),
        Some("instructions") => instructions::run(&root(), &rest),
        Some("bench") => bench::run(&root(), &rest),
        Some("catalog") => catalog::run(&root(), &rest),
        Some("help" | "--help" | "-h") => {
            print!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        _ => {
            eprint!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The folder of the workspace: two above this crate's.
fn root() -> PathBuf {
    let here = std::env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| PathBuf::from("crates/xtask"), PathBuf::from);
    here.ancestors().nth(2).map_or_else(|| PathBuf::from("."), PathBuf::from)
}
