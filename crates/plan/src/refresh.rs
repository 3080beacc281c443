//! What the world says about the recorded things, and what became of calls that were cut off.

use std::sync::Arc;
use std::task::Poll;

use blueprint::{Address, Field, IndexMap, Name, TypeId, Value};
use diag::{Diagnostic, Diagnostics, Severity};
use evaluate::answers::{Answers, PinnedSeen};
use evaluate::question::{RecordedInstances, ResourceTarget};
use evaluate::retry::{at_once, code_of, failure};
use evaluate::world::World;
use futures::StreamExt as _;
use futures::stream::FuturesUnordered;
use provider::{Catalogs, Observed, ProviderError, ReadOutcome, ReadRequest, TypeRef};
use state::{Intent, Open, Record, RecordOrigin, Snapshot, Status, StatusOp, StatusWord};
use understand::compare::{mark_fields, mark_like, same};

use crate::codes;
use crate::imports::pinned;
use crate::options::{Adoption, Options};
use crate::settled::Settled;

/// A set with a fixed hash, so that nothing depends on a random seed.
type HashSet<T> = std::collections::HashSet<T, foldhash::fast::FixedState>;

/// A thing that could not be read.
pub(crate) struct Unread {
    /// Which.
    pub(crate) address: Address,
    /// Under which code that is reported.
    code: &'static diag::Code,
    /// Why, in the provider's words.
    message: Name,
    /// The diagnostic, if its provider cannot be used at all.
    of_provider: Option<Box<Diagnostic>>,
    /// What the plan needs it for.
    pub(crate) why: Why,
}

/// Why something was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Why {
    /// It is recorded.
    Recorded,
    /// Its call was cut off: without an answer a person must say what became of it (`settle`).
    CutOff,
    /// Its create failed, and may have been carried out all the same.
    Unsure,
}

