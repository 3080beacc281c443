//! Settles the calls that were cut off, by the reads of their resources and by the decisions of the
//! user.
//!
//! Not here: reading the resources (`refresh`).

use std::sync::Arc;

use blueprint::{Address, Field, IndexMap, Name, TypeId, Value};
use diag::{Diagnostic, Diagnostics, Severity};
use evaluate::answers::{Answers, PinnedRead};
use provider::{Catalogs, TypeRef};
use state::{Intent, OpenIntent, Record, Snapshot, Status, StatusOp, StatusWord};

use crate::codes;
use crate::cut_off::{fill_unknown_inputs, record_after_cut_off, record_after_unmade_create};
use crate::options::Options;
use crate::refresh::{Unread, attempt_of};
use crate::settled::Settled;

/// A set with a fixed hash, so that nothing depends on a random seed.
type HashSet<T> = std::collections::HashSet<T, foldhash::fast::FixedState>;

/// Corrects the records of calls that were cut off (decisions/apply#cut-off-runs): updated if the
/// call was carried out, unchanged if not. An unknown outcome is reported as `needs-attention`,
/// unless the user has decided it.
///
/// Each command that a diagnostic names works in the situation that it reports.
pub(crate) fn settle(
    instance: &str,
    snapshot: &mut Snapshot,
    catalogs: &Catalogs,
    answers: &Answers,
    options: &Options,
    found: &mut Diagnostics,
) -> Vec<Settled> {
    let mut settled = Vec::new();
    let mut used: HashSet<&Address> = HashSet::default();
    let mut not_made: Vec<(Address, Diagnostic)> = Vec::new();
    for (address, open) in std::mem::take(&mut snapshot.open) {
        let call = CutOffCall {
            instance,
            address: &address,
            open: &open,
            before: snapshot.records.get(&address),
            seen: seen_after(&address, &open, answers),
            failed: false,
            catalogs,
        };
        let decision = user_decision(&address, options);
        let is_decided = decision.is_some();
        let decision = decision.map(|(decided, decision)| {
            used.insert(decided);
            decision
        });
        let (after, how) = match call.settle(decision, options, answers) {
            Ok(result) => result,
            // The call stays open until the user decides about it.
            Err(undecided) => {
                found.push(*undecided);
                snapshot.open.insert(address, open);
                continue;
            }
        };
        let note = codes::INTERRUPTED.new(format!(
            "the {} of `{address}` was cut off; {how}",
            open.intent.op.word()
        ));
        if call.had_no_effect() && !is_decided {
            not_made.push((address.clone(), note));
        } else {
            found.push(note);
        }
        match &after {
            Some(record) => drop(snapshot.records.insert(address.clone(), record.clone())),
            None => drop(snapshot.records.shift_remove(&address)),
        }
        settled.push(Settled {
            address,
            record: after,
        });
    }
    report_not_made(not_made, found);
    let (adopted, undecided) =
        adopt_uncertain(instance, snapshot, catalogs, answers, options, &mut used);
    settled.extend(adopted);
    report_several_unknown_outcomes(snapshot.open.keys().chain(undecided.keys()), found);
    undecided
        .into_values()
        .for_each(|diagnostic| found.push(diagnostic));
    refuse_unused_decisions(options, &used, &settled, found);
    settled
}

/// What the refresh has read at the address of a cut-off call; `None` if it has not asked.
fn seen_after<'a>(
    address: &Address,
    open: &OpenIntent,
    answers: &'a Answers,
) -> Option<&'a PinnedRead> {
    if open.intent.deposed {
        // A plan that an earlier version saved does not have the answer.
        let seen = answers.deposed.get(address);
        Some(seen.unwrap_or(&PinnedRead::Unknown))
    } else {
        answers.seen.get(address)
    }
}

/// The record after a cut-off call (`None` if there is none), and how the call counts.
type CallResult = (Option<Arc<Record>>, &'static str);

/// A call that was cut off, with everything that is known about its outcome.
struct CutOffCall<'a> {
    /// The name of the instance, for commands in messages.
    instance: &'a str,
    address: &'a Address,
    open: &'a OpenIntent,
    /// The record from before the call.
    before: Option<&'a Arc<Record>>,
    /// What the refresh has read at its address.
    seen: Option<&'a PinnedRead>,
    /// Whether the call was not cut off, but failed without a clear outcome.
    failed: bool,
    catalogs: &'a Catalogs,
}

