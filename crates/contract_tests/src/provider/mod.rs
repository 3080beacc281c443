//! The suite of providers. The tests of every implementation run it.
//!
//! ```ignore
//! let setup = Setup::in_folder(folder.path());
//! let cases = [Case::new("local/file", spec).changed(other_spec)];
//! let failures = contract_tests::provider::check(|| Arc::new(local::provider()), &setup, &cases).await;
//! assert!(failures.is_empty(), "{failures:#?}");
//! ```
//!
//! Every resource type of the catalogue needs a case. For each case the suite creates, reads,
//! updates and deletes one resource, repeats the calls that must be idempotent, and compares each
//! answer with the catalogue. It makes a new provider with `make` for every few calls, as if the
//! process had ended: a provider must not depend on data that it keeps in memory between calls.
//!
//! If the provider takes part in planning, each operation is planned before: in a preview with and
//! without unknown values, and again before the call. The answers must agree with each other and
//! with the operation. Directly after an operation the provider must find no difference.
//!
//! Not here: special behaviour of a type (the implementation's own tests), data sources and
//! functions.

mod planning;
mod transforms;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use blueprint::{Address, Kind, Map, Name, Schema, TypeId, Value};
use tokio_util::sync::CancellationToken;

use provider::{
    Applied, ApplyRequest, BoxFuture, Call, Catalog, CheckRequest, Configuration, Direction,
    ErrorKind, Fit, Observed, Operation, Provider, ProviderError, ProviderSeverity, ReadOutcome,
    ReadRequest, Readiness, Ready, ResourceType, Session,
};

pub use transforms::check_transforms;

/// The environment of the suite's calls.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The folder of the document, for reads and writes.
    pub folder: PathBuf,
    /// The settings of the namespace: a map.
    pub settings: Value,
    /// The time of every call, in seconds since 1970 UTC.
    pub now: i64,
    /// Whether every type must have docs and an example. Only a simulated provider does without
    /// them.
    pub documented: bool,
    /// What the suite waits for between two questions whether a resource is ready. Without it, it
    /// asks again at once.
    pub between_polls: Option<fn() -> BoxFuture<'static, ()>>,
}

impl Setup {
    /// Returns a setup for calls in a folder without settings, at 2023-01-02T15:04:05Z.
    pub fn in_folder(folder: impl AsRef<Path>) -> Setup {
        Setup {
            folder: folder.as_ref().to_path_buf(),
            settings: Value::Map(Arc::default()),
            now: 1_672_671_845,
            documented: true,
            between_polls: None,
        }
    }
}

/// One resource type under test.
#[derive(Clone, Debug)]
pub struct Case {
    /// The type.
    pub type_name: Name,
    /// The smallest valid spec. The suite fills in defaults like the engine.
    pub spec: Value,
    /// A spec that the resource can be updated to in place. `None` if the type has no such update.
    pub changed: Option<Value>,
    /// An id of the right form that no resource has.
    pub absent_id: Name,
    /// Whether the resource exists only in the state, such as a random number, so that its absence
    /// cannot be read.
    pub stateless: bool,
    /// Whether the provider cannot tell from a token whether a create was made before.
    pub forgets_tokens: bool,
    /// Whether a create of what exists is refused by its plan, also under the same token. A create
    /// that was cut off must then be found by a read with its inputs.
    pub refuses_existing: bool,
}

impl Case {
    /// Returns a case without an update in place.
    pub fn new(type_name: &str, spec: Value) -> Case {
        Case {
            type_name: type_name.into(),
            spec,
            changed: None,
            absent_id: "never-existed".into(),
            stateless: false,
            forgets_tokens: false,
            refuses_existing: false,
        }
    }

    /// Sets a spec that the resource can be updated to in place.
    pub fn changed(mut self, spec: Value) -> Case {
        self.changed = Some(spec);
        self
    }

    /// Sets an id of the right form that no resource has.
    pub fn absent_id(mut self, id: &str) -> Case {
        self.absent_id = id.into();
        self
    }

    /// Marks the resource as existing only in the state: after a delete it need not be absent, and
    /// a second create may make another one.
    pub fn stateless(mut self) -> Case {
        self.stateless = true;
        self
    }

    /// Marks the provider as unable to tell from a token whether a create was made before.
    pub fn forgets_tokens(mut self) -> Case {
        self.forgets_tokens = true;
        self
    }

