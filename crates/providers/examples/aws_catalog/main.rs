//! Writes the AWS catalogue in its compact form; `cargo xtask catalog aws` runs this.
//!
//! `aws_catalog SCHEMAS ABOUT OUT` reads the resource schemas in the folder SCHEMAS of the package
//! and writes `catalog.bin` and `options.txt` into the folder OUT.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "talking to a terminal is what this program is for"
)]

mod generate;

use std::path::{Path, PathBuf};
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

fn run(schemas: &Path, about: &str, out: &Path) -> Result<(), String> {
    let write = |name: &str, bytes: &[u8]| {
        std::fs::write(out.join(name), bytes)
            .map_err(|error| format!("{}: {error}", out.join(name).display()))
    };
    let resources: Result<Vec<Json>, String> = files(&schemas.join("resources"))?
        .iter()
        .map(|path| read(path))
        .collect();
    let (types, wrong) = generate::types(resources?);
    if !wrong.is_empty() {
        return Err(wrong.join("\n"));
    }
    let bytes = generate::pack::pack(&types, about);
    write("catalog.bin", &bytes)?;
    // Each region has a file with its name; one further file is not about a region.
    let regions: Vec<String> = files(&schemas.join("providers"))?
        .iter()
        .filter_map(|path| path.file_stem()?.to_str().map(str::to_owned))
        .filter(|name| name.matches('-').count() >= 2)
        .collect();
    let sizes = generate::sizes(&read(
        &schemas.join("extensions/aws_ec2_instance/instancetype_enum.json"),
    )?);
    let options = [("aws/region", regions), ("aws/ec2/instance-size", sizes)];
    let options = options.map(|(name, labels)| format!("{name}\n{}\n", labels.join("\n")));
    write("options.txt", options.join("\n").as_bytes())?;
    println!("{} types, {} bytes", types.len(), bytes.len());
    Ok(())
}

/// The JSON files in a folder, sorted, because the order of the file system must not affect the
/// result.
fn files(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let unreadable = |error: std::io::Error| format!("{}: {error}", folder.display());
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        paths.push(entry.map_err(unreadable)?.path());
    }
    paths.retain(|path| {
        path.extension()
            .is_some_and(|extension| extension == "json")
    });
    paths.sort();
    Ok(paths)
}

fn read(path: &Path) -> Result<Json, String> {
    let text =
        std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))
}
