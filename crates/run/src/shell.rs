//! The shell answers the core's questions with providers and files. It reads the clock, random
//! bytes and files for the core.
//!
//! Not here: decisions; the selection of providers and stores; questions to providers
//! (`ask_provider`); effects (`run`).

use std::io::{self, Read as _};
use std::path::Path;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use blueprint::wire::WireDocument;
use blueprint::{Address, DeclarationSite, FieldPath, IndexMap, Name, Package, TypeId, Value};
use dialect::PackageRequest;
use futures::FutureExt as _;
use provider::{
    BoxFuture, Call, CallRecords, Catalogs, Configuration, Configured, ErrorKind, FileAccess,
    InstanceReader, Progress, ProviderDiagnostic, ProviderError, Providers, RecordedObject,
    SessionFailure, SettingsSource, TransformError, TypeRef,
};
use state::{Record, Snapshot, StatusOp};
use tokio_util::sync::CancellationToken;

pub use crate::remarks::Remarks;
use crate::scrub::CallSecrets;
pub use crate::scrub::RunSecrets;
use evaluate::question::{ProviderInstance, Question, Reply, Retry, SettingsRemark, SourceError};
use evaluate::world::{Environment, World};

/// The maximum number of bytes that `file` and `http_resource` read.
pub const MOST_BYTES: u64 = 16 * 1024 * 1024;

/// Fetches a URL within the limits of [`Question::Http`], or returns the reason as a phrase. The
/// front end supplies it, so that the core needs no HTTP client.
pub type HttpGet = Arc<dyn Fn(String) -> BoxFuture<'static, Result<Vec<u8>, String>> + Send + Sync>;

/// An event during planning.
#[derive(Clone, Debug)]
pub enum PlanningEvent {
    /// A resource is read.
    Reading(Address),
    /// A question to a provider failed and is repeated after a pause.
    AskedAgain {
        /// The subject of the question.
        what: String,
        /// The pause before the next attempt.
        pause: Duration,
        /// The provider's error message.
        why: String,
    },
}

/// Receives the events of planning.
pub type PlanningEvents = Arc<dyn Fn(PlanningEvent) + Send + Sync>;

/// Receives log lines of providers' processes: the name of the provider and the line, without
/// secrets.
pub type ProviderLog = Arc<dyn Fn(&str, &str) + Send + Sync>;

/// Returns the place of a setting of a provider in the configuration, or the place where the
/// setting is missing, as `FILE:LINE:COLUMN`. The arguments are a namespace or the name of the
/// provider, and the path of the setting.
pub type SettingsPlaces = Arc<dyn Fn(&str, Option<&FieldPath>) -> Option<Name> + Send + Sync>;

/// The source of the current time.
#[derive(Clone, Debug)]
pub enum Clock {
    /// The system clock.
    System,
    /// A clock that showed this time (in seconds since 1970 UTC) at this instant. It advances with
    /// the runtime's time, which is virtual in tests.
    Since(i64, tokio::time::Instant),
}

impl Clock {
    /// Creates a clock that now shows this time (in seconds since 1970 UTC).
    pub fn at(seconds: i64) -> Clock {
        Clock::Since(seconds, tokio::time::Instant::now())
    }

    /// The current time in seconds since 1970 UTC.
    pub fn now(&self) -> i64 {
        self.now_ms().div_euclid(1000)
    }

    /// The current time in milliseconds since 1970 UTC.
    #[expect(
        clippy::disallowed_methods,
        reason = "the shell is where the clock is read"
    )]
    pub fn now_ms(&self) -> i64 {
        let ms = |time: Duration| i64::try_from(time.as_millis()).unwrap_or(i64::MAX);
        match self {
            Clock::System => std::time::SystemTime::now()
                .duration_since(std::time::UNIX_EPOCH)
                .map_or(0, ms),
            Clock::Since(seconds, then) => seconds
                .saturating_mul(1000)
                .saturating_add(ms(then.elapsed())),
        }
    }

    /// The time since the clock was made; for the system clock, since the first call of this
    /// function.
    pub fn elapsed(&self) -> Duration {
        static FIRST: LazyLock<tokio::time::Instant> = LazyLock::new(tokio::time::Instant::now);
        match self {
            Clock::System => FIRST.elapsed(),
            Clock::Since(_, then) => then.elapsed(),
        }
    }
}

