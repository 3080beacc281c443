//! The functions that lowered expressions call, once the outputs that a template reads are known.

use std::sync::Arc;

use blueprint::{Map, Value};
use cartographer::compat::Compat;
use cartographer::conditions::FALSE;
use cartographer::context::TemplateContext;
use cartographer::health::{effective_rule, resource_health, run_problem};
use cartographer::inputs::ResourceInputs;
use cartographer::kinds::CartoKind;
use cartographer::outputs::read_output;
use cartographer::params::{ParamSources, Params};
use cartographer::run_outputs::run_outputs;
use cartographer::stamp::{OwnerReference, StampFailure, StampRequest, evaluate, stamp};
use expr::{FunctionDef, FunctionTable, Native, Refusal, ValueStep};

use super::calls::{FILL, OUTPUT, READY, RUN_OUTPUTS, RUN_READY, STAMP};
use super::codes::STAMP_FAILED;
use super::producers::{outputs_in, record, source};
use super::settings::{COMPAT, NAME};
use cartographer::ytt_templates::InProcessYtt;

/// Adds the functions of the dialect to the table of all functions.
pub(super) fn insert_functions(table: &mut FunctionTable) {
    let mut own = FunctionTable::new().keeping_null();
    let functions: [(&'static str, NativeCall); 6] = [
        (FILL, fill),
        (STAMP, stamp_whole),
        (OUTPUT, output),
        (READY, ready),
        (RUN_READY, run_ready),
        (RUN_OUTPUTS, outputs_of_runnable),
    ];
    for (name, run) in functions {
        let docs = "Made by the lowering of supply chains.";
        let native = Arc::new(StampFunction { name, run });
        // A new table has none of these names.
        let _ = own.insert(FunctionDef::of_native(name, docs, native));
    }
    table.insert_dialect(NAME, own);
}

type NativeCall = fn(&[Value]) -> Result<Value, Refusal>;

/// A function for lowered expressions.
struct StampFunction {
    name: &'static str,
    run: NativeCall,
}

impl std::fmt::Debug for StampFunction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

impl Native for StampFunction {
    fn call(&self, arguments: &[Value]) -> Result<Value, Refusal> {
        (self.run)(arguments)
    }

    /// Unknown parts of the arguments make only those parts of the result unknown that depend on them.
    fn accepts_partial_arguments(&self, _arguments: &[Value]) -> bool {
        true
    }
}

fn argument(arguments: &[Value], at: usize) -> &Value {
    arguments.get(at).unwrap_or(&Value::Null)
}

/// The context of a template from its fixed part and the outputs that it reads.
fn context(fixed: &Value, outputs: &Value) -> (TemplateContext, Map) {
    let part = |key: &str| fixed.get(key).unwrap_or(&Value::Null);
    let owner = part("owner");
    let spec = owner.get("spec").and_then(|spec| spec.get("params"));
    let resource = part("resource");
    let params = Params::merge(&ParamSources {
        template: part("templateParams"),
        blueprint: part("blueprintParams"),
        resource: resource.get("params").unwrap_or(&Value::Null),
        owner: spec.unwrap_or(&Value::Null),
    });
    let inputs = ResourceInputs::of(resource, &outputs_in(outputs));
    let labels = part("labels").as_map().cloned().unwrap_or_default();
    let context = TemplateContext::of_resource(owner, &params, &inputs, &labels);
    (context, labels)
}

fn fill(arguments: &[Value]) -> Result<Value, Refusal> {
    let (context, _) = context(argument(arguments, 1), argument(arguments, 2));
    evaluate(argument(arguments, 0), &context).map_err(refusal)
}

fn stamp_whole(arguments: &[Value]) -> Result<Value, Refusal> {
    let fixed = argument(arguments, 1);
    let (context, labels) = context(fixed, argument(arguments, 2));
    let stamped = stamp(&StampRequest {
        template: argument(arguments, 0),
        context: &context,
        owner: fixed.get("owner").unwrap_or(&Value::Null),
        labels: &labels,
        owner_reference: OwnerReference::Left,
        compat: match fixed.get(COMPAT).and_then(Value::as_bool) {
            Some(true) => Compat::Upstream,
            _ => Compat::Ours,
        },
        ytt: &InProcessYtt,
    });
    stamped.map(|stamped| stamped.object).map_err(refusal)
}

fn refusal(failures: Vec<StampFailure>) -> Refusal {
    let first = failures.into_iter().next();
    let (message, inside) = match first {
        Some(failure) => (failure.message, failure.inside),
        None => (String::new(), None),
    };
    let offset = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
    Refusal {
        code: &STAMP_FAILED,
        message,
        path: vec![ValueStep::Index(0)],
        inside: inside.map(|inside| offset(inside.start)..offset(inside.end)),
        help: None,
        words: None,
    }
}

/// The output of an object. It is unknown while the object has none: the reader then waits until the
/// object is ready, for which the output is needed.
fn output(arguments: &[Value]) -> Result<Value, Refusal> {
    let object = argument(arguments, 1);
    let inputs = ResourceInputs {
        deployment: arguments.get(2).map(source),
        ..ResourceInputs::default()
    };
    let read = match object.is_unknown() {
        true => None,
        false => read_output(argument(arguments, 0), Some(object), &inputs).ok(),
    };
    Ok(read.map_or_else(|| object.as_unknown(), |output| record(&output)))
}

/// Why an object is not ready (decisions/cartographer#readiness-of-stamped-objects).
fn ready(arguments: &[Value]) -> Result<Value, Refusal> {
    let (template, object) = (argument(arguments, 0), argument(arguments, 1));
    let why = match argument(arguments, 2) {
        // Simulated generations and conditions are made up.
        Value::Bool(true) => without_output(template, object),
        _ => unobserved(object)
            .or_else(|| without_output(template, object))
            .or_else(|| unhealthy(template, object)),
    };
    Ok(why.map_or(Value::Null, Value::text))
}

/// Why the newest run of a series is not ready (decisions/cartographer#runs).
fn run_ready(arguments: &[Value]) -> Result<Value, Refusal> {
    let (template, fields) = (argument(arguments, 0), argument(arguments, 1));
    let field = |name: &str| fields.get(name).unwrap_or(&Value::Null);
    let health = |key: &str| field("health").get(key).and_then(Value::as_text);
    let name = field("newest").as_text().unwrap_or_default();
    let status = health("status").unwrap_or_default();
    let message = health("message").unwrap_or_default();
    let object = field("object");
    let why = match argument(arguments, 2) {
        // Simulated health and generations are made up.
        Value::Bool(true) => None,
        _ => run_problem(name, status, message).or_else(|| unobserved(object)),
    };
    let why = why
        .or_else(|| without_output(template, object))
        .or_else(|| without_run_output(template, object));
    Ok(why.map_or(Value::Null, Value::text))
}

/// The outputs of a runnable. They are unknown while no run has all of them.
fn outputs_of_runnable(arguments: &[Value]) -> Result<Value, Refusal> {
    let (template, object) = (argument(arguments, 0), argument(arguments, 1));
    let read = run_outputs(template, &[object]);
    let is_whole = read.from.is_some() && read.failures.is_empty();
    Ok(match is_whole {
        true => read.outputs,
        false => object.as_unknown(),
    })
}

/// Why an object lacks an output of its run template. Other templates have no such outputs.
fn without_run_output(template: &Value, object: &Value) -> Option<String> {
    let kind = template.get("kind").and_then(Value::as_text);
    if kind != Some(CartoKind::ClusterRunTemplate.name()) {
        return None;
    }
    let failure = run_outputs(template, &[object])
        .failures
        .into_iter()
        .next()?;
    Some(format!("`{}`: {}", failure.path, failure.failure))
}

/// Why the status of an object is that of an earlier generation.
fn unobserved(object: &Value) -> Option<String> {
    let observed = object.get("status")?.get("observedGeneration")?.as_int()?;
    let generation = object.get("metadata")?.get("generation")?.as_int()?;
    let why = format!("its controller has seen generation {observed} of {generation}");
    (observed != generation).then_some(why)
}

/// Why an object has no output, or why what it deploys is not there.
fn without_output(template: &Value, object: &Value) -> Option<String> {
    // What a deployment passes on says nothing about its object.
    let inputs = ResourceInputs {
        deployment: Some(source(&Value::Null)),
        ..ResourceInputs::default()
    };
    let failure = read_output(template, Some(object), &inputs).err()?;
    Some(failure.message)
}

/// Why the health rule of a template says that an object is not healthy.
fn unhealthy(template: &Value, object: &Value) -> Option<String> {
    let rule = effective_rule(template);
    if rule.is_null() {
        return None;
    }
    let condition = resource_health(&rule, None, Some(object));
    let is_unhealthy = *condition.status == *FALSE;
    is_unhealthy.then(|| match condition.message.is_empty() {
        true => format!("it is not healthy: {}", condition.reason),
        false => format!("it is not healthy: {}", condition.message),
    })
}