    /// Marks the type as one whose objects have unique names: the plan of a create refuses what
    /// exists.
    pub fn refuses_existing(mut self) -> Case {
        self.refuses_existing = true;
        self
    }
}

/// Runs the suite. Returns one message per failure; empty on success.
///
/// All providers from `make` must manage the same resources, like several processes in the same
/// environment.
pub async fn check(
    make: impl Fn() -> Arc<dyn Provider>,
    setup: &Setup,
    cases: &[Case],
) -> Vec<String> {
    let mut failures = Vec::new();
    let provider = make();
    let catalog = provider.catalog().clone();
    if !Arc::ptr_eq(&catalog, provider.catalog()) {
        failures.push("the catalogue is built again at every call".into());
    }
    check_catalog(&catalog, setup, &mut failures);
    for name in catalog.few_resource_types().map(|found| found.name.clone()) {
        if !cases.iter().any(|case| name == case.type_name) {
            failures.push(format!("{name}: there is no case"));
        }
    }
    for (number, case) in cases.iter().enumerate() {
        let Some(resource_type) = catalog.resource_type(&case.type_name) else {
            failures.push(format!(
                "{}: the catalogue has no such type",
                case.type_name
            ));
            continue;
        };
        let mut run = Run {
            make: &make,
            setup,
            case,
            resource_type: &resource_type,
            address: Address::root(format!("thing{number}")),
            fit: Fit::new(),
            open: Mutex::default(),
            shown: Arc::default(),
            secrets: Vec::new(),
            failures: &mut failures,
        };
        run.life_cycle().await;
        run.close().await;
        run.check_no_secret_shown();
    }
    failures
}

/// Checks the catalogue alone.
fn check_catalog(catalog: &Catalog, setup: &Setup, failures: &mut Vec<String>) {
    let mut kind = |name: &TypeId, docs: Option<&Name>, example: Option<&Name>| {
        if !catalog
            .namespaces
            .iter()
            .any(|own| own.as_ref() == name.package_name())
        {
            failures.push(format!(
                "{name}: is outside the namespaces of the catalogue"
            ));
        }
        if setup.documented && docs.is_some_and(|docs| docs.is_empty()) {
            failures.push(format!("{name}: has no docs"));
        }
        if setup.documented && example.is_some_and(|example| example.is_empty()) {
            failures.push(format!("{name}: has no example"));
        }
    };
    for found in catalog.few_resource_types() {
        kind(&found.name, Some(&found.docs), Some(&found.example));
    }
    for found in catalog.few_data_source_types() {
        kind(&found.name, Some(&found.docs), Some(&found.example));
    }
    for name in catalog.variable_types.keys() {
        kind(&name.into(), None, None);
    }
    if setup.documented && catalog.docs.is_empty() {
        failures.push("the catalogue has no docs".into());
    }
}

/// One running case.
struct Run<'a, M> {
    make: &'a M,
    setup: &'a Setup,
    case: &'a Case,
    resource_type: &'a ResourceType,
    address: Address,
    fit: Fit,
    /// The current session.
    open: Mutex<Option<Arc<dyn Session>>>,
    /// All text for users: progress, warnings, errors.
    shown: Arc<Mutex<Vec<String>>>,
    /// The texts that must not occur in `shown`.
    secrets: Vec<Name>,
    failures: &'a mut Vec<String>,
}

