//! A configured cluster as a session of the contract.
//!
//! Not here: what a change would do (`planning`), changes (`applying`).

use ::kubernetes::{KindType, ObjectId, ObjectStatus};
use ::provider::{
    Applied, ApplyRequest, BoxFuture, Call, CheckFindings, CheckRequest, ErrorKind, FetchRequest,
    Fetched, ImportRequest, Imported, Observed, Operation, PlanRequest, Planned,
    ProviderDiagnostic, ProviderError, ReadOutcome, ReadRequest, Readiness, Session,
};
use blueprint::{Name, Value};

use crate::applying::{TOKEN_LABEL, apply_manifest, delete_object};
use crate::bounds::{changing, reading};
use crate::cluster::{Cluster, uid_of};
use crate::context::{CallContext, parsed_id, short_digest};
use crate::data::fetch;
use crate::manifest::{Manifest, has_open_kind};
use crate::observed::{ObjectFacts, digest_of, fields_of, id_of, is_made_by};
use crate::planning::plan_change;
use crate::runs::{RUN_TYPE, apply_run, check_run, delete_runs, plan_run, poll_run, read_run};
use crate::settings::Settings;
use crate::waiting::status_of;
use ::kubernetes::json::to_json;

/// A configured cluster.
pub(crate) struct KubernetesSession {
    /// `None` for a session that only checks.
    cluster: Option<Cluster>,
    settings: Settings,
}

impl KubernetesSession {
    pub(crate) fn new(cluster: Option<Cluster>, settings: Settings) -> KubernetesSession {
        KubernetesSession { cluster, settings }
    }

    fn context<'a>(&'a self, call: &'a Call) -> Result<CallContext<'a>, ProviderError> {
        let cluster = self.cluster.as_ref().ok_or_else(|| {
            ProviderError::new(ErrorKind::Permanent, "this session only checks documents")
        })?;
        Ok(CallContext {
            cluster,
            settings: &self.settings,
            call,
        })
    }

    async fn read_with(
        &self,
        call: &Call,
        request: ReadRequest<'_>,
    ) -> Result<ReadOutcome, ProviderError> {
        let context = self.context(call)?;
        if request.type_name == RUN_TYPE {
            return read_run(context, request).await;
        }
        let (id, is_labelled) = match (id_of_read(&context, &request).await?, request.token) {
            (Some(id), _) => (id, false),
            (None, None) => return Ok(ReadOutcome::Unknown),
            (None, Some(token)) => match id_by_token(&context, &request, token).await? {
                Some(id) => (id, true),
                None => return Ok(ReadOutcome::Absent),
            },
        };
        let known = ObjectFacts::read(request.private);
        context.refuse_other_cluster(&known).await?;
        let Some(object) = context.object(&id).await? else {
            return Ok(ReadOutcome::Absent);
        };
        // An object that was made anew is another one.
        let uid = uid_of(&object).map(Name::from);
        if known.uid.is_some() && uid != known.uid {
            return Ok(ReadOutcome::Absent);
        }
        let manager = context.manager();
        // A cut-off create was carried out if the object has fields of this instance: a create of
        // an object that exists is refused.
        if request.token.is_some() && !is_labelled {
            let (intended, _) = to_json(request.inputs).unwrap_or_default();
            if !is_made_by(&object, &manager, &intended) {
                return Ok(ReadOutcome::Absent);
            }
        }
        let seen = Some(digest_of(&object, &manager));
        let applied = match request.token {
            Some(_) if !is_labelled => known.applied.clone().or_else(|| seen.clone()),
            // The fields are not those of an apply yet, so the next change takes them over.
            _ => known.applied.clone(),
        };
        let facts = ObjectFacts {
            uid,
            applied,
            seen,
            ..known
        };
        // Nothing was sent for an imported object but its name.
        let inputs = facts.applied.is_none().then(|| identity_of(&id));
        Ok(ReadOutcome::Present(Observed {
            id: id.to_string().into(),
            inputs,
            fields: fields_of(&id.kind, &object),
            private: facts.to_value(&id.kind),
            ..Observed::default()
        }))
    }

