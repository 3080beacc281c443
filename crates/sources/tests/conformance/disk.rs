//! The disk: conformance and its own behaviour.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use contract_tests::source::SourcePlace;
use source::{BoxFuture, Location, ReadLimits, Request, Source, SourceError, Sources};
use sources::disk::Disk;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

struct Folder {
    folder: TempDir,
    path: PathBuf,
}

impl Folder {
    fn new() -> Folder {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().canonicalize().unwrap();
        Folder { folder, path }
    }

    fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    fn location(&self, name: &str) -> Location {
        Location::disk(self.path.join(name).to_str().unwrap())
    }

    async fn read(&self, path: &str) -> Result<String, SourceError> {
        self.read_with(Disk::new("/"), path).await
    }

    async fn read_with(&self, disk: Disk, path: &str) -> Result<String, SourceError> {
        let request = Request::path(Some(self.location("main.yaml")), path);
        let document = Sources::new([Arc::new(disk) as Arc<dyn Source>])
            .read(&request, &limits())
            .await?;
        Ok(String::from_utf8(document.bytes.to_vec()).unwrap())
    }
}

fn limits() -> ReadLimits {
    ReadLimits::document(CancellationToken::new())
}

impl SourcePlace for Folder {
    fn source(&self) -> Arc<dyn Source> {
        Arc::new(Disk::new("/nowhere"))
    }

    fn request(&self, path: &str) -> Request {
        Request::path(Some(self.location("other.yaml")), path)
    }

    fn put<'a>(&'a self, path: &'a str, bytes: &'a [u8]) -> BoxFuture<'a, ()> {
        let path = self.folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
        Box::pin(std::future::ready(()))
    }

    fn stall(&self, _path: &str) -> bool {
        false
    }
}

#[tokio::test]
async fn the_disk_conforms() {
    let failures = contract_tests::source::check(&|| Box::new(Folder::new())).await;
    assert!(failures.is_empty(), "{failures:#?}");
}

#[tokio::test]
async fn links_are_followed_to_one_location() {
    let folder = Folder::new();
    folder.file("real/part.yaml", "x: 1");
    folder.file("part.yaml", "x: 2");
    std::os::unix::fs::symlink(folder.path.join("real"), folder.path.join("linked")).unwrap();
    std::os::unix::fs::symlink("real/part.yaml", folder.path.join("short.yaml")).unwrap();
    let disk = Sources::new([Arc::new(Disk::new("/")) as Arc<dyn Source>]);
    for path in ["linked/part.yaml", "short.yaml", "real/../linked/part.yaml"] {
        let request = Request::path(Some(folder.location("main.yaml")), path);
        assert_eq!(
            disk.resolve(&request, &limits()).await.unwrap(),
            folder.location("real/part.yaml"),
            "{path}"
        );
    }
    // Relative paths in the document are relative to its real location.
    let request = Request::path(Some(folder.location("real/part.yaml")), "../part.yaml");
    assert_eq!(
        disk.resolve(&request, &limits()).await.unwrap(),
        folder.location("part.yaml")
    );
}

#[tokio::test]
async fn links_in_a_cycle_are_reported() {
    let folder = Folder::new();
    std::os::unix::fs::symlink("self.yaml", folder.path.join("self.yaml")).unwrap();
    std::os::unix::fs::symlink("b", folder.path.join("a")).unwrap();
    std::os::unix::fs::symlink("a", folder.path.join("b")).unwrap();
    for path in ["self.yaml", "a/part.yaml"] {
        let error = folder.read(path).await.unwrap_err();
        assert_eq!(
            error.to_string(),
            "it cannot be read: its links lead in a circle",
            "{path}"
        );
    }
    std::os::unix::fs::symlink("gone.yaml", folder.path.join("dangling.yaml")).unwrap();
    assert!(matches!(
        folder.read("dangling.yaml").await,
        Err(SourceError::NotFound { .. })
    ));
}

#[tokio::test]
async fn only_regular_files_are_documents() {
    let folder = Folder::new();
    folder.file("sub/x.yaml", "");
    rustix::fs::mkfifoat(
        rustix::fs::CWD,
        folder.path.join("pipe"),
        rustix::fs::Mode::RUSR,
    )
    .unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(folder.path.join("socket")).unwrap();
    for path in ["sub", "."] {
        assert_eq!(folder.read(path).await, Err(SourceError::Folder), "{path}");
    }
    for (path, what) in [
        ("pipe", "a pipe"),
        ("socket", "a socket"),
        ("/dev/zero", "a device"),
        ("/dev/null", "a device"),
    ] {
        assert_eq!(
            folder.read(path).await,
            Err(SourceError::not_document(what)),
            "{path}"
        );
    }
    assert!(matches!(
        folder.read("sub/x.yaml/y.yaml").await,
        Err(SourceError::NotFound { .. })
    ));
    assert!(matches!(
        folder.read(&"x".repeat(300)).await,
        Err(SourceError::NotFound { .. })
    ));
}

