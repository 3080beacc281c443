//! `cargo xtask fuzz` runs this: one target with a number of mutated inputs. It shows a failing
//! input and writes it to a file.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "talking to a terminal is what this program is for"
)]

use std::process::ExitCode;

use testkit::fuzz::{self, TARGETS};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let value = |flag: &str| {
        let at = arguments.iter().position(|argument| argument == flag)?;
        arguments.get(at + 1)
    };
    let number = |flag: &str, default: u64| {
        value(flag)
            .and_then(|text| text.parse().ok())
            .unwrap_or(default)
    };
    let Some(target) = arguments.first().and_then(|name| fuzz::target(name)) else {
        eprintln!("fuzz TARGET [--cases N] [--seed S] [--input FILE], where TARGET is one of");
        TARGETS
            .iter()
            .for_each(|target| eprintln!("  {:<12}{}", target.name, target.invariant));
        return ExitCode::from(2);
    };
    if let Some(file) = value("--input") {
        // Without catching the panic, so that a debugger sees it.
        return match std::fs::read(file) {
            Ok(input) => {
                println!("{} has the behaviour {:016x}", file, (target.run)(&input));
                ExitCode::SUCCESS
            }
            Err(error) => {
                eprintln!("`{file}` cannot be read: {error}");
                ExitCode::from(2)
            }
        };
    }
    let (cases, seed) = (number("--cases", 1_000_000), number("--seed", 1));
    println!("{}: {}", target.name, target.invariant);
    std::panic::set_hook(Box::new(|_| {}));
    let ran = fuzz::run(target, cases, seed, &mut |report| {
        println!(
            "  {} cases, {} kinds of behaviour",
            report.cases, report.new
        );
    });
    match ran {
        Ok(report) => {
            println!(
                "{} passed: {} replayed, {} cases from seed {seed}",
                target.name, report.replayed, report.cases
            );
            ExitCode::SUCCESS
        }
        Err(failure) => {
            let name = format!("fuzz-{}-{seed}-{}.input", target.name, failure.case);
            let path = std::env::temp_dir().join(name);
            println!(
                "{} failed at case {} of seed {seed}: {}",
                target.name, failure.case, failure.message
            );
            println!(
                "the shrunk input: {:?}",
                String::from_utf8_lossy(&failure.input)
            );
            match std::fs::write(&path, &failure.input) {
                Ok(()) => println!("it is saved in {}", path.display()),
                Err(error) => println!("it could not be saved: {error}"),
            }
            ExitCode::FAILURE
        }
    }
}
