//! A series of runs: the objects that one immutable template, or one Runnable, made in turn
//! (decisions/cartographer#runs). Makes a further run unless the newest one is of the same
//! template, and deletes those that are not kept.

use std::cmp::Reverse;

use blueprint::{Map, Name, Value};

use crate::conditions::TRUE;
use crate::health::run_health;
use crate::retention::{KeptRuns, RunLimits};
use crate::timestamps;

use super::applied::{APPLIED_HASH, INPUTS, digest, with_annotations};
use super::failure::refusal_of;
use super::outbox::Outbox;
use super::parts::{annotation, name, part, shown, text};
use super::requests::{
    Call, ClusterAnswer, FoundObject, ObjectName, OwnerEvent, Refusal, RequestId,
};

/// The annotation with the position of a run in its series: the API server says only in which second
/// it made an object.
const RUN_NUMBER: &str = "cyan/run-number";

/// The annotation with the digest of everything that others decide about a run.
const CAUSE: &str = "carto.run/run-cause";

/// The annotation that counts the runs before this one with the same cause.
const REPEATS: &str = "carto.run/run-repeats";

/// How many further runs one cause can have: a template can read what earlier runs gave, and that can
/// settle.
const MOST_REPEATS: u64 = 3;

/// What a series needs.
pub(super) struct SeriesPlan {
    /// The object, as it was stamped.
    pub(super) stamped: Value,
    /// Everything that others decide about the object.
    pub(super) cause: Value,
    /// The digests of the inputs, as JSON; empty if there are none.
    pub(super) inputs: String,
    /// The labels of all runs of the series.
    pub(super) labels: Map,
    /// How a run tells whether it is healthy. Null if every run is.
    pub(super) rule: Value,
    /// How many runs are kept.
    pub(super) limits: RunLimits,
}

/// Why a series has no run of its template.
pub(super) enum SeriesFailure {
    /// Its runs cannot be listed.
    List(Refusal),
    /// The run is refused.
    Create(Refusal),
    /// Each run changes what the next one is made of.
    Endless,
}

/// A series that is brought up to date.
pub(super) struct SeriesTask {
    plan: SeriesPlan,
    hash: Name,
    stage: SeriesStage,
    /// The runs, the newest first.
    pub(super) runs: Vec<FoundObject>,
    /// Why there is no run of the template.
    pub(super) failure: Option<SeriesFailure>,
    /// Why runs that are not kept are still there.
    pub(super) undeleted: Vec<String>,
    /// What happened.
    pub(super) events: Vec<OwnerEvent>,
}

enum SeriesStage {
    Listing(RequestId),
    Creating(RequestId),
    Deleting(Vec<(RequestId, String)>),
    Done,
}

impl SeriesTask {
    /// Asks for the runs. `None` if the object cannot be expressed as JSON.
    pub(super) fn start(plan: SeriesPlan, outbox: &mut Outbox) -> Option<SeriesTask> {
        let hash = digest(&plan.stamped)?;
        let listing = outbox.ask(Call::List {
            api_version: name(&plan.stamped, &["apiVersion"]),
            kind: name(&plan.stamped, &["kind"]),
            namespace: namespace_of(&plan.stamped),
            labels: plan.labels.clone(),
        });
        Some(SeriesTask {
            plan,
            hash,
            stage: SeriesStage::Listing(listing),
            runs: Vec::new(),
            failure: None,
            undeleted: Vec::new(),
            events: Vec::new(),
        })
    }

    /// Whether nothing is left to do.
    pub(super) fn is_done(&self) -> bool {
        matches!(self.stage, SeriesStage::Done)
    }

    /// The newest run.
    pub(super) fn newest(&self) -> Option<&FoundObject> {
        self.runs.first()
    }

    /// The newest healthy run.
    pub(super) fn newest_healthy(&self) -> Option<&FoundObject> {
        let mut runs = self.runs.iter();
        runs.find(|run| run_health(&self.plan.rule, &run.object) == TRUE)
    }

    /// Takes an answer. Returns it if it is none of this series.
    pub(super) fn answer(
        &mut self,
        id: RequestId,
        answer: ClusterAnswer,
        outbox: &mut Outbox,
    ) -> Option<ClusterAnswer> {
        match &mut self.stage {
            SeriesStage::Listing(listing) if *listing == id => self.listed(answer, outbox),
            SeriesStage::Creating(creating) if *creating == id => self.created(answer, outbox),
            SeriesStage::Deleting(open) => {
                let Some(at) = open.iter().position(|(open, _)| *open == id) else {
                    return Some(answer);
                };
                let (_, run) = open.remove(at);
                let is_last = open.is_empty();
                match answer {
                    ClusterAnswer::Done => self.events.push(removed(&run)),
                    ClusterAnswer::Missing => {}
                    other => {
                        let why = refusal_of(other).message;
                        self.undeleted.push(format!("`{run}`: {why}"));
                    }
                }
                if is_last {
                    self.stage = SeriesStage::Done;
                }
            }
            _ => return Some(answer),
        }
        None
    }