/// Reads every recorded thing, by the id that a person named where one did, and every thing whose call was cut off,
/// into `answers`. What could not be read is given back, in the order of the records; everything else has been read.
pub(crate) async fn refresh(
    snapshot: &Snapshot,
    only_cut_off: bool,
    adopted: &[Adoption],
    catalogs: &Catalogs,
    world: &dyn World,
    answers: &mut Answers,
) -> Vec<Unread> {
    // Of each type: whether things of it can be read, and how many there are.
    let mut types: IndexMap<&TypeId, (bool, usize)> = IndexMap::default();
    for record in snapshot.records.values() {
        types.entry(&record.type_name).or_insert_with(|| (reads(catalogs, record), 0)).1 += 1;
    }
    let recorded = snapshot.records.iter().filter(|(address, record)| {
        let asked_otherwise = attempt_of(record).is_some() || snapshot.open.contains_key(*address);
        let reads = || types.get(&record.type_name).is_some_and(|(reads, _)| *reads);
        !only_cut_off && !record.id.is_empty() && !asked_otherwise && reads()
    });
    let instances = &RecordedInstances::of(snapshot);
    let questions = recorded.map(|(address, record)| read_again(address, record, instances));
    // Versions before 0.2 stated creates before all of their spec was known.
    let in_part = snapshot.open.iter().filter(|(_, open)| open.intent.inputs.has_unknown());
    let in_part: IndexMap<&Address, Value> =
        in_part.map(|(address, open)| (address, filled(&open.intent.inputs, &Value::Null))).collect();
    let cut_off = snapshot.open.iter().map(|(address, open)| {
        let record = snapshot.records.get(address).map(Arc::as_ref);
        let record = if open.intent.deposed { record.and_then(|record| record.deposed.as_deref()) } else { record };
        let is_create = open.intent.op == StatusOp::Create;
        let said = adopted.iter().find(|adoption| adoption.address == *address).and_then(|said| said.id.as_deref());
        let id = match open.intent.id.as_ref() {
            _ if said.is_some() => said,
            "" => record.filter(|_| !is_create).map(|record| record.id.as_ref()),
            named => Some(named),
        };
        let target = ResourceTarget::new(address, &open.intent.type_name, &open.intent.folder);
        let target = target.managed_by(instances.get(open.intent.provider.as_ref()));
        let request = ReadRequest {
            type_name: &open.intent.type_name,
            id,
            inputs: in_part.get(address).unwrap_or(&open.intent.inputs),
            outputs: record.filter(|_| !is_create).map_or(&Value::Null, |record| &record.outputs),
            schema_version: record.filter(|_| !is_create).map_or(0, |record| record.schema_version),
            private: match is_create {
                true => &open.intent.private,
                false => record.map_or(&Value::Null, |record| &record.private),
            },
            token: Some(&open.intent.token),
        };
        Reading { target, request }
    });
    // A create that failed without a word about whether it was done.
    let unsure = snapshot.records.iter().filter(|(address, _)| !snapshot.open.contains_key(*address));
    let unsure = unsure.filter_map(|(address, record)| Some((address, attempt_of(record)?)));
    let unsure = unsure.map(|(address, (attempt, token))| Reading {
        target: ResourceTarget::new(address, &attempt.type_name, &attempt.origin.folder)
            .managed_by(instances.get(attempt.provider.as_ref())),
        request: ReadRequest {
            type_name: &attempt.type_name,
            id: adopted.iter().find(|adoption| adoption.address == *address).and_then(|said| said.id.as_deref()),
            inputs: &attempt.inputs,
            outputs: &Value::Null,
            schema_version: attempt.schema_version,
            private: &attempt.private,
            token: Some(token),
        },
    });
    // Each provider is asked beside the others, so that none waits for a slow one.
    let mut of_namespace: IndexMap<&str, usize> = IndexMap::default();
    for (name, (_, count)) in &types {
        *of_namespace.entry(name.package_name()).or_default() += count;
    }
    let mut lanes: IndexMap<&str, Vec<(usize, Reading<'_>)>> = IndexMap::default();
    for (number, question) in questions.chain(cut_off).chain(unsure).enumerate() {
        let namespace = question.target.namespace;
        let room = || Vec::with_capacity(of_namespace.get(namespace).copied().unwrap_or_default());
        lanes.entry(namespace).or_insert_with(room).push((number, question));
    }
    let lanes = lanes.into_iter().map(|(namespace, questions)| {
        let most = at_once(catalogs.of(namespace).map_or(0, |catalog| catalog.max_parallel));
        ask(questions, most, snapshot, instances, catalogs, world)
    });
    let (mut seen, mut unread) = (Vec::new(), Vec::new());
    for answers_of_one in futures::future::join_all(lanes).await {
        seen.extend(answers_of_one.seen);
        unread.extend(answers_of_one.unread);
    }
    // Answers come in any order; a plan is the same each time.
    seen.sort_unstable_by_key(|(number, ..)| *number);
    unread.sort_unstable_by_key(|(number, _)| *number);
    answers.seen.extend(seen.into_iter().map(|(_, address, seen)| (address.clone(), seen)));
    let unread: Vec<Unread> = unread.into_iter().map(|(_, unread)| unread).collect();
    answers.unread.extend(unread.iter().map(|unread| (unread.address.clone(), unread.message.clone())));
    answers.refreshed = true;
    unread
}

/// The answers of one provider, with the numbers of the questions. An answer equal to the record is dropped: only
/// differences are kept.
#[derive(Default)]
struct ReadAnswers<'a> {
    seen: Vec<(usize, &'a Address, PinnedSeen)>,
    unread: Vec<(usize, Unread)>,
}

/// Puts questions to one provider, at most so many at once.
async fn ask<'a>(
    questions: Vec<(usize, Reading<'a>)>,
    most: usize,
    snapshot: &'a Snapshot,
    instances: &'a RecordedInstances,
    catalogs: &Catalogs,
    world: &dyn World,
) -> ReadAnswers<'a> {
    let mut answered = ReadAnswers::default();
    let mut take =
        |(number, address, by_token, result): (usize, &'a Address, bool, Result<ReadOutcome, ProviderError>)| {
            match result {
                Ok(there) => {
                    let is_open = snapshot.open.contains_key(address);
                    let differs = differing(there, snapshot.records.get(address), is_open);
                    answered.seen.extend(differs.map(|differs| (number, address, differs)));
                }
                Err(error) => {
                    let code = code_of(&error);
                    let of_provider = error.session.as_ref().map(|_| Box::new(failure(&error, String::new)));
                    let message = error.message.into();
                    let why = match (by_token, snapshot.open.contains_key(address)) {
                        (false, _) => Why::Recorded,
                        (true, true) => Why::CutOff,
                        (true, false) => Why::Unsure,
                    };
                    if why != Why::Recorded {
                        answered.seen.push((number, address, PinnedSeen::CannotTell));
                    }
                    answered
                        .unread
                        .push((number, Unread { address: address.clone(), code, message, of_provider, why }));
                }
            }
        };
    let mut under_way = FuturesUnordered::new();
    for (number, Reading { target, request }) in questions {
        let (address, by_token) = (target.address, request.token.is_some());
        let is_create = request.id.is_none();
        let mut asked = Box::pin(async move {
            let seen = world.read(target, request).await;
            // What was to be made in place of it was not: what is recorded may still be there, or be gone as well.
            let beside = || recorded_beside(snapshot, address).filter(|record| reads(catalogs, record));
            let seen = match &seen {
                Ok(ReadOutcome::Absent) if is_create && let Some(record) = beside() => {
                    let Reading { target, request } = read_again(address, record, instances);
                    world.read(target, request).await
                }
                _ => seen,
            };
            (number, address, by_token, seen)
        });
        // What is answered at once need not queue.
        match futures::poll!(&mut asked) {
            Poll::Ready(answer) => take(answer),
            Poll::Pending => under_way.push(asked),
        }
        while under_way.len() >= most
            && let Some(answer) = under_way.next().await
        {
            take(answer);
        }
    }
    while let Some(answer) = under_way.next().await {
        take(answer);
    }
    answered
}

