//! A simulated cloud: a provider that follows a catalogue and manages resources in memory. The
//! simulation is stricter than a real cloud and has scripted faults. Its own catalogue is the
//! namespace `test`; with the catalogue of another provider it stands in for that provider.
//!
//! All answers follow from the calls: ids and computed values are derived from a hash of instance,
//! address and the number of resources created there. The simulation uses no clock besides the
//! runtime's timer, for calls with a configured duration.
//!
//! Not here: any effect of the resources.

mod answers;
mod data;
mod journal;
mod matching_candidate;
mod object;
mod pattern;
mod plausible;
mod read_parts;
mod script;
mod secret_mask;
mod seed;
mod transforms;
mod values;
mod world;
mod world_file;

use std::collections::HashSet;
use std::future::pending;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use blueprint::{DeleteMode, FieldPath, Map, Name, TypeId, Value};
use provider::{
    Applied, ApplyRequest, BoxFuture, Call, Catalog, CheckFindings, CheckRequest, Configuration,
    Configured, Direction, ErrorKind, FetchRequest, Fetched, Fit, InvokeRequest, Observed,
    Operation, PlanRequest, Planned, Provider, ProviderError, ReadOutcome, ReadRequest, Readiness,
    Ready, ResourceType, Session, Transform, configured,
};

pub use self::journal::{EventLog, LoggedEvent};
pub use self::object::FakeObject;
pub use self::script::{FaultKind, ScriptedFault, When};
pub use self::world::{FakeCloud, OperationRefusal, SharedCloud};
pub use self::world_file::WorldError;

use self::object::{DesiredObject, RecordedValues};
use self::script::Script;
use crate::lazy_catalog::read_lazily;

const TEXT: &str = include_str!("catalog.json");

static CATALOG: LazyLock<Arc<Catalog>> = LazyLock::new(|| {
    let catalog = read_lazily(TEXT, finish);
    Arc::new(catalog.expect("the catalogue of `test` is part of the program"))
});

static WHOLE: LazyLock<Arc<Catalog>> = LazyLock::new(|| {
    let mut catalog =
        provider::read_catalog(TEXT).expect("the catalogue of `test` is part of the program");
    catalog
        .resource_types
        .values_mut()
        .map(Arc::make_mut)
        .for_each(finish);
    Arc::new(catalog)
});

/// Sets the capabilities that every simulated type has, also if the real type does not have them.
fn finish(resource_type: &mut ResourceType) {
    resource_type.capabilities.finds = true;
}

/// The catalogue of the namespace `test`. Types are read on first use.
pub fn catalog() -> Arc<Catalog> {
    CATALOG.clone()
}

/// The same catalogue with all types loaded.
pub fn whole_catalog() -> Arc<Catalog> {
    WHOLE.clone()
}

/// Called when a scripted crash ends the process.
pub type OnCrash = Arc<dyn Fn() + Send + Sync>;

/// The options of a simulated provider.
#[derive(Clone, Default)]
pub struct FakeOptions {
    /// The catalogue. `None` for the namespace `test`.
    pub catalog: Option<Arc<Catalog>>,
    /// The world. `None` for a new one.
    pub world: Option<SharedCloud>,
    /// The scripted faults.
    pub faults: Vec<ScriptedFault>,
    /// The real provider, which answers function calls and runs transforms, because both are pure.
    /// `None` if there is none.
    pub functions: Option<Arc<dyn Provider>>,
    /// Disables the [`EventLog`].
    pub disable_event_log: bool,
    /// Called when a scripted crash ends the process. The crashed call never returns, so its future
    /// must be dropped.
    pub on_crash: Option<OnCrash>,
}

/// A simulated provider.
pub fn provider(options: FakeOptions) -> FakeProvider {
    let catalog = options.catalog.unwrap_or_else(catalog);
    let ready = catalog
        .resource_types
        .values()
        .flat_map(|found| found.needs_stable.iter().cloned());
    let late = ready
        .chain(
            catalog
                .source
                .iter()
                .flat_map(|source| source.needed_stable()),
        )
        .collect();
    FakeProvider {
        late,
        catalog,
        world: options.world.unwrap_or_default(),
        script: Mutex::new(Script::new(options.faults)),
        journal: Mutex::new(EventLog {
            is_off: options.disable_event_log,
            ..EventLog::default()
        }),
        fit: Fit::new(),
        functions: options.functions,
        functions_session: tokio::sync::OnceCell::new(),
        on_crash: options.on_crash,
        crashed: AtomicBool::new(false),
    }
}

