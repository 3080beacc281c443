//! Whether a further run is made: the API server checks it, with a dry run.

use ::kubernetes::FailureReason;
use ::provider::{
    ErrorKind, PlanMode, PlanPhase, PlanRequest, Planned, ProviderDiagnostic, ProviderError,
    ProviderSeverity, Verdict,
};
use blueprint::{FieldPath, Name, Value};

use super::reading::with_computed;
use super::series::SeriesId;
use super::spec::{RunSpec, in_template, object_of_run, unknown_part};
use crate::cluster::{ApplyOptions, RequestError};
use crate::context::CallContext;
use crate::manifest::PlacedManifest;
use crate::observed::ObjectFacts;

/// The fields that the runs tell.
const COMPUTED: [&str; 3] = ["object", "newest", "health"];

/// Plans the first run of a series, or a further one.
///
/// # Errors
/// If the document or the server refuses the run, or if the server cannot be asked.
pub(crate) async fn plan_run(
    context: CallContext<'_>,
    request: PlanRequest<'_>,
) -> Result<Planned, ProviderError> {
    let planning = RunPlanning { context, request };
    if request.mode == PlanMode::Delete {
        return Ok(Planned::default());
    }
    if let Some(part) = unknown_part(request.desired) {
        return planning.undecided(part.to_owned());
    }
    let spec = match RunSpec::of(request.desired) {
        Ok(spec) => spec,
        // The check reports the mistake at its place.
        Err(_) if request.phase == PlanPhase::Preview => return Ok(planning.planned()),
        Err(error) => return Err(error),
    };
    if request.mode == PlanMode::Update
        && let Some(planned) = planning.without_run(&spec)
    {
        return Ok(planned);
    }
    let kind = spec.manifest.kind_words();
    let placed = spec.manifest.clone().place(context.cluster).await;
    let Some(placed) = placed.map_err(in_template)? else {
        return planning.undecided(format!("the kind {kind}, which the cluster does not have"));
    };
    if request.mode == PlanMode::Update {
        let recorded = SeriesId::read(request.id.unwrap_or_default())?;
        let id = SeriesId::new(&spec, placed.namespace.clone());
        if let Some(replaces) = difference(&recorded, &id) {
            // A delete of the old series must not find the new runs.
            let labels = FieldPath::parse("metadata.labels");
            let mut unknown = placed.unknown.iter();
            let is_open = unknown.any(|path| path.covers(&labels) || labels.covers(path));
            let finds_new = is_open || recorded.finds(&id, &placed.body);
            return Ok(Planned {
                verdict: Verdict::Replace {
                    delete_first: Some(finds_new),
                },
                replaces: vec![replaces],
                ..planning.planned()
            });
        }
    }
    planning.run(&spec, &placed).await
}

/// The field by which two series differ.
fn difference(recorded: &SeriesId, id: &SeriesId) -> Option<FieldPath> {
    let path = if recorded.kind != id.kind {
        "template.kind"
    } else if recorded.namespace != id.namespace {
        "template.metadata.namespace"
    } else if recorded.selector != id.selector {
        "selector"
    } else {
        return None;
    };
    Some(path.into())
}

struct RunPlanning<'a> {
    context: CallContext<'a>,
    request: PlanRequest<'a>,
}

impl RunPlanning<'_> {
    /// The plan of a further run. What it will be healthy with is known later.
    fn planned(&self) -> Planned {
        let open = || Value::unknown(None, None);
        let computed = COMPUTED.map(|name| (Name::from(name), open()));
        let private = match self.request.mode {
            PlanMode::Update => self.request.private.clone(),
            _ => Value::Null,
        };
        Planned {
            verdict: Verdict::Update,
            outputs: Some(with_computed(self.request.desired, computed)),
            inexact: true,
            private,
            ..Planned::default()
        }
    }

    /// The plan of a change that makes no run: the template is the one that was applied last. `None` if
    /// it is another one, or belongs to another series. A run that somebody has deleted is not made
    /// again.
    fn without_run(&self, spec: &RunSpec) -> Option<Planned> {
        let request = &self.request;
        let applied = ObjectFacts::read(request.private).applied?;
        let recorded = SeriesId::read(request.id.unwrap_or_default()).ok()?;
        let id = SeriesId::new(spec, recorded.namespace.clone());
        if spec.digest()? != applied || id != recorded {
            return None;
        }
        let desired = request.desired;
        if desired == request.prior_inputs && request.unhealthy.is_empty() {
            return Some(Planned {
                verdict: Verdict::Same,
                outputs: Some(request.prior.clone()),
                ..self.planned()
            });
        }
        let rule = |spec: &Value| spec.get("healthRule").cloned().unwrap_or_default();
        if rule(desired) != rule(request.prior_inputs) {
            return Some(self.planned());
        }
        let prior = |name: &str| request.prior.get(name).cloned().unwrap_or_default();
        let computed = COMPUTED.map(|name| (Name::from(name), prior(name)));
        Some(Planned {
            outputs: Some(with_computed(desired, computed)),
            ..self.planned()
        })
    }

    /// The answer if a step of the plan must run first. When that step should have run, the answer is
    /// an error.
    fn undecided(&self, needs: String) -> Result<Planned, ProviderError> {
        if self.request.phase == PlanPhase::Apply {
            let message = format!("the run cannot be made without {needs}");
            return Err(ProviderError::new(ErrorKind::Document, message));
        }
        Ok(Planned {
            verdict: Verdict::Undecided { needs },
            ..self.planned()
        })
    }

    /// Asks the server whether it would make the run.
    async fn run(&self, spec: &RunSpec, placed: &PlacedManifest) -> Result<Planned, ProviderError> {
        // A manifest with gaps would be refused, or mean something else.
        let Some(digest) = spec.digest() else {
            return Ok(self.planned());
        };
        let manager = self.context.manager();
        let with = ApplyOptions {
            dry_run: true,
            ..self.context.apply_options(&manager)
        };
        let collection = placed.api.collection(placed.namespace.as_deref());
        let body = object_of_run(&placed.body, &digest, 1, &self.context.call.token);
        let cluster = self.context.cluster;
        let kind = placed.api.group_kind();
        match cluster.create(&kind, &collection, &body, with).await {
            Ok(_) => Ok(self.planned()),
            Err(error) => self.not_planned(error, placed),
        }
    }

    /// The answer if the server did not plan the run.
    fn not_planned(
        &self,
        error: RequestError,
        placed: &PlacedManifest,
    ) -> Result<Planned, ProviderError> {
        let RequestError::Refused(failure) = &error else {
            return Err(self.context.failed(error));
        };
        match &failure.reason {
            FailureReason::NamespaceMissing(namespace) => {
                self.undecided(format!("the namespace `{namespace}`, which does not exist"))
            }
            FailureReason::KindMissing => self.undecided(format!(
                "the kind `{}`, which the cluster does not have",
                placed.api.kind
            )),
            FailureReason::NoRight | FailureReason::NoDryRun(_) => {
                let summary = "the server did not check the run, because a dry run is not possible";
                let note = ProviderDiagnostic {
                    severity: ProviderSeverity::Note,
                    ..ProviderDiagnostic::error("", summary).detailed(failure.message.clone())
                };
                Ok(Planned {
                    diagnostics: vec![note],
                    ..self.planned()
                })
            }
            _ => Err(in_template(self.context.failed(error))),
        }
    }
}