/// The source of random bytes.
#[derive(Clone, Debug)]
pub enum Rng {
    /// The operating system's generator.
    System,
    /// A fixed sequence for tests. It starts with this number.
    Seeded(Arc<std::sync::atomic::AtomicU64>),
}

impl Rng {
    /// Creates a fixed sequence that starts with this number.
    pub fn seeded(seed: u64) -> Rng {
        Rng::Seeded(Arc::new(std::sync::atomic::AtomicU64::new(seed)))
    }

    /// Returns the next 16 random bytes.
    #[expect(
        clippy::disallowed_methods,
        reason = "the shell is where chance comes from"
    )]
    pub fn bytes(&self) -> [u8; 16] {
        match self {
            Rng::System => uuid::Uuid::new_v4().into_bytes(),
            Rng::Seeded(next) => {
                use sha2::Digest as _;
                let number = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                let hash = sha2::Sha256::digest(number.to_be_bytes());
                let mut bytes = [0; 16];
                bytes.copy_from_slice(&hash[..16]);
                bytes
            }
        }
    }
}

/// What documents may read of this machine.
#[derive(Clone, Debug)]
pub struct DocumentAccess {
    /// The maximum number of bytes of a file whose content becomes a value.
    pub most_bytes: u64,
    /// The addresses of remote documents that may read this machine: of single documents, or of
    /// everything below an address.
    pub trusted: Arc<[Name]>,
}

impl Default for DocumentAccess {
    fn default() -> DocumentAccess {
        DocumentAccess {
            most_bytes: FileAccess::MOST_BYTES,
            trusted: Arc::default(),
        }
    }
}

impl DocumentAccess {
    /// The access of a document in a folder, or of a remote document with this address.
    fn of_folder(&self, folder: &str) -> FileAccess {
        let is_below = |trusted: &Name| {
            let rest = folder.strip_prefix(trusted.trim_end_matches('/'));
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        FileAccess {
            local: !folder.contains("://") || self.trusted.iter().any(is_below),
            most_bytes: self.most_bytes,
        }
    }
}

/// Opens hosted packages.
pub trait PackageOpener: Send + Sync {
    /// Opens a package once, so that the catalogues have its types and the providers its provider.
    /// The error is the reason as a phrase.
    fn open<'a>(&'a self, request: &'a PackageRequest)
    -> BoxFuture<'a, Result<Arc<Package>, Name>>;
}

/// The environment of a run: providers with their settings, folders, clock and randomness.
#[derive(Clone)]
pub struct Shell {
    /// The providers by namespace, and by name if they have one.
    pub providers: Providers,
    /// The catalogues of all providers.
    pub catalogs: Arc<Catalogs>,
    /// Opens hosted packages; `None` if there are none.
    pub packages: Option<Arc<dyn PackageOpener>>,
    /// The providers' settings by namespace, and by name if they have one.
    pub settings: IndexMap<Name, Value>,
    /// The places of the settings in the configuration.
    pub places: Option<SettingsPlaces>,
    /// Whether providers are only asked to check specs, without their settings.
    pub offline: bool,
    /// Where providers record what became of the calls of the instance; `None` if nothing outlives
    /// the run.
    pub call_records: Option<Arc<CallRecords>>,
    /// Reads recorded instances for providers; `None` if there is no state.
    pub instances: Option<Arc<dyn InstanceReader>>,
    /// The name of the instance.
    pub instance: Name,
    /// The folder of the root document. Relative paths of the document start here.
    pub root: Arc<Path>,
    /// What documents may read of this machine.
    pub access: DocumentAccess,
    /// The caller's working directory.
    pub working_directory: Option<Name>,
    /// The source of the current time.
    pub clock: Clock,
    /// The source of random bytes.
    pub rng: Rng,
    /// The sources of included documents.
    pub sources: source::Sources,
    /// Fetches URLs; `None` if requests are not allowed.
    pub http: Option<HttpGet>,
    /// Receives the events of planning.
    pub planning: Option<PlanningEvents>,
    /// Receives log lines of providers' processes.
    pub log: Option<ProviderLog>,
    /// The secrets of the run.
    pub secrets: RunSecrets,
    /// Remarks of providers on their settings.
    pub remarks: Remarks,
    /// Cancelled when the answers are no longer awaited.
    pub cancel: CancellationToken,
}

/// What the calls of a session need.
#[derive(Clone, Copy)]
pub(crate) enum SessionNeeds<'a> {
    /// The settings of a configuration that a resource declares; `None` for the default
    /// configuration.
    Settings(Option<&'a ProviderInstance>),
    /// No settings: the objects live in the state.
    Nothing,
}

impl<'a> SessionNeeds<'a> {
    /// The configuration that a resource declares.
    fn instance(self) -> Option<&'a ProviderInstance> {
        match self {
            SessionNeeds::Settings(instance) => instance,
            SessionNeeds::Nothing => None,
        }
    }
}

