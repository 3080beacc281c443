//! The values that a run knows: the state with the outcomes so far, the evaluated document, and
//! values that became known in this run.
//!
//! Not here: evaluating further values (`values`), new records (`records`).

use std::fmt;
use std::sync::Arc;

use blueprint::{Address, DeclarationSite, Name, TypeId, Value};
use evaluate::answers::{Answers, ProviderOpinion};
use evaluate::question::ProviderInstance;
use evaluate::resolve::{Evaluation, Outputs, RuledReadiness};
use plan::linked::Linked;
use plan::model::Action;
use plan::plan::Plan;
use plan::record_ties::record_ties;
use plan::task::Decided;
use provider::{Applied, PlanMode, Plans};
use state::{Managed, ProviderRef, Record, RecordTies, Snapshot};
use understand::compare::contradiction;

use crate::link_state::Set;

/// The owner of each id, by type and id.
type Owners = std::collections::HashMap<(TypeId, Name), Address, foldhash::fast::FixedState>;

/// The id that plugins answer for a value without an object, such as a password.
const NO_OBJECT: &str = "none";

/// The values that a run knows.
pub(crate) struct RunValues {
    /// The state, with outcomes that are recorded or about to be.
    pub(crate) snapshot: Snapshot,
    /// The evaluated document; `None` for a plan without a document.
    pub(crate) evaluation: Option<Evaluation>,
    /// Metadata that became known only in this run.
    metadata: blueprint::IndexMap<Address, Value>,
    /// Resources whose condition is false.
    absent: Set<Address>,
    /// Resources whose provider was asked to plan again in this run, with the mode of the last
    /// question.
    replanned: std::collections::HashMap<Address, PlanMode, foldhash::fast::FixedState>,
    /// Resources whose records link writes have changed in this run.
    written: Set<Address>,
    /// Resources whose fields came out differently than their provider forecast.
    deviated: Set<Address>,
    /// Resources whose specs have other values than in the plan, because they read such fields.
    unplanned: Set<Address>,
    /// The owners of ids, of types whose providers decide. Built when the first answer for such a
    /// type arrives.
    owners: Option<Owners>,
    /// The owners of ids in other instances of the state.
    others: std::collections::HashMap<(TypeId, Name), ObjectOwner, foldhash::fast::FixedState>,
}

/// The resource that manages an object.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ObjectOwner {
    /// Its instance; `None` for the instance of the run.
    pub(crate) instance: Option<Name>,
    pub(crate) address: Address,
}

