//! The smallest host, whose packages keep objects in memory, and sessions with it.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use blueprint::{IndexMap, Name, Value};
use diag::{Diagnostic, Diagnostics, Files};
use engine::installed::{InstalledHost, PackageProgram};
use engine::{
    Config, DocumentSource, Envelope, Error, Frontend, Installed, Session, SessionOptions,
    StageRequest, StagedDocument,
};
use provider::{
    Applied, ApplyRequest, BoxFuture, Call, Catalog, Configuration, Configured, ErrorKind,
    FoundProgram, HostedPackage, Observed, Operation, ProgramQuery, Provider, ProviderError,
    ReadOutcome, ReadRequest, configured,
};
use tokio::sync::{mpsc, oneshot};

pub(crate) const CATALOG: &str = r#"{"format": 1, "namespace": "sky", "package": {"family": "pulumi"},
  "settings": {"region": {"kind": "string"}, "token": {"kind": "string", "sensitive": true}},
  "resourceTypes": {"sky/kite": {"idField": "id", "capabilities": {"checks": true},
    "fields": {"name": {"kind": "string"}, "id": {"kind": "string", "computed": true}}}}}"#;

pub(crate) const PLUGIN: &str = "[plugins.sky]\nkind = \"pulumi\"\npath = \"bin/sky\"\n";

pub(crate) const KITES: &str = "version: 2023-04-20\nresources:\n  a: {type: sky/kite, spec: {name: a}}\n  \
                     b: {type: sky/kite, spec: {name: b}}\n  c: {type: sky/kite, spec: {name: c}}\n";

/// The calls to a host.
#[derive(Default)]
pub(crate) struct Counts {
    pub(crate) opened: AtomicUsize,
    pub(crate) configured: AtomicUsize,
    pub(crate) closed: AtomicUsize,
    /// The running tasks of the host.
    pub(crate) tasks: AtomicUsize,
}

impl Counts {
    /// The numbers of opened, configured and closed sessions.
    pub(crate) fn all(&self) -> [usize; 3] {
        [&self.opened, &self.configured, &self.closed].map(|count| count.load(Ordering::SeqCst))
    }
}

/// Objects by their ids.
pub(crate) type Objects = Arc<Mutex<IndexMap<Name, Value>>>;

/// A host whose packages share their objects.
#[derive(Clone, Default)]
pub(crate) struct Host {
    pub(crate) objects: Objects,
    pub(crate) counts: Arc<Counts>,
    /// The error of opening a package; `None` if packages can be opened.
    pub(crate) broken: Arc<Mutex<Option<String>>>,
    pub(crate) packages: Arc<Mutex<Vec<HostedPackage>>>,
    /// The time that opening a package takes.
    pub(crate) delay: Duration,
    /// The packages that need no table.
    pub(crate) implied: &'static [&'static str],
    /// The packages that need no table, of a family that this build cannot host.
    pub(crate) left_out: &'static [&'static str],
    /// The programs on the machine, by package.
    pub(crate) machine: Arc<Mutex<Vec<(Name, FoundProgram)>>>,
    /// What the host was asked to find.
    pub(crate) queries: Arc<Mutex<Vec<ProgramQuery>>>,
}

impl Host {
    pub(crate) fn installed(&self) -> Arc<Installed> {
        let host = self.clone();
        let open = move |package: HostedPackage| -> BoxFuture<'static, Result<Arc<dyn Provider>, ProviderError>> {
            let host = host.clone();
            Box::pin(async move {
                tokio::time::sleep(host.delay).await;
                host.open(package)
            })
        };
        let family = |family, prefix| InstalledHost {
            family,
            prefix,
            program: PackageProgram::Required,
            implied: &[],
            find: None,
            open: None,
        };
        let finding = self.clone();
        let hosts = vec![
            InstalledHost {
                program: if self.implied.is_empty() {
                    PackageProgram::OrSchema
                } else {
                    PackageProgram::None
                },
                implied: self.implied,
                find: Some(Arc::new(move |query| finding.find(query))),
                open: Some(Arc::new(open)),
                ..family("pulumi", "pulumi")
            },
            InstalledHost {
                implied: self.left_out,
                ..family("terraform", "tf")
            },
        ];
        Arc::new(Installed {
            hosts,
            ..Installed::clone(&testkit::installed())
        })
    }

    /// Finds a program on the machine, or takes the stated path.
    fn find(&self, query: &ProgramQuery) -> Result<FoundProgram, String> {
        self.queries.lock().unwrap().push(query.clone());
        if let Some(path) = &query.path {
            return Ok(FoundProgram {
                program: Some(path.clone()),
                version: None,
            });
        }
        let machine = self.machine.lock().unwrap();
        let fits = |found: &FoundProgram| {
            query.version.is_none() || found.version.is_none() || found.version == query.version
        };
        let mut programs = machine
            .iter()
            .filter(|(package, _)| *package == query.package);
        let found = programs.find(|(_, found)| fits(found));
        let found = found.map(|(_, found)| found.clone());
        found.ok_or_else(|| format!("`{}` is not on this machine", query.package))
    }

    /// Puts a program on the machine.
    pub(crate) fn add_program(&self, package: &str, version: Option<&str>) {
        let found = FoundProgram {
            program: Some(format!("/machine/{package}").into()),
            version: version.map(Name::from),
        };
        self.machine.lock().unwrap().push((package.into(), found));
    }

    /// Opens a package and starts a task, as a real host starts and watches a process.
    fn open(&self, package: HostedPackage) -> Result<Arc<dyn Provider>, ProviderError> {
        self.counts.opened.fetch_add(1, Ordering::SeqCst);
        let catalog = CATALOG.replace("sky", &package.name);
        self.packages.lock().unwrap().push(package);
        if let Some(why) = self.broken.lock().unwrap().clone() {
            return Err(ProviderError::new(ErrorKind::Permanent, why));
        }
        let (process, mut calls) = mpsc::unbounded_channel::<oneshot::Sender<()>>();
        let running = Running::new(self.counts.clone());
        tokio::spawn(async move {
            let _running = running;
            while let Some(call) = calls.recv().await {
                let _ = call.send(());
            }
        });
        let catalog = Arc::new(provider::read_catalog(&catalog).unwrap());
        Ok(Arc::new(Sky {
            catalog,
            objects: self.objects.clone(),
            process,
            counts: self.counts.clone(),
        }))
    }
}

