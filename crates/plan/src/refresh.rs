//! Reads the recorded resources, and the resources whose calls were cut off.
//!
//! Not here: settling calls that were cut off (`settle`).

use std::sync::Arc;
use std::task::Poll;

use blueprint::{Address, IndexMap, Name, TypeId, Value};
use diag::{Diagnostic, Diagnostics, Severity};
use evaluate::answers::{Answers, PinnedRead};
use evaluate::question::{RecordedInstances, ResourceTarget};
use evaluate::retry::{code_of, failure, max_concurrent};
use evaluate::world::World;
use futures::StreamExt as _;
use futures::stream::FuturesUnordered;
use provider::{
    Catalogs, Observed, ProviderDiagnostic, ProviderError, ReadOutcome, ReadRequest, TypeRef,
};
use state::{OpenIntent, Record, Snapshot, StatusOp};
use understand::compare::same;

use crate::addresses::SelectedAddresses;
use crate::codes;
use crate::cut_off::fill_unknown_inputs;
use crate::imports::pinned;
use crate::options::Adoption;

/// A resource that could not be read.
pub(crate) struct Unread {
    /// Its address.
    pub(crate) address: Address,
    /// The code under which it is reported.
    pub(crate) code: &'static diag::Code,
    /// The message of the provider.
    pub(crate) message: Name,
    /// The diagnostic, if its provider cannot be used at all.
    of_provider: Option<Box<Diagnostic>>,
    /// The reason of the read.
    pub(crate) cause: ReadCause,
}

/// The results of a refresh, besides the answers that a plan stores.
#[derive(Default)]
pub(crate) struct Refreshed {
    /// The resources that could not be read.
    pub(crate) unread: Vec<Unread>,
    /// The diagnostics of providers about the resources that they read.
    pub(crate) diagnostics: Vec<(Address, Vec<ProviderDiagnostic>)>,
}

/// The reason of a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReadCause {
    /// The resource is recorded.
    Recorded,
    /// A call was cut off. Without an answer, the user must say what became of the resource
    /// (`settle`).
    CutOff,
    /// The delete of a deposed object was cut off. The object that replaced it is read as well.
    Deposed,
    /// A create failed, and may have been carried out anyway.
    Unsure,
}

/// The recorded resources that are read.
#[derive(Clone, Copy)]
pub(crate) struct ReadScope<'a> {
    /// None, only the resources whose calls were cut off.
    pub(crate) only_cut_off: bool,
    /// Only these; all if there are none.
    pub(crate) only: &'a SelectedAddresses,
}