/// The things that a kept plan could not read when it was made.
pub(crate) fn unread_then(answers: &Answers) -> Vec<Unread> {
    let then = answers.unread.iter().map(|(address, message)| Unread {
        address: address.clone(),
        code: &codes::PROVIDER_FAILED,
        message: message.clone(),
        of_provider: None,
        why: Why::Recorded,
    });
    then.collect()
}

/// Up to this number of resources that could not be read for one reason, each gets its own diagnostic.
const FEW: usize = 5;

/// Says what could not be read, and what follows from it: an error where nothing can be said or done without it.
pub(crate) fn report_unread<'u>(
    unread: impl IntoIterator<Item = &'u Unread>,
    severity: Severity,
    so: &str,
    found: &mut Diagnostics,
) {
    let mut alike: IndexMap<(&str, &str), Vec<&Address>> = IndexMap::default();
    let mut of_providers: IndexMap<&str, (&Diagnostic, Vec<&Address>)> = IndexMap::default();
    for one in unread {
        if let Some(diagnostic) = &one.of_provider {
            of_providers.entry(&diagnostic.message).or_insert_with(|| (diagnostic, Vec::new())).1.push(&one.address);
            continue;
        }
        alike.entry((one.code.name, one.message.as_ref())).or_default().push(&one.address);
    }
    for (message, (diagnostic, addresses)) in of_providers {
        // A plan with resources of the provider has reported it already, at the first of them.
        if found.iter().any(|one| one.is_error() && one.message == message) {
            continue;
        }
        let mut diagnostic = diagnostic.clone().graded(severity);
        diagnostic.notes.push(match addresses.as_slice() {
            [one] => format!("`{one}` cannot be read"),
            [first, rest @ ..] => format!("`{first}` and {} other things cannot be read", rest.len()),
            [] => continue,
        });
        found.push(match severity {
            Severity::Error => diagnostic.help(so),
            _ => diagnostic.note(so),
        });
    }
    for ((code, message), addresses) in alike {
        let code = [&codes::PROVIDER_FAILED, &codes::RETRIES_EXHAUSTED].into_iter().find(|it| it.name == code);
        let code = code.unwrap_or(&codes::PROVIDER_FAILED);
        let whats: Vec<String> = match addresses.as_slice() {
            [first, rest @ ..] if rest.len() >= FEW => {
                vec![format!("`{first}` and {} other things cannot be read", rest.len())]
            }
            few => few.iter().map(|address| format!("`{address}` cannot be read")).collect(),
        };
        for what in whats {
            let mut diagnostic = code.new(what).note(message);
            diagnostic.severity = severity;
            found.push(match severity {
                Severity::Error => diagnostic.help(so),
                _ => diagnostic.note(so),
            });
        }
    }
}

/// A read of a resource.
pub(crate) struct Reading<'a> {
    pub(crate) target: ResourceTarget<'a>,
    pub(crate) request: ReadRequest<'a>,
}

/// A read of a recorded resource by its id.
pub(crate) fn read_again<'a>(
    address: &'a Address,
    record: &'a Record,
    instances: &'a RecordedInstances,
) -> Reading<'a> {
    let target = ResourceTarget::new(address, &record.type_name, &record.origin.folder)
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
    Reading { target, request }
}

/// The thing that is recorded at an address at which another one was being made when a run was cut off.
fn recorded_beside<'a>(snapshot: &'a Snapshot, address: &Address) -> Option<&'a Record> {
    let record = snapshot.records.get(address).filter(|record| !record.id.is_empty())?;
    let is_create = match snapshot.open.get(address) {
        Some(open) => open.intent.op == StatusOp::Create,
        None => attempt_of(record).is_some(),
    };
    is_create.then(|| record.as_ref())
}

/// What may have been made under the token that is recorded with it: the thing itself, or a new one in its place.
fn attempt_of(record: &Record) -> Option<(&Record, &Name)> {
    let attempt = record.attempt.as_deref().unwrap_or(record);
    attempt.token.as_ref().filter(|_| attempt.id.is_empty()).map(|token| (attempt, token))
}

fn reads(catalogs: &Catalogs, record: &Record) -> bool {
    match catalogs.resource_type(&record.type_name) {
        TypeRef::Known(ty) => ty.capabilities.reads,
        _ => false,
    }
}

