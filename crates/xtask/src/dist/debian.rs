//! The package for Debian, with manual pages and completions.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;
use std::process::Command;

use super::archive::{ArchiveFiles, FileKind, Folders, ar, gzip, tar_gz};
use super::content::Content;
use super::elf::Needs;

/// The shells, with the files in which Debian looks for completions of `NAME`.
const SHELLS: [(&str, &str, &str); 3] = [
    ("bash", "usr/share/bash-completion/completions/", ""),
    ("fish", "usr/share/fish/vendor_completions.d/", ".fish"),
    ("zsh", "usr/share/zsh/vendor-completions/_", ""),
];

/// Returns the name and the bytes of the package.
///
/// # Errors
/// If the binary does not print its manual pages, or needs a library of an unknown package.
pub(crate) fn pack(root: &Path, content: &Content) -> io::Result<(String, Vec<u8>)> {
    let project = &content.project;
    let name = &project.name;
    let mut owned: Vec<(String, Vec<u8>)> = Vec::new();
    for (page, text) in manual(content)? {
        let packed = gzip(&text, 9)?;
        owned.push((format!("usr/share/man/man1/{page}.gz"), packed));
    }
    for (shell, before, after) in SHELLS {
        let script = output(content, &["completions", shell])?;
        owned.push((format!("{before}{name}{after}"), script));
    }
    let about = format!("usr/share/doc/{name}");
    let changes = fs::read(root.join("CHANGELOG.md"))?;
    owned.push((format!("{about}/changelog.gz"), gzip(&changes, 9)?));
    owned.push((
        format!("{about}/copyright"),
        copyright(content).into_bytes(),
    ));
    let mut files: ArchiveFiles<'_> = ArchiveFiles::new();
    let program = format!("usr/bin/{name}");
    files.insert(program, (FileKind::Program, &content.binary));
    for (path, bytes) in &owned {
        files.insert(path.clone(), (FileKind::Data, bytes));
    }
    for (licence, text) in &content.licences {
        files.insert(format!("{about}/{licence}"), (FileKind::Data, text));
    }
    let size: usize = files
        .values()
        .map(|(_, bytes)| bytes.len().div_ceil(1024))
        .sum();
    let control = control(content, size)?;
    let mut about_package = ArchiveFiles::new();
    about_package.insert("control".to_owned(), (FileKind::Data, control.as_bytes()));
    let package = ar(&[
        ("debian-binary", b"2.0\n".to_vec()),
        (
            "control.tar.gz",
            tar_gz(&about_package, Folders::Listed, content.level)?,
        ),
        (
            "data.tar.gz",
            tar_gz(&files, Folders::Listed, content.level)?,
        ),
    ]);
    let (version, processor) = (&project.version, content.needs.processor.of_debian());
    Ok((format!("{name}_{version}_{processor}.deb"), package))
}

/// The description of the package; the size is in KiB.
fn control(content: &Content, size: usize) -> io::Result<String> {
    let project = &content.project;
    let mut control = format!(
        "Package: {}\nVersion: {}\nArchitecture: {}\nMaintainer: {}\nInstalled-Size: {size}\n",
        project.name,
        project.version,
        content.needs.processor.of_debian(),
        project.authors,
    );
    let packages = depends(&content.needs)?;
    if !packages.is_empty() {
        let packages: Vec<String> = packages.into_iter().collect();
        control.push_str(&format!("Depends: {}\n", packages.join(", ")));
    }
    control.push_str(&format!(
        "Section: admin\nPriority: optional\nDescription: {}\n",
        project.description
    ));
    Ok(control)
}

/// Returns the packages of the libraries that the binary needs.
fn depends(needs: &Needs) -> io::Result<BTreeSet<String>> {
    let mut packages = BTreeSet::new();
    for library in &needs.libraries {
        let package = match library.as_str() {
            "libgcc_s.so.1" => "libgcc-s1".to_owned(),
            "libstdc++.so.6" => "libstdc++6".to_owned(),
            "libc.so.6" | "libm.so.6" | "libdl.so.2" | "libpthread.so.0" | "librt.so.1"
            | "libutil.so.1" => libc(needs),
            loader if loader.starts_with("ld-") => libc(needs),
            _ => {
                return Err(io::Error::other(format!(
                    "the package of Debian that has `{library}` is not known"
                )));
            }
        };
        packages.insert(package);
    }
    Ok(packages)
}

fn libc(needs: &Needs) -> String {
    needs.glibc.map_or_else(
        || "libc6".to_owned(),
        |(major, minor)| format!("libc6 (>= {major}.{minor})"),
    )
}

/// The names and texts of all manual pages.
fn manual(content: &Content) -> io::Result<Vec<(String, Vec<u8>)>> {
    let folder = std::env::temp_dir().join(format!("dist-manual-{}", std::process::id()));
    let out = folder.display().to_string();
    output(content, &["man", "--out", &out])?;
    let mut pages = Vec::new();
    for entry in fs::read_dir(&folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        pages.push((name, fs::read(entry.path())?));
    }
    fs::remove_dir_all(&folder)?;
    Ok(pages)
}

/// Runs the binary and returns its output.
fn output(content: &Content, arguments: &[&str]) -> io::Result<Vec<u8>> {
    // Variables such as `CYAN_STATE` change what the pages say.
    let output = Command::new(&content.file)
        .args(arguments)
        .env_clear()
        .output()?;
    if !output.status.success() {
        return Err(io::Error::other(format!(
            "`{} {}`: {}",
            content.file.display(),
            arguments.join(" "),
            String::from_utf8_lossy(&output.stderr)
        )));
    }
    Ok(output.stdout)
}

/// The copyright file, in the machine-readable format of Debian.
fn copyright(content: &Content) -> String {
    let project = &content.project;
    let files: Vec<&str> = content
        .licences
        .iter()
        .map(|(name, _)| name.as_str())
        .collect();
    format!(
        "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n\n\
         Files: *\nCopyright: {}\nLicense: {}\nComment:\n The texts are in {}, in this folder.\n",
        project.authors,
        project.licence,
        files.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::depends;
    use crate::dist::elf::{Needs, Processor};

    fn packages(libraries: &[&str]) -> Result<Vec<String>, String> {
        let needs = Needs {
            processor: Processor::X86_64,
            libraries: libraries.iter().map(|name| (*name).to_owned()).collect(),
            glibc: Some((2, 34)),
            loader: None,
        };
        let packages = depends(&needs).map_err(|error| error.to_string())?;
        Ok(packages.into_iter().collect())
    }

    #[test]
    fn libraries_become_packages_with_the_version_of_glibc() {
        assert_eq!(
            packages(&["libc.so.6", "libm.so.6", "libgcc_s.so.1"]),
            Ok(vec!["libc6 (>= 2.34)".to_owned(), "libgcc-s1".to_owned()])
        );
        assert_eq!(packages(&[]), Ok(Vec::new()));
        assert!(
            packages(&["libssl.so.3"])
                .unwrap_err()
                .contains("libssl.so.3")
        );
    }
}
