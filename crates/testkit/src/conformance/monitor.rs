//! The monitor of the pack of Pulumi YAML: answers registrations, reads and calls as the recorded
//! one did (see the pack's README), and keeps the requests.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use blueprint::{Map, Name, Type, Value};
use provider::{
    Applied, ApplyRequest, Arguments, BoxFuture, Call, Catalog, Configuration, Configured,
    ErrorKind, Hosted, ImportRequest, Imported, InvokeRequest, Observed, Operation, PlanMode,
    PlanPhase, PlanRequest, Planned, Provider, ProviderError, ReadOutcome, ReadRequest, Session,
    Verdict, configured,
};
use pulumi_wire::schema::{PackageSchema, PackageTypes, ResourceFacts, read_resource_type};
use serde_json::Value as Json;

use super::case::read_json;
use super::notation::marked;
use crate::json_values::from_json;

/// What the monitor answers, for all cases.
#[derive(Clone)]
pub(super) struct Behaviours {
    types: Vec<Arc<PackageTypes>>,
    /// What types and functions answer, by their tokens.
    answers: Arc<Json>,
}

/// The requests of one run.
pub(super) type Requests = Arc<Mutex<Vec<Json>>>;

impl Behaviours {
    /// Reads the schemas of a folder, and the answers of a file. Without a file, functions give
    /// empty maps.
    pub(super) fn read(schemas: &Path, answers: Option<&Path>) -> Result<Behaviours, String> {
        let failed = |error: std::io::Error| format!("{}: {error}", schemas.display());
        let mut types = Vec::new();
        for entry in std::fs::read_dir(schemas).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            let text = std::fs::read_to_string(&path).map_err(failed)?;
            let schema = PackageSchema::parse(text).map_err(|error| error.to_string())?;
            // The package `pulumi` is built in.
            if &**schema.name() == "pulumi" {
                continue;
            }
            let namespace = Name::from(format!("pulumi:{}", schema.name()));
            types.push(Arc::new(PackageTypes::new(Arc::new(schema), namespace)));
        }
        let answers = answers.map(read_json).transpose()?;
        Ok(Behaviours {
            types,
            answers: Arc::new(answers.unwrap_or(Json::Null)),
        })
    }

    /// The providers of all packages for one case.
    pub(super) fn providers(&self, case: &Json, requests: &Requests) -> Vec<Arc<dyn Provider>> {
        let provider = |types: &Arc<PackageTypes>| {
            let catalog = Arc::new(Catalog {
                namespaces: vec![format!("pulumi:{}", types.schema().name()).into()],
                settings: types.settings(),
                hosted: Some(Hosted {
                    family: "pulumi".into(),
                    version: types.schema().version().cloned(),
                    parameters: Value::Null,
                }),
                source: Some(types.clone()),
                ..Catalog::default()
            });
            let monitor = Monitor {
                catalog,
                types: types.clone(),
                answers: self.answers.clone(),
                faults: case["faults"].clone(),
                requests: requests.clone(),
            };
            Arc::new(monitor) as Arc<dyn Provider>
        };
        self.types.iter().map(provider).collect()
    }
}

/// The monitor for the types of one package.
struct Monitor {
    catalog: Arc<Catalog>,
    types: Arc<PackageTypes>,
    answers: Arc<Json>,
    faults: Json,
    requests: Requests,
}

/// The name of a resource in its URN.
fn name_of(urn: &str) -> &str {
    urn.rsplit("::").next().unwrap_or_default()
}

/// The stack in a URN.
fn stack_of(urn: &str) -> &str {
    let rest = urn.strip_prefix("urn:pulumi:").unwrap_or_default();
    rest.split("::").next().unwrap_or_default()
}

/// An answer with the name and the stack of the resource in its texts.
fn filled(json: &Json, urn: &str) -> Json {
    match json {
        Json::String(text) => {
            let text = text.replace("{name}", name_of(urn));
            Json::String(text.replace("{stack}", stack_of(urn)))
        }
        Json::Array(items) => items.iter().map(|item| filled(item, urn)).collect(),
        Json::Object(entries) => {
            let entries = entries
                .iter()
                .map(|(key, one)| (key.clone(), filled(one, urn)));
            Json::Object(entries.collect())
        }
        other => other.clone(),
    }
}

