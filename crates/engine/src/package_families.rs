//! Families whose packages documents name as `FAMILY:NAME`: the table that describes such a package,
//! or else the program that its host finds on the machine.
//!
//! Not here: opening a package (`hosted_packages`); where a host looks (a crate for each family).

use std::fmt;
use std::path::PathBuf;

use blueprint::{IndexMap, Name, PackageFamily, Value};
use dialect::PackageRequest;
use provider::{FoundProgram, HostedPackage, ProgramQuery};

use crate::installed::{FindProgram, OpenPackage};
use crate::plugin_config::{ConfiguredPackage, START_WITHIN};

/// A family whose packages are found on the machine.
#[derive(Clone)]
pub struct ConfiguredFamily {
    /// The namespaces of its packages.
    pub(crate) namespaces: PackageFamily,
    /// The word of the family.
    pub(crate) family: &'static str,
    pub(crate) open: OpenPackage,
    pub(crate) find: FindProgram,
    /// The packages that tables describe with the key `package`, by namespace.
    pub(crate) tables: IndexMap<Name, ConfiguredPackage>,
    /// The settings of the other packages by namespace, or the reason why they cannot be read.
    pub(crate) settings: IndexMap<Name, Result<Value, String>>,
    /// The folder of the configuration.
    pub(crate) folder: PathBuf,
    pub(crate) cache: Option<PathBuf>,
}

/// Leaves out settings, which may contain secrets.
impl fmt::Debug for ConfiguredFamily {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConfiguredFamily")
            .field("family", &self.family)
            .finish_non_exhaustive()
    }
}

/// A package of a family, with the version of its program if the program's place states one.
pub(crate) struct LocatedPackage {
    pub(crate) configured: ConfiguredPackage,
    pub(crate) version: Option<Name>,
}

impl ConfiguredFamily {
    /// The package that a document asks for: that of its table, or one whose program is found now.
    /// Looks for it on a thread that may block.
    ///
    /// # Errors
    /// If there is no such program, in words for the user.
    pub(crate) async fn locate(&self, request: &PackageRequest) -> Result<LocatedPackage, String> {
        if request.parameters.is_some() {
            return Err("packages with parameters are not supported yet".to_owned());
        }
        let name = &request.name;
        if let Some(configured) = self.tables.get(name) {
            return Ok(LocatedPackage {
                configured: configured.clone(),
                version: None,
            });
        }
        let query = ProgramQuery {
            package: self.namespaces.package(name).unwrap_or_default().into(),
            version: request.version.clone(),
            path: request.path.as_deref().map(|path| self.folder.join(path)),
        };
        let find = self.find.clone();
        let found = tokio::task::spawn_blocking(move || find(&query)).await;
        let found =
            found.unwrap_or_else(|_| Err("the search for its program failed".to_owned()))?;
        let version = found.version.clone();
        let configured = self.found(name, found);
        Ok(LocatedPackage {
            configured,
            version,
        })
    }

    /// A package without a table whose program is known, or is not needed.
    fn found(&self, name: &Name, found: FoundProgram) -> ConfiguredPackage {
        let (settings, settings_error) = match self.settings.get(name).cloned() {
            Some(Ok(settings)) => (settings, None),
            Some(Err(why)) => (Value::Null, Some(why)),
            None => (Value::Null, None),
        };
        ConfiguredPackage {
            package: HostedPackage {
                name: name.clone(),
                program: found.program,
                schema: None,
                settings,
                arguments: Vec::new(),
                environment: Vec::new(),
                inherits: None,
                memory: None,
                start_within: START_WITHIN,
                folder: self.folder.clone(),
                cache: self.cache.clone(),
            },
            family: self.family,
            serves: None,
            open: self.open.clone(),
            settings_error,
            configured: None,
        }
    }
}

/// The reason why a program of this version cannot serve a request; `None` if it can.
pub(crate) fn version_conflict(request: &PackageRequest, used: Option<&Name>) -> Option<String> {
    let (wanted, used) = (request.version.as_deref()?, used?);
    let wanted = wanted.strip_prefix('v').unwrap_or(wanted);
    (wanted != used.as_ref()).then(|| {
        format!(
            "version {wanted} of `{}` is wanted, but version {used} is in use already; all documents \
             of a command use the same version of a package",
            request.name
        )
    })
}