impl Shell {
    /// Returns the context of a call to a resource's provider.
    pub(crate) fn call_of(
        &self,
        address: &Address,
        package: &str,
        instance: Option<&ProviderInstance>,
        token: Name,
        progress: Progress,
        site: DeclarationSite<&str>,
    ) -> Call {
        let DeclarationSite { folder, urn } = site;
        Call {
            call_records: self.call_records.clone(),
            instances: self.instances.clone(),
            instance: self.instance.clone(),
            address: address.clone(),
            urn: match urn {
                "" => Name::default(),
                urn => urn.into(),
            },
            token,
            deadline: None,
            cancel: self.cancel.clone(),
            root: self.root.clone(),
            folder: if folder.is_empty() {
                self.root.clone()
            } else {
                self.root.join(folder).into()
            },
            files: self.access.of_folder(folder),
            settings: instance.map_or_else(
                || self.settings_of(package),
                |instance| instance.settings.clone(),
            ),
            now: self.clock.now(),
            progress,
        }
    }

    /// The settings of a package: a map, or null.
    pub(crate) fn settings_of(&self, package: &str) -> Value {
        if self.settings.is_empty() {
            return Value::Null;
        }
        self.settings.get(package).cloned().unwrap_or_default()
    }

    /// Returns the session for a type, with the configuration that `instance` declares or else with
    /// that of the configuration file; without settings for a type that lives in the state. Fails if
    /// there is no provider, or if the provider refuses its settings.
    pub(crate) async fn session_of(
        &self,
        type_name: &TypeId,
        instance: Option<&ProviderInstance>,
    ) -> Result<Arc<Configured>, ProviderError> {
        let needs = match self.catalogs.resource_type(type_name) {
            TypeRef::Known(ty) if ty.capabilities.state_only => SessionNeeds::Nothing,
            _ => SessionNeeds::Settings(instance),
        };
        self.session_for(type_name.package_name(), needs, type_name)
            .await
    }

    /// Returns the session of a package, for a type or for the package itself. An error names
    /// `what`.
    pub(crate) async fn session_for(
        &self,
        package: &str,
        needs: SessionNeeds<'_>,
        what: &str,
    ) -> Result<Arc<Configured>, ProviderError> {
        // All namespaces of a provider with a name share its sessions.
        let package = self.catalogs.names().key(package);
        let instance = needs.instance();
        let (source, settings) = match needs {
            SessionNeeds::Settings(Some(it)) => (
                SettingsSource::Resource(it.address.clone()),
                it.settings.clone(),
            ),
            SessionNeeds::Settings(None) if !self.offline => {
                (SettingsSource::File, self.settings_of(package))
            }
            // A session with settings must not be shared.
            SessionNeeds::Settings(None) | SessionNeeds::Nothing => {
                (SettingsSource::Offline, Value::Null)
            }
        };
        let configured = match self.providers.open_session(package, &source, &settings) {
            Some(configured) => configured,
            None => {
                Box::pin(self.open_session(package, source, settings.clone(), instance, what))
                    .await?
            }
        };
        if !configured.diagnostics.is_empty() {
            self.note_remarks(package, instance, &settings, &configured.diagnostics);
        }
        Ok(configured)
    }