/// Reads every recorded resource, and every resource whose call was cut off, into `answers`. After
/// a cut-off call or a failed create, the read uses the id that the user gave, if any. Returns the
/// resources that could not be read, and diagnostics, in the order of the records.
pub(crate) async fn refresh(
    snapshot: &Snapshot,
    scope: ReadScope<'_>,
    adopted: &[Adoption],
    catalogs: &Catalogs,
    world: &dyn World,
    answers: &mut Answers,
) -> Refreshed {
    // For each type: whether its resources can be read, and how many there are.
    let mut types: IndexMap<&TypeId, (bool, usize)> = IndexMap::default();
    for record in snapshot.records.values() {
        types
            .entry(&record.type_name)
            .or_insert_with(|| (reads(catalogs, record), 0))
            .1 += 1;
    }
    let recorded = snapshot.records.iter().filter(|(address, record)| {
        let is_open = |open: &OpenIntent| !open.intent.deposed;
        let asked_otherwise =
            attempt_of(record).is_some() || snapshot.open.get(*address).is_some_and(is_open);
        let reads = || {
            types
                .get(&record.type_name)
                .is_some_and(|(reads, _)| *reads)
        };
        let within = scope.only.is_empty() || scope.only.covers(address);
        !scope.only_cut_off && within && !record.id.is_empty() && !asked_otherwise && reads()
    });
    let instances = &RecordedInstances::of(snapshot);
    let questions = recorded.map(|(address, record)| read_again(address, record, instances));
    let completed = completed_inputs(snapshot);
    let cut_off = snapshot.open.iter().map(|(address, open)| {
        let inputs = completed.get(address).unwrap_or(&open.intent.inputs);
        let record = snapshot.records.get(address).map(Arc::as_ref);
        let adopted_id = adopted_id(adopted, address);
        read_cut_off(address, open, inputs, record, adopted_id, instances)
    });
    let unsure = snapshot
        .records
        .iter()
        .filter(|(address, _)| !snapshot.open.contains_key(*address))
        .filter_map(|(address, record)| {
            let (attempt, token) = attempt_of(record)?;
            let adopted_id = adopted_id(adopted, address);
            Some(read_unsure(address, attempt, token, adopted_id, instances))
        });
    // Providers are asked concurrently, so that none waits for a slow one.
    let mut of_namespace: IndexMap<&str, usize> = IndexMap::default();
    for (name, (_, count)) in &types {
        *of_namespace.entry(name.package_name()).or_default() += count;
    }
    let mut questions_by_provider: IndexMap<&str, Vec<(usize, ResourceRead<'_>)>> =
        IndexMap::default();
    for (number, question) in questions.chain(cut_off).chain(unsure).enumerate() {
        let namespace = question.target.namespace;
        let room = || Vec::with_capacity(of_namespace.get(namespace).copied().unwrap_or_default());
        questions_by_provider
            .entry(namespace)
            .or_insert_with(room)
            .push((number, question));
    }
    let lanes = questions_by_provider
        .into_iter()
        .map(|(namespace, questions)| {
            let most = max_concurrent(
                catalogs
                    .of(namespace)
                    .map_or(0, |catalog| catalog.max_parallel),
            );
            ask(questions, most, snapshot, instances, catalogs, world)
        });
    let mut all = ReadAnswers::default();
    for answers_of_one in futures::future::join_all(lanes).await {
        all.seen.extend(answers_of_one.seen);
        all.deposed.extend(answers_of_one.deposed);
        all.unread.extend(answers_of_one.unread);
        all.diagnostics.extend(answers_of_one.diagnostics);
    }
    store(all, answers)
}

/// Stores the answers of all providers in the order of the questions, because they come in any
/// order and a plan is the same each time.
fn store(mut all: ReadAnswers<'_>, answers: &mut Answers) -> Refreshed {
    all.seen.sort_unstable_by_key(|(number, ..)| *number);
    all.deposed.sort_unstable_by_key(|(number, ..)| *number);
    all.unread.sort_unstable_by_key(|(number, _)| *number);
    all.diagnostics.sort_unstable_by_key(|(number, ..)| *number);
    let seen = all.seen.into_iter();
    answers
        .seen
        .extend(seen.map(|(_, address, seen)| (address.clone(), seen)));
    let deposed = all.deposed.into_iter();
    answers
        .deposed
        .extend(deposed.map(|(_, address, seen)| (address.clone(), seen)));
    let unread: Vec<Unread> = all.unread.into_iter().map(|(_, unread)| unread).collect();
    answers.unread.extend(
        unread
            .iter()
            .map(|unread| (unread.address.clone(), unread.message.clone())),
    );
    answers.refreshed = true;
    let diagnostics = all.diagnostics.into_iter();
    Refreshed {
        unread,
        diagnostics: diagnostics
            .map(|(_, address, diagnostics)| (address.clone(), diagnostics))
            .collect(),
    }
}

/// The inputs of cut-off calls that were recorded with unknown parts. Versions before 0.2 wrote the
/// intent of a create before its whole spec was known.
fn completed_inputs(snapshot: &Snapshot) -> IndexMap<&Address, Value> {
    let open = snapshot.open.iter();
    open.filter(|(_, open)| open.intent.inputs.has_unknown())
        .map(|(address, open)| {
            let inputs = fill_unknown_inputs(&open.intent.inputs, &Value::Null);
            (address, inputs)
        })
        .collect()
}

/// The id that the user gave for the object of a cut-off call or a failed create.
fn adopted_id<'a>(adopted: &'a [Adoption], address: &Address) -> Option<&'a str> {
    adopted
        .iter()
        .find(|adoption| adoption.address == *address)
        .and_then(|adoption| adoption.id.as_deref())
}