    async fn poll_with(
        &self,
        call: &Call,
        request: ReadRequest<'_>,
    ) -> Result<Readiness, ProviderError> {
        let context = self.context(call)?;
        if request.type_name == RUN_TYPE {
            return poll_run(context, request).await;
        }
        let Some(id) = id_of_read(&context, &request).await? else {
            return Ok(Readiness::NOT_YET);
        };
        let Some(object) = context.object(&id).await? else {
            let gone = format!("{id} was deleted while it was waited for");
            return Ok(Readiness::Broken(vec![gone.into()]));
        };
        let fields = fields_of(&id.kind, &object);
        Ok(match status_of(&context, &object).await? {
            ObjectStatus::Current => Readiness::Ready(fields),
            ObjectStatus::Failed(reason) => Readiness::Broken(vec![reason.as_str().into()]),
            ObjectStatus::InProgress(reason) => {
                (call.progress)(&reason);
                Readiness::NotYet {
                    why: Some(reason.into()),
                    fields,
                }
            }
            ObjectStatus::Terminating => Readiness::NotYet {
                why: Some("the object is being deleted".into()),
                fields: Value::Null,
            },
        })
    }

    async fn import_with(
        &self,
        call: &Call,
        request: ImportRequest<'_>,
    ) -> Result<Vec<Imported>, ProviderError> {
        let context = self.context(call)?;
        let id = imported_id(&context, request.type_name, request.id).await?;
        let Some(object) = context.object(&id).await? else {
            return Ok(Vec::new());
        };
        let facts = ObjectFacts {
            uid: uid_of(&object).map(Name::from),
            seen: Some(digest_of(&object, &context.manager())),
            ..ObjectFacts::default()
        };
        let fields = fields_of(&id.kind, &object);
        let observed = Observed {
            id: id.to_string().into(),
            inputs: Some(identity_of(&id)),
            fields,
            private: facts.to_value(&id.kind),
            ..Observed::default()
        };
        Ok(vec![Imported {
            type_name: request.type_name.into(),
            observed,
        }])
    }
}

/// The id of the object that a read is about: the recorded one, or that of the inputs. `None` if
/// the inputs do not tell.
async fn id_of_read(
    context: &CallContext<'_>,
    request: &ReadRequest<'_>,
) -> Result<Option<ObjectId>, ProviderError> {
    if let Some(id) = request.id.filter(|id| !id.is_empty()) {
        return parsed_id(id).map(Some);
    }
    let manifest = Manifest::of(request.type_name, request.inputs)?;
    let kind = manifest.kind.clone();
    let placed = manifest.place(context.cluster).await?;
    Ok(placed.and_then(|placed| {
        Some(ObjectId {
            kind,
            namespace: placed.namespace,
            name: placed.name?,
        })
    }))
}

/// The object that a create with a name of the server's choice made, by its label. `None` if the
/// create was not carried out.
async fn id_by_token(
    context: &CallContext<'_>,
    request: &ReadRequest<'_>,
    token: &str,
) -> Result<Option<ObjectId>, ProviderError> {
    let manifest = Manifest::of(request.type_name, request.inputs)?;
    let Some(placed) = manifest.place(context.cluster).await? else {
        return Ok(None);
    };
    let kind = placed.api.group_kind();
    let collection = placed.api.collection(placed.namespace.as_deref());
    let label = format!("{TOKEN_LABEL}={}", short_digest(token));
    match context.cluster.list(&kind, &collection, &label).await {
        Ok(found) => Ok(found["items"].get(0).map(|object| id_of(&kind, object))),
        Err(error) if error.is_not_found() => Ok(None),
        Err(error) => Err(context.failed(error)),
    }
}

/// The spec that only says which object it is.
fn identity_of(id: &ObjectId) -> Value {
    let name = Value::Text(id.name.clone());
    Value::map([("metadata", Value::map([("name", name)]))])
}