impl CutOffCall<'_> {
    /// Decides how the call counts. Returns a diagnostic if only the user can decide it.
    ///
    /// What was read takes precedence over what the user says about the outcome: a decision counts
    /// only where the read is unclear. Exceptions are `--forget`, which is about the state and not
    /// about the outcome, and an adopted id, which says which object was read.
    fn settle(
        &self,
        decision: Option<CutOffDecision<'_>>,
        options: &Options,
        answers: &Answers,
    ) -> Result<CallResult, Box<Diagnostic>> {
        let unclear = matches!(self.seen, Some(PinnedRead::Unknown));
        match decision {
            Some(CutOffDecision::Forgotten) => Ok((None, "it is forgotten")),
            // The id is wrong. Without this error the create would count as not carried out, and
            // its object would be created a second time.
            Some(CutOffDecision::Adopted(Some(id))) if self.is_absent() => {
                Err(Box::new(self.no_such_object(id)))
            }
            Some(CutOffDecision::Adopted(id)) if unclear || id.is_some() => {
                match self.adopted(id) {
                    Some(after) => Ok((after, "it counts as done")),
                    None => Err(Box::new(self.id_is_needed())),
                }
            }
            Some(CutOffDecision::Undone) if unclear => {
                let after = match self.open.intent.op {
                    // The create may have made something beside the object: its private data stays.
                    StatusOp::Create => {
                        record_after_unmade_create(&self.open.intent, self.before, self.catalogs)
                    }
                    StatusOp::Update | StatusOp::Delete => self.before.cloned(),
                };
                Ok((after, "it counts as not done"))
            }
            None if unclear && !options.force => Err(Box::new(self.unknown_outcome(answers))),
            // With `--force` the plan continues from the last known record.
            None if unclear => Ok((self.before.cloned(), "its outcome is not known")),
            _ => Ok((
                record_after_cut_off(self.open, self.before, self.seen, self.catalogs),
                "its outcome has been read back",
            )),
        }
    }

    /// Whether the object that the user named as created or updated was read and does not exist.
    fn is_absent(&self) -> bool {
        self.open.intent.op != StatusOp::Delete && matches!(self.seen, Some(PinnedRead::Absent))
    }

    /// Whether the read shows that the call was not carried out.
    fn had_no_effect(&self) -> bool {
        match self.open.intent.op {
            StatusOp::Create => matches!(self.seen, Some(PinnedRead::Absent)),
            StatusOp::Delete => matches!(self.seen, Some(PinnedRead::Present { .. })),
            StatusOp::Update => false,
        }
    }

    /// The command with which the user decides about the call.
    fn command(&self, what: &str, value: &str) -> String {
        let instance = self.instance;
        format!("`cyan reconcile -i {instance} --{what} '{value}'`")
    }

    fn no_such_object(&self, id: &Name) -> Diagnostic {
        let CutOffCall { address, open, .. } = self;
        codes::NEEDS_ATTENTION
            .new(format!(
                "there is no `{}` with the id `{id}` to be adopted as `{address}`",
                open.intent.type_name
            ))
            .note(format!(
                "the {} of `{address}` {}",
                open.intent.op.word(),
                if self.failed { "failed" } else { "was cut off" }
            ))
            .help("give the id of the created object; if none was created, omit `--adopt`")
    }

    fn id_is_needed(&self) -> Diagnostic {
        let address = self.address;
        codes::NEEDS_ATTENTION
            .new(format!(
                "it is not known which resource was created as `{address}`"
            ))
            .note(if self.failed {
                "its create failed, and may have been carried out anyway"
            } else {
                "an earlier operation was cut off while it was being created"
            })
            .help(format!(
                "name the provider's id of it: {}",
                self.command("adopt", &format!("{address}=ID"))
            ))
    }

    fn unknown_outcome(&self, answers: &Answers) -> Diagnostic {
        let op = self.open.intent.op;
        let shown = self.address.to_string();
        let mut diagnostic = codes::NEEDS_ATTENTION
            .new(format!(
                "the outcome of the {} of `{shown}` is not known",
                op.word()
            ))
            .note(if self.failed {
                "the call failed in an earlier operation, and may have been carried out anyway"
            } else {
                "an earlier operation was cut off while the call was in flight"
            });
        if let Some(why) = answers.unread.get(self.address) {
            diagnostic = diagnostic
                .note(format!("it cannot be read: {why}"))
                .help("if the cause is temporary, run the same command again");
        }
        // Only the user can find out the id of the created object.
        let done = if op == StatusOp::Create {
            format!("{shown}=ID")
        } else {
            shown.clone()
        };
        diagnostic
            .help(format!(
                "look whether it was done; if it was not, or you have undone it: {}",
                self.command("retry", &shown)
            ))
            .help(format!(
                "if it was done, take it over: {}",
                self.command("adopt", &done)
            ))
            .help(format!(
                "to stop managing it, whatever there is: {}",
                self.command("forget", &shown)
            ))
    }

    /// The record of the resource if the call counts as done; `None` if its id is not known.
    fn adopted(&self, id: Option<&Name>) -> Option<Option<Arc<Record>>> {
        let CutOffCall {
            open,
            before,
            catalogs,
            ..
        } = *self;
        if let Some(seen @ PinnedRead::Present { .. }) = self.seen {
            return Some(record_after_cut_off(open, before, Some(seen), catalogs));
        }
        let intent = &open.intent;
        match intent.op {
            StatusOp::Delete => Some(record_after_cut_off(open, before, None, catalogs)),
            StatusOp::Update => Some(before.map(|old| updated_unread(old, intent, catalogs))),
            StatusOp::Create => {
                let made = expected_as_created(id?, &intent.type_name, &intent.inputs, catalogs);
                Some(record_after_cut_off(open, before, Some(&made), catalogs))
            }
        }
    }
}