/// What was seen, unless it is just what is recorded.
fn differing(seen: ReadOutcome, record: Option<&Arc<Record>>, keep: bool) -> Option<PinnedSeen> {
    match seen {
        ReadOutcome::Absent => Some(PinnedSeen::Gone),
        ReadOutcome::Unknown => Some(PinnedSeen::CannotTell),
        ReadOutcome::Present(observed) => {
            let Observed { id, fields, private, expired, .. } = &observed;
            let as_recorded = record.is_some_and(|record| {
                record.id == *id && same(&record.outputs, fields) && same(&record.private, private)
            });
            if as_recorded && expired.is_none() && !keep {
                return None;
            }
            Some(pinned(observed))
        }
    }
}

/// Addresses whose observation is not about the recorded object, but about another one: an object that was to be
/// created and has no record yet, or a deposed object that was being deleted.
pub(crate) fn seen_elsewhere(snapshot: &Snapshot, answers: &Answers, catalogs: &Catalogs) -> Vec<Address> {
    let open = snapshot.open.iter().filter(|(address, open)| {
        let not_made =
            open.intent.op == StatusOp::Create && !matches!(answers.seen.get(*address), Some(PinnedSeen::There { .. }));
        let of_recorded = recorded_beside(snapshot, address).is_some_and(|record| reads(catalogs, record))
            && !matches!(answers.seen.get(*address), Some(PinnedSeen::CannotTell));
        open.intent.deposed || not_made && snapshot.records.contains_key(*address) && !of_recorded
    });
    open.map(|(address, _)| address.clone()).collect()
}

/// Corrects the records where calls were cut off (decision 5.3): updated if the call was done, unchanged if not. An
/// outcome that is unknown is `needs-attention`, unless a person has decided it.
///
/// Each of the commands that a diagnostic names works in that situation.
pub(crate) fn settle(
    instance: &str,
    snapshot: &mut Snapshot,
    catalogs: &Catalogs,
    answers: &Answers,
    options: &Options,
    found: &mut Diagnostics,
) -> Vec<Settled> {
    let mut settled = Vec::new();
    let say = |what: &str, value: &str| format!("`cyan reconcile -i {instance} --{what} '{value}'`");
    let mut heard: HashSet<&Address> = HashSet::default();
    let mut not_made: Vec<(Address, Diagnostic)> = Vec::new();
    for (address, open) in std::mem::take(&mut snapshot.open) {
        let before = snapshot.records.get(&address).cloned();
        let seen = answers.seen.get(&address);
        let verdict = verdict(&address, options);
        if let Some((said, _)) = &verdict {
            heard.insert(said);
        }
        let unclear = matches!(seen, Some(PinnedSeen::CannotTell));
        let is_said = verdict.is_some();
        let (after, how) = match verdict {
            Some((_, Verdict::Forgotten)) => (None, "it is forgotten"),
            Some((_, Verdict::Adopted(Some(id)))) if not_there(&open, seen) => {
                found.push(
                    codes::NEEDS_ATTENTION
                        .new(format!(
                            "there is no `{}` with the id `{id}` to be adopted as `{address}`",
                            open.intent.type_name
                        ))
                        .note(format!("the {} of `{address}` was cut off", open.intent.op.word()))
                        .help("name the id of what was made; if nothing was, leave `--adopt` away"),
                );
                snapshot.open.insert(address, open);
                continue;
            }
            Some((_, Verdict::Adopted(id))) if unclear || id.is_some() => {
                match adopted(&open, before.as_ref(), seen, id, catalogs) {
                    Some(after) => (after, "it counts as done"),
                    None => {
                        found.push(
                            codes::NEEDS_ATTENTION
                                .new(format!("it is not known which resource was created as `{address}`"))
                                .note("an earlier operation was cut off while it was being created")
                                .help(format!(
                                    "name the provider's id of it: {}",
                                    say("adopt", &format!("{address}=ID"))
                                )),
                        );
                        snapshot.open.insert(address, open);
                        continue;
                    }
                }
            }
            Some((_, Verdict::Undone)) if unclear => {
                let after = match open.intent.op {
                    StatusOp::Create => after_not_made(&open.intent, before.as_ref(), catalogs),
                    _ => before.clone(),
                };
                (after, "it counts as not done")
            }
            None if unclear && !options.force => {
                let mut diagnostic = codes::NEEDS_ATTENTION
                    .new(format!("the outcome of the {} of `{address}` is not known", open.intent.op.word()))
                    .note("an earlier operation was cut off while the call was in flight");
                if let Some(why) = answers.unread.get(&address) {
                    diagnostic = diagnostic
                        .note(format!("it cannot be read: {why}"))
                        .help("if the cause is temporary, run the same command again");
                }
                let shown = address.to_string();
                // Only a person knows the id of what was created.
                let done = if open.intent.op == StatusOp::Create { format!("{shown}=ID") } else { shown.clone() };
                found.push(
                    diagnostic
                        .help(format!(
                            "look whether it was done; if it was not, or you have undone it: {}",
                            say("retry", &shown)
                        ))
                        .help(format!("if it was done, take it over: {}", say("adopt", &done)))
                        .help(format!("to stop managing it, whatever there is: {}", say("forget", &shown))),
                );
                snapshot.open.insert(address, open);
                continue;
            }
            None if unclear => (before.clone(), "its outcome is not known"),
            _ => (after_cut_off(&open, before.as_ref(), seen, catalogs), "its outcome has been read back"),
        };
        let note = codes::INTERRUPTED.new(format!("the {} of `{address}` was cut off; {how}", open.intent.op.word()));
        let nothing_came_of_it = match (open.intent.op, seen) {
            (StatusOp::Create, Some(PinnedSeen::Gone)) => true,
            (StatusOp::Delete, seen) => matches!(seen, Some(PinnedSeen::There { .. })),
            _ => false,
        };
        match nothing_came_of_it && !is_said {
            true => not_made.push((address.clone(), note)),
            false => found.push(note),
        }
        match &after {
            Some(record) => {
                snapshot.records.insert(address.clone(), record.clone());
            }
            None => {
                snapshot.records.shift_remove(&address);
            }
        }
        settled.push(Settled { address, record: after });
    }
    report_not_made(not_made, found);
    settled.extend(take_over_unsure(snapshot, answers, options, catalogs, &mut heard));
    refuse_unheard(options, &heard, &settled, found);
    settled
}

