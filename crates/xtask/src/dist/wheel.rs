//! The wheel: `pip install FILE` puts the binary beside the Python of the environment.

use std::io::{self, Cursor, Write};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

use super::archive::FileKind;
use super::content::Content;
use super::elf::Needs;

/// The libraries that every Linux of the tags `manylinux` has (PEP 600). `ld-` begins the names of
/// loaders.
const MANYLINUX: [&str; 8] = [
    "libc.so.6",
    "libdl.so.2",
    "libgcc_s.so.1",
    "libm.so.6",
    "libpthread.so.0",
    "librt.so.1",
    "libstdc++.so.6",
    "libutil.so.1",
];

/// The lowest glibc that installers ask for on every processor.
const LOWEST: (u32, u32) = (2, 17);

/// Returns the name and the bytes of the wheel.
///
/// # Errors
/// If the archive cannot be written.
pub(crate) fn pack(content: &Content) -> io::Result<(String, Vec<u8>)> {
    let project = &content.project;
    let stem = format!("{}-{}", project.name, project.version);
    let info = format!("{stem}.dist-info");
    let tag = platform(&content.needs);
    let mut files: Vec<(String, FileKind, &[u8])> = vec![(
        format!("{stem}.data/scripts/{}", project.name),
        FileKind::Program,
        &content.binary,
    )];
    let mut metadata = format!(
        "Metadata-Version: 2.4\nName: {}\nVersion: {}\nSummary: {}\nAuthor: {}\n\
         License-Expression: {}\n",
        project.name, project.version, project.description, project.authors, project.licence
    );
    for (name, text) in &content.licences {
        metadata.push_str(&format!("License-File: {name}\n"));
        files.push((format!("{info}/licenses/{name}"), FileKind::Data, text));
    }
    let mut wheel = "Wheel-Version: 1.0\nGenerator: xtask\nRoot-Is-Purelib: false\n".to_owned();
    // A compressed set of tags is one line for each tag here.
    for one in tag.split('.') {
        wheel.push_str(&format!("Tag: py3-none-{one}\n"));
    }
    files.push((
        format!("{info}/METADATA"),
        FileKind::Data,
        metadata.as_bytes(),
    ));
    files.push((format!("{info}/WHEEL"), FileKind::Data, wheel.as_bytes()));
    files.sort_by(|one, other| one.0.cmp(&other.0));
    let record = format!("{info}/RECORD");
    let mut rows = String::new();
    for (path, _, bytes) in &files {
        let digest = URL_SAFE_NO_PAD.encode(Sha256::digest(bytes));
        rows.push_str(&format!("{path},sha256={digest},{}\n", bytes.len()));
    }
    rows.push_str(&format!("{record},,\n"));
    files.push((record, FileKind::Data, rows.as_bytes()));

    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (path, kind, bytes) in &files {
        let options = SimpleFileOptions::default()
            .last_modified_time(DateTime::default())
            .unix_permissions(kind.mode());
        let options = match content.level {
            0 => options.compression_method(CompressionMethod::Stored),
            level => options
                .compression_method(CompressionMethod::Deflated)
                .compression_level(Some(i64::from(level))),
        };
        archive.start_file(path, options)?;
        archive.write_all(bytes)?;
    }
    let bytes = archive.finish()?.into_inner();
    Ok((format!("{stem}-py3-none-{tag}.whl"), bytes))
}

/// Returns the tag of the platforms on which the binary runs.
fn platform(needs: &Needs) -> String {
    let processor = needs.processor.of_python();
    if needs.libraries.is_empty() {
        // A static program runs with any libc.
        let (major, minor) = LOWEST;
        return format!("manylinux_{major}_{minor}_{processor}.musllinux_1_1_{processor}");
    }
    let unusual: Vec<&str> = needs
        .libraries
        .iter()
        .map(String::as_str)
        .filter(|name| !name.starts_with("ld-") && !MANYLINUX.contains(name))
        .collect();
    match needs.glibc {
        Some(version) if unusual.is_empty() => {
            let (major, minor) = version.max(LOWEST);
            format!("manylinux_{major}_{minor}_{processor}")
        }
        _ => {
            println!(
                "the wheel is for this machine only: the binary needs {}",
                unusual.join(", ")
            );
            format!("linux_{processor}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::platform;
    use crate::dist::elf::{Needs, Processor};

    fn tag(libraries: &[&str], glibc: Option<(u32, u32)>) -> String {
        platform(&Needs {
            processor: Processor::Aarch64,
            libraries: libraries.iter().map(|name| (*name).to_owned()).collect(),
            glibc,
            loader: None,
        })
    }

    #[test]
    fn the_tag_has_the_glibc_that_the_binary_needs() {
        let usual = ["libc.so.6", "ld-linux-aarch64.so.1"];
        assert_eq!(tag(&usual, Some((2, 34))), "manylinux_2_34_aarch64");
        assert_eq!(tag(&usual, Some((2, 4))), "manylinux_2_17_aarch64");
        assert_eq!(
            tag(&["libc.so.6", "libssl.so.3"], Some((2, 34))),
            "linux_aarch64"
        );
        assert_eq!(
            tag(&[], None),
            "manylinux_2_17_aarch64.musllinux_1_1_aarch64"
        );
    }
}
