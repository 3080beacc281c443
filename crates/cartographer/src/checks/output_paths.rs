//! Paths in templates: whether they can be read, and whether the stamped kind has what they name.

use jsonpath::Path;
use kubernetes::structural::{FieldPresence, StructuralSchema};

use super::object_set::{ObjectSet, SetFault};
use super::path_names::plain_steps;
use crate::kinds::{CartoKind, KindFamily};
use crate::validation::{Fault, FaultClass, ObjectPlace};

/// The schema of a kind by `apiVersion` and `kind`; `None` where it is not at hand.
pub type SchemaLookup<'a> = dyn Fn(&str, &str) -> Option<&'a StructuralSchema> + 'a;

/// Adds the faults of the paths in templates.
pub(crate) fn check(set: &ObjectSet<'_>, schemas: &SchemaLookup<'_>, found: &mut Vec<SetFault>) {
    for object in set.all() {
        let spec = object.spec();
        let family = object.kind.family();
        if !matches!(family, KindFamily::Template | KindFamily::RunTemplate) {
            continue;
        }
        let stamped = spec.field("template");
        let version = stamped.field("apiVersion").text();
        let schema = version
            .zip(stamped.field("kind").text())
            .and_then(|(version, kind)| schemas(version, kind));
        for path in paths(object.kind, &spec) {
            let fault = path_fault(&path, schema);
            found.extend(fault.map(|fault| object.with(fault)));
        }
    }
}

/// The fields of a template that are paths into its object.
fn paths<'a>(kind: CartoKind, spec: &ObjectPlace<'a>) -> Vec<ObjectPlace<'a>> {
    let mut paths = Vec::new();
    let fields: &[&str] = match kind {
        CartoKind::ClusterSourceTemplate => &["urlPath", "revisionPath"],
        CartoKind::ClusterImageTemplate => &["imagePath"],
        CartoKind::ClusterConfigTemplate => &["configPath"],
        _ => &[],
    };
    paths.extend(fields.iter().map(|field| spec.field(field)));
    if kind == CartoKind::ClusterRunTemplate {
        let outputs = spec.field("outputs").entries();
        paths.extend(outputs.into_iter().map(|(_, path)| path));
    }
    for pair in spec.field("observedMatches").items() {
        paths.extend([pair.field("input"), pair.field("output")]);
    }
    let completion = spec.field("observedCompletion");
    for side in ["succeeded", "failed"] {
        paths.push(completion.field(side).field("key"));
    }
    let rule = spec.field("healthRule").field("multiMatch");
    for side in ["unhealthy", "healthy"] {
        for matcher in rule.field(side).field("matchFields").items() {
            paths.extend([matcher.field("key"), matcher.field("messagePath")]);
        }
    }
    paths.retain(|path| !path.is_empty());
    paths
}

fn path_fault(place: &ObjectPlace<'_>, schema: Option<&StructuralSchema>) -> Option<Fault> {
    let path = place.text()?;
    if let Err(mistake) = Path::parse(path) {
        let reason = place.reason(&mistake.message);
        let message = format!("{} cannot be read{reason}", place.quoted());
        let mut fault = place.fault(FaultClass::PathSyntax, message);
        let position = |at: usize| u32::try_from(at).ok();
        fault.inside = position(mistake.span.start)
            .zip(position(mistake.span.end))
            .map(|(start, end)| start..end);
        return Some(fault);
    }
    let presence = schema?.presence(&plain_steps(path));
    if presence != FieldPresence::Absent {
        return None;
    }
    let message = format!("the stamped kind has no field {}", place.quoted());
    let fault = place.fault(FaultClass::OutputPath, message);
    Some(fault.helped("name a field that the kind declares"))
}