/// `unknown-address` for each address of a verdict at which no call was interrupted.
fn refuse_unheard(options: &Options, heard: &HashSet<&Address>, settled: &[Settled], found: &mut Diagnostics) {
    for address in said(options).filter(|address| !heard.contains(*address)) {
        let known: Vec<String> = settled.iter().map(|settled| settled.address.to_string()).collect();
        let shown = address.to_string();
        found.push(
            codes::UNKNOWN_ADDRESS
                .new(format!("no call of `{shown}` was cut off"))
                .help_nearest(&shown, known.iter().map(String::as_str)),
        );
    }
}

/// Says which failed creates cannot be looked for, and what can be done about that. By force, or where the world is
/// left aside, they count as not carried out, as the first answer said.
pub(crate) fn report_unsure(unsure: &[Unread], instance: &str, options: &Options, found: &mut Diagnostics) {
    for unread in unsure.iter().filter(|unread| said(options).all(|address| *address != unread.address)) {
        let address = &unread.address;
        let code = if unread.code.name == codes::RETRIES_EXHAUSTED.name {
            &codes::RETRIES_EXHAUSTED
        } else {
            &codes::PROVIDER_FAILED
        };
        let mut diagnostic = code
            .new(format!("`{address}` cannot be read: it is not known whether its failed create was carried out"))
            .note(&*unread.message);
        if options.force || !options.refresh {
            diagnostic.severity = if options.force { Severity::Note } else { Severity::Warning };
            found.push(diagnostic.note("it counts as not carried out"));
            continue;
        }
        found.push(
            diagnostic
                .help("fix the cause, and run the same command again")
                .help("if it was not carried out, or creating it again does no harm: run the same command with `--no-refresh`")
                .help(format!("if it was, take it over: `cyan reconcile -i {instance} --adopt '{address}=ID'`"))
                .help(format!("to stop managing it: `cyan reconcile -i {instance} --forget '{address}'`")),
        );
    }
}

/// Calls that were stated and not made: many of them are one note.
fn report_not_made(not_made: Vec<(Address, Diagnostic)>, found: &mut Diagnostics) {
    const NAMED: usize = 3;
    if not_made.len() <= NAMED {
        not_made.into_iter().for_each(|(_, note)| found.push(note));
        return;
    }
    let named: Vec<String> = not_made.iter().take(NAMED).map(|(address, _)| format!("`{address}`")).collect();
    let more = not_made.len() - NAMED;
    found.push(
        codes::INTERRUPTED
            .new(format!("the calls for {} and {more} more were cut off before they were made", named.join(", "))),
    );
}

/// What a person has said of a call that was cut off.
enum Verdict<'a> {
    Undone,
    Forgotten,
    Adopted(Option<&'a Name>),
}

/// All addresses that a person has said something of.
fn said(options: &Options) -> impl Iterator<Item = &Address> {
    let adopted = options.adopted.iter().map(|adoption| &adoption.address);
    options.undone.iter().chain(&options.forgotten).chain(adopted)
}