    /// Configures the provider of a package. Arguments and errors are as in [`Shell::session_for`].
    async fn open_session(
        &self,
        package: &str,
        source: SettingsSource,
        settings: Value,
        instance: Option<&ProviderInstance>,
        what: &str,
    ) -> Result<Arc<Configured>, ProviderError> {
        let name: Name = match &source {
            SettingsSource::Resource(address) => address.to_string().into(),
            SettingsSource::Offline => format!("{package} offline").into(),
            SettingsSource::File => package.into(),
        };
        let configure = || Configuration {
            name: name.clone(),
            settings: settings.clone(),
            former: instance.map(|it| it.former.clone()).unwrap_or_default(),
            offline: self.offline || source == SettingsSource::Offline,
            root: self.root.clone(),
            log: self.log_of(&name),
        };
        match self
            .providers
            .session(package, &source, &settings, configure)
            .await
        {
            Some(Ok(configured)) => Ok(configured),
            Some(Err(error)) => {
                // Settings that a resource declares are not in the configuration file.
                let places = self.places.as_ref().filter(|_| instance.is_none());
                let written = places.and_then(|places| places(package, error.field.as_ref()));
                let failure = SessionFailure {
                    provider: name,
                    settings: written,
                };
                let error = ProviderError {
                    session: Some(Box::new(failure)),
                    ..error
                };
                Err(CallSecrets::of(&self.secrets, [&settings]).scrub_error(error))
            }
            None => Err(ProviderError::new(
                ErrorKind::Document,
                format!("there is no provider for `{package}`, so `{what}` cannot be managed"),
            )),
        }
    }

    /// Records the remarks of a provider on its settings, without secrets.
    fn note_remarks(
        &self,
        package: &str,
        instance: Option<&ProviderInstance>,
        settings: &Value,
        diagnostics: &[ProviderDiagnostic],
    ) {
        let mut diagnostics = diagnostics.to_vec();
        CallSecrets::of(&self.secrets, [settings]).scrub_diagnostics(&mut diagnostics);
        let places = self.places.as_ref().filter(|_| instance.is_none());
        self.remarks
            .note(diagnostics.into_iter().map(|diagnostic| SettingsRemark {
                provider:
                    instance.map_or_else(|| package.into(), |it| it.address.to_string().into()),
                instance: instance.map(|it| it.address.clone()),
                written: places.and_then(|places| {
                    places(
                        package,
                        Some(&diagnostic.path).filter(|path| !path.is_empty()),
                    )
                }),
                diagnostic,
            }));
    }

    /// Returns the receiver for the log lines of a provider's process, which removes secrets from
    /// them.
    fn log_of(&self, package: &str) -> Progress {
        let Some(log) = self.log.clone() else {
            return Arc::new(|_| {});
        };
        let known = self.secrets.clone();
        let package = Name::from(package);
        Arc::new(move |line| log(&package, &known.scrub_text(line)))
    }
}

