//! Writes the AWS catalogue in its compact form; `cargo xtask catalog aws` runs this.
//!
//! `aws_catalog SCHEMAS ABOUT OUT` reads every JSON file of the folder SCHEMAS as a CloudFormation resource schema and writes OUT.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "talking to a terminal is what this program is for")]

mod generate;

use std::path::Path;
use std::process::ExitCode;

use serde_json::Value as Json;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [schemas, about, out] = arguments.as_slice() else {
        eprintln!("aws_catalog SCHEMAS ABOUT OUT");
        return ExitCode::from(2);
    };
    match run(Path::new(schemas), about, Path::new(out)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(folder: &Path, about: &str, out: &Path) -> Result<(), String> {
    let unreadable = |error: std::io::Error| format!("{}: {error}", folder.display());
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        paths.push(entry.map_err(unreadable)?.path());
    }
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    // The order of files is the file system's; the catalogue must not depend on it.
    paths.sort();
    let mut schemas: Vec<Json> = Vec::new();
    for path in &paths {
        let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
        schemas.push(serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))?);
    }
    let (types, wrong) = generate::types(schemas);
    if !wrong.is_empty() {
        return Err(wrong.join("\n"));
    }
    let bytes = generate::pack::pack(&types, about);
    std::fs::write(out, &bytes).map_err(|error| format!("{}: {error}", out.display()))?;
    println!("{} types, {} bytes", types.len(), bytes.len());
    Ok(())
}