impl Monitor {
    fn facts(&self, type_name: &str) -> Result<Arc<ResourceFacts>, ProviderError> {
        let facts = self.types.resource_facts(type_name);
        facts.ok_or_else(|| {
            let message = format!("there is no type `{type_name}`");
            ProviderError::new(ErrorKind::Document, message)
        })
    }

    fn record(&self, request: Json) {
        let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        requests.push(request);
    }

    /// The outputs of a resource: its inputs, and what is computed. `None` for the id in a preview.
    fn outputs(
        &self,
        facts: &ResourceFacts,
        call: &Call,
        inputs: &Value,
        id: Option<&str>,
    ) -> Value {
        let behaviour = &self.answers["resources"][facts.token.as_ref()];
        let known_early = &behaviour["knownInPreview"];
        let known_early = known_early.as_array().map_or(&[][..], Vec::as_slice);
        let mut fields = inputs.unmarked().as_map().cloned().unwrap_or_default();
        let computed = behaviour["computed"].as_object();
        for (name, value) in computed.into_iter().flatten() {
            let is_known = id.is_some() || known_early.iter().any(|known| known == name);
            if fields.contains_key(name.as_str()) || !is_known {
                continue;
            }
            let value = from_json(&filled(value, &call.urn));
            fields.insert(Name::from(name.as_str()), value);
        }
        let outputs = Value::Map(Arc::new(fields));
        let outputs = match id {
            Some(_) => facts.mark_outputs(&outputs),
            None => facts.complete_planned(&outputs, Some(&call.address)),
        };
        let mut fields: Map = outputs.unmarked().as_map().cloned().unwrap_or_default();
        if !facts.component {
            let unknown = || Value::unknown(Some(Type::Text), Some(call.address.clone()));
            fields.insert("id".into(), id.map_or_else(unknown, Value::text));
        }
        Value::Map(Arc::new(fields))
    }

    fn refuse(&self, what: &str) -> Result<(), ProviderError> {
        let fault = &self.faults[what];
        if fault.is_null() {
            return Ok(());
        }
        let message = fault["message"].as_str().unwrap_or("refused");
        Err(ProviderError::new(ErrorKind::Permanent, message))
    }

    fn planned(&self, call: &Call, request: PlanRequest<'_>) -> Result<Planned, ProviderError> {
        if request.mode == PlanMode::Delete {
            return Ok(Planned::default());
        }
        let facts = self.facts(request.type_name)?;
        let inputs = facts.complete_inputs(request.desired);
        if request.phase == PlanPhase::Preview {
            self.register(&facts, call, &inputs);
            self.refuse(name_of(&call.urn))?;
        }
        let outputs = self.outputs(&facts, call, &inputs, None);
        Ok(Planned {
            verdict: Verdict::Update,
            inputs: Some(inputs),
            outputs: Some(outputs),
            ..Planned::default()
        })
    }

    /// Keeps a registration.
    fn register(&self, facts: &ResourceFacts, call: &Call, inputs: &Value) {
        let mut registration = BTreeMap::from([
            ("op", Json::from("register")),
            ("type", Json::from(facts.token.as_ref())),
            ("name", Json::from(name_of(&call.urn))),
            ("urn", Json::from(call.urn.as_ref())),
            ("custom", Json::from(true)),
            ("inputs", marked(inputs)),
        ]);
        if facts.component {
            registration.insert("remote", Json::from(true));
        }
        self.record(serde_json::json!(registration));
    }

    /// An object as a read or an import finds it.
    fn observed(&self, call: &Call, type_name: &str, id: &str) -> Result<Observed, ProviderError> {
        let facts = self.facts(type_name)?;
        let nothing = Value::map::<Name>([]);
        Ok(Observed {
            id: id.into(),
            fields: self.outputs(&facts, call, &nothing, Some(id)),
            inputs: None,
            ..Observed::default()
        })
    }

