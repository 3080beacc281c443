//! What a change would do: the API server answers, with an apply as a dry run.

use ::kubernetes::{FailureReason, FieldProblem, deletion_held_by};
use ::provider::{
    ErrorKind, PlanMode, PlanPhase, PlanRequest, Planned, ProviderDiagnostic, ProviderError,
    ProviderSeverity, Verdict,
};
use blueprint::FieldPath;
use serde_json::{Value as Json, json};

use crate::cluster::{ApiAnswer, ApplyOptions, RequestError, uid_of};
use crate::context::{CallContext, parsed_id, short_digest};
use crate::forecast::{forecast, outputs_of_change, outputs_of_new};
use crate::manifest::{Manifest, PlacedManifest, has_open_kind};
use crate::observed::{ObjectFacts, id_of, without_bookkeeping};
use crate::settings::Existing;
use ::kubernetes::json::{at, set, to_json};

/// Plans a create, an update or the create of a replacement.
///
/// # Errors
/// If the document or the server refuses the change, or if the server cannot be asked.
pub(crate) async fn plan_change(
    context: CallContext<'_>,
    request: PlanRequest<'_>,
) -> Result<Planned, ProviderError> {
    let planning = Planning { context, request };
    if has_open_kind(request.type_name, request.desired) {
        return planning.undecided("its kind, which is known on deploy".to_owned());
    }
    let manifest = Manifest::of(request.type_name, request.desired)?;
    let kind_words = manifest.kind_words();
    let Some(placed) = manifest.place(context.cluster).await? else {
        let needs = format!("the kind {kind_words}, which the cluster does not have");
        return planning.undecided(needs);
    };
    match request.mode {
        PlanMode::Create | PlanMode::Replace => planning.create(placed).await,
        PlanMode::Update => planning.update(placed).await,
        PlanMode::Delete => Ok(Planned::default()),
    }
}

struct Planning<'a> {
    context: CallContext<'a>,
    request: PlanRequest<'a>,
}

