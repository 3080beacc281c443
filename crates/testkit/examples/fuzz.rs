//! `cargo xtask fuzz` runs this: one target for so many cases. A failing input is written to a file and shown.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "talking to a terminal is what this program is for")]

use std::process::ExitCode;

use testkit::fuzz::{self, TARGETS};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let value = |flag: &str| {
        let at = arguments.iter().position(|argument| argument == flag)?;
        arguments.get(at + 1)
    };
    let number = |flag: &str, default: u64| value(flag).and_then(|text| text.parse().ok()).unwrap_or(default);
    let Some(target) = arguments.first().and_then(|name| fuzz::target(name)) else {
        eprintln!("fuzz TARGET [--cases N] [--seed S] [--input FILE], where TARGET is one of");
        TARGETS.iter().for_each(|target| eprintln!("  {:<12}{}", target.name, target.law));
        return ExitCode::from(2);
    };
    if let Some(file) = value("--input") {
        // As it is, so that a debugger sees the panic.
        return match std::fs::read(file) {
            Ok(input) => {
                println!("{} is seen as {:016x}", file, (target.run)(&input));
                ExitCode::SUCCESS
            }
            Err(error) => {
                eprintln!("`{file}` cannot be read: {error}");
                ExitCode::from(2)
            }
        };
    }
    let (cases, seed) = (number("--cases", 1_000_000), number("--seed", 1));
    println!("{}: {}", target.name, target.law);
    std::panic::set_hook(Box::new(|_| {}));
    let ran = fuzz::run(target, cases, seed, &mut |report| {
        println!("  {} cases, {} kinds of outcome", report.cases, report.new);
    });
    match ran {
        Ok(report) => {
            println!("{} held: {} replayed, {} cases from seed {seed}", target.name, report.replayed, report.cases);
            ExitCode::SUCCESS
        }
        Err(failure) => {
            let name = format!("fuzz-{}-{seed}-{}.input", target.name, failure.case);
            let kept = std::env::temp_dir().join(name);
            println!("{} is broken, at case {} of seed {seed}: {}", target.name, failure.case, failure.said);
            println!("the shrunk input: {:?}", String::from_utf8_lossy(&failure.input));
            match std::fs::write(&kept, &failure.input) {
                Ok(()) => println!("it is kept in {}", kept.display()),
                Err(error) => println!("it could not be kept: {error}"),
            }
            ExitCode::FAILURE
        }
    }
}
