//! What became of the runs of a series.

use ::kubernetes::GroupKind;
use ::provider::{Observed, ProviderError, ReadOutcome, ReadRequest, Readiness};
use blueprint::{Name, Value};

use super::series::{Series, SeriesId};
use super::spec::{RunSpec, unknown_part};
use crate::context::CallContext;
use crate::observed::ObjectFacts;

/// The runs of a resource. Without any, the resource does not exist.
///
/// # Errors
/// If the cluster cannot be asked, refuses, or is another one than that of the record.
pub(crate) async fn read_run(
    context: CallContext<'_>,
    request: ReadRequest<'_>,
) -> Result<ReadOutcome, ProviderError> {
    let is_recorded = request.id.is_some_and(|id| !id.is_empty());
    if !is_recorded && (request.token.is_none() || unknown_part(request.inputs).is_some()) {
        return Ok(ReadOutcome::Unknown);
    }
    let known = ObjectFacts::read(request.private);
    context.refuse_other_cluster(&known).await?;
    let Some((id, series)) = runs_of(&context, &request).await? else {
        return Ok(ReadOutcome::Absent);
    };
    let Some(newest) = series.newest() else {
        return Ok(ReadOutcome::Absent);
    };
    let mut facts = known;
    if !is_recorded {
        // A cut-off create was carried out if a run has its token, or was not needed.
        let digest = RunSpec::of(request.inputs)?.digest();
        let is_of_template = newest.digest() == digest.as_deref();
        let token = request.token.unwrap_or_default();
        if !is_of_template && !series.runs.iter().any(|run| run.is_made_by(token)) {
            return Ok(ReadOutcome::Absent);
        }
        facts.applied = digest;
    }
    Ok(ReadOutcome::Present(Observed {
        id: id.to_string().into(),
        fields: fields_of_series(request.inputs, &series),
        private: facts.to_value(&id.kind),
        ..Observed::default()
    }))
}

/// Whether the newest run is healthy.
///
/// # Errors
/// If the cluster cannot be asked, or refuses.
pub(crate) async fn poll_run(
    context: CallContext<'_>,
    request: ReadRequest<'_>,
) -> Result<Readiness, ProviderError> {
    let found = runs_of(&context, &request).await?;
    let Some((_, series)) = found.filter(|(_, series)| series.newest().is_some()) else {
        let gone = "all runs were deleted while they were waited for";
        return Ok(Readiness::Broken(vec![gone.into()]));
    };
    let fields = Value::map(series.computed());
    Ok(match series.unhealthy() {
        None => Readiness::Ready(fields),
        Some(why) => {
            (context.call.progress)(&why);
            Readiness::NotYet {
                why: Some(why.into()),
                fields,
            }
        }
    })
}

/// The series of a record, or else of the inputs. `None` if the cluster does not have its kind.
async fn runs_of(
    context: &CallContext<'_>,
    request: &ReadRequest<'_>,
) -> Result<Option<(SeriesId, Series)>, ProviderError> {
    let kind = |kind: GroupKind| async move {
        let found = context.cluster.kind(&kind, None).await;
        found.map_err(|error| context.failed(error))
    };
    let (id, api) = match request.id.filter(|id| !id.is_empty()) {
        Some(id) => {
            let id = SeriesId::read(id)?;
            let Some(api) = kind(id.kind.clone()).await? else {
                return Ok(None);
            };
            (id, api)
        }
        None => {
            let spec = RunSpec::of(request.inputs)?;
            let Some(placed) = spec.manifest.clone().place(context.cluster).await? else {
                return Ok(None);
            };
            (SeriesId::new(&spec, placed.namespace), placed.api)
        }
    };
    let rule = request.inputs.get("healthRule").unwrap_or(&Value::Null);
    let series = Series::list(context, &api, &id, rule).await?;
    Ok(Some((id, series)))
}

/// All fields of a resource: what it declares, and what its runs tell.
pub(super) fn fields_of_series(inputs: &Value, series: &Series) -> Value {
    with_computed(inputs, series.computed())
}

/// What a resource declares, with values for the fields that its runs tell.
pub(super) fn with_computed(inputs: &Value, computed: [(Name, Value); 3]) -> Value {
    let declared = inputs.as_map().into_iter().flat_map(|map| map.iter());
    let declared = declared.map(|(name, value)| (name.clone(), value.clone()));
    Value::map(declared.chain(computed))
}