/// The read that shows what became of a cut-off call.
fn read_cut_off<'a>(
    address: &'a Address,
    open: &'a OpenIntent,
    inputs: &'a Value,
    record: Option<&'a Record>,
    adopted_id: Option<&'a str>,
    instances: &'a RecordedInstances,
) -> ResourceRead<'a> {
    let intent = &open.intent;
    let record = if intent.deposed {
        record.and_then(|record| record.deposed.as_deref())
    } else {
        record
    };
    let is_create = intent.op == StatusOp::Create;
    // What is recorded before a create is about another object.
    let same_object = record.filter(|_| !is_create);
    let intent_id = match intent.id.as_ref() {
        "" => same_object.map(|record| record.id.as_ref()),
        named => Some(named),
    };
    let target = ResourceTarget::new(address, &intent.type_name, intent.site());
    ResourceRead {
        target: target.managed_by(instances.get(intent.provider.as_ref())),
        request: ReadRequest {
            type_name: &intent.type_name,
            id: adopted_id.or(intent_id),
            inputs,
            outputs: same_object.map_or(&Value::Null, |record| &record.outputs),
            schema_version: same_object.map_or(0, |record| record.schema_version),
            private: if is_create {
                &intent.private
            } else {
                record.map_or(&Value::Null, |record| &record.private)
            },
            token: Some(&intent.token),
        },
        cause: if intent.deposed {
            ReadCause::Deposed
        } else {
            ReadCause::CutOff
        },
    }
}

/// The read that shows whether a failed create was carried out anyway.
fn read_unsure<'a>(
    address: &'a Address,
    attempt: &'a Record,
    token: &'a Name,
    adopted_id: Option<&'a str>,
    instances: &'a RecordedInstances,
) -> ResourceRead<'a> {
    let target = ResourceTarget::new(address, &attempt.type_name, attempt.origin.site());
    ResourceRead {
        target: target.managed_by(instances.get(attempt.provider.as_ref())),
        request: ReadRequest {
            type_name: &attempt.type_name,
            id: adopted_id,
            inputs: &attempt.inputs,
            outputs: &Value::Null,
            schema_version: attempt.schema_version,
            private: &attempt.private,
            token: Some(token),
        },
        cause: ReadCause::Unsure,
    }
}