impl World for Shell {
    fn ask<'a>(&'a self, question: Question<'a>) -> BoxFuture<'a, Reply> {
        match question {
            Question::Provider(question) => self.ask_provider(question),
            Question::File { folder, path } => {
                Box::pin(async move { Reply::Bytes(self.file(folder, path).await) })
            }
            Question::Http { url } => Box::pin(async move { Reply::Bytes(self.http(url).await) }),
            Question::Document(request) => Box::pin(async move {
                let limits = source::ReadLimits::document(self.cancel.clone());
                Reply::Document(self.sources.read(request, &limits).await)
            }),
            Question::Transform { name, document } => Box::pin(async move {
                Reply::Transformed(self.transform(name, *document).await.map(Box::new))
            }),
            Question::Package(request) => match &self.packages {
                Some(packages) => Box::pin(packages.open(request).map(Reply::Package)),
                None => {
                    let why = format!("there is no hosted package `{}`", request.name);
                    Box::pin(std::future::ready(Reply::Package(Err(why.into()))))
                }
            },
            Question::Recall(snapshot) => Box::pin(async move {
                self.recall(snapshot);
                Reply::Done
            }),
            Question::Pause { duration, retry } => Box::pin(async move {
                if let (Some(planning), Some(Retry { what, why })) = (&self.planning, retry) {
                    let what = what.to_owned();
                    let why = why.to_owned();
                    planning(PlanningEvent::AskedAgain {
                        what,
                        pause: duration,
                        why,
                    });
                }
                tokio::time::sleep(duration).await;
                Reply::Done
            }),
        }
    }

    fn environment(&self) -> &dyn Environment {
        self
    }
}

impl Environment for Shell {
    fn now(&self) -> i64 {
        self.clock.now()
    }

    fn elapsed(&self) -> Duration {
        self.clock.elapsed()
    }

    fn random(&self) -> [u8; 16] {
        self.rng.bytes()
    }

    fn working_directory(&self) -> Option<Name> {
        self.working_directory.clone()
    }

    fn source_kinds(&self) -> Vec<&'static source::SourceKind> {
        self.sources.kinds().collect()
    }

    fn manages(&self, type_name: &TypeId) -> bool {
        self.providers.contains(type_name.package_name())
    }

    fn settings(&self, namespace: &str) -> Value {
        self.settings_of(namespace)
    }

    fn settings_remarks(&self) -> Vec<SettingsRemark> {
        self.remarks.take()
    }

    fn mask_secrets(&self, value: &Value) {
        self.secrets.add_secrets_of(value);
    }
}

impl Shell {
    async fn file(&self, folder: &str, path: &str) -> Result<Arc<[u8]>, SourceError> {
        // A remote document has a location, which its relative paths are resolved against.
        let from = self.sources.location(folder);
        let is_web = path.starts_with("https://") || path.starts_with("http://");
        if from.is_some() || (!is_web && self.sources.location(path).is_some()) {
            let limits = source::ReadLimits::file(self.cancel.clone());
            let read = self
                .sources
                .read(&source::Request::path(from, path), &limits)
                .await;
            return read.map(|read| read.bytes).map_err(|error| SourceError {
                message: error.to_string(),
            });
        }
        if is_web {
            return self.http(path).await;
        }
        if let Some(message) = blueprint::home_mistake(path) {
            return Err(SourceError { message });
        }
        if let Some((scheme, _)) = path.split_once("://") {
            return Err(SourceError {
                message: format!("`{scheme}://` is no source that is known here"),
            });
        }
        let whole = Path::new(folder).join(path);
        let read = tokio::task::spawn_blocking(move || read_file(&whole)).await;
        match read {
            Ok(Ok(bytes)) => Ok(bytes.into()),
            Ok(Err(message)) => Err(SourceError { message }),
            Err(error) => Err(SourceError {
                message: error.to_string(),
            }),
        }
    }

    async fn http(&self, url: &str) -> Result<Arc<[u8]>, SourceError> {
        let Some(get) = &self.http else {
            return Err(SourceError {
                message: "requests are not allowed here".to_owned(),
            });
        };
        get(url.to_owned())
            .await
            .map(Into::into)
            .map_err(|message| SourceError { message })
    }

    async fn transform(
        &self,
        name: &str,
        document: WireDocument,
    ) -> Result<WireDocument, TransformError> {
        let namespaces = self
            .catalogs
            .opened()
            .filter(|catalog| catalog.transforms.contains_key(name));
        let mut providers = namespaces
            .flat_map(|catalog| &catalog.namespaces)
            .filter_map(|own| self.providers.get(own));
        match providers.find_map(|provider| provider.transform(name)) {
            Some(transform) => transform.transform(document).await,
            None => Err(TransformError::whole(format!(
                "no provider implements `{name}`"
            ))),
        }
    }

