//! The package for npm: `npm install FILE` puts the binary into `node_modules/.bin`.

use std::io;

use serde_json::{Map, Value, json};

use super::archive::{ArchiveFiles, FileKind, Folders, tar_gz};
use super::content::Content;

/// Returns the name and the bytes of the package.
///
/// # Errors
/// If the archive cannot be written.
pub(crate) fn pack(content: &Content) -> io::Result<(String, Vec<u8>)> {
    let project = &content.project;
    let processor = content.needs.processor.of_npm();
    let program = format!("bin/{}", project.name);
    let bin = Map::from_iter([(project.name.clone(), Value::from(program.clone()))]);
    let mut manifest = json!({
        "name": project.name,
        "version": project.version,
        "description": project.description,
        "author": project.authors,
        "license": project.licence,
        "bin": bin,
        "os": ["linux"],
        "cpu": [processor],
    });
    if !content.needs.libraries.is_empty() {
        manifest["libc"] = json!(["glibc"]);
    }
    let manifest = serde_json::to_vec_pretty(&manifest)?;
    let mut files: ArchiveFiles<'_> = ArchiveFiles::new();
    let mut put = |path: &str, kind: FileKind, bytes| {
        files.insert(format!("package/{path}"), (kind, bytes));
    };
    put("package.json", FileKind::Data, manifest.as_slice());
    put(&program, FileKind::Program, &content.binary);
    for (name, text) in &content.licences {
        put(name, FileKind::Data, text);
    }
    let archive = tar_gz(&files, Folders::Omitted, content.level)?;
    let (name, version) = (&project.name, &project.version);
    Ok((format!("{name}-{version}-linux-{processor}.tgz"), archive))
}