/// The answers of one provider, with the numbers of the questions. An answer equal to the record is
/// dropped: only differences are kept.
#[derive(Default)]
struct ReadAnswers<'a> {
    seen: Vec<(usize, &'a Address, PinnedRead)>,
    /// Of deposed objects.
    deposed: Vec<(usize, &'a Address, PinnedRead)>,
    unread: Vec<(usize, Unread)>,
    diagnostics: Vec<(usize, &'a Address, Vec<ProviderDiagnostic>)>,
}

/// Asks the questions of one provider, at most `most` of them at once.
async fn ask<'a>(
    questions: Vec<(usize, ResourceRead<'a>)>,
    most: usize,
    snapshot: &'a Snapshot,
    instances: &'a RecordedInstances,
    catalogs: &Catalogs,
    world: &dyn World,
) -> ReadAnswers<'a> {
    let mut answered = ReadAnswers::default();
    let mut store_result = |(number, address, cause, result): (
        usize,
        &'a Address,
        ReadCause,
        Result<ReadOutcome, ProviderError>,
    )| {
        let answers = if cause == ReadCause::Deposed {
            &mut answered.deposed
        } else {
            &mut answered.seen
        };
        match result {
            Ok(mut outcome) => {
                if let ReadOutcome::Present(observed) = &mut outcome
                    && !observed.diagnostics.is_empty()
                {
                    answered.diagnostics.push((
                        number,
                        address,
                        std::mem::take(&mut observed.diagnostics),
                    ));
                }
                let is_cut_off = matches!(cause, ReadCause::CutOff | ReadCause::Deposed);
                let differs = differing(outcome, snapshot.records.get(address), is_cut_off);
                answers.extend(differs.map(|differs| (number, address, differs)));
            }
            Err(error) => {
                let code = code_of(&error);
                let of_provider = error
                    .session
                    .as_ref()
                    .map(|_| Box::new(failure(&error, String::new)));
                let message = error.message.into();
                if cause != ReadCause::Recorded {
                    answers.push((number, address, PinnedRead::Unknown));
                }
                let unread = Unread {
                    address: address.clone(),
                    code,
                    message,
                    of_provider,
                    cause,
                };
                answered.unread.push((number, unread));
            }
        }
    };
    let mut under_way = FuturesUnordered::new();
    for (
        number,
        ResourceRead {
            target,
            request,
            cause,
        },
    ) in questions
    {
        let address = target.address;
        let is_create = request.id.is_none();
        let mut asked = Box::pin(async move {
            let seen = world.read(target, request).await;
            // The new object was not created. The recorded object may still exist, or be gone as
            // well.
            let recorded_object = || {
                recorded_object_of_create(snapshot, address)
                    .filter(|record| reads(catalogs, record))
            };
            let seen = match &seen {
                Ok(ReadOutcome::Absent) if is_create && let Some(record) = recorded_object() => {
                    let ResourceRead {
                        target, request, ..
                    } = read_again(address, record, instances);
                    world.read(target, request).await
                }
                _ => seen,
            };
            (number, address, cause, seen)
        });
        // A read that is answered immediately does not queue.
        match futures::poll!(&mut asked) {
            Poll::Ready(answer) => store_result(answer),
            Poll::Pending => under_way.push(asked),
        }
        while under_way.len() >= most
            && let Some(answer) = under_way.next().await
        {
            store_result(answer);
        }
    }
    while let Some(answer) = under_way.next().await {
        store_result(answer);
    }
    answered
}

/// The resources that a saved plan could not read when it was made.
pub(crate) fn unread_in_saved_plan(answers: &Answers) -> Vec<Unread> {
    let then = answers.unread.iter().map(|(address, message)| Unread {
        address: address.clone(),
        code: &codes::PROVIDER_FAILED,
        message: message.clone(),
        of_provider: None,
        cause: ReadCause::Recorded,
    });
    then.collect()
}

/// Up to this number of resources that could not be read for one reason, each gets its own
/// diagnostic.
const FEW: usize = 5;

/// Reports resources that could not be read, and the consequence `consequence`.
pub(crate) fn report_unread<'u>(
    unread: impl IntoIterator<Item = &'u Unread>,
    severity: Severity,
    consequence: &str,
    found: &mut Diagnostics,
) {
    let mut by_cause: IndexMap<(&str, &str), Vec<&Address>> = IndexMap::default();
    let mut of_providers: IndexMap<&str, (&Diagnostic, Vec<&Address>)> = IndexMap::default();
    for one in unread {
        if let Some(diagnostic) = &one.of_provider {
            of_providers
                .entry(&diagnostic.message)
                .or_insert_with(|| (diagnostic, Vec::new()))
                .1
                .push(&one.address);
            continue;
        }
        by_cause
            .entry((one.code.name, one.message.as_ref()))
            .or_default()
            .push(&one.address);
    }
    for (message, (diagnostic, addresses)) in of_providers {
        // A plan with resources of the provider has reported it already, at the first of them.
        if found
            .iter()
            .any(|one| one.is_error() && one.message == message)
        {
            continue;
        }
        let mut diagnostic = diagnostic.clone().with_severity(severity);
        diagnostic.notes.push(match addresses.as_slice() {
            [one] => format!("`{one}` cannot be read"),
            [first, rest @ ..] => format!(
                "`{first}` and {} other resources cannot be read",
                rest.len()
            ),
            [] => continue,
        });
        found.push(match severity {
            Severity::Error => diagnostic.help(consequence),
            _ => diagnostic.note(consequence),
        });
    }
    for ((code, message), addresses) in by_cause {
        let code = [&codes::PROVIDER_FAILED, &codes::RETRIES_EXHAUSTED]
            .into_iter()
            .find(|it| it.name == code);
        let code = code.unwrap_or(&codes::PROVIDER_FAILED);
        let whats: Vec<String> = match addresses.as_slice() {
            [first, rest @ ..] if rest.len() >= FEW => {
                vec![format!(
                    "`{first}` and {} other resources cannot be read",
                    rest.len()
                )]
            }
            few => few
                .iter()
                .map(|address| format!("`{address}` cannot be read"))
                .collect(),
        };
        for what in whats {
            let mut diagnostic = code.new(what).note(message);
            diagnostic.severity = severity;
            found.push(match severity {
                Severity::Error => diagnostic.help(consequence),
                _ => diagnostic.note(consequence),
            });
        }
    }
}