#[tokio::test]
async fn a_folder_is_listed_within_its_limit() {
    let folder = Folder::new();
    folder.file("sub/b.yaml", "");
    folder.file("sub/a/c.yaml", "");
    folder.file("sub/.cyan/state", "");
    std::os::unix::fs::symlink("gone", folder.path.join("sub/dangling")).unwrap();
    std::os::unix::fs::symlink("a", folder.path.join("sub/linked")).unwrap();
    let disk = Sources::new([Arc::new(Disk::new("/")) as Arc<dyn Source>]);
    let read = async |path: &str, limits: &ReadLimits| {
        let request = Request::path(Some(folder.location("main.yaml")), path).for_folder();
        let document = disk.read(&request, limits).await?;
        let text = String::from_utf8(document.bytes.to_vec()).unwrap();
        Ok::<_, SourceError>((document.location, text))
    };
    assert_eq!(
        read("sub", &limits()).await,
        Ok((folder.location("sub/"), "a/\nb.yaml\nlinked/\n".into()))
    );
    let few = ReadLimits {
        entries: 2,
        ..limits()
    };
    assert_eq!(
        read("sub", &few).await,
        Err(SourceError::TooManyEntries { limit: 2 })
    );
    assert_eq!(
        read("sub/b.yaml", &limits()).await,
        Err(SourceError::NotFolder)
    );
    // Paths in a folder are relative to the folder.
    let request = Request::path(Some(folder.location("sub/")), "b.yaml");
    assert_eq!(
        disk.resolve(&request, &limits()).await,
        Ok(folder.location("sub/b.yaml"))
    );
}

#[tokio::test]
async fn a_file_without_a_length_is_read_to_its_end() {
    let folder = Folder::new();
    assert!(
        folder
            .read("/proc/self/status")
            .await
            .unwrap()
            .contains("Name:")
    );
}

#[tokio::test]
async fn a_huge_sparse_file_is_not_read() {
    let folder = Folder::new();
    let file = std::fs::File::create(folder.path.join("giant.yaml")).unwrap();
    file.set_len(2 << 30).unwrap();
    assert_eq!(
        folder.read("giant.yaml").await,
        Err(SourceError::TooLarge { limit: 32 << 20 })
    );
}

#[tokio::test]
async fn an_unreadable_file_is_denied() {
    let folder = Folder::new();
    let file = folder.file("closed/a.yaml", "x: 1");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o000)).unwrap();
    let read = folder.read("closed/a.yaml").await;
    // The superuser can read every file.
    let superuser = std::fs::read(&file).is_ok();
    assert_eq!(read.is_ok(), superuser, "{read:?}");
    if !superuser {
        assert_eq!(
            read,
            Err(SourceError::Denied {
                words: String::new()
            })
        );
    }
}

#[tokio::test]
async fn a_path_that_is_not_utf8_is_refused() {
    use std::os::unix::ffi::OsStrExt as _;
    let folder = Folder::new();
    let odd = folder.path.join(std::ffi::OsStr::from_bytes(b"\xff.yaml"));
    std::fs::write(&odd, "x: 1").unwrap();
    std::os::unix::fs::symlink(&odd, folder.path.join("link.yaml")).unwrap();
    let error = folder.read("link.yaml").await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "it cannot be read: a link leads to a path that is not UTF-8"
    );
}

#[tokio::test]
async fn only_allowed_folders_are_read() {
    let folder = Folder::new();
    folder.file("in/part.yaml", "x: 1");
    folder.file("inside.yaml", "x: 2");
    std::os::unix::fs::symlink("../inside.yaml", folder.path.join("in/out.yaml")).unwrap();
    let only = || Disk::new("/").only_in([folder.path.join("in")]);
    assert_eq!(
        folder.read_with(only(), "in/part.yaml").await.unwrap(),
        "x: 1"
    );
    for path in [
        "inside.yaml",
        "in/../inside.yaml",
        "in/out.yaml",
        "/etc/passwd",
    ] {
        assert!(
            matches!(
                folder.read_with(only(), path).await,
                Err(SourceError::Denied { .. })
            ),
            "{path}"
        );
    }
    assert_eq!(
        folder
            .read_with(Disk::new("/"), "in/out.yaml")
            .await
            .unwrap(),
        "x: 2"
    );
}

#[tokio::test]
async fn a_path_outside_any_document_is_in_the_working_directory() {
    let folder = Folder::new();
    folder.file("part.yaml", "x: 1");
    let disk = Sources::new([Arc::new(Disk::new(Path::new(&folder.path))) as Arc<dyn Source>]);
    let location = disk
        .resolve(&Request::path(None, "part.yaml"), &limits())
        .await
        .unwrap();
    assert_eq!(location, folder.location("part.yaml"));
}

#[tokio::test]
async fn separators_of_windows_are_explained() {
    let folder = Folder::new();
    folder.file("sub/part.yaml", "x: 1");
    let error = folder.read("sub\\part.yaml").await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "there is nothing at this place: folders are separated by `/`, not by `\\`"
    );
}
