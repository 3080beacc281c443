//! Changes: server-side apply, and deletes that wait until the object is gone.

use std::time::Duration;

use ::kubernetes::{GroupKind, ManagedFields, ObjectId, ObjectStatus, deletion_held_by, readiness};
use ::provider::{
    Applied, ApplyRequest, ErrorKind, Operation, ProviderDiagnostic, ProviderError, Ready,
};
use serde_json::{Value as Json, json};

use crate::bounds::{changing, reading};
use crate::cluster::{ApplyOptions, RequestError, uid_of};
use crate::context::{CallContext, parsed_id, short_digest};
use crate::manifest::{Manifest, PlacedManifest};
use crate::observed::{ObjectFacts, facts_after, fields_of, id_of};
use crate::problems::change_failed;
use crate::waiting::status_of;

/// The label with the token of a create whose name the server chooses.
pub(crate) const TOKEN_LABEL: &str = "cyan/create-token";

/// The manager of `kubectl apply` without server-side apply.
const KUBECTL_APPLY: &str = "kubectl-client-side-apply";

/// The first pause between two looks at an object that is being deleted.
const FIRST_PAUSE: Duration = Duration::from_millis(20);

/// The longest such pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

/// The pause from which on a user wants to know what an object waits for.
const NOTICEABLE: Duration = Duration::from_millis(500);

/// Creates or updates the object of a resource.
///
/// # Errors
/// If the document or the server refuses the change; [`ErrorKind::OutcomeUnknown`] if no answer
/// came.
pub(crate) async fn apply_manifest(
    context: CallContext<'_>,
    request: &ApplyRequest<'_>,
) -> Result<Applied, ProviderError> {
    let manifest = Manifest::of(request.type_name, request.desired)?;
    let words = manifest.kind_words();
    let Some(mut placed) = manifest.place(context.cluster).await? else {
        let message = format!("the cluster has no kind {words}");
        return Err(ProviderError::new(ErrorKind::Document, message).without_effect());
    };
    let identity = context.cluster.identity().await;
    let identity = identity.map_err(|error| context.failed(error).without_effect())?;
    let known = ObjectFacts::read(request.private);
    let manager = context.manager();
    let is_create = request.operation == Operation::Create;
    let mut with = context.apply_options(&manager);
    // A planned create takes no field from an object that somebody has made since the plan.
    with.force &= !is_create || known.adopted;
    if !is_create && placed.name.is_none() {
        let name = request.id.and_then(|id| id.rsplit('/').next());
        placed.give_name(name.unwrap_or_default());
    }
    let kind = placed.api.group_kind();
    let answer = match placed.path() {
        Some(path) => {
            // An update never makes an object anew, nor does a create that takes one over.
            let uid = known.uid.as_deref().filter(|_| !is_create || known.adopted);
            if uid.is_some() && known.applied.is_none() {
                let found = context.cluster.get(&kind, &path).await;
                let object = found.map_err(|error| context.failed(error).without_effect())?;
                let taken = take_over(&context, &kind, &path, &object).await;
                taken.map_err(|error| change_failed(error, context.cluster))?;
            }
            context
                .cluster
                .apply(&kind, &path, &placed.with_uid(uid), with)
                .await
        }
        None => {
            let collection = placed.api.collection(placed.namespace.as_deref());
            let mut body = placed.body.clone();
            let labels = &mut body["metadata"]["labels"];
            // The server refuses labels of another kind.
            if labels.is_null() || labels.is_object() {
                labels[TOKEN_LABEL] = json!(short_digest(&context.call.token));
            }
            context
                .cluster
                .create(&kind, &collection, &body, with)
                .await
        }
    };
    let answer = answer.map_err(|error| change_failed(error, context.cluster))?;
    if is_create && !answer.created && !known.adopted {
        return Err(give_back(&context, &placed, &answer.body, with).await);
    }
    let mut object = answer.body;
    let mut is_applied = true;
    if placed.name.is_none() {
        let id = id_of(&kind, &object);
        let path = placed.api.path(id.namespace.as_deref(), &id.name);
        match take_over(&context, &kind, &path, &object).await {
            Ok(Some(taken)) => object = taken,
            Ok(None) => {}
            // The object exists, so this is no failure. The next plan takes the fields over.
            Err(_) => is_applied = false,
        }
    }
    let mut facts = facts_after(&object, &manager, context.cluster, identity, known.adopted);
    facts.applied = facts.applied.filter(|_| is_applied);
    // The object exists now, whatever else can be asked: the next look at it asks again.
    let status = status_of(&context, &object).await;
    let status = status.unwrap_or_else(|_| readiness(&object));
    Ok(Applied {
        id: id_of(&kind, &object).to_string().into(),
        fields: fields_of(&kind, &object),
        private: facts.to_value(&kind),
        ready: match status {
            ObjectStatus::Current => Ready::Yes,
            ObjectStatus::Failed(reason) => Ready::Broken(vec![reason.as_str().into()]),
            ObjectStatus::InProgress(reason) => {
                (context.call.progress)(&reason);
                Ready::Pending
            }
            ObjectStatus::Terminating => Ready::Pending,
        },
        inputs: None,
        diagnostics: Vec::new(),
    })
}