/// Manages the resources of a [`FakeCloud`].
pub struct FakeProvider {
    catalog: Arc<Catalog>,
    world: SharedCloud,
    script: Mutex<Script>,
    journal: Mutex<EventLog>,
    fit: Fit,
    /// Types that other types wait for. Their resources are not ready immediately.
    late: HashSet<Name>,
    functions: Option<Arc<dyn Provider>>,
    /// The session of the provider in `functions`, created when a function is first called.
    functions_session: tokio::sync::OnceCell<Arc<dyn Session>>,
    on_crash: Option<OnCrash>,
    crashed: AtomicBool,
}

/// Locks a mutex, and ignores a panic of another holder: the data is consistent between any two
/// statements.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes the objects of a world have the parts that documents read, each by a type and a path; see
/// [`FakeCloud::make_part`].
pub fn make_parts(world: &SharedCloud, parts: impl Iterator<Item = (TypeId, FieldPath)>) {
    let mut world = lock(world);
    parts.for_each(|(type_name, path)| world.make_part(type_name, path));
}

/// Sets the fields that the objects of a world get in place of generated ones; see
/// [`FakeCloud::set_answers`].
pub fn set_answers(world: &SharedCloud, answers: Vec<(Name, Value)>) {
    lock(world).set_answers(answers);
}

/// Changes fields of an object from outside, or deletes it if there are none. Returns whether the
/// object exists.
pub fn change_externally(
    world: &SharedCloud,
    instance: &str,
    address: &str,
    fields: Option<&Map>,
) -> bool {
    let mut world = lock(world);
    match fields {
        None => world.delete_externally(instance, address).is_ok(),
        Some(fields) => fields.iter().all(|(name, value)| {
            let changed = world.set(instance, address, name, value.clone());
            changed.is_ok()
        }),
    }
}

impl FakeProvider {
    /// The world of the provider's resources.
    pub fn world(&self) -> &SharedCloud {
        &self.world
    }

    /// The events so far.
    pub fn journal(&self) -> EventLog {
        lock(&self.journal).clone()
    }

    /// Whether a scripted crash has ended the process.
    pub fn has_crashed(&self) -> bool {
        self.crashed.load(Ordering::SeqCst)
    }

    fn resource_type(&self, name: &str) -> Result<Arc<ResourceType>, ProviderError> {
        self.catalog.resource_type(name).ok_or_else(|| {
            ProviderError::new(
                ErrorKind::Document,
                format!("there is no resource type `{name}` in the simulated cloud"),
            )
        })
    }

    /// Ends the process: no later call returns.
    async fn crash(&self) -> ProviderError {
        self.crashed.store(true, Ordering::SeqCst);
        if let Some(on_crash) = &self.on_crash {
            on_crash();
        }
        pending().await
    }

    async fn act(&self, call: &Call, request: ApplyRequest<'_>) -> Result<Applied, ProviderError> {
        let address: Name = call.address.to_string().into();
        let operation = request.operation;
        let _in_flight = InFlight::begin(&self.journal, operation, &address);
        not_cancelled(call)?;
        let resource_type = self.resource_type(request.type_name)?;
        let place = format!("{}/{address}", call.instance);
        lock(&self.world).remember_outcome(&place);

        let fault = lock(&self.script).take_fault(operation, &address);
        match fault {
            Some(FaultKind::Transient) => {
                return Err(ProviderError::new(
                    ErrorKind::Transient,
                    "the simulated cloud is busy",
                ));
            }
            Some(FaultKind::Throttled) => {
                return Err(ProviderError::new(
                    ErrorKind::Throttled,
                    "the simulated cloud has had too many calls",
                ));
            }
            Some(FaultKind::Permanent) => {
                return Err(ProviderError::new(
                    ErrorKind::Permanent,
                    "the simulated cloud refuses",
                ));
            }
            Some(FaultKind::Crash {
                when: When::Before,
                untraceable,
            }) => {
                if untraceable {
                    lock(&self.world).forget_outcome(&place);
                }
                return Err(self.crash().await);
            }
            _ => {}
        }
        let mut applied = self
            .work(call, &request, &resource_type, &address, &place)
            .await?;
        match fault {
            Some(FaultKind::Crash { untraceable, .. }) => {
                if untraceable {
                    lock(&self.world).forget_outcome(&place);
                }
                return Err(self.crash().await);
            }
            Some(FaultKind::Partial) => {
                let error = ProviderError::new(
                    ErrorKind::Permanent,
                    "the simulated cloud stopped half-way",
                );
                return Err(ProviderError {
                    partial: Some(Box::new(applied)).filter(|it| !it.id.is_empty()),
                    ..error
                });
            }
            Some(FaultKind::Lost) => {
                return Err(ProviderError::new(
                    ErrorKind::Transient,
                    "the answer was lost",
                ));
            }
            Some(FaultKind::Unsure) => {
                return Err(ProviderError::new(
                    ErrorKind::OutcomeUnknown,
                    "the connection broke during the call",
                ));
            }
            Some(FaultKind::Answer { set, drop }) => {
                let mut fields = applied.fields.as_map().cloned().unwrap_or_default();
                fields.retain(|name, _| !drop.contains(name));
                fields.extend(set);
                applied.fields = Value::Map(Arc::new(fields));
            }
            _ => {}
        }
        let mut journal = lock(&self.journal);
        journal.push(|| LoggedEvent::Ended(operation, address.clone()));
        if applied.ready == Ready::Yes && operation != Operation::Delete {
            journal.push(|| LoggedEvent::Ready(address));
        }
        Ok(applied)
    }