impl Planning<'_> {
    /// The answer if a step of the plan must run first. When that step should have run, the answer
    /// is an error.
    fn undecided(&self, needs: String) -> Result<Planned, ProviderError> {
        if self.request.phase == PlanPhase::Apply {
            let message = format!("the object cannot be made without {needs}");
            return Err(ProviderError::new(ErrorKind::Document, message));
        }
        Ok(Planned {
            verdict: Verdict::Undecided { needs },
            outputs: Some(forecast(self.request.desired)),
            inexact: true,
            ..Planned::default()
        })
    }

    fn dry_run<'m>(&self, manager: &'m str) -> ApplyOptions<'m> {
        ApplyOptions {
            dry_run: true,
            ..self.context.apply_options(manager)
        }
    }

    async fn create(&self, placed: PlacedManifest) -> Result<Planned, ProviderError> {
        let planned = Planned {
            verdict: Verdict::Update,
            inexact: true,
            outputs: Some(forecast(self.request.desired)),
            ..Planned::default()
        };
        // A manifest with gaps would be refused, or mean something else.
        if !placed.unknown.is_empty() {
            return Ok(planned);
        }
        let manager = self.context.manager();
        let with = self.dry_run(&manager);
        let (cluster, kind) = (self.context.cluster, placed.api.group_kind());
        let replaces = self.request.mode == PlanMode::Replace && self.is_own_place(&placed).await?;
        let asked = match placed.path() {
            // The old object still has the name.
            Some(_) if replaces => self.ask_under_other_name(&placed, with).await,
            Some(path) => cluster.apply(&kind, &path, &placed.body, with).await,
            None => {
                let collection = placed.api.collection(placed.namespace.as_deref());
                cluster.create(&kind, &collection, &placed.body, with).await
            }
        };
        let refuses_existing = self.context.settings.existing == Existing::Refuse;
        match asked {
            Ok(answer) if answer.created => Ok(Planned {
                outputs: Some(outputs_of_new(&placed, &answer.body)),
                ..planned
            }),
            Ok(_) if refuses_existing => Err(self.exists_already(&placed)),
            Ok(answer) => Ok(adopted(planned, &placed, &answer.body)),
            Err(error) => self.not_planned(error, planned, &placed, refuses_existing),
        }
    }

    /// Whether the new object of a replacement has the place of the old one.
    async fn is_own_place(&self, placed: &PlacedManifest) -> Result<bool, ProviderError> {
        if self.request.prior_inputs.is_null() {
            return Ok(false);
        }
        let old = Manifest::of(self.request.type_name, self.request.prior_inputs)?;
        let old = old.place(self.context.cluster).await?;
        Ok(old.is_some_and(|old| {
            old.name == placed.name
                && old.namespace == placed.namespace
                && old.api.group_kind() == placed.api.group_kind()
        }))
    }

    /// Asks for a new object under a name that no object has.
    async fn ask_under_other_name(
        &self,
        placed: &PlacedManifest,
        with: ApplyOptions<'_>,
    ) -> Result<ApiAnswer, RequestError> {
        let name = placed.name.as_deref().unwrap_or_default();
        let digest = short_digest(&format!("{} {name}", self.context.call.token));
        // Names of most kinds have up to 63 letters.
        let kept: String = name.chars().take(50).collect();
        let name = format!("{}-{digest}", kept.trim_end_matches(['-', '.']));
        let mut body = placed.body.clone();
        body["metadata"]["name"] = json!(name);
        let path = placed.api.path(placed.namespace.as_deref(), &name);
        self.context
            .cluster
            .apply(&placed.api.group_kind(), &path, &body, with)
            .await
    }

    fn exists_already(&self, placed: &PlacedManifest) -> ProviderError {
        let id = id_of(&placed.api.group_kind(), &placed.body);
        let summary = format!("{} exists already", placed.words());
        let detail = format!(
            "Take it under management with `cyan import {} {id} '{}'`, or set \
             `existing = \"adopt\"` under `[providers.kubernetes]` in `cyan.toml`.",
            self.request.type_name, self.context.call.address
        );
        let said = ProviderDiagnostic::error("metadata.name", summary).detailed(detail);
        ProviderError::of_diagnostics(ErrorKind::Conflict, vec![said])
    }

    async fn update(&self, mut placed: PlacedManifest) -> Result<Planned, ProviderError> {
        let request = &self.request;
        let live = to_json(request.prior).map(|(live, _)| live);
        let live = live.unwrap_or_default();
        if live["metadata"].get("deletionTimestamp").is_some() {
            return Err(being_deleted(&placed, &live));
        }
        let facts = ObjectFacts::read(request.private);
        let is_as_recorded = facts.applied.is_some() && facts.applied == facts.seen;
        if request.desired == request.prior_inputs && is_as_recorded && request.unhealthy.is_empty()
        {
            return Ok(self.same());
        }
        let id = parsed_id(request.id.unwrap_or_default())?;
        let other_place = if placed.api.group_kind() != id.kind {
            Some("kind")
        } else if placed.namespace != id.namespace {
            Some("metadata.namespace")
        } else if placed.name.as_ref().is_some_and(|name| *name != id.name) {
            Some("metadata.name")
        } else {
            None
        };
        if let Some(field) = other_place {
            return Ok(Planned {
                verdict: Verdict::Replace {
                    delete_first: Some(false),
                },
                replaces: vec![field.into()],
                outputs: Some(forecast(request.desired)),
                inexact: true,
                ..Planned::default()
            });
        }
        // The server may have chosen the name, and an unknown name is that of the object so far.
        placed.give_name(&id.name);
        self.update_in_place(placed, &facts, &live).await
    }

    fn same(&self) -> Planned {
        Planned {
            verdict: Verdict::Same,
            outputs: Some(self.request.prior.clone()),
            private: self.request.private.clone(),
            inexact: true,
            ..Planned::default()
        }
    }

    async fn update_in_place(
        &self,
        placed: PlacedManifest,
        facts: &ObjectFacts,
        live: &Json,
    ) -> Result<Planned, ProviderError> {
        let request = &self.request;
        // Unknown parts take the live values: what exists is never undecided.
        let mut body = placed.with_uid(facts.uid.as_deref());
        for path in &placed.unknown {
            if let Some(value) = at(live, path) {
                set(&mut body, path, value.clone());
            }
        }
        let planned = Planned {
            verdict: Verdict::Update,
            inexact: true,
            private: request.private.clone(),
            ..Planned::default()
        };
        let manager = self.context.manager();
        let path = placed.path().unwrap_or_default();
        let asked = self
            .context
            .cluster
            .apply(
                &placed.api.group_kind(),
                &path,
                &body,
                self.dry_run(&manager),
            )
            .await;
        match asked {
            Ok(answer) => {
                // An imported object has no fields of this instance yet.
                let is_same = facts.applied.is_some()
                    && request.unhealthy.is_empty()
                    && request.desired == request.prior_inputs
                    && comparable(&answer.body) == comparable(live);
                if is_same {
                    return Ok(self.same());
                }
                Ok(Planned {
                    outputs: Some(outputs_of_change(&placed, &answer.body)),
                    ..planned
                })
            }
            Err(error) => match refused_fields(&error) {
                Some(replaces) => {
                    // If a new object would be accepted, only a replacement makes the change.
                    let with = self.dry_run(&manager);
                    match self.ask_under_other_name(&placed, with).await {
                        Ok(_) => Ok(Planned {
                            verdict: Verdict::Replace {
                                delete_first: Some(true),
                            },
                            replaces,
                            outputs: Some(forecast(request.desired)),
                            ..planned
                        }),
                        Err(_) => Err(self.context.failed(error)),
                    }
                }
                None => self.not_planned(error, planned, &placed, false),
            },
        }
    }

    /// The answer if the server did not plan the change.
    fn not_planned(
        &self,
        error: RequestError,
        planned: Planned,
        placed: &PlacedManifest,
        refuses_existing: bool,
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
            // Only an object that exists has fields of others.
            FailureReason::FieldConflicts(_) if refuses_existing => {
                Err(self.exists_already(placed))
            }
            FailureReason::NoRight | FailureReason::NoDryRun(_) => {
                let summary =
                    "the server did not check the change, because a dry run is not possible";
                let note = ProviderDiagnostic {
                    severity: ProviderSeverity::Note,
                    ..ProviderDiagnostic::error("", summary).detailed(failure.message.clone())
                };
                let outputs = planned.outputs.clone();
                Ok(Planned {
                    outputs: outputs.or_else(|| Some(forecast(self.request.desired))),
                    diagnostics: vec![note],
                    ..planned
                })
            }
            _ => Err(self.context.failed(error)),
        }
    }
}