/// Counts a task while it runs.
struct Running(Arc<Counts>);

impl Running {
    fn new(counts: Arc<Counts>) -> Running {
        counts.tasks.fetch_add(1, Ordering::SeqCst);
        Running(counts)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.0.tasks.fetch_sub(1, Ordering::SeqCst);
    }
}

pub(crate) struct Sky {
    pub(crate) catalog: Arc<Catalog>,
    pub(crate) objects: Objects,
    pub(crate) process: mpsc::UnboundedSender<oneshot::Sender<()>>,
    pub(crate) counts: Arc<Counts>,
}

impl Provider for Sky {
    fn catalog(&self) -> &Arc<Catalog> {
        &self.catalog
    }

    fn configure(
        self: Arc<Self>,
        with: Configuration,
    ) -> BoxFuture<'static, Result<Configured, ProviderError>> {
        Box::pin(async move {
            self.counts.configured.fetch_add(1, Ordering::SeqCst);
            let (call, answer) = oneshot::channel();
            let lost = |_| ProviderError::new(ErrorKind::Permanent, "the process has ended");
            self.process.send(call).map_err(|_| lost(()))?;
            answer.await.map_err(|_| lost(()))?;
            if with.settings.get("region").and_then(Value::as_text) == Some("nowhere") {
                let token = with
                    .settings
                    .get("token")
                    .map(|token| token.revealed())
                    .unwrap_or_default();
                let token = token.as_text().unwrap_or_default().to_owned();
                let message = format!("there is no region `nowhere` for `{token}`");
                return Err(ProviderError::new(ErrorKind::Document, message).at("region"));
            }
            configured(self).await
        })
    }
}

impl provider::Session for Sky {
    fn read<'a>(
        &'a self,
        _: &'a Call,
        request: ReadRequest<'a>,
    ) -> BoxFuture<'a, Result<ReadOutcome, ProviderError>> {
        let objects = self.objects.lock().unwrap();
        let there = request
            .id
            .and_then(|id| Some((Name::from(id), objects.get(id)?.clone())));
        let seen = there.map(|(id, fields)| Observed {
            id,
            fields,
            ..Observed::default()
        });
        Box::pin(std::future::ready(Ok(
            seen.map_or(ReadOutcome::Absent, ReadOutcome::Present)
        )))
    }

    fn apply<'a>(
        &'a self,
        _: &'a Call,
        request: ApplyRequest<'a>,
    ) -> BoxFuture<'a, Result<Applied, ProviderError>> {
        assert_eq!(
            request.operation,
            Operation::Create,
            "the tests create only"
        );
        let mut objects = self.objects.lock().unwrap();
        let id = Name::from(format!("kite-{}", objects.len()));
        let mut fields = request.desired.as_map().cloned().unwrap_or_default();
        fields.insert("id".into(), Value::Text(id.clone()));
        let fields = Value::Map(Arc::new(fields));
        objects.insert(id.clone(), fields.clone());
        Box::pin(std::future::ready(Ok(Applied::ready(id, fields))))
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        self.counts.closed.fetch_add(1, Ordering::SeqCst);
        Box::pin(std::future::ready(()))
    }
}

/// A front end that collects the diagnostics.
#[derive(Default)]
pub(crate) struct Watcher(pub(crate) Vec<Diagnostic>);

impl Frontend for Watcher {
    fn found(&mut self, found: &Diagnostics, _: &Files) {
        self.0.extend(found.iter().cloned());
    }

    fn event(&mut self, _: Envelope) {}
}

impl Watcher {
    /// The code, message and notes of each diagnostic.
    pub(crate) fn said(&self) -> Vec<(&'static str, &str, &[String])> {
        self.0
            .iter()
            .map(|one| (one.code.name, one.message.as_str(), one.notes.as_slice()))
            .collect()
    }
}

/// Writes a configuration file into a folder and loads it.
pub(crate) fn config(folder: &Path, text: &str) -> Result<Config, Error> {
    std::fs::write(folder.join("cyan.toml"), text).unwrap();
    Config::load(None, folder)
}

pub(crate) fn session(host: &Host, folder: &Path, text: &str) -> Result<Session, Error> {
    let options = SessionOptions {
        state: Some("memory:".to_owned()),
        ..SessionOptions::default()
    };
    Session::new(host.installed(), config(folder, text)?, &options, folder)
}

pub(crate) async fn staged(
    session: &Session,
    watcher: &mut Watcher,
) -> Result<StagedDocument, Error> {
    staged_text(session, KITES, watcher).await
}

pub(crate) async fn staged_text(
    session: &Session,
    text: &str,
    watcher: &mut Watcher,
) -> Result<StagedDocument, Error> {
    let source = DocumentSource::of_text("kites.yaml", text);
    session.stage(StageRequest::new(source), watcher).await
}