fn verdict<'a>(address: &Address, options: &'a Options) -> Option<(&'a Address, Verdict<'a>)> {
    let in_list = |list: &'a [Address]| list.iter().find(|said| *said == address);
    if let Some(adoption) = options.adopted.iter().find(|adoption| adoption.address == *address) {
        return Some((&adoption.address, Verdict::Adopted(adoption.id.as_ref())));
    }
    if let Some(said) = in_list(&options.forgotten) {
        return Some((said, Verdict::Forgotten));
    }
    in_list(&options.undone).map(|said| (said, Verdict::Undone))
}

/// Whether the thing that a person named as made or changed was looked for and is not there.
fn not_there(open: &Open, seen: Option<&PinnedSeen>) -> bool {
    open.intent.op != StatusOp::Delete && matches!(seen, Some(PinnedSeen::Gone))
}

/// What is true of a thing if a call that was cut off counts as done; nothing where its id is not known.
fn adopted(
    open: &Open,
    before: Option<&Arc<Record>>,
    seen: Option<&PinnedSeen>,
    id: Option<&Name>,
    catalogs: &Catalogs,
) -> Option<Option<Arc<Record>>> {
    let intent = &open.intent;
    if let Some(seen @ PinnedSeen::There { .. }) = seen {
        return Some(after_cut_off(open, before, Some(seen), catalogs));
    }
    match intent.op {
        StatusOp::Delete => Some(after_cut_off(open, before, None, catalogs)),
        StatusOp::Update => Some(before.map(|old| {
            let mut record = Record::clone(old);
            let mut outputs = record.outputs.as_map().cloned().unwrap_or_default();
            outputs
                .extend(intent.inputs.as_map().into_iter().flatten().map(|(key, value)| (key.clone(), value.clone())));
            forget_lost(catalogs, &intent.type_name, &intent.inputs, &mut outputs, |field| field.changes_on_update);
            record.outputs = Value::Map(outputs.into());
            record.inputs = intent.inputs.clone();
            record.dependencies = intent.dependencies.clone();
            record.status = Status::new(StatusOp::Update, StatusWord::Ready);
            record.token = None;
            Arc::new(record)
        })),
        StatusOp::Create => {
            let made = made_as(id?, &intent.type_name, &intent.inputs, catalogs);
            Some(after_cut_off(open, before, Some(&made), catalogs))
        }
    }
}

/// Marks what a call that was cut off has answered as unknown: it is neither empty nor what it was before.
fn forget_lost(
    catalogs: &Catalogs,
    type_name: &TypeId,
    inputs: &Value,
    fields: &mut blueprint::Map,
    which: impl Fn(&Field) -> bool,
) {
    let TypeRef::Known(ty) = catalogs.resource_type(type_name) else { return };
    for (name, field) in ty.schema.fields.iter().filter(|(_, field)| field.computed && which(field)) {
        let is_reported = ty.id_field.as_ref() == Some(name) || inputs.get(name).is_some();
        if !is_reported {
            fields.insert(name.clone(), Value::unknown(Some(field.ty()), None).tainted(field.sensitive));
        }
    }
}

/// Things that were made although their creates failed, because the answer was lost, are taken over. What a person has
/// said of one counts.
fn take_over_unsure<'o>(
    snapshot: &mut Snapshot,
    answers: &Answers,
    options: &'o Options,
    catalogs: &Catalogs,
    heard: &mut HashSet<&'o Address>,
) -> Vec<Settled> {
    let mut settled = Vec::new();
    let mut forgotten = Vec::new();
    for (address, record) in &mut snapshot.records {
        let Some((attempt, token)) = attempt_of(record) else { continue };
        let mut seen = answers.seen.get(address);
        let mut named = None;
        if let Some((said, verdict)) = verdict(address, options) {
            heard.insert(said);
            match verdict {
                Verdict::Adopted(Some(id)) if !matches!(seen, Some(PinnedSeen::There { .. } | PinnedSeen::Gone)) => {
                    named = Some(made_as(id, &attempt.type_name, &attempt.inputs, catalogs));
                }
                Verdict::Adopted(_) => {}
                Verdict::Forgotten if record.attempt.is_none() && record.deposed.is_none() => {
                    forgotten.push(address.clone());
                    continue;
                }
                Verdict::Undone | Verdict::Forgotten => {
                    let inner = Arc::make_mut(record);
                    match inner.attempt.is_some() {
                        true => inner.attempt = None,
                        false => inner.token = None,
                    }
                    settled.push(Settled { address: address.clone(), record: Some(record.clone()) });
                    continue;
                }
            }
        }
        seen = named.as_ref().or(seen);
        let Some(seen) = seen.filter(|seen| matches!(seen, PinnedSeen::There { id, .. } if *id != record.id)) else {
            let was_read = answers.refreshed && !answers.unread.contains_key(address);
            if was_read && record.attempt.is_some() && !matches!(seen, Some(PinnedSeen::CannotTell)) {
                // No new one was made: there is nothing to look for any more.
                Arc::make_mut(record).attempt = None;
                settled.push(Settled { address: address.clone(), record: Some(record.clone()) });
            }
            continue;
        };
        let intent = Intent {
            address: address.clone(),
            op: StatusOp::Create,
            deposed: false,
            token: token.clone(),
            id: "".into(),
            hides_id: false,
            retain: record.retain,
            protect: attempt.protect,
            type_name: attempt.type_name.clone(),
            inputs: attempt.inputs.clone(),
            private: attempt.private.clone(),
            folder: attempt.origin.folder.clone(),
            dependencies: attempt.dependencies.clone(),
            provider: None,
        };
        let before = Arc::new(Record { attempt: None, ..Record::clone(record) });
        if let Some(taken) = after_cut_off(&Open { intent }, Some(&before), Some(seen), catalogs) {
            *record = taken.clone();
            settled.push(Settled { address: address.clone(), record: Some(taken) });
        }
    }
    for address in forgotten {
        snapshot.records.shift_remove(&address);
        settled.push(Settled { address, record: None });
    }
    settled
}