/// The id that an import names: as ids are recorded, or `NAMESPACE/NAME` or `NAME` of the kind of
/// the type.
async fn imported_id(
    context: &CallContext<'_>,
    type_name: &str,
    id: &str,
) -> Result<ObjectId, ProviderError> {
    let Ok(KindType::Kind(kind)) = type_name.parse::<KindType>() else {
        return parsed_id(id);
    };
    let parts: Vec<&str> = id.split('/').collect();
    let mut found = match parts.as_slice() {
        [name] => ObjectId {
            kind: kind.clone(),
            namespace: None,
            name: (*name).into(),
        },
        [namespace, name] => ObjectId {
            kind: kind.clone(),
            namespace: Some((*namespace).into()),
            name: (*name).into(),
        },
        _ => parsed_id(id)?,
    };
    if found.kind != kind {
        let message = format!("`{id}` is no object of the type `{type_name}`");
        return Err(ProviderError::new(ErrorKind::Document, message));
    }
    if found.namespace.is_none() {
        let in_namespaces = context.kind_of(&found).await?;
        let in_namespaces = in_namespaces.is_none_or(|kind| kind.namespaced);
        found.namespace = in_namespaces.then(|| context.cluster.namespace.clone());
    }
    Ok(found)
}

impl Session for KubernetesSession {
    fn check<'a>(
        &'a self,
        _call: &'a Call,
        request: CheckRequest<'a>,
    ) -> BoxFuture<'a, Result<CheckFindings, ProviderError>> {
        let mut findings = CheckFindings::default();
        if request.type_name == RUN_TYPE {
            findings.diagnostics = check_run(request.spec);
            return Box::pin(std::future::ready(Ok(findings)));
        }
        let is_open = has_open_kind(request.type_name, request.spec);
        if let Err(error) = Manifest::of(request.type_name, request.spec)
            && !is_open
        {
            let path = error.field.unwrap_or_default();
            let refusal = ProviderDiagnostic::error(path, error.message);
            findings.diagnostics.push(refusal);
        }
        Box::pin(std::future::ready(Ok(findings)))
    }

    fn read<'a>(
        &'a self,
        call: &'a Call,
        request: ReadRequest<'a>,
    ) -> BoxFuture<'a, Result<ReadOutcome, ProviderError>> {
        Box::pin(reading(call, self.read_with(call, request)))
    }

    fn plan<'a>(
        &'a self,
        call: &'a Call,
        request: PlanRequest<'a>,
    ) -> BoxFuture<'a, Result<Planned, ProviderError>> {
        Box::pin(reading(call, async move {
            let context = self.context(call)?;
            match request.type_name == RUN_TYPE {
                true => plan_run(context, request).await,
                false => plan_change(context, request).await,
            }
        }))
    }

    fn apply<'a>(
        &'a self,
        call: &'a Call,
        request: ApplyRequest<'a>,
    ) -> BoxFuture<'a, Result<Applied, ProviderError>> {
        Box::pin(async move {
            let context = self.context(call)?;
            let is_run = request.type_name == RUN_TYPE;
            match request.operation {
                Operation::Create | Operation::Update if is_run => {
                    changing(call, apply_run(context, &request)).await
                }
                Operation::Delete if is_run => delete_runs(context, &request).await,
                Operation::Create | Operation::Update => {
                    changing(call, apply_manifest(context, &request)).await
                }
                Operation::Delete => delete_object(context, &request).await,
            }
        })
    }

    fn poll_ready<'a>(
        &'a self,
        call: &'a Call,
        request: ReadRequest<'a>,
    ) -> BoxFuture<'a, Result<Readiness, ProviderError>> {
        Box::pin(reading(call, self.poll_with(call, request)))
    }

    fn fetch<'a>(
        &'a self,
        call: &'a Call,
        request: FetchRequest<'a>,
    ) -> BoxFuture<'a, Result<Fetched, ProviderError>> {
        Box::pin(reading(call, async move {
            fetch(self.context(call)?, request).await
        }))
    }

    fn import<'a>(
        &'a self,
        call: &'a Call,
        request: ImportRequest<'a>,
    ) -> BoxFuture<'a, Result<Vec<Imported>, ProviderError>> {
        Box::pin(reading(call, self.import_with(call, request)))
    }
}