impl<M: Fn() -> Arc<dyn Provider>> Run<'_, M> {
    /// Runs the whole life cycle of one resource.
    async fn life_cycle(&mut self) {
        let spec = with_defaults(&self.case.spec, &self.resource_type.schema);
        self.check_spec_fits(&spec);
        let sent = self.mark_secrets(&spec);
        self.check_spec(&sent).await;
        self.check_absent_id().await;
        self.check_cancellation(&sent).await;

        let Some(made) = self.create(&sent, "create").await else {
            return;
        };
        self.check_answer(&made, &spec, "create");
        if self.case.refuses_existing {
            self.check_existing_is_refused(&sent).await;
            self.check_read_by_token(&made, &sent).await;
        } else if !self.case.forgets_tokens && !self.case.stateless {
            if let Some(again) = self.create(&sent, "create").await
                && again.id != made.id
            {
                self.fail("a create under the same token made a second resource");
            }
            self.check_read_by_token(&made, &sent).await;
        }
        self.check_becomes_ready(&made).await;
        self.check_read(&made, &sent, "create").await;

        let mut latest = (made, sent);
        self.check_upgrade(&latest).await;
        self.check_no_difference(&latest, "create").await;
        if let Some(changed) = &self.case.changed {
            let changed = with_defaults(changed, &self.resource_type.schema);
            self.check_spec_fits(&changed);
            let desired = self.mark_secrets(&changed);
            if let Some(updated) = self.update(&latest, &desired).await {
                self.check_answer(&updated, &changed, "update");
                if updated.id != latest.0.id {
                    self.fail("an update in place changed the id");
                }
                self.check_becomes_ready(&updated).await;
                self.check_read(&updated, &desired, "update").await;
                latest = (updated, desired);
                self.check_no_difference(&latest, "update").await;
            }
        }

        for time in ["a delete", "a second delete"] {
            if let Err(error) = self.delete(&latest).await {
                self.fail(format!("{time} failed: {error}"));
            }
        }
        if !self.case.stateless
            && self.resource_type.capabilities.reads
            && let Some(seen) = self
                .read(Some(&latest.0.id), &latest.1, &latest.0, None)
                .await
            && !matches!(seen, ReadOutcome::Absent)
        {
            self.fail("a deleted resource is still read");
        }
    }

    fn fail(&mut self, message: impl Into<String>) {
        self.failures
            .push(format!("{}: {}", self.case.type_name, message.into()));
    }

    fn call(&self, token: &str) -> Call {
        let shown = self.shown.clone();
        Call {
            call_records: None,
            instances: None,
            instance: "conformance".into(),
            address: self.address.clone(),
            urn: Default::default(),
            token: format!("{}-{token}", self.address).into(),
            deadline: None,
            cancel: CancellationToken::new(),
            root: self.setup.folder.as_path().into(),
            folder: self.setup.folder.as_path().into(),
            settings: self.setup.settings.clone(),
            files: provider::FileAccess::default(),
            now: self.setup.now,
            progress: Arc::new(move |line: &str| {
                shown
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .push(line.into())
            }),
        }
    }

    /// Opens a session of a new provider, as if the process had ended. Closes the previous session.
    async fn open_session(&self) -> Result<Arc<dyn Session>, ProviderError> {
        self.close().await;
        let with = Configuration {
            name: self.resource_type.name.package_name().into(),
            settings: self.setup.settings.clone(),
            former: Value::Null,
            offline: false,
            root: self.setup.folder.as_path().into(),
            log: self.call("configure").progress,
        };
        let configured = self.with_error_recorded((self.make)().configure(with).await)?;
        configured
            .diagnostics
            .iter()
            .for_each(|diagnostic| self.record_shown(diagnostic.text()));
        *self.open.lock().unwrap_or_else(PoisonError::into_inner) =
            Some(configured.session.clone());
        Ok(configured.session)
    }

    /// Closes the current session.
    async fn close(&self) {
        let open = self
            .open
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(session) = open {
            session.close().await;
        }
    }

    async fn session(&mut self) -> Option<Arc<dyn Session>> {
        match self.open_session().await {
            Ok(session) => Some(session),
            Err(error) => {
                self.fail(format!("configure failed: {error}"));
                None
            }
        }
    }

    fn record_shown(&self, line: String) {
        self.shown
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(line);
    }

    /// Records the text of an error, and passes the result on.
    fn with_error_recorded<T>(&self, result: Result<T, ProviderError>) -> Result<T, ProviderError> {
        if let Err(error) = &result {
            self.record_shown(format!("{error} {error:?}"));
        }
        result
    }

    /// The spec as the engine sends it, with sensitive fields marked secret.
    fn mark_secrets(&mut self, spec: &Value) -> Value {
        let Value::Map(fields) = spec else {
            return spec.clone();
        };
        let schema = &self.resource_type.schema;
        let marked = fields.iter().map(|(name, value)| {
            let sensitive = schema.fields.get(name).is_some_and(|field| field.sensitive);
            if (sensitive || value.has_secret())
                && let Value::Text(text) = value.unmarked()
            {
                self.secrets.push(text.clone());
            }
            (name.clone(), value.clone().tainted(sensitive))
        });
        Value::Map(Arc::new(marked.collect()))
    }

    /// Checks the spec of the case, so that a mistake in it is not reported as one of the provider.
    fn check_spec_fits(&mut self, spec: &Value) {
        if let Some(misfit) = self.fit.fields(
            &spec.revealed(),
            &self.resource_type.schema,
            Direction::Sent,
        ) {
            self.fail(format!(
                "the spec of the case does not fit the catalogue: `{}` {}",
                misfit.path, misfit.message
            ));
        }
    }

    async fn check_spec(&mut self, sent: &Value) {
        if !self.resource_type.capabilities.checks {
            return;
        }
        let Some(session) = self.session().await else {
            return;
        };
        let call = self.call("check");
        let request = CheckRequest {
            type_name: &self.case.type_name,
            spec: sent,
        };
        match self.with_error_recorded(session.check(&call, request).await) {
            Ok(checked) => {
                for diagnostic in checked.diagnostics {
                    if diagnostic.severity == ProviderSeverity::Error {
                        self.fail(format!(
                            "check refuses the spec of the case at `{}`: {}",
                            diagnostic.path, diagnostic.summary
                        ));
                    }
                    self.record_shown(diagnostic.text());
                }
            }
            Err(error) => self.fail(format!("check failed: {error}")),
        }
    }

    async fn check_absent_id(&mut self) {
        if self.case.stateless || !self.resource_type.capabilities.imports {
            return;
        }
        let id = self.case.absent_id.clone();
        let nothing = Applied::deleted();
        if let Some(seen) = self.read(Some(&id), &Value::Null, &nothing, None).await
            && !matches!(seen, ReadOutcome::Absent)
        {
            self.fail(format!("`{id}` never existed, and a read finds it"));
        }
    }

    async fn check_cancellation(&mut self, sent: &Value) {
        if self.case.stateless {
            return;
        }
        let Some(session) = self.session().await else {
            return;
        };
        let call = self.call("cancelled");
        call.cancel.cancel();
        let request = self.create_request(sent);
        match self.with_error_recorded(session.apply(&call, request).await) {
            Err(error) if error.kind == ErrorKind::Cancelled => {}
            Err(error) => self.fail(format!(
                "a create cancelled before its start failed with another error: {error}"
            )),
            Ok(_) => self.fail("a create cancelled before its start was made"),
        }
        if let Some(ReadOutcome::Present(_)) = self.read_token("cancelled", sent).await {
            self.fail("a create cancelled before its start made a resource");
        }
    }

    fn create_request<'r>(&'r self, sent: &'r Value) -> ApplyRequest<'r> {
        ApplyRequest {
            operation: Operation::Create,
            type_name: &self.case.type_name,
            id: None,
            prior_inputs: &Value::Null,
            prior: &Value::Null,
            desired: sent,
            schema_version: self.resource_type.schema_version,
            planned: &Value::Null,
            private: &Value::Null,
            sources: &[],
            metadata: &Value::Null,
            delete_mode: blueprint::DeleteMode::Delete,
        }
    }

    async fn delete(&mut self, latest: &(Applied, Value)) -> Result<Applied, ProviderError> {
        let private = self
            .planned_delete(latest)
            .await
            .unwrap_or_else(|| latest.0.private.clone());
        let (prior, sent) = latest;
        let prior_inputs = prior.inputs.as_ref().unwrap_or(sent);
        let session = self.open_session().await?;
        let call = self.call("delete");
        let request = ApplyRequest {
            operation: Operation::Delete,
            type_name: &self.case.type_name,
            id: Some(&prior.id),
            prior_inputs,
            prior: &prior.fields,
            desired: &Value::Null,
            schema_version: self.resource_type.schema_version,
            planned: &Value::Null,
            private: &private,
            sources: &[],
            metadata: &Value::Null,
            delete_mode: blueprint::DeleteMode::Delete,
        };
        let result = self.with_error_recorded(session.apply(&call, request).await);
        if let Ok(applied) = &result {
            applied
                .diagnostics
                .iter()
                .for_each(|diagnostic| self.record_shown(diagnostic.text()));
        }
        result
    }

    /// Checks that an answer has an id, all declared fields, and the sent fields unchanged.
    fn check_answer(&mut self, applied: &Applied, spec: &Value, after: &str) {
        applied
            .diagnostics
            .iter()
            .for_each(|diagnostic| self.record_shown(diagnostic.text()));
        if applied.id.is_empty() {
            self.fail(format!("the answer to {after} has no id"));
        }
        self.check_fields(&applied.fields, after);
        for (name, value) in spec.as_map().into_iter().flatten() {
            let answer = applied.fields.revealed();
            let kept = || {
                answer
                    .get(name)
                    .is_some_and(|answer| same(answer, &value.revealed()))
            };
            if self.resource_type.capabilities.exact && !value.is_null() && !kept() {
                self.fail(format!(
                    "the answer to {after} changes `{name}`, which was sent"
                ));
            }
        }
    }

    fn check_fields(&mut self, fields: &Value, after: &str) {
        let direction = match self.resource_type.capabilities.partial {
            true => Direction::AnsweredAsIs,
            false => Direction::Answered,
        };
        let schema = &self.resource_type.schema;
        if let Some(misfit) = self.fit.fields(&fields.revealed(), schema, direction) {
            let at = if misfit.path.is_empty() {
                String::new()
            } else {
                format!(" `{}`", misfit.path)
            };
            self.fail(format!(
                "the fields after {after} are not as declared:{at} {}",
                misfit.message
            ));
        }
    }

    async fn check_becomes_ready(&mut self, applied: &Applied) {
        match &applied.ready {
            Ready::Yes => return,
            Ready::Broken(why) => return self.fail(format!("is broken: {}", why.join(", "))),
            Ready::Pending => {}
        }
        let Some(session) = self.session().await else {
            return;
        };
        let call = self.call("ready");
        let request = || ReadRequest {
            type_name: &self.case.type_name,
            id: Some(&applied.id),
            inputs: &Value::Null,
            outputs: &applied.fields,
            schema_version: self.resource_type.schema_version,
            private: &applied.private,
            token: None,
        };
        for _ in 0..100 {
            match self.with_error_recorded(session.poll_ready(&call, request()).await) {
                Ok(Readiness::Ready(_)) => return,
                Ok(Readiness::NotYet { .. }) => {
                    if let Some(pause) = self.setup.between_polls {
                        pause().await;
                    }
                }
                Ok(Readiness::Broken(why)) => {
                    return self.fail(format!("is broken: {}", why.join(", ")));
                }
                Err(error) => {
                    return self.fail(format!("the question whether it is ready failed: {error}"));
                }
            }
        }
        self.fail("is not ready after 100 questions");
    }

    async fn read(
        &mut self,
        id: Option<&str>,
        inputs: &Value,
        known: &Applied,
        token: Option<&str>,
    ) -> Option<ReadOutcome> {
        let session = self.session().await?;
        let call = self.call("read");
        let request = ReadRequest {
            type_name: &self.case.type_name,
            id,
            inputs,
            outputs: &known.fields,
            schema_version: self.resource_type.schema_version,
            private: &known.private,
            token,
        };
        match self.with_error_recorded(session.read(&call, request).await) {
            Ok(seen) => {
                if let ReadOutcome::Present(observed) = &seen {
                    observed
                        .diagnostics
                        .iter()
                        .for_each(|diagnostic| self.record_shown(diagnostic.text()));
                }
                Some(seen)
            }
            Err(error) => {
                self.fail(format!("read failed: {error}"));
                None
            }
        }
    }

    /// Reads what a create under a token made, as after a run that was cut off: with the inputs.
    async fn read_token(&mut self, token: &str, sent: &Value) -> Option<ReadOutcome> {
        if !self.resource_type.capabilities.reads {
            return None;
        }
        let token = self.call(token).token;
        let nothing = Applied::deleted();
        self.read(None, sent, &nothing, Some(&token)).await
    }

    async fn check_read_by_token(&mut self, made: &Applied, sent: &Value) {
        match self.read_token("create", sent).await {
            Some(ReadOutcome::Unknown) if self.case.refuses_existing => {
                self.fail("the inputs of the create do not tell whether it was made")
            }
            Some(ReadOutcome::Present(found)) if found.id != made.id => {
                self.fail("the token of the create finds another resource")
            }
            Some(ReadOutcome::Absent) => self.fail("the token of the create finds nothing"),
            _ => {}
        }
    }

    async fn check_read(&mut self, applied: &Applied, sent: &Value, after: &str) {
        if !self.resource_type.capabilities.reads {
            return;
        }
        match self.read(Some(&applied.id), sent, applied, None).await {
            Some(ReadOutcome::Present(Observed {
                id,
                fields,
                private,
                ..
            })) => {
                if private != applied.private {
                    self.fail(format!("the opaque data after {after} is read differently"));
                }
                if id != applied.id {
                    self.fail(format!("the id after {after} is read differently"));
                }
                self.check_fields(&fields, &format!("{after} and read"));
                let (fields, answer) = (fields.revealed(), applied.fields.revealed());
                if self.resource_type.capabilities.partial {
                    // Others may have changed the rest since.
                    if !same_where_sent(&fields, &answer, &sent.revealed()) {
                        self.fail(format!("what was sent is read differently after {after}"));
                    }
                    return;
                }
                for (name, field) in &self.resource_type.schema.fields {
                    let compared = if field.computed {
                        field.track_drift
                    } else {
                        !field.ignore_drift
                    };
                    let present_value =
                        |value: &Value| value.get(name).filter(|value| !value.is_null()).cloned();
                    let equal = match (present_value(&fields), present_value(&answer)) {
                        (Some(read), Some(answered)) => same(&read, &answered),
                        (read, answered) => read.is_none() && answered.is_none(),
                    };
                    if compared && !equal {
                        self.failures.push(format!(
                            "{}: `{name}` is read differently after {after}",
                            self.case.type_name
                        ));
                    }
                }
            }
            Some(ReadOutcome::Absent) => self.fail(format!("is gone right after {after}")),
            Some(ReadOutcome::Unknown) => {
                self.fail(format!("cannot be read by its id after {after}"))
            }
            None => {}
        }
    }

    fn check_no_secret_shown(&mut self) {
        let shown = self
            .shown
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .join("\n");
        if self
            .secrets
            .iter()
            .any(|secret| !secret.is_empty() && shown.contains(secret.as_ref()))
        {
            self.fail("a secret stands in an error, a warning or progress");
        }
    }
}

