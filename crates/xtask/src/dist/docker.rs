//! The folder from which Docker builds an image that has nothing but the binary and what it needs.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::content::Content;

/// The certificates of authorities, which a program without OpenSSL looks for here as well.
const CERTIFICATES: &str = "etc/ssl/certs/ca-certificates.crt";

/// Where documents are mounted.
const WORK: &str = "work";

/// The home of `root`, the user of the image.
const HOME: &str = "root";

/// Writes the folder: a `Dockerfile`, and `rootfs`, the file system of the image. A binary that is
/// not static has its libraries there.
///
/// # Errors
/// If a file cannot be read or written, or a library is missing.
pub(crate) fn prepare(content: &Content, folder: &Path) -> io::Result<()> {
    let _ = fs::remove_dir_all(folder);
    let files = folder.join("rootfs");
    for empty in [WORK, HOME, "tmp"] {
        fs::create_dir_all(files.join(empty))?;
    }
    fs::set_permissions(files.join("tmp"), fs::Permissions::from_mode(0o1777))?;
    let name = &content.project.name;
    copy(&content.file, &files.join("usr/bin").join(name))?;
    for (path, from) in libraries(content)? {
        copy(&from, &files.join(path.trim_start_matches('/')))?;
    }
    let certificates = Path::new("/").join(CERTIFICATES);
    if certificates.is_file() {
        copy(&certificates, &files.join(CERTIFICATES))?;
    } else {
        println!("the image has no certificates: /{CERTIFICATES} is missing here");
    }
    for (licence, text) in &content.licences {
        let path = files.join("usr/share/doc").join(name).join(licence);
        fs::create_dir_all(path.parent().unwrap_or(&files))?;
        fs::write(path, text)?;
    }
    let page = format!(
        "FROM scratch\nCOPY rootfs/ /\nENV HOME=/{HOME}\nWORKDIR /{WORK}\n\
         ENTRYPOINT [\"/usr/bin/{name}\"]\n"
    );
    fs::write(folder.join("Dockerfile"), page)
}

/// Builds the image if a daemon of Docker runs; otherwise says how to build it.
///
/// # Errors
/// If Docker fails to build the image.
pub(crate) fn build(content: &Content, folder: &Path) -> io::Result<()> {
    let tag = format!("{}:{}", content.project.name, content.project.version);
    let runs = Command::new("docker")
        .arg("info")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success());
    if !runs {
        let folder = folder.display();
        println!(
            "no image is built: no daemon of Docker runs here; `docker build -t {tag} {folder}` builds it"
        );
        return Ok(());
    }
    let status = Command::new("docker")
        .args(["build", "--quiet", "--tag", &tag])
        .arg(folder)
        .status()?;
    if !status.success() {
        return Err(io::Error::other(format!(
            "`docker build` ended with {status}"
        )));
    }
    println!("image {tag}");
    Ok(())
}

/// Returns the libraries of the binary and its loader: where the binary looks for each, and the
/// file on this machine.
fn libraries(content: &Content) -> io::Result<Vec<(String, PathBuf)>> {
    let Some(loader) = &content.needs.loader else {
        return Ok(Vec::new());
    };
    let output = Command::new(loader)
        .arg("--list")
        .arg(&content.file)
        .output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        return Err(io::Error::other(format!("`{loader} --list`: {text}")));
    }
    let mut found = vec![(loader.clone(), PathBuf::from(loader))];
    for library in listed(&text)? {
        if library != *loader {
            found.push((library.clone(), PathBuf::from(library)));
        }
    }
    Ok(found)
}

/// Reads the paths of lines such as `libc.so.6 => /lib/libc.so.6 (0x7f)`. The kernel provides the
/// library without a path.
fn listed(text: &str) -> io::Result<Vec<String>> {
    let mut paths = Vec::new();
    for line in text.lines() {
        if line.contains("=> not found") {
            return Err(io::Error::other(format!("{} is missing", line.trim())));
        }
        let path = line.split("=> ").last().unwrap_or(line).trim();
        let path = path.split(" (").next().unwrap_or(path);
        if path.starts_with('/') {
            paths.push(path.to_owned());
        }
    }
    Ok(paths)
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::copy(from, to)
        .map(|_| ())
        .map_err(|error| io::Error::other(format!("{}: {error}", from.display())))
}

#[cfg(test)]
mod tests {
    use super::listed;

    #[test]
    fn libraries_are_read_from_the_list_of_the_loader() {
        let text = "\tlinux-vdso.so.1 (0x00007ffd)\n\tlibc.so.6 => /lib/x/libc.so.6 (0x00007f1a)\n\
                    \t/lib64/ld-linux-x86-64.so.2 (0x00007f1b)\n";
        let paths = listed(text).unwrap();
        assert_eq!(paths, ["/lib/x/libc.so.6", "/lib64/ld-linux-x86-64.so.2"]);
        assert!(listed("\tlibz.so.1 => not found\n").is_err());
    }
}