    /// Carries out a call without faults.
    async fn work(
        &self,
        call: &Call,
        request: &ApplyRequest<'_>,
        resource_type: &ResourceType,
        address: &Name,
        place: &str,
    ) -> Result<Applied, ProviderError> {
        if request.operation == Operation::Delete {
            if let Some(id) = request.id {
                let mut world = lock(&self.world);
                if request.delete_mode == DeleteMode::SnapshotFirst {
                    world.take_snapshot(id);
                }
                world.delete(resource_type, id).map_err(refused)?;
            }
            return Ok(Applied::ready("", Value::Null));
        }
        let secrets = secret_mask::SentSecrets::of(request.desired);
        let desired = request.desired.revealed();
        self.accepted(resource_type, &desired)?;
        wait(call, &desired).await?;
        let unsettled = match lock(&self.script).unready_polls(address) {
            Some(checks) => checks,
            None => Some(0),
        };
        let stable = unsettled == Some(0) && !self.late.contains(resource_type.name.name());
        let wish = DesiredObject {
            token: &call.token,
            sent: &desired,
            metadata: request.metadata,
            secrets,
            unsettled,
        };
        let mut world = lock(&self.world);
        let object = if request.operation == Operation::Create {
            world.create(resource_type, place, wish).map_err(refused)?
        } else {
            let Some(id) = request.id else {
                return Err(ProviderError::new(
                    ErrorKind::NotFound,
                    "an update needs the id of what it changes",
                ));
            };
            world.restore_secrets(
                resource_type,
                id,
                RecordedValues {
                    sent: request.prior_inputs,
                    fields: request.prior,
                },
            );
            let object = world
                .object(id)
                .filter(|object| object.type_name == resource_type.name);
            let object = object.ok_or_else(|| refused(OperationRefusal::NotFound))?;
            if let Some(path) =
                values::immutable_change(&resource_type.schema, &object.fields, &desired)
            {
                let message =
                    format!("`{path}` cannot be changed in place: the resource must be replaced");
                return Err(ProviderError::new(ErrorKind::Permanent, message).at(path));
            }
            world
                .update(resource_type, id, place, wish)
                .map_err(refused)?
        };
        let ready = if stable { Ready::Yes } else { Ready::Pending };
        Ok(Applied {
            ready,
            ..Applied::ready(object.id, object.fields)
        })
    }

    /// The session of the real provider, whose functions are called.
    async fn functions_of(
        &self,
        behind: &Arc<dyn Provider>,
        call: &Call,
    ) -> Result<&Arc<dyn Session>, ProviderError> {
        let with = || Configuration {
            name: self.catalog.namespaces.first().cloned().unwrap_or_default(),
            settings: call.settings.clone(),
            former: Value::Null,
            offline: false,
            root: call.root.clone(),
            log: call.progress.clone(),
        };
        let configure = || async {
            behind
                .clone()
                .configure(with())
                .await
                .map(|configured| configured.session)
        };
        self.functions_session.get_or_try_init(configure).await
    }

    /// Refuses a spec that does not match the catalogue exactly, or that contains a value that the
    /// catalogue rejects.
    fn accepted(&self, resource_type: &ResourceType, desired: &Value) -> Result<(), ProviderError> {
        if let Some(misfit) = self
            .fit
            .fields(desired, &resource_type.schema, Direction::Sent)
        {
            let message = if misfit.path.is_empty() {
                misfit.message
            } else {
                format!("`{}` {}", misfit.path, misfit.message)
            };
            return Err(ProviderError::new(ErrorKind::Document, message).at(misfit.path));
        }
        match rejected(resource_type, desired).next() {
            Some((field, message)) => {
                Err(ProviderError::new(ErrorKind::Document, message).at(field))
            }
            None => Ok(()),
        }
    }
}

