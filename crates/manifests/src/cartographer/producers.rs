//! The outputs that a resource of a chain reads: what is known of them when the document is lowered,
//! references to them, and their values when they are known.

use blueprint::{Expr, ExprKind, Name, Value};
use cartographer::inputs::{ResourceOutput, ResourceOutputs, SourceOutput};
use diag::{Span, Spanned};

use super::chain_resource::{ChainResource, local};

/// The sorts of outputs: the field of a resource that declares inputs of the sort, and its name here.
const SORTS: [(&str, OutputSort); 3] = [
    ("sources", OutputSort::Source),
    ("images", OutputSort::Image),
    ("configs", OutputSort::Config),
];

/// What an output is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OutputSort {
    Source,
    Image,
    Config,
}

impl OutputSort {
    fn name(self) -> &'static str {
        match self {
            OutputSort::Source => "source",
            OutputSort::Image => "image",
            OutputSort::Config => "config",
        }
    }

    /// The output of this sort in a value, such as `{url, revision}`. A value that is not known is an
    /// output whose parts are not known.
    fn output(self, value: &Value) -> ResourceOutput {
        let part = |key: &str| match value.is_unknown() {
            true => value.clone(),
            false => value.get(key).cloned().unwrap_or_default(),
        };
        match self {
            OutputSort::Source => ResourceOutput::Source(source(value)),
            OutputSort::Image => ResourceOutput::Image(part("image")),
            OutputSort::Config => ResourceOutput::Config(part("config")),
        }
    }
}

/// The source in a value `{url, revision}`.
pub(super) fn source(value: &Value) -> SourceOutput {
    let part = |key: &str| match value.is_unknown() {
        true => value.clone(),
        false => value.get(key).cloned().unwrap_or_default(),
    };
    SourceOutput {
        url: part("url"),
        revision: part("revision"),
    }
}

/// An output as a value: a map of its parts.
pub(super) fn record(output: &ResourceOutput) -> Value {
    match output {
        ResourceOutput::Nothing => Value::Null,
        ResourceOutput::Source(source) => Value::map([
            ("url", source.url.clone()),
            ("revision", source.revision.clone()),
        ]),
        ResourceOutput::Image(image) => Value::map([("image", image.clone())]),
        ResourceOutput::Config(config) => Value::map([("config", config.clone())]),
    }
}

/// The producers of the inputs of a resource, each once, with the sort of their output.
fn producers(resource: &ChainResource<'_>) -> Vec<(Name, OutputSort)> {
    let of_sort = |(field, sort): (&str, OutputSort)| {
        let inputs = resource.inputs(field).into_iter();
        inputs
            .map(|(_, producer)| (producer, sort))
            .collect::<Vec<_>>()
    };
    let inputs = SORTS.into_iter().flat_map(of_sort);
    let deployment = resource.deployment().map(|name| (name, OutputSort::Source));
    let mut all: Vec<(Name, OutputSort)> = Vec::new();
    for producer in inputs.chain(deployment) {
        if !all.contains(&producer) {
            all.push(producer);
        }
    }
    all
}

/// The outputs of the producers of a resource, none of which is known.
pub(super) fn forecast(resource: &ChainResource<'_>) -> ResourceOutputs {
    let producers = producers(resource).into_iter();
    let unknown = Value::unknown(None, None);
    producers
        .map(|(name, sort)| (name, sort.output(&unknown)))
        .collect()
}

/// References to the outputs of the producers of a resource: a map from the name of the producer to a
/// map with the sort as its only key.
pub(super) fn references(resource: &ChainResource<'_>, span: Span) -> Expr {
    let entry = |key: &str, value: Expr| (Spanned::new(key.into(), span), value);
    let producers = producers(resource).into_iter().map(|(name, sort)| {
        let output = local(&resource.local_name(&name), span);
        let by_sort = Expr::new(ExprKind::Map(vec![entry(sort.name(), output)]), span);
        entry(&name, by_sort)
    });
    Expr::new(ExprKind::Map(producers.collect()), span)
}

/// The outputs in the value of such references.
pub(super) fn outputs_in(references: &Value) -> ResourceOutputs {
    let entries = references.as_map().into_iter().flat_map(|map| map.iter());
    let outputs = entries.filter_map(|(name, by_sort)| {
        let sorts = SORTS.iter().map(|(_, sort)| *sort);
        let found = sorts.filter_map(|sort| Some((sort, by_sort.get(sort.name())?)));
        let (sort, value) = found.into_iter().next()?;
        Some((name.clone(), sort.output(value)))
    });
    outputs.collect()
}
