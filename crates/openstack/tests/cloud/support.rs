//! A session with a real cloud, and the life of a resource in it.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use blueprint::{Address, Value};
use provider::json::{from_json, to_json};
use provider::{
    Applied, ApplyRequest, Call, Configuration, ImportRequest, Observed, Operation, PlanMode,
    PlanPhase, PlanRequest, Planned, Provider as _, ProviderError, ReadOutcome, ReadRequest,
    Readiness, Ready, Session,
};
use serde_json::Value as Json;
use tokio_util::sync::CancellationToken;

/// The time that a resource may take until it is ready.
const READY: Duration = Duration::from_secs(120);

/// The folder of the file with the clouds; `None` without a cloud. The provider finds the file in
/// the current folder.
fn folder() -> Option<&'static Path> {
    static FOLDER: OnceLock<Option<PathBuf>> = OnceLock::new();
    let found = FOLDER.get_or_init(|| {
        let file = std::env::var_os("CYAN_TEST_CLOUDS").filter(|path| !path.is_empty())?;
        let file = std::fs::canonicalize(file).unwrap();
        let folder = file.parent().unwrap().to_owned();
        std::env::set_current_dir(&folder).unwrap();
        Some(folder)
    });
    found.as_deref()
}

/// A session with a cloud.
pub(crate) struct Peer {
    session: Arc<dyn Session>,
    root: Arc<Path>,
    /// A name for the objects of this run.
    pub(crate) run: String,
}

impl Peer {
    /// The session with a cloud of the file. Without a file, prints a message and returns `None`.
    #[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
    pub(crate) async fn of(cloud: &str) -> Option<Peer> {
        let Some(root) = folder() else {
            let all = std::env::var_os("CYAN_TEST_ALL").is_some();
            assert!(
                !all,
                "the cloud should have been started: CYAN_TEST_CLOUDS is not set"
            );
            eprintln!("skipped: a cloud is needed; CYAN_TEST_CLOUDS is not set");
            return None;
        };
        let root: Arc<Path> = root.into();
        let settings = serde_json::json!({ "cloud": cloud });
        let with = Configuration {
            name: "openstack".into(),
            settings: from_json(&settings),
            former: Value::Null,
            offline: false,
            root: root.clone(),
            log: Arc::new(|_| {}),
        };
        let configured = Arc::new(openstack::provider()).configure(with).await;
        static RUNS: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
        let run = RUNS.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        Some(Peer {
            session: configured.unwrap().session,
            root,
            run: format!("cyantest-{}-{run}", std::process::id()),
        })
    }

    /// A call for the resource with a name. The token is that of its create.
    fn call(&self, name: &str, token: &str) -> Call {
        Call {
            call_records: None,
            instances: None,
            instance: self.run.as_str().into(),
            address: Address::root(name),
            urn: Default::default(),
            token: token.into(),
            deadline: None,
            cancel: CancellationToken::new(),
            root: self.root.clone(),
            folder: self.root.clone(),
            settings: Value::Map(Arc::default()),
            files: provider::FileAccess::default(),
            now: 1_672_671_845,
            progress: Arc::new(|_| {}),
        }
    }

    /// Creates a resource, and waits until it is ready. Defaults of the catalogue are filled in.
    pub(crate) async fn create(
        &self,
        type_name: &'static str,
        name: &str,
        spec: Json,
    ) -> Result<Live<'_>, ProviderError> {
        let token = format!("{}-{name}", self.run);
        let mut live = Live {
            peer: self,
            type_name,
            call: self.call(name, &token),
            inputs: Value::Null,
            applied: Applied::ready("", Value::Null),
            broken: Vec::new(),
        };
        live.apply(Operation::Create, &spec).await?;
        Ok(live)
    }
}

/// A spec with the defaults of the catalogue.
fn with_defaults(type_name: &str, spec: &Json) -> Value {
    let ty = openstack::provider()
        .catalog()
        .resource_type(type_name)
        .unwrap();
    let mut spec = spec.as_object().unwrap().clone();
    for (name, field) in &ty.schema.fields {
        let default = field.default.as_ref().map(|it| to_json(it).unwrap().0);
        if let Some(default) = default.filter(|_| !spec.contains_key(name.as_ref())) {
            spec.insert(name.to_string(), default);
        }
    }
    from_json(&Json::Object(spec))
}

/// A resource in the cloud.
pub(crate) struct Live<'p> {
    peer: &'p Peer,
    type_name: &'static str,
    call: Call,
    inputs: Value,
    applied: Applied,
    /// The reasons why the resource is broken; empty if it is ready.
    pub(crate) broken: Vec<String>,
}