impl fmt::Display for ObjectOwner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`", self.address)?;
        match &self.instance {
            Some(instance) => write!(f, " of `{instance}`"),
            None => Ok(()),
        }
    }
}

impl RunValues {
    /// The values at the start of a run.
    pub(crate) fn new(snapshot: Snapshot, evaluation: Option<Evaluation>) -> RunValues {
        RunValues {
            snapshot,
            evaluation,
            metadata: blueprint::IndexMap::default(),
            absent: Set::default(),
            replanned: Default::default(),
            written: Set::default(),
            deviated: Set::default(),
            unplanned: Set::default(),
            owners: None,
            others: Default::default(),
        }
    }

    /// Sets the objects that other instances of the state manage.
    pub(crate) fn set_others(&mut self, managed: Vec<Managed>) {
        let owners = managed.into_iter().map(|managed| {
            let owner = ObjectOwner {
                instance: Some(managed.instance.as_str().into()),
                address: managed.address,
            };
            ((managed.type_name, managed.id), owner)
        });
        self.others = owners.collect();
    }

    /// The current record at an address.
    pub(crate) fn record(&self, address: &Address) -> Option<&Arc<Record>> {
        self.snapshot.records.get(address)
    }

    /// Stores or removes the record at an address.
    pub(crate) fn set_record(&mut self, address: &Address, record: Option<&Arc<Record>>) {
        match record {
            Some(record) => {
                self.snapshot
                    .records
                    .insert(address.clone(), record.clone());
            }
            None => {
                // The order of the records does not matter during a run.
                self.snapshot.records.swap_remove(address);
            }
        }
    }

    /// The verdict of the document's rule for readiness about an object; `None` if there is no rule.
    /// `spec` is what was sent, `outputs` what the provider answered.
    pub(crate) fn ruled_readiness(
        &self,
        decided: &Decided,
        spec: &Value,
        outputs: &Value,
    ) -> Option<RuledReadiness> {
        let (resource, _) = decided.element?;
        let evaluation = self.evaluation.as_ref()?;
        evaluation.ruled_readiness(resource, spec, outputs)
    }

    /// Whether the providers are simulated: nobody else changes their objects.
    pub(crate) fn is_simulated(&self) -> bool {
        let evaluation = self.evaluation.as_ref();
        evaluation.is_some_and(|evaluation| evaluation.simulated)
    }

    /// Records that a link write has changed the record of a resource.
    pub(crate) fn mark_written(&mut self, target: &Address) {
        self.written.insert(target.clone());
    }

    /// Whether links have changed the record since the plan was made.
    pub(crate) fn is_written(&self, decided: &Decided) -> bool {
        self.written.contains(&decided.address)
    }

    /// Whether a resource reads another one whose fields came out differently than forecast.
    pub(crate) fn reads_deviated(&self, decided: &Decided) -> bool {
        !self.deviated.is_empty()
            && decided
                .dependencies
                .iter()
                .any(|read| self.deviated.contains(read))
    }

    /// Records that the spec of a resource has other values than in the plan.
    pub(crate) fn mark_unplanned(&mut self, address: &Address) {
        self.unplanned.insert(address.clone());
    }

    /// Whether the spec of a resource has other values than in the plan.
    pub(crate) fn is_unplanned(&self, address: &Address) -> bool {
        self.unplanned.contains(address)
    }

    /// Records that the condition of a resource is false.
    pub(crate) fn mark_absent(&mut self, address: &Address) {
        self.absent.insert(address.clone());
    }

    /// Whether the condition of a resource is false.
    pub(crate) fn is_absent(&self, address: &Address) -> bool {
        self.absent.contains(address)
    }

    /// The dependencies of a resource, without those whose condition is false.
    pub(crate) fn still_used(&self, dependencies: &[Address]) -> Vec<Address> {
        dependencies
            .iter()
            .filter(|used| !self.absent.contains(*used))
            .cloned()
            .collect()
    }

    /// Stores metadata of a resource that has become known.
    pub(crate) fn set_metadata(&mut self, address: &Address, metadata: Value) {
        self.metadata.insert(address.clone(), metadata);
    }

    /// The metadata of a resource.
    pub(crate) fn metadata_of(&self, decided: &Decided) -> Value {
        self.metadata
            .get(&decided.address)
            .unwrap_or(&decided.metadata)
            .clone()
    }

    /// Records that the provider of a resource is asked to plan again.
    pub(crate) fn mark_replanned(&mut self, address: &Address, mode: PlanMode) {
        self.replanned.insert(address.clone(), mode);
    }

    /// The mode of the last request to plan again in this run.
    pub(crate) fn replanned(&self, address: &Address) -> Option<PlanMode> {
        self.replanned.get(address).copied()
    }

    /// The answers of this run, or else of the plan: a plan without a document has no evaluation,
    /// and no values that become known.
    pub(crate) fn answers<'a>(&'a self, plan: &'a Plan) -> &'a Answers {
        self.evaluation
            .as_ref()
            .map_or(&plan.answers, |evaluation| &evaluation.answers)
    }

    /// The current opinion of a provider that decides: from the plan, or from planning again.
    pub(crate) fn opinion_of<'a>(
        &'a self,
        plan: &'a Plan,
        decided: &Decided,
    ) -> Option<&'a ProviderOpinion> {
        if provider_decides(decided) {
            self.answers(plan).opinions.get(&decided.address)
        } else {
            None
        }
    }

    /// The answer of a provider that was asked in this run about a replacement; `None` if it has not
    /// answered.
    pub(crate) fn judgement_of(&self, decided: &Decided) -> Option<&ProviderOpinion> {
        let answers = &self.evaluation.as_ref()?.answers;
        answers.opinions.get(&decided.address)
    }

    /// The declared configuration of a resource's provider; `None` for the default configuration.
    pub(crate) fn provider_ref(&self, decided: &Decided) -> Option<ProviderRef> {
        match &decided.provider {
            Some(instance) => {
                let id = self
                    .record(&instance.address)
                    .map(|record| record.id.clone());
                Some(ProviderRef {
                    address: instance.address.clone(),
                    id: id.unwrap_or_default(),
                })
            }
            // A resource without a declaration keeps the recorded configuration.
            None if decided.element.is_none() => decided.prior.as_ref()?.provider.clone(),
            None => None,
        }
    }

    /// The current settings of a provider's configuration. They are recorded before a call of any
    /// resource that uses them.
    pub(crate) fn instance_of(&self, of: Option<&ProviderRef>) -> Option<ProviderInstance> {
        ProviderInstance::recorded(of?, &self.snapshot)
    }

    /// What providers are told about the declaration of a resource.
    pub(crate) fn site_of(&self, decided: &Decided) -> DeclarationSite {
        let declared = decided.element.zip(self.evaluation.as_ref());
        match declared {
            Some(((number, _), evaluation)) => evaluation.site_of(Some(number)),
            None => {
                let recorded = decided.prior.as_ref();
                recorded.map_or_else(DeclarationSite::default, |record| {
                    record.origin.site().owned()
                })
            }
        }
    }

    /// What the record of a resource keeps of its options: as declared, else as recorded.
    pub(crate) fn ties_of(&self, decided: &Decided) -> Option<Box<RecordTies>> {
        match decided.element.zip(self.evaluation.as_ref()) {
            Some(((number, _), evaluation)) => {
                record_ties(&evaluation.documents, number, decided.prior.as_deref())
            }
            None => decided.prior.as_ref()?.origin.ties.clone(),
        }
    }

    /// The other resource whose record has the id of an answer, in this instance or another one of
    /// the state. Checked only for providers that decide, because built-in providers derive an id
    /// from each resource.
    pub(crate) fn owner_of_id(
        &mut self,
        decided: &Decided,
        applied: &Applied,
    ) -> Option<ObjectOwner> {
        if !has_unique_ids(decided) || applied.id.is_empty() || &*applied.id == NO_OBJECT {
            return None;
        }
        let claim = (decided.type_name.clone(), applied.id.clone());
        let is_recorded = decided
            .prior
            .as_ref()
            .is_some_and(|prior| prior.id == applied.id);
        if let Some(owner) = self.others.get(&claim).filter(|_| !is_recorded) {
            return Some(owner.clone());
        }
        let records = &self.snapshot.records;
        let owners = self.owners.get_or_insert_with(|| {
            let named = records.iter().filter(|(_, record)| !record.id.is_empty());
            named
                .map(|(address, record)| {
                    (
                        (record.type_name.clone(), record.id.clone()),
                        address.clone(),
                    )
                })
                .collect()
        });
        let own = recorded_at(decided);
        let owner = owners.get(&claim).filter(|owner| *owner != own);
        // The record of the owner may have another id now.
        let owner = owner
            .filter(|owner| {
                records
                    .get(*owner)
                    .is_some_and(|record| record.id == applied.id)
            })
            .cloned();
        if owner.is_none() {
            owners.insert(claim, own.clone());
        }
        owner.map(|address| ObjectOwner {
            instance: None,
            address,
        })
    }

    /// Publishes the current fields of a resource to its readers.
    pub(crate) fn publish(&mut self, decided: &Decided, record: &Record) {
        let Some(evaluation) = self.evaluation.as_mut() else {
            return;
        };
        let member = match decided.linked.as_deref() {
            None => decided
                .element
                .and_then(|(index, position)| evaluation.member_mut(index, position)),
            Some(Linked::Part { link, part }) => evaluation.part_mut(*link, *part),
            Some(Linked::Write(write)) => {
                let member = write
                    .member
                    .and_then(|(resource, position)| evaluation.member_mut(resource, position));
                if let Some(member) = member {
                    // The spec stays that of the document: a field that links release returns to
                    // the document's value.
                    member.outputs = Outputs::Known(record.outputs.clone());
                }
                return;
            }
            Some(Linked::Record(_)) => return,
        };
        if let Some(member) = member {
            if deviates(&member.spec, &member.outputs, record) {
                self.deviated.insert(decided.address.clone());
            }
            member.spec = record.inputs.clone();
            member.outputs = Outputs::Known(record.outputs.clone());
        }
    }
}

/// Whether a record has other values than the plan gave to the readers of the resource.
fn deviates(spec: &Value, outputs: &Outputs, record: &Record) -> bool {
    let Outputs::Planned(forecast, changing) = outputs else {
        return false;
    };
    let differs = |planned: &Value, now: &Value, open: &[Name]| {
        let fields = planned.as_map().into_iter().flatten();
        fields
            .filter(|(name, _)| !open.contains(name))
            .any(|(name, planned)| {
                let now = now.get(name).unwrap_or(&Value::Null);
                contradiction(planned, now).is_some()
            })
    };
    differs(forecast, &record.outputs, changing) || differs(spec, &record.inputs, &[])
}

/// The address whose record holds the outcome of a task: the target for a link write, else the
/// address of the task.
pub(crate) fn recorded_at(decided: &Decided) -> &Address {
    match decided.linked.as_deref() {
        Some(Linked::Write(write)) => &write.target,
        _ => &decided.address,
    }
}

/// Whether an id of the resource's type names one object, and its provider chooses it.
pub(crate) fn has_unique_ids(decided: &Decided) -> bool {
    let unique = decided
        .ty
        .as_ref()
        .is_some_and(|ty| ty.capabilities.unique_ids);
    unique && provider_decides(decided)
}

/// Whether the provider of a resource is asked about its replacement, which the engine has decided.
pub(crate) fn judges_replacement(decided: &Decided) -> bool {
    decided.action == Action::Replace
        && decided
            .ty
            .as_ref()
            .is_some_and(|ty| ty.capabilities.judges_replacements())
}

/// Whether the provider of a resource compares and decides, instead of the engine.
pub(crate) fn provider_decides(decided: &Decided) -> bool {
    decided
        .ty
        .as_ref()
        .is_some_and(|ty| ty.capabilities.plans == Plans::Always)
}