/// A read of a resource.
pub(crate) struct ResourceRead<'a> {
    pub(crate) target: ResourceTarget<'a>,
    pub(crate) request: ReadRequest<'a>,
    pub(crate) cause: ReadCause,
}

/// A read of a recorded resource by its id.
pub(crate) fn read_again<'a>(
    address: &'a Address,
    record: &'a Record,
    instances: &'a RecordedInstances,
) -> ResourceRead<'a> {
    let target = ResourceTarget::new(address, &record.type_name, record.origin.site())
        .managed_by(instances.get(record.provider.as_ref()));
    let request = ReadRequest {
        type_name: &record.type_name,
        id: Some(&record.id),
        inputs: &record.inputs,
        outputs: &record.outputs,
        schema_version: record.schema_version,
        private: &record.private,
        token: None,
    };
    ResourceRead {
        target,
        request,
        cause: ReadCause::Recorded,
    }
}

/// The object that is recorded at an address at which another one was being created when a run was
/// cut off.
fn recorded_object_of_create<'a>(snapshot: &'a Snapshot, address: &Address) -> Option<&'a Record> {
    let record = snapshot
        .records
        .get(address)
        .filter(|record| !record.id.is_empty())?;
    let is_create = match snapshot.open.get(address) {
        Some(open) => open.intent.op == StatusOp::Create,
        None => attempt_of(record).is_some(),
    };
    is_create.then(|| record.as_ref())
}

/// The create that may have been carried out under its recorded token: of the object itself, or of
/// one in its place.
pub(crate) fn attempt_of(record: &Record) -> Option<(&Record, &Name)> {
    let attempt = record.attempt.as_deref().unwrap_or(record);
    attempt
        .token
        .as_ref()
        .filter(|_| attempt.id.is_empty())
        .map(|token| (attempt, token))
}

fn reads(catalogs: &Catalogs, record: &Record) -> bool {
    match catalogs.resource_type(&record.type_name) {
        TypeRef::Known(ty) => ty.capabilities.reads,
        _ => false,
    }
}

/// The result of a read, unless it is equal to the record.
fn differing(
    seen: ReadOutcome,
    record: Option<&Arc<Record>>,
    keep_equal: bool,
) -> Option<PinnedRead> {
    match seen {
        ReadOutcome::Absent => Some(PinnedRead::Absent),
        ReadOutcome::Unknown => Some(PinnedRead::Unknown),
        ReadOutcome::Present(observed) => {
            let Observed {
                id,
                fields,
                private,
                expired,
                ..
            } = &observed;
            let as_recorded = record.is_some_and(|record| {
                record.id == *id && same(&record.outputs, fields) && same(&record.private, private)
            });
            if as_recorded && expired.is_none() && !keep_equal {
                return None;
            }
            Some(pinned(observed))
        }
    }
}

/// Addresses whose observation is not about the recorded object, but about one that was to be
/// created and has no record yet.
pub(crate) fn observations_without_record(
    snapshot: &Snapshot,
    answers: &Answers,
    catalogs: &Catalogs,
) -> Vec<Address> {
    let open = snapshot.open.iter().filter(|(address, open)| {
        let not_made = open.intent.op == StatusOp::Create
            && !matches!(answers.seen.get(*address), Some(PinnedRead::Present { .. }));
        let of_recorded = recorded_object_of_create(snapshot, address)
            .is_some_and(|record| reads(catalogs, record))
            && !matches!(answers.seen.get(*address), Some(PinnedRead::Unknown));
        not_made && snapshot.records.contains_key(*address) && !of_recorded
    });
    open.map(|(address, _)| address.clone()).collect()
}