/// Makes the instance the manager, by apply, of what `kubectl apply` wrote into an object before it
/// was imported or adopted, and of what a create without a name has written. Otherwise a field that
/// leaves the document would stay, because the other manager still holds it. Returns the changed
/// object; `None` if nothing is taken over.
async fn take_over(
    context: &CallContext<'_>,
    kind: &GroupKind,
    path: &str,
    object: &Json,
) -> Result<Option<Json>, RequestError> {
    let Ok(managers) = ManagedFields::of(object) else {
        return Ok(None);
    };
    let manager = context.manager();
    let after = managers.taken_over(&[KUBECTL_APPLY, &manager], &manager);
    if after == managers {
        return Ok(None);
    }
    let patch = json!({"metadata": {
        "managedFields": after.to_json(),
        "resourceVersion": object["metadata"]["resourceVersion"],
    }});
    let changed = context.cluster.merge(kind, path, &patch, &manager).await?;
    Ok(Some(changed))
}

/// Gives the fields back that a create has written into an object of somebody else, who made it
/// after the plan. Returns the error of the create.
async fn give_back(
    context: &CallContext<'_>,
    placed: &PlacedManifest,
    object: &Json,
    with: ApplyOptions<'_>,
) -> ProviderError {
    let mut said = vec![ProviderDiagnostic::error(
        "metadata.name",
        format!(
            "{} was made by somebody else after the plan, so it was left alone",
            placed.words()
        ),
    )];
    if let Err(error) = release(
        context,
        &placed.api.group_kind(),
        placed.path(),
        object,
        with,
    )
    .await
    {
        let warning = format!(
            "the fields of this instance in {} were not given back: {}",
            placed.words(),
            error.message
        );
        said.push(ProviderDiagnostic::warning("", warning));
    }
    ProviderError::of_diagnostics(ErrorKind::Conflict, said)
}

/// Gives up all fields of the manager in an object.
async fn release(
    context: &CallContext<'_>,
    kind: &GroupKind,
    path: Option<String>,
    object: &Json,
    with: ApplyOptions<'_>,
) -> Result<(), ProviderError> {
    let Some(path) = path else { return Ok(()) };
    let mut nothing = json!({
        "apiVersion": object["apiVersion"],
        "kind": object["kind"],
        "metadata": {"name": object["metadata"]["name"], "uid": object["metadata"]["uid"]},
    });
    if let Some(namespace) = object["metadata"].get("namespace") {
        nothing["metadata"]["namespace"] = namespace.clone();
    }
    match context.cluster.apply(kind, &path, &nothing, with).await {
        Ok(_) => Ok(()),
        Err(error) if error.is_gone() => Ok(()),
        Err(error) => Err(change_failed(error, context.cluster)),
    }
}

/// Deletes an object and waits until it is gone. An adopted object stays: only the fields of the
/// instance are given up.
///
/// # Errors
/// If the server refuses; [`ErrorKind::Cancelled`] and [`ErrorKind::TimedOut`] while the object is
/// still there, with what holds it.
pub(crate) async fn delete_object(
    context: CallContext<'_>,
    request: &ApplyRequest<'_>,
) -> Result<Applied, ProviderError> {
    let Some(id) = request.id.filter(|id| !id.is_empty()) else {
        return Ok(Applied::deleted());
    };
    let id = parsed_id(id)?;
    let found = reading(context.call, context.kind_of(&id)).await?;
    let Some(kind) = found else {
        return Ok(Applied::deleted());
    };
    let path = kind.path(id.namespace.as_deref(), &id.name);
    let facts = ObjectFacts::read(request.private);
    if facts.adopted {
        let Some(object) = reading(context.call, context.object(&id)).await? else {
            return Ok(Applied::deleted());
        };
        let manager = context.manager();
        let with = ApplyOptions {
            force: false,
            ..context.apply_options(&manager)
        };
        changing(
            context.call,
            release(&context, &id.kind, Some(path), &object, with),
        )
        .await?;
        return Ok(Applied::deleted());
    }
    let uid = facts.uid.as_deref();
    let asked = changing(context.call, async {
        match context.cluster.delete(&id.kind, &path, uid).await {
            Ok(_) => Ok(true),
            Err(error) if error.is_gone() => Ok(false),
            Err(error) => Err(change_failed(error, context.cluster)),
        }
    });
    if asked.await? {
        wait_until_gone(&context, &id, uid).await?;
    }
    Ok(Applied::deleted())
}

/// Waits until an object does not exist any more, or is another one.
pub(crate) async fn wait_until_gone(
    context: &CallContext<'_>,
    id: &ObjectId,
    uid: Option<&str>,
) -> Result<(), ProviderError> {
    let mut pause = FIRST_PAUSE;
    let mut told: Option<String> = None;
    let begin = tokio::time::Instant::now();
    loop {
        let found = reading(context.call, context.object(id)).await?;
        let Some(object) = found.filter(|object| uid.is_none() || uid_of(object) == uid) else {
            return Ok(());
        };
        let held = deletion_held_by(&object);
        if held != told && pause > NOTICEABLE {
            if let Some(held) = &held {
                (context.call.progress)(held);
            }
            told.clone_from(&held);
        }
        let still = |kind: ErrorKind| {
            let why = held
                .as_ref()
                .map_or_else(String::new, |held| format!(": {held}"));
            let message = format!("{} `{}` is still being deleted{why}", id.kind.kind, id.name);
            ProviderError::new(kind, message)
        };
        let limit = context.call.deadline;
        if limit.is_some_and(|limit| begin.elapsed() + pause > limit) {
            // What holds the object is the reason, and not the time.
            return Err(still(match held {
                Some(_) => ErrorKind::Conflict,
                None => ErrorKind::TimedOut,
            }));
        }
        tokio::select! {
            () = context.call.cancel.cancelled() => return Err(still(ErrorKind::Cancelled)),
            () = tokio::time::sleep(pause) => {}
        }
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}