/// The record after an update that counts as done although its resource could not be read.
fn updated_unread(old: &Record, intent: &Intent, catalogs: &Catalogs) -> Arc<Record> {
    let mut record = Record::clone(old);
    let mut outputs = record.outputs.as_map().cloned().unwrap_or_default();
    let inputs = intent.inputs.as_map().into_iter().flatten();
    outputs.extend(inputs.map(|(key, value)| (key.clone(), value.clone())));
    forget_missing(
        catalogs,
        &intent.type_name,
        &intent.inputs,
        &mut outputs,
        |field| field.changes_on_update,
    );
    record.outputs = Value::Map(outputs.into());
    record.inputs = intent.inputs.clone();
    record.dependencies = intent.dependencies.clone();
    record.status = Status::new(StatusOp::Update, StatusWord::Ready);
    record.token = None;
    Arc::new(record)
}

/// Reports that all calls with unknown outcomes must be decided together.
fn report_several_unknown_outcomes<'a>(
    open: impl Iterator<Item = &'a Address>,
    found: &mut Diagnostics,
) {
    let all: Vec<String> = open.map(|address| format!("`{address}`")).collect();
    if all.len() > 1 {
        found.push(
            codes::INTERRUPTED
                .new(format!(
                    "the outcomes of {} calls are not known: {}",
                    all.len(),
                    all.join(", ")
                ))
                .help(
                    "decide about all of them in one `cyan reconcile`: its options are repeatable",
                ),
        );
    }
}

/// Reports `unknown-address` for each address that the user has decided about and at which no call
/// was cut off.
fn refuse_unused_decisions(
    options: &Options,
    used: &HashSet<&Address>,
    settled: &[Settled],
    found: &mut Diagnostics,
) {
    for address in decided_by_user(options).filter(|address| !used.contains(*address)) {
        let known: Vec<String> = settled
            .iter()
            .map(|settled| settled.address.to_string())
            .collect();
        let shown = address.to_string();
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        let diagnostic = codes::UNKNOWN_ADDRESS.new(format!("no call of `{shown}` was cut off"));
        found.push(match known.as_slice() {
            [] => diagnostic.help("leave the flag out: no call was cut off"),
            known => diagnostic.help(diag::help_for_unknown(
                &shown,
                known,
                "`cyan show` marks them as interrupted",
            )),
        });
    }
}

