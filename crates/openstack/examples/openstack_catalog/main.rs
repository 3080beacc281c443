//! Writes the OpenStack catalogue in its compact form; `cargo xtask catalog openstack` runs this.
//!
//! `openstack_catalog FACTS OUT` reads the interfaces of types in the file FACTS and writes
//! `openstack/catalog.bin` and `heat/described.bin` into the folder OUT.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "talking to a terminal is what this program is for"
)]

mod generate;

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [facts, out] = arguments.as_slice() else {
        eprintln!("openstack_catalog FACTS OUT");
        return ExitCode::from(2);
    };
    match run(Path::new(facts), Path::new(out)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(facts: &Path, out: &Path) -> Result<(), String> {
    let text =
        std::fs::read_to_string(facts).map_err(|error| format!("{}: {error}", facts.display()))?;
    let types = generate::types(&text)?;
    for (name, types) in generate::files(types) {
        let bytes = generate::pack(&types);
        let file = out.join(name);
        std::fs::write(&file, &bytes).map_err(|error| format!("{}: {error}", file.display()))?;
        println!("{name}: {} types, {} bytes", types.len(), bytes.len());
    }
    Ok(())
}