/// A spec with the defaults of its schema.
fn with_defaults(spec: &Value, schema: &Schema) -> Value {
    let Value::Map(fields) = spec else {
        return spec.clone();
    };
    let mut filled = Map::default();
    for (name, value) in fields.iter() {
        let value = match schema.fields.get(name).map(|field| &field.kind) {
            Some(Kind::Object(inner)) => with_defaults(value, inner),
            _ => value.clone(),
        };
        filled.insert(name.clone(), value);
    }
    for (name, field) in &schema.fields {
        if let Some(default) = &field.default
            && !filled.contains_key(name)
        {
            filled.insert(name.clone(), default.clone());
        }
    }
    Value::Map(Arc::new(filled))
}

/// Whether two values are equal at everything that a spec sets.
fn same_where_sent(one: &Value, other: &Value, sent: &Value) -> bool {
    match (one, other, sent) {
        (Value::Map(one), Value::Map(other), Value::Map(sent)) => {
            sent.iter()
                .all(|(name, sent)| match (one.get(name), other.get(name)) {
                    (Some(one), Some(other)) => same_where_sent(one, other, sent),
                    (one, other) => one.is_none() && other.is_none(),
                })
        }
        (Value::List(one), Value::List(other), Value::List(sent)) if one.len() == sent.len() => {
            let all = one.iter().zip(other.iter()).zip(sent.iter());
            one.len() == other.len() && { all }
                .all(|((one, other), sent)| same_where_sent(one, other, sent))
        }
        _ => same(one, other),
    }
}

/// Whether two values are equal for the state: an integer equals a float of the same value, and
/// sets have no order.
fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Int(a), Value::Float(b)) | (Value::Float(b), Value::Int(a)) => *a as f64 == *b,
        (Value::List(a), Value::List(b)) => {
            a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| same(a, b))
        }
        (Value::Set(a), Value::Set(b) | Value::List(b)) | (Value::List(b), Value::Set(a)) => {
            a.iter().all(|a| b.iter().any(|b| same(a, b)))
                && b.iter().all(|b| a.iter().any(|a| same(a, b)))
        }
        (Value::Map(a), Value::Map(b)) => {
            // An answer may add entries. All sent entries must be in it unchanged.
            b.iter()
                .all(|(key, b)| a.get(key).is_some_and(|a| same(a, b)))
        }
        (a, b) => a == b,
    }
}