    /// Tells each provider the objects that the state contains of its namespaces.
    fn recall(&self, snapshot: &Snapshot) {
        fn recorded_objects(record: &Record) -> impl Iterator<Item = &Record> {
            let old = std::iter::successors(Some(record), |record| record.deposed.as_deref());
            old.chain(record.attempt.as_deref())
        }
        let names = self.catalogs.names();
        let mut objects: IndexMap<&str, Vec<RecordedObject<'_>>> = IndexMap::default();
        for record in snapshot
            .records
            .values()
            .flat_map(|record| recorded_objects(record))
        {
            objects
                .entry(names.key(record.type_name.package_name()))
                .or_default()
                .push(RecordedObject {
                    type_name: &record.type_name,
                    id: Some(record.id.as_ref()).filter(|id| !id.is_empty()),
                    inputs: &record.inputs,
                    private: &record.private,
                });
        }
        let creates = snapshot
            .open
            .values()
            .map(|open| &open.intent)
            .filter(|intent| intent.op == StatusOp::Create);
        for intent in creates {
            objects
                .entry(names.key(intent.type_name.package_name()))
                .or_default()
                .push(RecordedObject {
                    type_name: &intent.type_name,
                    id: None,
                    inputs: &intent.inputs,
                    private: &intent.private,
                });
        }
        for (namespace, objects) in objects {
            if let Some(provider) = self.providers.get(namespace) {
                provider.set_recorded_objects(&self.root, &objects);
            }
        }
    }
}

/// Reads a whole file. The error is a phrase.
#[expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "the shell is where files are read"
)]
fn read_file(path: &Path) -> Result<Vec<u8>, String> {
    let about = std::fs::metadata(path).map_err(|error| error.to_string())?;
    if about.is_dir() {
        return Err("it is a folder".to_owned());
    }
    // Opening a pipe or a device may wait for ever, or have side effects.
    if !about.is_file() {
        return Err("it is not a regular file".to_owned());
    }
    if about.len() > MOST_BYTES {
        return Err(format!(
            "it has {} bytes; at most {MOST_BYTES} are read",
            about.len()
        ));
    }
    // A file may grow.
    let read = std::fs::File::open(path).and_then(|file| read_at_most(file, MOST_BYTES));
    let bytes = read.map_err(|error| error.to_string())?;
    bytes.ok_or_else(|| format!("it has more than {MOST_BYTES} bytes"))
}

/// Reads to the end. Returns `None` if there are more than `most` bytes.
///
/// # Errors
/// If reading fails.
pub fn read_at_most(from: impl io::Read, most: u64) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    from.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    Ok(Some(bytes).filter(|bytes| bytes.len() as u64 <= most))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reading_stops_at_the_limit() {
        let read = |length| read_at_most(io::repeat(7).take(length), 3).expect("it can be read");
        assert_eq!(read(3), Some(vec![7; 3]));
        assert_eq!(read(u64::MAX), None);
    }

    #[test]
    fn remote_documents_read_this_machine_only_if_they_are_trusted() {
        let access = DocumentAccess {
            trusted: ["https://a.example/modules/", "s3://b/one.yaml"]
                .map(Name::from)
                .into(),
            ..DocumentAccess::default()
        };
        for (folder, local) in [
            ("", true),
            ("child", true),
            ("/of/the/machine", true),
            ("https://a.example/modules/x/y.yaml", true),
            ("s3://b/one.yaml", true),
            ("https://a.example/modules", true),
            ("https://a.example/modules-of-others/y.yaml", false),
            ("https://a.example.evil/modules/y.yaml", false),
            ("s3://b/one.yaml2", false),
            ("http://a.example/modules/y.yaml", false),
        ] {
            assert_eq!(access.of_folder(folder).local, local, "{folder}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn only_regular_files_are_read() {
        assert_eq!(
            read_file(Path::new("/dev/zero")),
            Err("it is not a regular file".to_owned())
        );
        assert_eq!(
            read_file(Path::new("/dev")),
            Err("it is a folder".to_owned())
        );
    }
}