/// What would be seen of a thing that was created with these inputs under an id that a person names.
fn made_as(id: &Name, type_name: &TypeId, inputs: &Value, catalogs: &Catalogs) -> PinnedSeen {
    let mut fields = filled(inputs, &Value::Null).as_map().cloned().unwrap_or_default();
    if let TypeRef::Known(ty) = catalogs.resource_type(type_name)
        && let Some(field) = &ty.id_field
    {
        fields.insert(field.clone(), Value::Text(id.clone()));
    }
    forget_lost(catalogs, type_name, inputs, &mut fields, |_| true);
    PinnedSeen::There {
        id: id.clone(),
        fields: Value::Map(fields.into()),
        private: Value::Null,
        expired: None,
        inputs: None,
    }
}

/// What is true of a thing after a call that was cut off.
fn after_cut_off(
    open: &Open,
    before: Option<&Arc<Record>>,
    seen: Option<&PinnedSeen>,
    catalogs: &Catalogs,
) -> Option<Arc<Record>> {
    let intent = &open.intent;
    let marked = |fields: &Value, like: &Value| match catalogs.resource_type(&intent.type_name) {
        TypeRef::Known(ty) => mark_fields(&ty.schema, fields, like),
        _ => mark_like(fields, Some(like), None),
    };
    let there = match seen {
        Some(PinnedSeen::There { id, fields, private, .. }) => Some((id, fields, private)),
        _ => None,
    };
    match (intent.op, there) {
        (StatusOp::Delete, None) => before.and_then(|record| {
            let id = if intent.id.is_empty() { &record.id } else { &intent.id };
            record.without(id).map(Arc::new)
        }),
        (StatusOp::Delete, Some(_)) => before.cloned(),
        (StatusOp::Create, None) => after_not_made(intent, before, catalogs),
        (StatusOp::Create, Some((id, ..))) if before.is_some_and(|old| old.id == *id) => before.cloned(),
        (StatusOp::Create, Some((id, fields, private))) => {
            let deposed = match before {
                Some(old) if !old.id.is_empty() && old.id != *id && !intent.retain => Some(Box::new(old.as_deposed())),
                Some(old) => old.deposed.clone(),
                None => None,
            };
            let schema_version = match catalogs.resource_type(&intent.type_name) {
                TypeRef::Known(ty) => ty.schema_version,
                _ => 0,
            };
            let inputs = filled(&intent.inputs, fields);
            Some(Arc::new(Record {
                type_name: intent.type_name.clone(),
                // Whether it is stable has not been seen.
                status: Status::new(StatusOp::Create, StatusWord::Configured),
                id: id.clone(),
                // As it was created: later changes by others are drift.
                outputs: marked(&as_sent(fields, &inputs), &inputs),
                inputs,
                private: private.clone(),
                metadata: Value::Null,
                dependencies: intent.dependencies.clone(),
                retain: intent.retain,
                protect: intent.protect,
                deposed,
                token: None,
                attempt: None,
                attention: None,
                unhealthy: Vec::new(),
                schema_version,
                duration_ms: before.map_or(0, |record| record.duration_ms),
                origin: RecordOrigin {
                    folder: intent.folder.clone(),
                    ..before.map(|record| record.origin.clone()).unwrap_or_default()
                },
                provider: None,
            }))
        }
        (StatusOp::Update, None) => before.cloned(),
        (StatusOp::Update, Some((id, fields, private))) => before.map(|old| {
            let mut record = Record::clone(old);
            let wanted = intent.inputs.as_map();
            let goes = |key: &Name| match catalogs.resource_type(&intent.type_name) {
                TypeRef::Known(ty) => ty.schema.fields.get(key).is_some_and(|field| !field.computed),
                _ => false,
            };
            let done = wanted.is_some_and(|wanted| {
                let all = wanted.iter().all(|(key, value)| fields.get(key).is_some_and(|seen| same(seen, value)));
                // A field that was to be removed is still there as long as it is seen.
                let stays = |(key, seen): (&Name, &Value)| !seen.is_null() && !wanted.contains_key(key) && goes(key);
                all && !fields.as_map().is_some_and(|fields| fields.iter().any(stays))
            });
            record.outputs = marked(fields, &record.outputs);
            if done {
                record.inputs = intent.inputs.clone();
                record.dependencies = intent.dependencies.clone();
                record.status = Status::new(StatusOp::Update, StatusWord::Ready);
            } else {
                record.outputs = with_drift(&record.outputs, old, &intent.inputs, goes);
                record.status = Status::new(StatusOp::Update, StatusWord::Interrupted);
            }
            record.id = id.clone();
            record.private = private.clone();
            record.token = None;
            Arc::new(record)
        }),
    }
}

