//! The tasks of this repository: `cargo xtask test`, `tidy`, `accept` and others;
//! `cargo xtask help` lists them.
//!
//! Each task starts other programs and reads their output. The tidy checks themselves are ordinary
//! tests (`tests/tidy`), so that plain `cargo test` runs them too.
//!
//! Not here: code that the product needs.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "talking to a terminal is what this program is for"
)]

mod bench;
mod build_tool;
mod catalog;
mod cloud;
mod counterparts;
mod dist;
mod fuzz;
mod go_tool;
mod instructions;
mod jsonpath_programs;
mod kubernetes;
mod kubernetes_programs;
mod kubernetes_schemas;
mod mutants;
mod openstack;
mod packages;
mod plugins;
mod pulumi_programs;
mod servers;
mod suite;

use std::path::PathBuf;
use std::process::ExitCode;

const USAGE: &str = "\
The tasks of this repository.

cargo xtask test [ARGUMENTS]    run all tests, tidy checks, pages and examples; ARGUMENTS go to `cargo test`
cargo xtask tidy                run the tidy checks alone
cargo xtask accept              rewrite the records that tests compare with: reference pages, README output, scenarios
cargo xtask docs                rewrite the reference pages
cargo xtask simulate [N]        check N generated traces (a million; FROM..TO selects seeds); the tests check 10,000
cargo xtask crashes [N]         kill the binary N times (2,000), and N times while commands run; the tests do it 200 and 30 times; CYAN_CRASH_SEED sets the seed
cargo xtask fuzz TARGET         search for inputs that violate an invariant: [--cases N] [--seed S]
                                [--libfuzzer SECONDS]; without TARGET list the targets
cargo xtask mutants try         make small changes that a test should detect: [--shard I/N] [--in PATH];
                                `summary` counts the results
cargo xtask instructions        count instructions with callgrind and compare with bench/instructions.json; --write
                                records them
cargo xtask bench [ARGUMENTS]   measure whole processes; ARGUMENTS go to bench/bench.py in place of the defaults
cargo xtask performance         measure `cyan` against Terraform and Pulumi, write bench/performance.md
cargo xtask dist [OPTIONS]      build packages of `cyan` for this platform: a wheel, packages for npm and Debian, a folder
                                for Docker; [--binary FILE] packs this binary, [--out FOLDER] writes them there,
                                [--level N] compresses them from 0 to 9 (6)
cargo xtask plugins             build the plugins and programs that tests talk to, and print the variables that name them
cargo xtask kubernetes          start a cluster of Kubernetes, print the variables with which `cargo test` finds it, and
                                run it until Ctrl-C or the end of the input
cargo xtask openstack           start a cloud of OpenStack, print the variable with which `cargo test` finds it, and run
                                it until Ctrl-C or the end of the input
cargo xtask cloud [OPTIONS]     compare what `cyan` and real Heat make of templates on a cloud of OpenStack:
                                [--clouds FILE] takes a running cloud, [--cyan FILE] another binary,
                                [--templates FOLDER] other templates, [--only NAME] one of them, and
                                [--collection FOLDER] adds those of openstack/heat-templates;
                                [--record] records the states that Heat leaves, [--recorded] compares with
                                them; [--kills N] also kills `cyan` N times, from a [--seed S]; [--stacks N]
                                takes over N stacks of real Heat instead
cargo xtask catalog aws         regenerate the catalogue of AWS from CloudFormation's schemas; --check compares
cargo xtask catalog openstack   regenerate the catalogue of OpenStack from the interfaces of Heat's types; --check
                                compares
cargo xtask kubernetes-schemas FOLDER
                                regenerate the schemas of the built-in kinds of Kubernetes from the answers of an API
                                server in FOLDER; --check compares
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
        Some("plugins") => plugins::print(&root()),
        Some("kubernetes") => kubernetes::serve(&root()),
        Some("openstack") => openstack::run(&root(), &rest),
        Some("cloud") => cloud::run(&root(), &rest),
        Some("dist") => dist::run(&root(), &rest),
        Some("bench") => bench::run(&root(), &rest),
        Some("catalog") => catalog::run(&root(), &rest),
        Some("kubernetes-schemas") => kubernetes_schemas::run(&root(), &rest),
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
    let here = std::env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| PathBuf::from("crates/xtask"), PathBuf::from);
    here.ancestors()
        .nth(2)
        .map_or_else(|| PathBuf::from("."), PathBuf::from)
}
