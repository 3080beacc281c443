//! The programs of a cluster of Kubernetes: its servers and their database, its command line, and a
//! program that plays its nodes.
//!
//! Two Go modules of this repository name the versions. The programs are built once, outside the
//! checkout, because that takes minutes.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use crate::go_tool::{compile, required_version};
use crate::packages::cache;

/// The Go module of all programs but one, below the root.
const SERVERS: &str = "crates/kubernetes_host/tests/peer";

/// The Go module of the program that plays nodes, below the root. It needs newer libraries of
/// Kubernetes than the servers.
const NODES: &str = "crates/kubernetes_host/tests/peer/kwok";

/// The programs of a cluster.
pub(crate) struct ClusterPrograms {
    pub(crate) etcd: PathBuf,
    pub(crate) api_server: PathBuf,
    pub(crate) controller_manager: PathBuf,
    pub(crate) kubectl: PathBuf,
    pub(crate) kwok: PathBuf,
}

/// Builds the missing programs, one run at a time.
///
/// # Errors
/// If a program cannot be built; the error names it.
pub(crate) fn build(root: &Path) -> io::Result<ClusterPrograms> {
    let folder = cache()?.join("kubernetes-programs");
    fs::create_dir_all(&folder)?;
    let lock = File::create(folder.join("lock"))?;
    lock.lock()?;
    let servers = ProgramModule {
        sources: root.join(SERVERS),
        all: folder.clone(),
    };
    let nodes = ProgramModule {
        sources: root.join(NODES),
        all: folder,
    };
    Ok(ClusterPrograms {
        etcd: servers.compile("etcd", "go.etcd.io/etcd/server/v3", "")?,
        api_server: servers.compile_server("kube-apiserver")?,
        controller_manager: servers.compile_server("kube-controller-manager")?,
        kubectl: servers.compile_server("kubectl")?,
        kwok: nodes.compile("kwok", "sigs.k8s.io/kwok", "/cmd/kwok")?,
    })
}

/// A Go module that names programs.
struct ProgramModule {
    sources: PathBuf,
    /// The folder below which each version of a program has a folder.
    all: PathBuf,
}

impl ProgramModule {
    /// Builds the program in a folder of a required module.
    fn compile(&self, name: &str, module: &str, folder: &str) -> io::Result<PathBuf> {
        let version = required_version(&self.sources, module)?;
        self.compile_version(name, &version, &format!("{module}{folder}"), "-s -w")
    }

    /// Builds a program of Kubernetes itself. The linker writes its version into it.
    fn compile_server(&self, name: &str) -> io::Result<PathBuf> {
        let module = "k8s.io/kubernetes";
        let version = required_version(&self.sources, module)?;
        let mut numbers = version.split('.');
        let mut number = || numbers.next().unwrap_or_default().to_owned();
        let mut linker = "-s -w".to_owned();
        for (variable, value) in [
            ("gitVersion", format!("v{version}")),
            ("gitMajor", number()),
            ("gitMinor", number()),
        ] {
            linker += &format!(" -X k8s.io/component-base/version.{variable}={value}");
        }
        self.compile_version(name, &version, &format!("{module}/cmd/{name}"), &linker)
    }

    fn compile_version(
        &self,
        name: &str,
        version: &str,
        package: &str,
        linker: &str,
    ) -> io::Result<PathBuf> {
        let home = self.all.join(format!("{name}-{version}"));
        compile(&self.sources, &home, name, package, linker)
            .map_err(|error| io::Error::other(format!("{name} (built with Go): {error}")))
    }
}
