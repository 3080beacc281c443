//! Makes runs, removes those that are not kept, and deletes a whole series.

use ::kubernetes::ObjectId;
use ::provider::{
    Applied, ApplyRequest, ErrorKind, Operation, ProviderDiagnostic, ProviderError, Ready,
};
use blueprint::Name;
use serde_json::Value as Json;

use super::reading::fields_of_series;
use super::series::{Series, SeriesId, objects_of};
use super::spec::{RunSpec, in_template, object_of_run};
use crate::applying::wait_until_gone;
use crate::bounds::{changing, reading};
use crate::cluster::uid_of;
use crate::context::CallContext;
use crate::kinds::ApiKind;
use crate::observed::{ObjectFacts, id_of};
use crate::problems::change_failed;

/// Makes a run, unless the newest one comes from the same template. Then removes the runs that are not
/// kept.
///
/// # Errors
/// If the document or the server refuses the run; [`ErrorKind::OutcomeUnknown`] if no answer came.
pub(crate) async fn apply_run(
    context: CallContext<'_>,
    request: &ApplyRequest<'_>,
) -> Result<Applied, ProviderError> {
    let spec = RunSpec::of(request.desired)?;
    let words = spec.manifest.kind_words();
    let placed = spec.manifest.clone().place(context.cluster).await;
    let Some(placed) = placed.map_err(|error| in_template(error).without_effect())? else {
        let message = format!("the cluster has no kind {words}");
        return Err(ProviderError::new(ErrorKind::Document, message).without_effect());
    };
    let Some(digest) = spec.digest() else {
        let message = "the template of a run is not known";
        return Err(ProviderError::new(ErrorKind::Document, message).without_effect());
    };
    let identity = context.cluster.identity().await;
    let identity = identity.map_err(|error| context.failed(error).without_effect())?;
    let id = SeriesId::new(&spec, placed.namespace.clone());
    let series = Series::list(&context, &placed.api, &id, &spec.rule).await;
    let mut series = series.map_err(ProviderError::without_effect)?;
    let known = ObjectFacts::read(request.private);
    let is_update = request.operation == Operation::Update;
    let is_applied = is_update && known.applied.as_ref() == Some(&digest);
    let newest = series.newest();
    let has_run = newest.is_some_and(|run| is_applied || run.digest() == Some(&*digest));
    if !has_run {
        let number = series.next_number();
        let body = object_of_run(&placed.body, &digest, number, &context.call.token);
        let manager = context.manager();
        let collection = placed.api.collection(placed.namespace.as_deref());
        let with = context.apply_options(&manager);
        let made = context
            .cluster
            .create(&id.kind, &collection, &body, with)
            .await;
        let made = made.map_err(|error| in_template(change_failed(error, context.cluster)))?;
        series.add(&id.kind, &spec.rule, made.body);
    }
    let diagnostics = remove_surplus(&context, &placed.api, &mut series, &spec).await;
    let facts = ObjectFacts {
        cluster: identity,
        server: Some(context.cluster.title.as_str().into()),
        applied: Some(digest),
        ..ObjectFacts::default()
    };
    let ready = match series.unhealthy() {
        None => Ready::Yes,
        Some(why) => {
            (context.call.progress)(&why);
            Ready::Pending
        }
    };
    Ok(Applied {
        id: id.to_string().into(),
        fields: fields_of_series(request.desired, &series),
        private: facts.to_value(&id.kind),
        ready,
        inputs: None,
        diagnostics,
    })
}

/// Removes the runs that are not kept. A run that stays although it should not is a warning: the next
/// call removes it.
async fn remove_surplus(
    context: &CallContext<'_>,
    api: &ApiKind,
    series: &mut Series,
    spec: &RunSpec,
) -> Vec<ProviderDiagnostic> {
    let mut warnings = Vec::new();
    for run in series.take_surplus(spec.limits) {
        if let Err(error) = delete_run(context, api, &run.object).await {
            let warning = format!(
                "the run `{}` was not removed: {}",
                run.name(),
                error.message
            );
            warnings.push(ProviderDiagnostic::warning("retention", warning));
        }
    }
    warnings
}

/// Asks for the deletion of a run. Returns its identity.
async fn delete_run(
    context: &CallContext<'_>,
    api: &ApiKind,
    object: &Json,
) -> Result<ObjectId, ProviderError> {
    let kind = api.group_kind();
    let id = id_of(&kind, object);
    let path = api.path(id.namespace.as_deref(), &id.name);
    match context.cluster.delete(&kind, &path, uid_of(object)).await {
        Ok(()) => Ok(id),
        Err(error) if error.is_gone() => Ok(id),
        Err(error) => Err(change_failed(error, context.cluster)),
    }
}

/// Deletes all runs of a series and waits until they are gone.
///
/// # Errors
/// If the server refuses; [`ErrorKind::Cancelled`] and [`ErrorKind::TimedOut`] while a run is still
/// there, with what holds it.
pub(crate) async fn delete_runs(
    context: CallContext<'_>,
    request: &ApplyRequest<'_>,
) -> Result<Applied, ProviderError> {
    let Some(id) = request.id.filter(|id| !id.is_empty()) else {
        return Ok(Applied::deleted());
    };
    let id = SeriesId::read(id)?;
    let found = reading(context.call, async {
        let found = context.cluster.kind(&id.kind, None).await;
        let Some(api) = found.map_err(|error| context.failed(error))? else {
            return Ok(None);
        };
        let objects = objects_of(&context, &api, &id).await?;
        Ok(Some((api, objects)))
    });
    let Some((api, objects)) = found.await? else {
        return Ok(Applied::deleted());
    };
    let mut deleted: Vec<(ObjectId, Option<Name>)> = Vec::new();
    for object in &objects {
        let asked = changing(context.call, delete_run(&context, &api, object));
        deleted.push((asked.await?, uid_of(object).map(Name::from)));
    }
    for (id, uid) in &deleted {
        wait_until_gone(&context, id, uid.as_deref()).await?;
    }
    Ok(Applied::deleted())
}