/// What is remembered after a create that made nothing. What the provider said before the call stays known
/// ([`provider::Provider::recall`]): the call may have made something on its way, such as the folder above a file.
fn after_not_made(intent: &Intent, before: Option<&Arc<Record>>, catalogs: &Catalogs) -> Option<Arc<Record>> {
    if intent.private.is_null() || before.is_some_and(|record| !record.id.is_empty()) {
        return before.cloned();
    }
    let record = match before {
        Some(failed) => Record { private: intent.private.clone(), ..Record::clone(failed) },
        None => {
            let nothing = PinnedSeen::There {
                id: "".into(),
                fields: Value::Null,
                private: intent.private.clone(),
                expired: None,
                inputs: None,
            };
            let open = Open { intent: intent.clone() };
            let made = after_cut_off(&open, None, Some(&nothing), catalogs)?;
            Record {
                status: Status::new(StatusOp::Create, StatusWord::Interrupted),
                outputs: Value::Null,
                ..Record::clone(&made)
            }
        }
    };
    Some(Arc::new(record))
}

/// The fields that are seen of a thing after an update of it was cut off. A field that the update left alone is as it
/// was answered before: what is seen of it instead is drift, and is to be found as such.
fn with_drift(seen: &Value, old: &Record, sent: &Value, is_input: impl Fn(&Name) -> bool) -> Value {
    let (Some(fields), Some(answered)) = (seen.as_map(), old.outputs.as_map()) else { return seen.clone() };
    let mut all = fields.clone();
    for (name, before) in answered.iter().filter(|(name, _)| is_input(name)) {
        let left_alone = match (old.inputs.get(name), sent.get(name)) {
            (Some(was), Some(is)) => same(was, is),
            (was, is) => was.is_none() && is.is_none(),
        };
        if left_alone && !fields.get(name).is_some_and(|now| same(now, before)) {
            all.insert(name.clone(), before.clone());
        }
    }
    Value::Map(Arc::new(all))
}

/// What was sent, as far as it was known when its call was stated; the rest is what the thing has at the same place.
/// What it does not have there is left away.
fn filled(sent: &Value, fields: &Value) -> Value {
    fn walk(sent: &Value, seen: Option<&Value>) -> Option<Value> {
        match sent {
            _ if !sent.has_unknown() => Some(sent.clone()),
            Value::Unknown(_) => seen.filter(|seen| !seen.is_null()).cloned(),
            Value::Secret(inner) => walk(inner, seen.map(Value::bare)).map(Value::secret),
            Value::Map(entries) => {
                let seen = seen.map(Value::bare);
                let at = |name: &Name| seen.and_then(|seen| seen.get(name));
                let known = entries.iter().filter_map(|(name, value)| Some((name.clone(), walk(value, at(name))?)));
                Some(Value::map(known))
            }
            Value::List(items) => {
                let seen = match seen.map(Value::bare) {
                    Some(Value::List(seen)) => seen.as_slice(),
                    _ => &[],
                };
                Some(Value::list(items.iter().enumerate().filter_map(|(at, item)| walk(item, seen.get(at)))))
            }
            _ => None,
        }
    }
    match sent.has_unknown() {
        true => walk(sent, Some(fields)).unwrap_or(Value::Null),
        false => sent.clone(),
    }
}

/// The fields of a thing with those that were sent as they were sent.
fn as_sent(fields: &Value, sent: &Value) -> Value {
    let Some(sent) = sent.as_map() else { return fields.clone() };
    let mut all = fields.as_map().cloned().unwrap_or_default();
    for (name, value) in sent {
        if !all.get(name).is_some_and(|seen| same(seen, value)) {
            all.insert(name.clone(), value.clone());
        }
    }
    Value::Map(Arc::new(all))
}
