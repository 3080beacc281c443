//! Lock files of packages, as `pulumi package add` writes them into the folder `sdks` of a project
//! (decisions/pulumi#lock-files).
//!
//! Not here: finding plugins (the engine and `pulumi_host`).

use blueprint::{IndexMap, Name};
use diag::Diagnostics;
use dialect::{Companion, PackageRequest};
use syntax::Node;

use crate::codes::INVALID_VERSION;
use crate::read::{is_null, value_span};
use crate::version::is_version;
use dialect::codes::MISSING_FIELD;

/// The folders of lock files, beside a program.
pub(crate) const FOLDERS: [&str; 2] = ["sdks", "sdk/yaml"];

/// The key by which a lock file is recognised.
const MARK: &str = "packageDeclarationVersion";

/// What a lock file says about a package.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LockedPackage {
    version: Option<Name>,
    url: Option<Name>,
    /// The parameters as JSON text, if the package is made from another one.
    parameters: Option<Name>,
}

/// The locked packages by their names in programs.
pub(crate) type LockedPackages = IndexMap<Name, LockedPackage>;

/// Whether a companion is a lock file.
pub(crate) fn is_lock_file(companion: &Companion<'_>) -> bool {
    let root = companion.tree.root.as_ref();
    root.is_some_and(|root| root.get(MARK).is_some())
}

/// Reads lock files. Of two for one package the later one counts.
pub(crate) fn read<'c>(
    files: impl Iterator<Item = &'c Companion<'c>>,
    found: &mut Diagnostics,
) -> LockedPackages {
    let mut packages = LockedPackages::default();
    for root in files.filter_map(|file| file.tree.root.as_ref()) {
        let part = |key: &str| root.get(key).filter(|node| !is_null(node));
        let text = |key: &str| part(key).and_then(Node::text).map(Name::from);
        let parameters = part("parameterization");
        let named = parameters.unwrap_or(root);
        let Some(name) = named.get("name").and_then(Node::text) else {
            found.push(
                MISSING_FIELD
                    .new("a lock file names no package")
                    .label(value_span(named), "`name` is missing")
                    .help("write the file again with `pulumi package add`"),
            );
            continue;
        };
        if let Some(version) = part("version")
            && !version.text().is_some_and(is_version)
        {
            found.push(
                INVALID_VERSION
                    .new("a lock file has no valid version")
                    .label(value_span(version), "one to three numbers are needed")
                    .help("write the file again with `pulumi package add`"),
            );
        }
        let package = LockedPackage {
            version: text("version"),
            url: text("downloadUrl"),
            parameters: parameters.map(|_| text("name").unwrap_or_default()),
        };
        packages.insert(name.into(), package);
    }
    packages
}

impl LockedPackage {
    /// Adds what the lock file says to a request that says less.
    pub(crate) fn complete(&self, request: &mut PackageRequest) {
        if request.version.is_none() {
            request.version.clone_from(&self.version);
        }
        if request.url.is_none() {
            request.url.clone_from(&self.url);
        }
        request.parameters.clone_from(&self.parameters);
    }
}