/// The values of a spec that the catalogue rejects: field and message.
fn rejected<'a>(
    resource_type: &'a ResourceType,
    spec: &'a Value,
) -> impl Iterator<Item = (&'a str, &'a str)> {
    resource_type
        .rejects
        .iter()
        .filter(|rejection| {
            spec.get(&rejection.field)
                .is_some_and(|value| *value.unmarked() == rejection.equals)
        })
        .map(|rejection| (rejection.field.as_ref(), rejection.message.as_ref()))
}

fn not_cancelled(call: &Call) -> Result<(), ProviderError> {
    if call.cancel.is_cancelled() {
        return Err(ProviderError::new(
            ErrorKind::Cancelled,
            "the call was cancelled",
        ));
    }
    Ok(())
}

fn refused(refusal: OperationRefusal) -> ProviderError {
    match refusal {
        OperationRefusal::Taken { field } => ProviderError::new(
            ErrorKind::Conflict,
            format!("another object has this `{field}` already"),
        )
        .at(field.to_string()),
        OperationRefusal::NotFound => ProviderError::new(
            ErrorKind::NotFound,
            "the object does not exist in the simulated cloud",
        ),
        OperationRefusal::Unwritable(error) => ProviderError::new(
            ErrorKind::Permanent,
            format!("the simulated cloud cannot be written to its file: {error}"),
        ),
    }
}

/// Waits for the duration in the field `delayMs`. After a cancellation or the deadline the call
/// does nothing.
async fn wait(call: &Call, desired: &Value) -> Result<(), ProviderError> {
    let Some(delay) = desired
        .get("delayMs")
        .and_then(Value::as_int)
        .filter(|delay| *delay > 0)
    else {
        return Ok(());
    };
    let delay = Duration::from_millis(delay.unsigned_abs());
    let late = call.deadline.is_some_and(|deadline| deadline < delay);
    let pause = call.deadline.map_or(delay, |deadline| deadline.min(delay));
    tokio::select! {
        biased;
        () = call.cancel.cancelled() => not_cancelled(call),
        () = tokio::time::sleep(pause) => {
            if late { Err(ProviderError::new(ErrorKind::TimedOut, "the call took too long")) } else { Ok(()) }
        }
    }
}

/// Counts a call as running until the value is dropped.
struct InFlight<'a> {
    journal: &'a Mutex<EventLog>,
}

impl<'a> InFlight<'a> {
    fn begin(journal: &'a Mutex<EventLog>, operation: Operation, address: &Name) -> InFlight<'a> {
        let mut now = lock(journal);
        now.push(|| LoggedEvent::Began(operation, address.clone()));
        now.in_flight += 1;
        now.most_in_flight = now.most_in_flight.max(now.in_flight);
        InFlight { journal }
    }
}

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        lock(self.journal).in_flight -= 1;
    }
}

impl Provider for FakeProvider {
    fn catalog(&self) -> &Arc<Catalog> {
        &self.catalog
    }

    fn transform(&self, name: &str) -> Option<&dyn Transform> {
        match &self.functions {
            Some(behind) => behind.transform(name),
            None => transforms::named(name).filter(|_| self.catalog.transforms.contains_key(name)),
        }
    }

    fn configure(
        self: Arc<Self>,
        _: Configuration,
    ) -> BoxFuture<'static, Result<Configured, ProviderError>> {
        configured(self)
    }
}