    /// The result of a function, or of a read of an existing object.
    fn invoked(&self, call: &Call, request: InvokeRequest<'_>) -> Result<Value, ProviderError> {
        let Arguments::Named(arguments) = request.arguments else {
            return Err(ProviderError::new(
                ErrorKind::Document,
                "arguments have names",
            ));
        };
        if let Some(type_name) = read_resource_type(request.function) {
            let id = arguments.get("id").and_then(Value::as_text);
            let id = id.unwrap_or_default();
            let facts = self.facts(&type_name)?;
            let state = arguments.get("state").cloned();
            let state = state.unwrap_or_else(|| Value::map::<Name>([]));
            self.record(serde_json::json!({
                "op": "read", "type": facts.token.as_ref(), "id": id, "inputs": marked(&state),
            }));
            let text = |name: &str| arguments.get(name).and_then(Value::as_text);
            let (project, name) = (text("project").unwrap_or_default(), text("name"));
            let (stack, token) = (&call.instance, &facts.token);
            let urn = format!(
                "urn:pulumi:{stack}::{project}::{token}::{}",
                name.unwrap_or_default()
            );
            let call = Call {
                urn: urn.into(),
                ..call.clone()
            };
            let found = self.outputs(&facts, &call, &state, Some(id));
            let mut fields = found.as_map().cloned().unwrap_or_default();
            fields.insert("urn".into(), Value::Text(call.urn.clone()));
            return Ok(Value::Map(Arc::new(fields)));
        }
        let facts = self.types.function_facts(request.function);
        let facts = facts.unwrap_or_default();
        let token = &facts.token;
        let given = Value::Map(arguments.clone());
        self.record(serde_json::json!({
            "op": "invoke", "token": token.as_ref(), "inputs": marked(&given.revealed()),
        }));
        self.refuse(token)?;
        let behaviour = &self.answers["functions"][token.as_ref()];
        if let Some(error) = behaviour["error"].as_str() {
            return Err(ProviderError::new(ErrorKind::Permanent, error));
        }
        let mut result = match behaviour["echo"] == true {
            true => Map::clone(arguments),
            false => Map::default(),
        };
        let returns = behaviour["returns"].as_object();
        for (name, value) in returns.into_iter().flatten() {
            result.insert(Name::from(name.as_str()), from_json(value));
        }
        Ok(facts.unwrapped(Value::Map(Arc::new(result))))
    }
}

impl Provider for Monitor {
    fn catalog(&self) -> &Arc<Catalog> {
        &self.catalog
    }

    fn configure(
        self: Arc<Self>,
        _: Configuration,
    ) -> BoxFuture<'static, Result<Configured, ProviderError>> {
        configured(self)
    }
}

impl Session for Monitor {
    fn read<'a>(
        &'a self,
        call: &'a Call,
        request: ReadRequest<'a>,
    ) -> BoxFuture<'a, Result<ReadOutcome, ProviderError>> {
        Box::pin(async move {
            let Some(id) = request.id else {
                return Ok(ReadOutcome::Absent);
            };
            let found = self.observed(call, request.type_name, id)?;
            Ok(ReadOutcome::Present(found))
        })
    }

    fn plan<'a>(
        &'a self,
        call: &'a Call,
        request: PlanRequest<'a>,
    ) -> BoxFuture<'a, Result<Planned, ProviderError>> {
        Box::pin(async move { self.planned(call, request) })
    }

    fn apply<'a>(
        &'a self,
        call: &'a Call,
        request: ApplyRequest<'a>,
    ) -> BoxFuture<'a, Result<Applied, ProviderError>> {
        Box::pin(async move {
            if request.operation == Operation::Delete {
                return Ok(Applied::deleted());
            }
            self.refuse(name_of(&call.urn))?;
            let facts = self.facts(request.type_name)?;
            let made = format!("{}-id", name_of(&call.urn));
            let id = request.id.unwrap_or(&made);
            let inputs = facts.complete_inputs(request.desired);
            self.register(&facts, call, &inputs);
            Ok(Applied::ready(
                id,
                self.outputs(&facts, call, &inputs, Some(id)),
            ))
        })
    }

    fn import<'a>(
        &'a self,
        call: &'a Call,
        request: ImportRequest<'a>,
    ) -> BoxFuture<'a, Result<Vec<Imported>, ProviderError>> {
        Box::pin(async move {
            let observed = self.observed(call, request.type_name, request.id)?;
            Ok(vec![Imported {
                type_name: request.type_name.into(),
                observed,
            }])
        })
    }

    fn invoke<'a>(
        &'a self,
        call: &'a Call,
        request: InvokeRequest<'a>,
    ) -> BoxFuture<'a, Result<Value, ProviderError>> {
        Box::pin(async move { self.invoked(call, request) })
    }
}