    fn listed(&mut self, answer: ClusterAnswer, outbox: &mut Outbox) {
        let ClusterAnswer::List(found) = answer else {
            self.fail(SeriesFailure::List(refusal_of(answer)));
            return;
        };
        self.runs = found;
        self.runs
            .retain(|run| part(&run.object, &["metadata", "deletionTimestamp"]).is_null());
        self.runs
            .sort_by_cached_key(|run| newest_first(&run.object));
        let newest = self.newest().map(|run| &run.object);
        if newest.and_then(|run| annotation(run, APPLIED_HASH)) == Some(&*self.hash) {
            self.delete_surplus(outbox);
            return;
        }
        let cause = digest(&self.plan.cause).unwrap_or_default();
        let repeats = match newest {
            Some(run) if annotation(run, CAUSE) == Some(&*cause) => count(run, REPEATS) + 1,
            _ => 0,
        };
        if repeats > MOST_REPEATS {
            self.failure = Some(SeriesFailure::Endless);
            self.delete_surplus(outbox);
            return;
        }
        let last = self.runs.iter().map(|run| count(&run.object, RUN_NUMBER));
        let number = last.max().unwrap_or(0).saturating_add(1);
        let mut annotations = vec![
            (APPLIED_HASH, self.hash.to_string()),
            (RUN_NUMBER, number.to_string()),
            (CAUSE, cause.to_string()),
            (REPEATS, repeats.to_string()),
        ];
        if !self.plan.inputs.is_empty() {
            annotations.push((INPUTS, self.plan.inputs.clone()));
        }
        let object = with_annotations(&self.plan.stamped, &annotations);
        self.stage = SeriesStage::Creating(outbox.ask(Call::Create(object)));
    }

    fn created(&mut self, answer: ClusterAnswer, outbox: &mut Outbox) {
        let ClusterAnswer::Object(run) = answer else {
            self.fail(SeriesFailure::Create(refusal_of(answer)));
            return;
        };
        self.events.push(OwnerEvent {
            reason: "StampedObjectApplied",
            message: format!("Created object [{}]", shown(&run)),
        });
        self.runs.insert(0, run);
        self.delete_surplus(outbox);
    }

    fn fail(&mut self, failure: SeriesFailure) {
        self.failure = Some(failure);
        self.stage = SeriesStage::Done;
    }

    fn delete_surplus(&mut self, outbox: &mut Outbox) {
        let mut kept = KeptRuns::new(self.plan.limits);
        let rule = &self.plan.rule;
        let (staying, surplus): (Vec<_>, Vec<_>) = std::mem::take(&mut self.runs)
            .into_iter()
            .partition(|run| kept.keep(run_health(rule, &run.object)));
        self.runs = staying;
        let open: Vec<(RequestId, String)> = surplus
            .iter()
            .map(|run| (outbox.ask(deletion(run)), shown(run)))
            .collect();
        self.stage = match open.is_empty() {
            true => SeriesStage::Done,
            false => SeriesStage::Deleting(open),
        };
    }
}

/// The order of runs: by creation, then by number, then by name.
fn newest_first(run: &Value) -> (Reverse<Option<i64>>, Reverse<u64>, Name) {
    let created = timestamps::seconds(text(run, &["metadata", "creationTimestamp"]));
    let number = count(run, RUN_NUMBER);
    (
        Reverse(created),
        Reverse(number),
        name(run, &["metadata", "name"]),
    )
}

fn count(run: &Value, key: &str) -> u64 {
    let number = annotation(run, key).and_then(|number| number.parse().ok());
    number.unwrap_or(0)
}

/// The namespace of an object; `None` if it has none.
pub(super) fn namespace_of(object: &Value) -> Option<Name> {
    let namespace = name(object, &["metadata", "namespace"]);
    Some(namespace).filter(|namespace| !namespace.is_empty())
}

/// The request that deletes an object that was found.
pub(super) fn deletion(found: &FoundObject) -> Call {
    Call::Delete {
        object: ObjectName {
            api_version: name(&found.object, &["apiVersion"]),
            kind: name(&found.object, &["kind"]),
            namespace: namespace_of(&found.object),
            name: name(&found.object, &["metadata", "name"]),
        },
        uid: name(&found.object, &["metadata", "uid"]),
    }
}

/// The event of a deleted object.
pub(super) fn removed(shown: &str) -> OwnerEvent {
    OwnerEvent {
        reason: "StampedObjectRemoved",
        message: format!("Deleted object [{shown}]"),
    }
}