impl Session for FakeProvider {
    fn check<'a>(
        &'a self,
        call: &'a Call,
        request: CheckRequest<'a>,
    ) -> BoxFuture<'a, Result<CheckFindings, ProviderError>> {
        Box::pin(async move {
            not_cancelled(call)?;
            let resource_type = self.resource_type(request.type_name)?;
            let mut checked = CheckFindings::default();
            for (field, message) in rejected(&resource_type, request.spec) {
                checked.refuse(field, message);
            }
            Ok(checked)
        })
    }

    fn plan<'a>(
        &'a self,
        call: &'a Call,
        request: PlanRequest<'a>,
    ) -> BoxFuture<'a, Result<Planned, ProviderError>> {
        Box::pin(async move {
            not_cancelled(call)?;
            let resource_type = self.resource_type(request.type_name)?;
            Ok(Planned::by_policy(Some(&resource_type), &request))
        })
    }

    fn read<'a>(
        &'a self,
        call: &'a Call,
        request: ReadRequest<'a>,
    ) -> BoxFuture<'a, Result<ReadOutcome, ProviderError>> {
        Box::pin(async move {
            not_cancelled(call)?;
            let resource_type = self.resource_type(request.type_name)?;
            let place = || format!("{}/{}", call.instance, call.address);
            let mut world = lock(&self.world);
            if world.is_outcome_unknown(place) {
                return Ok(ReadOutcome::Unknown);
            }
            let known = RecordedValues {
                sent: request.inputs,
                fields: request.outputs,
            };
            let object = match (request.id, request.token) {
                (Some(id), _) => world.read(&resource_type, id, known, place),
                (None, Some(token)) => {
                    if let Some(id) = world.by_token(token).map(|object| object.id.clone()) {
                        world.restore_secrets(&resource_type, &id, known);
                    }
                    world.by_token(token)
                }
                (None, None) => None,
            };
            Ok(
                match object.filter(|object| object.type_name == resource_type.name) {
                    Some(object) => ReadOutcome::Present(Observed {
                        id: object.id.clone(),
                        fields: object.fields.clone(),
                        private: Value::Null,
                        expired: None,
                        ..Observed::default()
                    }),
                    None => ReadOutcome::Absent,
                },
            )
        })
    }

    fn apply<'a>(
        &'a self,
        call: &'a Call,
        request: ApplyRequest<'a>,
    ) -> BoxFuture<'a, Result<Applied, ProviderError>> {
        Box::pin(self.act(call, request))
    }

    fn poll_ready<'a>(
        &'a self,
        call: &'a Call,
        request: ReadRequest<'a>,
    ) -> BoxFuture<'a, Result<Readiness, ProviderError>> {
        Box::pin(async move {
            not_cancelled(call)?;
            let mut world = lock(&self.world);
            let id = match (request.id, request.token) {
                (Some(id), _) => Some(Name::from(id)),
                (None, token) => token
                    .and_then(|token| world.by_token(token))
                    .map(|object| object.id.clone()),
            };
            let id = id
                .filter(|id| world.object(id).is_some())
                .ok_or_else(|| refused(OperationRefusal::NotFound))?;
            if !world.poll_ready(&id) {
                return Ok(Readiness::NOT_YET);
            }
            lock(&self.journal).push(|| LoggedEvent::Ready(call.address.to_string().into()));
            Ok(Readiness::Ready(Value::Null))
        })
    }

    fn fetch<'a>(
        &'a self,
        call: &'a Call,
        request: FetchRequest<'a>,
    ) -> BoxFuture<'a, Result<Fetched, ProviderError>> {
        Box::pin(async move {
            not_cancelled(call)?;
            match self.catalog.data_source_type(request.type_name) {
                Some(data_source_type) => {
                    let world = lock(&self.world);
                    let parts = world.parts_of(&data_source_type.name);
                    let mut fetched =
                        data::fetch(&data_source_type, request.filters, &self.fit, parts);
                    for candidate in &mut fetched.candidates {
                        let fields = std::mem::take(&mut candidate.fields);
                        candidate.fields = world.answers().of_type(fields, &data_source_type.name);
                    }
                    Ok(fetched)
                }
                None => {
                    let message = format!(
                        "there is no data source `{}` in the simulated cloud",
                        request.type_name
                    );
                    Err(ProviderError::new(ErrorKind::Document, message))
                }
            }
        })
    }

    fn invoke<'a>(
        &'a self,
        call: &'a Call,
        request: InvokeRequest<'a>,
    ) -> BoxFuture<'a, Result<Value, ProviderError>> {
        Box::pin(async move {
            not_cancelled(call)?;
            let known = data::function(&self.catalog, request.function);
            if let Some(rehearsed) = known.and_then(|function| function.rehearsed.clone()) {
                return Ok(rehearsed);
            }
            let offers = |behind: &&Arc<dyn Provider>| {
                data::function(behind.catalog(), request.function).is_some()
            };
            match self.functions.as_ref().filter(offers) {
                Some(behind) => {
                    self.functions_of(behind, call)
                        .await?
                        .invoke(call, request)
                        .await
                }
                None => data::call(
                    &self.catalog,
                    request.function,
                    request.arguments,
                    &self.fit,
                ),
            }
        })
    }
}