/// Reports failed creates whose resources cannot be read, and what to do. With `--force` or without
/// refresh they count as not carried out, as the first answer said.
pub(crate) fn report_unsure(
    unsure: &[Unread],
    instance: &str,
    options: &Options,
    found: &mut Diagnostics,
) {
    for unread in unsure
        .iter()
        .filter(|unread| decided_by_user(options).all(|address| *address != unread.address))
    {
        let address = &unread.address;
        let code = if unread.code.name == codes::RETRIES_EXHAUSTED.name {
            &codes::RETRIES_EXHAUSTED
        } else {
            &codes::PROVIDER_FAILED
        };
        let mut diagnostic = code
            .new(format!("`{address}` cannot be read: it is not known whether its failed create was carried out"))
            .note(&*unread.message);
        if options.force || !options.refresh.is_on() {
            diagnostic.severity = if options.force {
                Severity::Note
            } else {
                Severity::Warning
            };
            found.push(diagnostic.note("it is treated as not carried out"));
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

/// Reports calls with an intent that were not made. Many of them are reported as one note.
fn report_not_made(not_made: Vec<(Address, Diagnostic)>, found: &mut Diagnostics) {
    const NAMED: usize = 3;
    if not_made.len() <= NAMED {
        not_made.into_iter().for_each(|(_, note)| found.push(note));
        return;
    }
    let named: Vec<String> = not_made
        .iter()
        .take(NAMED)
        .map(|(address, _)| format!("`{address}`"))
        .collect();
    let more = not_made.len() - NAMED;
    found.push(codes::INTERRUPTED.new(format!(
        "the calls for {} and {more} more were cut off before they were made",
        named.join(", ")
    )));
}

/// The decision of the user about a call that was cut off.
enum CutOffDecision<'a> {
    Undone,
    Forgotten,
    Adopted(Option<&'a Name>),
}

/// All addresses about which the user decided.
fn decided_by_user(options: &Options) -> impl Iterator<Item = &Address> {
    let adopted = options.adopted.iter().map(|adoption| &adoption.address);
    options
        .undone
        .iter()
        .chain(&options.forgotten)
        .chain(adopted)
}

fn user_decision<'a>(
    address: &Address,
    options: &'a Options,
) -> Option<(&'a Address, CutOffDecision<'a>)> {
    let in_list = |list: &'a [Address]| list.iter().find(|decided| *decided == address);
    if let Some(adoption) = options
        .adopted
        .iter()
        .find(|adoption| adoption.address == *address)
    {
        return Some((
            &adoption.address,
            CutOffDecision::Adopted(adoption.id.as_ref()),
        ));
    }
    if let Some(decided) = in_list(&options.forgotten) {
        return Some((decided, CutOffDecision::Forgotten));
    }
    in_list(&options.undone).map(|decided| (decided, CutOffDecision::Undone))
}

/// Marks the fields that the lost answer of a cut-off call would have set as unknown.
fn forget_missing(
    catalogs: &Catalogs,
    type_name: &TypeId,
    inputs: &Value,
    fields: &mut blueprint::Map,
    which: impl Fn(&Field) -> bool,
) {
    let TypeRef::Known(ty) = catalogs.resource_type(type_name) else {
        return;
    };
    for (name, field) in ty
        .schema
        .fields
        .iter()
        .filter(|(_, field)| field.computed && which(field))
    {
        let is_reported = ty.id_field.as_ref() == Some(name) || inputs.get(name).is_some();
        if !is_reported {
            fields.insert(
                name.clone(),
                Value::unknown(Some(field.ty()), None).tainted(field.sensitive),
            );
        }
    }
}

/// Adopts resources that exist although their creates failed, because the answer was lost. A
/// decision of the user about such a resource counts. Also returns a diagnostic for each create
/// that only the user can decide about.
fn adopt_uncertain<'o>(
    instance: &str,
    snapshot: &mut Snapshot,
    catalogs: &Catalogs,
    answers: &Answers,
    options: &'o Options,
    used: &mut HashSet<&'o Address>,
) -> (Vec<Settled>, IndexMap<Address, Diagnostic>) {
    let mut settled = Vec::new();
    let mut forgotten = Vec::new();
    let mut undecided = IndexMap::default();
    for (address, record) in &mut snapshot.records {
        let Some((attempt, token)) = attempt_of(record) else {
            continue;
        };
        let open = create_of_attempt(address, record.retain, attempt, token);
        let before = Arc::new(Record {
            attempt: None,
            ..Record::clone(record)
        });
        let mut seen = answers.seen.get(address);
        let call = CutOffCall {
            instance,
            address,
            open: &open,
            before: Some(&before),
            seen,
            failed: true,
            catalogs,
        };
        let unclear = matches!(seen, Some(PinnedRead::Unknown));
        let mut named = None;
        match user_decision(address, options) {
            Some((decided, verdict)) => {
                used.insert(decided);
                match verdict {
                    CutOffDecision::Adopted(Some(id)) if call.is_absent() => {
                        undecided.insert(address.clone(), call.no_such_object(id));
                        continue;
                    }
                    CutOffDecision::Adopted(Some(id))
                        if !matches!(seen, Some(PinnedRead::Present { .. })) =>
                    {
                        named = Some(expected_as_created(
                            id,
                            &attempt.type_name,
                            &attempt.inputs,
                            catalogs,
                        ));
                    }
                    CutOffDecision::Adopted(None) if unclear => {
                        undecided.insert(address.clone(), call.id_is_needed());
                        continue;
                    }
                    CutOffDecision::Adopted(_) => {}
                    CutOffDecision::Forgotten
                        if record.attempt.is_none() && record.deposed.is_none() =>
                    {
                        forgotten.push(address.clone());
                        continue;
                    }
                    CutOffDecision::Undone | CutOffDecision::Forgotten => {
                        let inner = Arc::make_mut(record);
                        if inner.attempt.is_some() {
                            inner.attempt = None
                        } else {
                            inner.token = None
                        }
                        settled.push(Settled {
                            address: address.clone(),
                            record: Some(record.clone()),
                        });
                        continue;
                    }
                }
            }
            // `report_unsure` reports those whose read failed.
            None if unclear && !answers.unread.contains_key(address) => {
                let mut diagnostic = call.unknown_outcome(answers);
                if options.force {
                    diagnostic.severity = Severity::Note;
                    diagnostic.help.clear();
                    diagnostic = diagnostic.note("it is treated as not carried out");
                }
                undecided.insert(address.clone(), diagnostic);
                continue;
            }
            None => {}
        }
        seen = named.as_ref().or(seen);
        let Some(seen) =
            seen.filter(|seen| matches!(seen, PinnedRead::Present { id, .. } if *id != record.id))
        else {
            let was_read = answers.refreshed && !answers.unread.contains_key(address);
            if was_read && record.attempt.is_some() && !unclear {
                // No new object was created, so the attempt is dropped.
                Arc::make_mut(record).attempt = None;
                settled.push(Settled {
                    address: address.clone(),
                    record: Some(record.clone()),
                });
            }
            continue;
        };
        if let Some(taken) = record_after_cut_off(&open, Some(&before), Some(seen), catalogs) {
            *record = taken.clone();
            settled.push(Settled {
                address: address.clone(),
                record: Some(taken),
            });
        }
    }
    for address in forgotten {
        snapshot.records.shift_remove(&address);
        settled.push(Settled {
            address,
            record: None,
        });
    }
    (settled, undecided)
}

/// The create of an attempt, as if it had been cut off.
fn create_of_attempt(
    address: &Address,
    retain: bool,
    attempt: &Record,
    token: &Name,
) -> OpenIntent {
    OpenIntent {
        intent: Intent {
            address: address.clone(),
            op: StatusOp::Create,
            deposed: false,
            token: token.clone(),
            id: "".into(),
            hides_id: false,
            retain,
            protect: attempt.protect,
            delete_mode: attempt.delete_mode,
            type_name: attempt.type_name.clone(),
            inputs: attempt.inputs.clone(),
            private: attempt.private.clone(),
            folder: attempt.origin.folder.clone(),
            urn: attempt.origin.urn.clone(),
            dependencies: attempt.dependencies.clone(),
            provider: None,
        },
    }
}

/// The expected result of reading a resource that was created with these inputs under an id that
/// the user names.
fn expected_as_created(
    id: &Name,
    type_name: &TypeId,
    inputs: &Value,
    catalogs: &Catalogs,
) -> PinnedRead {
    let mut fields = fill_unknown_inputs(inputs, &Value::Null)
        .as_map()
        .cloned()
        .unwrap_or_default();
    if let TypeRef::Known(ty) = catalogs.resource_type(type_name)
        && let Some(field) = &ty.id_field
    {
        fields.insert(field.clone(), Value::Text(id.clone()));
    }
    forget_missing(catalogs, type_name, inputs, &mut fields, |_| true);
    PinnedRead::Present {
        id: id.clone(),
        fields: Value::Map(fields.into()),
        private: Value::Null,
        expired: None,
        inputs: None,
    }
}