impl Live<'_> {
    /// Its id.
    pub(crate) fn id(&self) -> &str {
        &self.applied.id
    }

    /// A field, as the last operation answered it.
    pub(crate) fn field(&self, name: &str) -> Json {
        json_field(&self.applied.fields, name)
    }

    async fn apply(&mut self, operation: Operation, spec: &Json) -> Result<(), ProviderError> {
        let desired = match operation {
            Operation::Delete => Value::Null,
            _ => with_defaults(self.type_name, spec),
        };
        let request = ApplyRequest {
            operation,
            type_name: self.type_name,
            id: Some(self.id()).filter(|id| !id.is_empty()),
            prior_inputs: &self.inputs,
            prior: &self.applied.fields,
            desired: &desired,
            private: &self.applied.private,
            sources: &[],
            schema_version: 0,
            planned: &Value::Null,
            metadata: &Value::Null,
            delete_mode: blueprint::DeleteMode::Delete,
        };
        let applied = self.peer.session.apply(&self.call, request).await?;
        self.applied = applied;
        self.inputs = desired;
        match self.applied.ready.clone() {
            Ready::Yes => self.broken.clear(),
            Ready::Pending => self.wait().await?,
            Ready::Broken(why) => self.broken = texts(&why),
        }
        Ok(())
    }

    async fn wait(&mut self) -> Result<(), ProviderError> {
        let started = Instant::now();
        loop {
            let readiness = self
                .peer
                .session
                .poll_ready(&self.call, self.request())
                .await?;
            match readiness {
                Readiness::Ready(fields) => {
                    self.broken.clear();
                    if !fields.is_null() {
                        self.applied.fields = fields;
                    }
                    return Ok(());
                }
                Readiness::Broken(why) => {
                    self.broken = texts(&why);
                    return Ok(());
                }
                Readiness::NotYet { why, .. } => {
                    assert!(
                        started.elapsed() < READY,
                        "{} is not ready: {why:?}",
                        self.id()
                    );
                }
            }
            tokio::time::sleep(Duration::from_millis(300)).await;
        }
    }

    fn request(&self) -> ReadRequest<'_> {
        ReadRequest {
            type_name: self.type_name,
            id: Some(self.id()),
            inputs: &self.inputs,
            outputs: &self.applied.fields,
            schema_version: 0,
            private: &self.applied.private,
            token: None,
        }
    }

    /// The value of a property as sent; null if there is none.
    pub(crate) fn input(&self, name: &str) -> Json {
        json_field(&self.inputs, name)
    }

    /// Its private data.
    pub(crate) fn private(&self) -> &Value {
        &self.applied.private
    }

    /// Changes the resource to another spec.
    pub(crate) async fn update(&mut self, spec: Json) -> Result<(), ProviderError> {
        self.apply(Operation::Update, &spec).await
    }

    /// The resource as a plan reads it; `None` if it does not exist.
    pub(crate) async fn read(&self) -> Option<Observed> {
        let read = self.peer.session.read(&self.call, self.request()).await;
        match read.unwrap() {
            ReadOutcome::Present(observed) => Some(observed),
            ReadOutcome::Absent => None,
            ReadOutcome::Unknown => panic!("{} can be read", self.type_name),
        }
    }

    /// The resource as an import finds it that another tool has made with this spec.
    pub(crate) async fn imported(&self) -> Observed {
        let request = ImportRequest {
            type_name: self.type_name,
            id: self.id(),
            desired: &self.inputs,
        };
        let found = self.peer.session.import(&self.call, request).await;
        found.unwrap().remove(0).observed
    }

    /// Checks that a plan reads no value of a property that differs from the last answer.
    pub(crate) async fn assert_settled(&self, properties: &[&str]) {
        let observed = self.read().await.unwrap();
        for name in properties {
            let (read, answered) = (json_field(&observed.fields, name), self.field(name));
            assert_eq!(read, answered, "{name} of {}", self.type_name);
        }
    }

    /// The resource as its record is before the answer of its create arrives.
    pub(crate) fn lost(&self) -> Self {
        Live {
            peer: self.peer,
            type_name: self.type_name,
            call: self.call.clone(),
            inputs: self.inputs.clone(),
            applied: Applied::ready("", Value::Null),
            broken: Vec::new(),
        }
    }

    /// Looks the resource up by the token of its create, as after a lost answer.
    pub(crate) async fn find(&self) -> ReadOutcome {
        let request = ReadRequest {
            id: None,
            outputs: &Value::Null,
            token: Some(&self.call.token),
            ..self.request()
        };
        self.peer.session.read(&self.call, request).await.unwrap()
    }

    /// Checks that the resource is found by the token of its create.
    pub(crate) async fn assert_found(&self) {
        match self.find().await {
            ReadOutcome::Present(found) => assert_eq!(found.id.as_ref(), self.id()),
            other => panic!("{} is not found: {other:?}", self.type_name),
        }
    }

    /// The plan of a change to another spec.
    pub(crate) async fn plan(&self, spec: Json) -> Planned {
        let desired = with_defaults(self.type_name, &spec);
        let request = PlanRequest {
            mode: PlanMode::Update,
            phase: PlanPhase::Preview,
            type_name: self.type_name,
            id: Some(self.id()),
            prior_inputs: &self.inputs,
            prior: &self.applied.fields,
            schema_version: 0,
            private: &self.applied.private,
            unhealthy: &[],
            desired: &desired,
            ignored: &[],
            replacing: &[],
            seed: "seed",
        };
        self.peer.session.plan(&self.call, request).await.unwrap()
    }

    /// Deletes the resource, and checks that it is gone. A second delete succeeds, too.
    pub(crate) async fn delete(mut self) -> Result<(), ProviderError> {
        let inputs = self.inputs.clone();
        let (id, private) = (self.applied.id.clone(), self.applied.private.clone());
        self.apply(Operation::Delete, &Json::Null).await?;
        self.inputs = inputs;
        self.applied.id = id;
        let found = self.read().await;
        let (ty, id) = (self.type_name, self.id());
        assert!(found.is_none(), "{ty} {id} is still there: {found:?}");
        self.applied.private = private;
        self.apply(Operation::Delete, &Json::Null).await
    }

    /// Deletes a setting of other objects, which can be read further on.
    pub(crate) async fn unset(mut self) -> Result<(), ProviderError> {
        self.apply(Operation::Delete, &Json::Null).await
    }
}

/// A field of a map as JSON; null if it is not there.
pub(crate) fn json_field(fields: &Value, name: &str) -> Json {
    let value = fields.get(name).map(|value| to_json(value).unwrap().0);
    value.unwrap_or_default()
}

fn texts(names: &[blueprint::Name]) -> Vec<String> {
    names.iter().map(ToString::to_string).collect()
}
