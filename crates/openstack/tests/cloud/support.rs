//! A session with a real cloud, and the life of a resource in it.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use blueprint::{Address, DeleteMode, Value};
use expr::Arguments;
use provider::json::{from_json, to_json};
use provider::{
    Applied, ApplyRequest, Call, CheckRequest, Configuration, FetchRequest, ImportRequest,
    InvokeRequest, Observed, Operation, PlanMode, PlanPhase, PlanRequest, Planned, Provider as _,
    ProviderError, ReadOutcome, ReadRequest, Readiness, Ready, Session,
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
        let mut live = self.begin(type_name, name, spec).await?;
        if live.applied.ready == Ready::Pending {
            live.wait().await?;
        }
        Ok(live)
    }

    /// Creates a resource, and does not wait until it is ready.
    pub(crate) async fn begin(
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
            delete_mode: DeleteMode::Delete,
        };
        live.call_service(Operation::Create, &spec).await?;
        Ok(live)
    }

    /// What a check of a spec refuses: the paths with the reasons.
    pub(crate) async fn refused(&self, type_name: &'static str, spec: Json) -> Vec<String> {
        let spec = with_defaults(type_name, &spec);
        let request = CheckRequest {
            type_name,
            spec: &spec,
        };
        let call = self.call("checked", "checked");
        let found = self.session.check(&call, request).await.unwrap();
        let errors = found.diagnostics.into_iter();
        let errors = errors.filter(|it| it.severity == provider::ProviderSeverity::Error);
        errors
            .map(|it| format!("{}: {}", it.path, it.summary))
            .collect()
    }

    /// The objects of a data source with these values of fields.
    pub(crate) async fn fetched(&self, type_name: &str, filters: &[(&str, &str)]) -> Vec<Json> {
        let filters = filters.iter();
        let filters =
            filters.map(|(field, value)| ((*field).into(), "=".into(), Value::text(*value)));
        let filters: Vec<_> = filters.collect();
        let request = FetchRequest {
            type_name,
            filters: &filters,
            annotations: &Value::Null,
        };
        let call = self.call("fetched", "fetched");
        let fetched = self.session.fetch(&call, request).await.unwrap();
        let candidates = fetched.candidates.iter();
        candidates
            .map(|it| to_json(&it.fields).unwrap().0)
            .collect()
    }

    /// Calls the function that finds an object.
    pub(crate) async fn object_id(&self, kind: &str, name: &str) -> Result<String, ProviderError> {
        let arguments = [kind, name].map(Value::text).to_vec();
        let request = InvokeRequest {
            function: "openstack/object_id",
            arguments: &Arguments::Positional(arguments),
            preview: true,
        };
        let answer = self
            .session
            .invoke(&self.call("asked", "asked"), request)
            .await?;
        Ok(answer.as_text().unwrap().to_owned())
    }

    /// Creates a resource whose object is made and then fails. Returns the error, and the resource
    /// as it is recorded.
    pub(crate) async fn create_partly(
        &self,
        type_name: &'static str,
        name: &str,
        spec: Json,
    ) -> (ProviderError, Live<'_>) {
        let token = format!("{}-{name}", self.run);
        let mut live = Live {
            peer: self,
            type_name,
            call: self.call(name, &token),
            inputs: with_defaults(type_name, &spec),
            applied: Applied::ready("", Value::Null),
            broken: Vec::new(),
            delete_mode: DeleteMode::Delete,
        };
        let error = live.apply(Operation::Create, &spec).await.err().unwrap();
        live.applied = *error.partial.clone().unwrap();
        (error, live)
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
    delete_mode: DeleteMode,
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
        self.call_service(operation, spec).await?;
        match self.applied.ready {
            Ready::Pending => self.wait().await,
            Ready::Yes | Ready::Broken(_) => Ok(()),
        }
    }

    /// Carries an operation out, and does not wait until the resource is ready.
    async fn call_service(
        &mut self,
        operation: Operation,
        spec: &Json,
    ) -> Result<(), ProviderError> {
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
            delete_mode: match operation {
                Operation::Delete => self.delete_mode,
                _ => DeleteMode::Delete,
            },
        };
        let applied = self.peer.session.apply(&self.call, request).await?;
        self.applied = applied;
        self.inputs = desired;
        match self.applied.ready.clone() {
            Ready::Yes | Ready::Pending => self.broken.clear(),
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

    /// Changes the resource to another spec, and does not wait until it is ready. The token is that of
    /// another step.
    pub(crate) async fn begin_update(&mut self, spec: Json) -> Result<(), ProviderError> {
        let created = self.call.token.clone();
        self.call.token = format!("{created}-update").into();
        let updated = self.call_service(Operation::Update, &spec).await;
        self.call.token = created;
        updated
    }

    /// Whether the resource is ready after this number of seconds.
    pub(crate) async fn poll_after(&mut self, seconds: i64) -> Readiness {
        let call = Call {
            now: self.call.now + seconds,
            ..self.call.clone()
        };
        let polled = self.peer.session.poll_ready(&call, self.request()).await;
        let readiness = polled.unwrap();
        if let Readiness::Ready(fields) = &readiness {
            self.applied.fields = fields.clone();
        }
        readiness
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
            delete_mode: DeleteMode::Delete,
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

    /// The resource as its record is after it was found by the token of its create.
    pub(crate) async fn found(&self) -> Self {
        let ReadOutcome::Present(found) = self.find().await else {
            panic!("{} is not found", self.type_name);
        };
        let mut live = self.lost();
        live.applied = Applied {
            private: found.private,
            ..Applied::ready(found.id, found.fields)
        };
        live
    }

    /// Checks that the resource is found by the token of its create.
    pub(crate) async fn assert_found(&self) {
        match self.find().await {
            ReadOutcome::Present(found) => assert_eq!(found.id.as_ref(), self.id()),
            other => panic!("{} is not found: {other:?}", self.type_name),
        }
    }

    /// Checks that the resource is found after a delete that was cut off before it had an effect.
    /// That read has no inputs.
    pub(crate) async fn assert_found_after_cut_off_delete(&self) {
        let request = ReadRequest {
            inputs: &Value::Null,
            token: Some(&self.call.token),
            ..self.request()
        };
        let read = self.peer.session.read(&self.call, request).await;
        match read.unwrap() {
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

    /// Deletes the resource after a snapshot.
    pub(crate) async fn delete_after_snapshot(&mut self) -> Result<(), ProviderError> {
        self.delete_mode = DeleteMode::SnapshotFirst;
        let deleted = self.apply(Operation::Delete, &Json::Null).await;
        self.delete_mode = DeleteMode::Delete;
        deleted
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