/// The fields that an update must not change, or that are not valid. `None` if the server says
/// something else.
fn refused_fields(error: &RequestError) -> Option<Vec<FieldPath>> {
    let RequestError::Refused(failure) = error else {
        return None;
    };
    let FailureReason::Invalid(fields) = &failure.reason else {
        return None;
    };
    // A kind that has no such field refuses it in a new object too.
    let declared = fields
        .iter()
        .filter(|field| field.problem != FieldProblem::Undeclared);
    let paths: Vec<FieldPath> = declared.map(|field| field.path.clone()).collect();
    (!paths.is_empty()).then_some(paths)
}

/// The plan of a create that takes an existing object over.
fn adopted(planned: Planned, placed: &PlacedManifest, body: &Json) -> Planned {
    let facts = ObjectFacts {
        uid: uid_of(body).map(Into::into),
        adopted: true,
        ..ObjectFacts::default()
    };
    Planned {
        adopts: true,
        private: facts.to_value(&placed.api.group_kind()),
        outputs: Some(outputs_of_change(placed, body)),
        ..planned
    }
}

fn being_deleted(placed: &PlacedManifest, live: &Json) -> ProviderError {
    let mut message = format!("{} is being deleted", placed.words());
    if let Some(held) = deletion_held_by(live) {
        message.push_str(&format!(": {held}"));
    }
    let path: FieldPath = "metadata.name".into();
    let said = ProviderDiagnostic::error(path, message);
    ProviderError::of_diagnostics(ErrorKind::Conflict, vec![said])
}

/// The parts of an object that a change of its declaration can change.
fn comparable(object: &Json) -> Json {
    let mut object = without_bookkeeping(object);
    if let Some(entries) = object.as_object_mut() {
        entries.shift_remove("status");
        if let Some(metadata) = entries.get_mut("metadata").and_then(Json::as_object_mut) {
            for name in ["resourceVersion", "generation"] {
                metadata.shift_remove(name);
            }
        }
    }
    object
}
