//! Runs recorded life cycles on a host that has only the features that the cases need.

mod expect;

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use blueprint::{Name, Value};
use provider::{
    FetchRequest, InvokeRequest, PlanPhase, Planned, ProviderDiagnostic, ProviderError,
    ProviderSeverity, Verdict,
};
use serde_json::Value as Json;

use self::expect::Vars;
use crate::life::{ProviderHarness, Record};

/// A recorded life cycle.
pub(crate) struct Case {
    pub(crate) id: String,
    providers: Vec<String>,
    steps: Vec<Json>,
}

impl Case {
    pub(crate) fn read(text: &str) -> Case {
        let json: Json = serde_json::from_str(text).unwrap();
        let texts = |key: &str| {
            list(&json[key])
                .iter()
                .map(|one| text_of(one).to_owned())
                .collect()
        };
        Case {
            id: text_of(&json["id"]).into(),
            providers: texts("providers"),
            steps: list(&json["steps"]).to_vec(),
        }
    }

    /// Whether the case needs no providers other than these.
    pub(crate) fn needs(&self, only: &[&str]) -> bool {
        self.providers
            .iter()
            .all(|name| only.contains(&name.as_str()))
    }
}

/// The data about a resource.
#[derive(Clone, Debug)]
pub(crate) struct ResourceState {
    pub(crate) provider: String,
    /// Its type in documents.
    pub(crate) type_name: Name,
    pub(crate) is_data: bool,
    pub(crate) record: Record,
}

/// The change of a resource in a step.
struct Change {
    actions: Vec<&'static str>,
    before: Option<Value>,
    /// The planned fields; `None` for a delete.
    after: Option<Value>,
    paths: Vec<String>,
    imported: Option<String>,
    type_name: Name,
    provider: String,
    desired: Value,
    planned: Planned,
    create_first: bool,
}

/// A message, with the address of its resource.
pub(crate) struct RecordedMessage {
    pub(crate) address: String,
    pub(crate) diagnostic: ProviderDiagnostic,
    /// Whether the host found it.
    pub(crate) by_host: bool,
}

struct Run {
    lives: HashMap<String, ProviderHarness>,
    state: BTreeMap<String, ResourceState>,
    outputs: BTreeMap<String, Value>,
    vars: Vars,
}

/// Runs a case. The error names the difference and the step.
pub(crate) async fn run(case: &Case) -> Result<(), String> {
    let folder = tempfile::tempdir().unwrap();
    let mut lives = HashMap::new();
    for name in &case.providers {
        lives.insert(
            name.clone(),
            ProviderHarness::of(name, folder.path(), Value::Null)
                .await
                .unwrap(),
        );
    }
    let mut run = Run {
        lives,
        state: BTreeMap::new(),
        outputs: BTreeMap::new(),
        vars: Vars::default(),
    };
    let mut outcome = Ok(());
    let mut config = Json::Null;
    for (at, step) in case.steps.iter().enumerate() {
        if let Some(given) = step.get("config") {
            config = given.clone();
        }
        if let Err(why) = run.step(step, &config, folder.path()).await {
            outcome = Err(format!("step {}: {why}", at + 1));
            break;
        }
    }
    for life in run.lives.into_values() {
        life.end().await;
    }
    outcome
}

/// The result of a plan: the changes.
struct Plan {
    changes: BTreeMap<String, Change>,
    outputs: BTreeMap<String, Value>,
    /// Resources as they were refreshed.
    refreshed: BTreeMap<String, ResourceState>,
}

impl Run {
    async fn step(&mut self, step: &Json, config: &Json, folder: &Path) -> Result<(), String> {
        for event in list(&step["world"]) {
            self.apply_outside_change(event, folder);
        }
        let (what, expect, options) = (text_of(&step["do"]), &step["expect"], &step["options"]);
        let nothing = serde_json::json!({"resources": []});
        let config = if what == "destroy" { &nothing } else { config };
        let mut said = Vec::new();
        let plan = self.plan(config, options, &mut said).await?;
        self.vars.match_messages(&expect["diagnostics"], &said)?;
        let refused = said
            .iter()
            .any(|one| one.diagnostic.severity == ProviderSeverity::Error);
        if refused != expect["refused"].as_bool().unwrap_or_default() {
            return Err(format!("the plan is refused: {refused}"));
        }
        if !refused {
            let only_refreshed = options["refreshOnly"].as_bool().unwrap_or_default();
            self.compare_plan(&plan, &expect["plan"], only_refreshed)?;
            if what != "plan" {
                let mut said = Vec::new();
                self.apply(plan, config, &mut said).await?;
                self.vars
                    .match_messages(&expect["applyDiagnostics"], &said)?;
                let failed = said
                    .iter()
                    .any(|one| one.diagnostic.severity == ProviderSeverity::Error);
                let outcome = if failed { "failed" } else { "done" };
                expect::equal("outcome", &expect["outcome"], &Value::from(outcome))?;
            }
        }
        for (name, wanted) in expect["outputs"].as_object().into_iter().flatten() {
            let found = self.outputs.get(name).cloned().unwrap_or_default();
            self.vars
                .matches(&format!("output {name}"), &wanted["value"], &found)?;
        }
        self.compare_state(&expect["state"])?;
        if let Some(wanted) = expect["settled"].as_bool() {
            let again = self.plan(config, &Json::Null, &mut Vec::new()).await?;
            let settled = again
                .changes
                .values()
                .all(|change| change.actions == ["no-op"]);
            if settled != wanted {
                let open: Vec<&String> = again
                    .changes
                    .iter()
                    .filter(|(_, one)| one.actions != ["no-op"])
                    .map(|(it, _)| it)
                    .collect();
                return Err(format!("settled: expected {wanted}, open are {open:?}"));
            }
        }
        expect::files(&expect["files"], folder)
    }

    fn apply_outside_change(&mut self, event: &Json, folder: &Path) {
        let path = |key: &str| event.get(key).map(|name| folder.join(text_of(name)));
        if let Some(path) = path("file") {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, text_of(&event["text"])).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        } else if let Some(path) = path("remove") {
            if path.is_dir() {
                fs::remove_dir_all(path).unwrap()
            } else {
                fs::remove_file(path).unwrap()
            }
        } else if let Some(path) = path("chmod") {
            let mode = u32::from_str_radix(text_of(&event["mode"]), 8).unwrap();
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        }
        for (key, failed) in [("taint", true), ("untaint", false)] {
            if let Some(address) = event.get(key) {
                self.state.get_mut(text_of(address)).unwrap().record.failed = failed;
            }
        }
    }

    async fn plan(
        &mut self,
        config: &Json,
        options: &Json,
        said: &mut Vec<RecordedMessage>,
    ) -> Result<Plan, String> {
        let mut state = self.state.clone();
        if options["refresh"].as_bool().unwrap_or(true) {
            for (address, known) in self.state.iter().filter(|(_, known)| !known.is_data) {
                let read = self.lives[&known.provider]
                    .read(&known.type_name, &known.record)
                    .await;
                match read.map_err(|error| format!("{address}: {error}"))? {
                    Some(record) => state.get_mut(address).unwrap().record = record,
                    None => {
                        state.remove(address);
                    }
                }
            }
        }
        let mut plan = Plan {
            changes: BTreeMap::new(),
            outputs: BTreeMap::new(),
            refreshed: state,
        };
        if options["refreshOnly"].as_bool().unwrap_or_default() {
            return Ok(plan);
        }
        let declared = list(&config["resources"]);
        let mut known: BTreeMap<String, Value> = BTreeMap::new();
        for resource in ordered(declared) {
            let address = text_of(&resource["address"]).to_owned();
            let before = said.len();
            let change = self
                .plan_one(resource, config, options, &mut plan, &known, said)
                .await?;
            if let Some(value) = change {
                known.insert(address, value);
            } else if said.len() == before {
                return Err(format!("{address} is not planned"));
            }
        }
        let orphans: Vec<String> = plan
            .refreshed
            .keys()
            .filter(|it| !is_declared(declared, it))
            .cloned()
            .collect();
        for address in orphans {
            let gone = plan.refreshed[&address].clone();
            if gone.is_data {
                continue;
            }
            plan.changes.insert(address, Change::delete(gone));
        }
        for (name, output) in config["outputs"].as_object().into_iter().flatten() {
            match self.evaluate(output, &known).await {
                Ok(value) => {
                    plan.outputs.insert(name.clone(), value);
                }
                Err(error) => said.push(RecordedMessage::of(&format!("output.{name}"), error)),
            }
        }
        Ok(plan)
    }

    /// Plans one resource. Returns its planned value; `None` if it is refused, with the messages in
    /// `said`.
    async fn plan_one(
        &self,
        resource: &Json,
        config: &Json,
        options: &Json,
        plan: &mut Plan,
        known: &BTreeMap<String, Value>,
        said: &mut Vec<RecordedMessage>,
    ) -> Result<Option<Value>, String> {
        let address = text_of(&resource["address"]).to_owned();
        let provider = text_of(&resource["provider"]).to_owned();
        let life = &self.lives[&provider];
        let token = text_of(&resource["type"])
            .strip_prefix(&format!("{provider}_"))
            .unwrap();
        let type_name: Name = format!("{provider}/{token}").into();
        let mut desired = match self.evaluate(&resource["arguments"], known).await {
            Ok(desired) => desired,
            Err(error) => {
                said.push(RecordedMessage::of(&address, error));
                return Ok(None);
            }
        };
        match text_of(&resource["mode"]) {
            "resource" => {}
            "data" => {
                let fields = match fetch(life, &type_name, &desired).await {
                    Ok(fields) => fields,
                    Err(error) => {
                        said.push(RecordedMessage::of(&address, error));
                        return Ok(None);
                    }
                };
                let read = data_source(provider, type_name, desired, fields.clone());
                plan.refreshed.insert(address, read);
                return Ok(Some(fields));
            }
            other => return Err(format!("{other} resources are left out")),
        }
        let ty = life.provider.catalog().resource_type(&type_name).unwrap();
        let missing = ty
            .schema
            .fields
            .iter()
            .filter(|(name, field)| field.required && desired.get(name).is_none());
        for (name, _) in missing.collect::<Vec<_>>() {
            said.push(RecordedMessage::by_host(&address, name));
        }
        if said.iter().any(|one| one.by_host && one.address == address) {
            return Ok(None);
        }
        let import = list(&config["imports"])
            .iter()
            .find(|one| text_of(&one["to"]) == address);
        let import = import
            .map(|one| text_of(&one["id"]).to_owned())
            .filter(|_| !plan.refreshed.contains_key(&address));
        if let Some(id) = &import {
            match life.import(&type_name, id).await {
                Ok(found) => {
                    let record = life.imported(&found[0]);
                    let known = ResourceState {
                        provider: provider.clone(),
                        type_name: type_name.clone(),
                        is_data: false,
                        record,
                    };
                    plan.refreshed.insert(address.clone(), known);
                }
                Err(error) => {
                    said.push(RecordedMessage::of(&address, error));
                    return Ok(None);
                }
            }
        }
        let mut record = plan
            .refreshed
            .get(&address)
            .map(|known| known.record.clone());
        let lifecycle = &resource["lifecycle"];
        if let (Some(record), Some(ignored)) = (&record, lifecycle["ignoreChanges"].as_array()) {
            desired = with_recorded_fields(&desired, record, ignored);
        }
        let checked = life.check(&type_name, &desired).await;
        let refused = checked
            .iter()
            .any(|one| one.severity == ProviderSeverity::Error);
        said.extend(
            checked
                .into_iter()
                .map(|said| RecordedMessage::shown(&address, said, &desired)),
        );
        if refused {
            return Ok(None);
        }
        let forced = list(&options["replace"])
            .iter()
            .any(|one| text_of(one) == address);
        if let Some(record) = record.as_mut().filter(|_| forced) {
            record.failed = true;
        }
        let planned = match life
            .plan(&type_name, record.as_ref(), &desired, PlanPhase::Preview)
            .await
        {
            Ok((first, None)) => first,
            Ok((first, Some(second))) => Planned {
                verdict: first.verdict,
                replaces: first.replaces,
                ..second
            },
            Err(error) => {
                said.push(RecordedMessage::of(&address, error));
                return Ok(None);
            }
        };
        let create_first = lifecycle["createBeforeDestroy"]
            .as_bool()
            .unwrap_or_default();
        let actions = actions(record.is_some(), &planned.verdict, create_first);
        if actions.contains(&"delete") && lifecycle["preventDestroy"].as_bool().unwrap_or_default()
        {
            said.push(RecordedMessage::by_host(&address, ""));
            return Ok(None);
        }
        let after = planned.outputs.clone();
        let change = Change {
            actions,
            before: record.map(|record| record.fields),
            after: after.clone(),
            paths: planned.replaces.iter().map(ToString::to_string).collect(),
            imported: import,
            type_name,
            provider,
            desired,
            planned,
            create_first,
        };
        plan.changes.insert(address, change);
        Ok(after)
    }

    async fn apply(
        &mut self,
        plan: Plan,
        config: &Json,
        said: &mut Vec<RecordedMessage>,
    ) -> Result<(), String> {
        let Plan {
            mut changes,
            refreshed,
            ..
        } = plan;
        self.state = refreshed;
        let declared = list(&config["resources"]);
        let mut known: BTreeMap<String, Value> = self
            .state
            .iter()
            .map(|(address, known)| (address.clone(), known.record.fields.clone()))
            .collect();
        for resource in ordered(declared) {
            let address = text_of(&resource["address"]).to_owned();
            let Some(mut change) = changes.remove(&address) else {
                continue;
            };
            if change.actions == ["no-op"] {
                self.state.get_mut(&address).unwrap().record.inputs = change.desired;
                continue;
            }
            if change.desired.has_unknown() {
                change.desired = self
                    .evaluate(&resource["arguments"], &known)
                    .await
                    .map_err(|error| error.to_string())?;
            }
            match self.carry_out(&address, change).await {
                Ok(done) => {
                    known.insert(address.clone(), done.record.fields.clone());
                    self.state.insert(address, done);
                }
                Err(error) => {
                    said.push(RecordedMessage::of(&address, *error));
                    return Ok(());
                }
            }
        }
        for (address, change) in changes {
            let gone = self.state.remove(&address).unwrap();
            let deleted = self.lives[&change.provider]
                .delete(&change.type_name, &gone.record)
                .await;
            deleted.map_err(|error| format!("{address}: {error}"))?;
        }
        self.outputs.clear();
        for (name, output) in config["outputs"].as_object().into_iter().flatten() {
            let value = self
                .evaluate(output, &known)
                .await
                .map_err(|error| error.to_string())?;
            self.outputs.insert(name.clone(), value);
        }
        // A data source that is no longer declared is forgotten.
        self.state
            .retain(|address, known| !known.is_data || is_declared(declared, address));
        Ok(())
    }

    /// Creates, updates or replaces one resource.
    async fn carry_out(
        &mut self,
        address: &str,
        change: Change,
    ) -> Result<ResourceState, Box<ProviderError>> {
        let Change {
            provider,
            type_name,
            desired,
            mut planned,
            create_first,
            actions,
            ..
        } = change;
        let life = &self.lives[&provider];
        let old = self.state.get(address).map(|known| known.record.clone());
        let updates = actions == ["update"];
        let replaced = old.clone().filter(|_| !updates);
        if let Some(old) = replaced.as_ref().filter(|_| !create_first) {
            life.delete(&type_name, old).await?;
            self.state.remove(address);
        }
        let prior = old.filter(|_| updates);
        // The engine plans again if values were unknown at plan.
        if planned.outputs.as_ref().is_some_and(Value::has_unknown) && !desired.has_unknown() {
            let again = life
                .plan(&type_name, prior.as_ref(), &desired, PlanPhase::Apply)
                .await?;
            planned = again.0;
        }
        let done = life
            .apply(&type_name, prior.as_ref(), &desired, &planned)
            .await;
        let record = match done {
            Ok(record) => record,
            Err(error) => {
                if let Some(partial) = &error.partial {
                    let mut record = life.record_of(&type_name, &desired, (**partial).clone());
                    record.failed = prior.is_none();
                    let left = ResourceState {
                        provider: provider.clone(),
                        type_name,
                        is_data: false,
                        record,
                    };
                    self.state.insert(address.to_owned(), left);
                }
                return Err(error.into());
            }
        };
        if let Some(old) = replaced.as_ref().filter(|_| create_first) {
            life.delete(&type_name, old).await?;
        }
        Ok(ResourceState {
            provider,
            type_name,
            is_data: false,
            record,
        })
    }

    /// Evaluates an expression in neutral form.
    async fn evaluate(
        &self,
        expr: &Json,
        known: &BTreeMap<String, Value>,
    ) -> Result<Value, ProviderError> {
        if let Some(address) = expr.get("$ref") {
            let mut at = known
                .get(text_of(address))
                .cloned()
                .unwrap_or_else(|| Value::unknown(None, None));
            for step in list(&expr["path"]) {
                at = match step.as_u64().and_then(|index| usize::try_from(index).ok()) {
                    _ if at.is_unknown() => at,
                    Some(index) => at
                        .as_list()
                        .and_then(|items| items.get(index))
                        .cloned()
                        .unwrap_or_default(),
                    None => at.get(text_of(step)).cloned().unwrap_or_default(),
                };
            }
            return Ok(at);
        }
        if let Some(name) = expr.get("$call") {
            let mut arguments = Vec::new();
            for argument in list(&expr["arguments"]) {
                arguments.push(Box::pin(self.evaluate(argument, known)).await?);
            }
            let life = &self.lives[text_of(&expr["provider"])];
            let request = InvokeRequest {
                function: text_of(name),
                arguments: &arguments.into(),
                preview: true,
            };
            return life.session.invoke(&life.call(), request).await;
        }
        if let Some(inner) = expr.get("$sensitive") {
            return Ok(Box::pin(self.evaluate(inner, known)).await?.secret());
        }
        Ok(match expr {
            Json::Object(entries) => {
                let mut found = Vec::new();
                for (key, part) in entries {
                    found.push((key.as_str(), Box::pin(self.evaluate(part, known)).await?));
                }
                Value::map(found)
            }
            Json::Array(items) => {
                let mut found = Vec::new();
                for item in items {
                    found.push(Box::pin(self.evaluate(item, known)).await?);
                }
                Value::list(found)
            }
            plain => expect::plain(plain),
        })
    }

    fn compare_plan(
        &mut self,
        plan: &Plan,
        expect: &Json,
        only_refreshed: bool,
    ) -> Result<(), String> {
        let wanted = list(&expect["changes"]);
        let found: Vec<&String> = plan.changes.keys().collect();
        let addresses: Vec<&str> = wanted.iter().map(|one| text_of(&one["address"])).collect();
        if found != addresses && !only_refreshed {
            return Err(format!(
                "plan: expected changes of {addresses:?}, found {found:?}"
            ));
        }
        for (wanted, change) in wanted.iter().zip(plan.changes.values()) {
            let what = format!("plan of {}", text_of(&wanted["address"]));
            let actions: Vec<&str> = list(&wanted["actions"]).iter().map(text_of).collect();
            if actions != change.actions {
                return Err(format!(
                    "{what}: expected {actions:?}, found {:?}",
                    change.actions
                ));
            }
            let paths: Vec<String> = list(&wanted["replacePaths"])
                .iter()
                .map(expect::path)
                .collect();
            if paths != change.paths {
                return Err(format!(
                    "{what}: expected to be replaced by {paths:?}, found {:?}",
                    change.paths
                ));
            }
            if wanted["importing"]["id"].as_str() != change.imported.as_deref() {
                return Err(format!("{what}: imported as {:?}", change.imported));
            }
            self.vars.matches(
                &format!("{what}, before"),
                &wanted["before"],
                change.before.as_ref().unwrap_or(&Value::Null),
            )?;
            let known = expect::split(change.after.as_ref().unwrap_or(&Value::Null));
            self.vars
                .matches(&format!("{what}, after"), &wanted["after"], &known.0)?;
            let unknown = wanted.get("unknown").unwrap_or(&Json::Null);
            let found = known.1.unwrap_or(Json::Null);
            if *unknown != found && !(unknown.is_null() && found == serde_json::json!({})) {
                return Err(format!("{what}: expected unknown {unknown}, found {found}"));
            }
        }
        for (name, wanted) in expect["outputs"].as_object().into_iter().flatten() {
            if let Some(after) = wanted.get("after") {
                let found = plan.outputs.get(name).cloned().unwrap_or_default();
                self.vars
                    .matches(&format!("planned output {name}"), after, &found)?;
            }
        }
        Ok(())
    }

    fn compare_state(&mut self, expect: &Json) -> Result<(), String> {
        let wanted = list(expect);
        let addresses: Vec<&str> = wanted.iter().map(|one| text_of(&one["address"])).collect();
        let found: Vec<&String> = self.state.keys().collect();
        if found != addresses {
            return Err(format!("state: expected {addresses:?}, found {found:?}"));
        }
        for (wanted, known) in wanted.iter().zip(self.state.clone().into_values()) {
            let what = format!("state of {}", text_of(&wanted["address"]));
            self.vars
                .matches(&what, &wanted["attributes"], &known.record.fields)?;
            let version = u64::from(known.record.version);
            if wanted["schemaVersion"].as_u64() != Some(version) {
                return Err(format!("{what}: has version {version}"));
            }
            if (wanted["status"] == "tainted") != known.record.failed {
                return Err(format!("{what}: to be replaced: {}", known.record.failed));
            }
            let life = &self.lives[&known.provider];
            let catalog = life.provider.catalog();
            let schema = match known.is_data {
                true => catalog
                    .data_source_type(&known.type_name)
                    .unwrap()
                    .schema
                    .clone(),
                false => catalog
                    .resource_type(&known.type_name)
                    .unwrap()
                    .schema
                    .clone(),
            };
            let sensitive = schema.fields.iter().filter(|(_, field)| field.sensitive);
            let mut sensitive: Vec<String> = sensitive.map(|(name, _)| name.to_string()).collect();
            sensitive.sort();
            let paths: Vec<String> = list(&wanted["sensitive"])
                .iter()
                .map(expect::path)
                .collect();
            if sensitive != paths {
                return Err(format!(
                    "{what}: expected {paths:?} to be sensitive, found {sensitive:?}"
                ));
            }
        }
        Ok(())
    }
}

impl Change {
    fn delete(gone: ResourceState) -> Change {
        Change {
            actions: vec!["delete"],
            before: Some(gone.record.fields),
            after: None,
            paths: Vec::new(),
            imported: None,
            type_name: gone.type_name,
            provider: gone.provider,
            desired: Value::Null,
            planned: Planned::default(),
            create_first: false,
        }
    }
}

impl RecordedMessage {
    /// Returns a message as it is shown: for a part of the document, or for the resource as a
    /// whole.
    fn shown(address: &str, mut said: ProviderDiagnostic, desired: &Value) -> RecordedMessage {
        let steps = &mut said.path.0;
        while !steps.is_empty()
            && blueprint::FieldPath(steps.clone())
                .select(desired)
                .is_none()
        {
            steps.pop();
        }
        RecordedMessage {
            address: address.into(),
            diagnostic: said,
            by_host: false,
        }
    }

    fn of(address: &str, error: ProviderError) -> RecordedMessage {
        let first = error
            .diagnostics
            .into_iter()
            .find(|one| one.severity == ProviderSeverity::Error);
        let said = first.unwrap_or_else(|| ProviderDiagnostic::error("", error.message));
        RecordedMessage {
            address: address.into(),
            diagnostic: said,
            by_host: false,
        }
    }

    fn by_host(address: &str, field: &str) -> RecordedMessage {
        RecordedMessage {
            address: address.into(),
            diagnostic: ProviderDiagnostic::error(field, "refused"),
            by_host: true,
        }
    }
}

/// A data source as it was read.
fn data_source(provider: String, type_name: Name, inputs: Value, fields: Value) -> ResourceState {
    ResourceState {
        provider,
        type_name,
        is_data: true,
        record: Record {
            id: "".into(),
            inputs,
            fields,
            private: Value::Null,
            version: 0,
            failed: false,
        },
    }
}

/// The desired fields, with the recorded values of those whose changes are ignored.
fn with_recorded_fields(desired: &Value, record: &Record, ignored: &[Json]) -> Value {
    let mut entries = desired.as_map().unwrap().clone();
    for name in ignored.iter().map(text_of) {
        let recorded = record.fields.get(name).cloned().unwrap_or_default();
        entries.insert(name.into(), recorded);
    }
    Value::Map(entries.into())
}

/// The actions of a change, in Terraform's terms.
fn actions(exists: bool, verdict: &Verdict, create_first: bool) -> Vec<&'static str> {
    match verdict {
        _ if !exists => vec!["create"],
        Verdict::Same => vec!["no-op"],
        Verdict::Replace { .. } if create_first => vec!["create", "delete"],
        Verdict::Replace { .. } => vec!["delete", "create"],
        _ => vec!["update"],
    }
}

async fn fetch(
    life: &ProviderHarness,
    type_name: &str,
    config: &Value,
) -> Result<Value, ProviderError> {
    let filters = config.as_map().unwrap().iter();
    let filters: Vec<(Name, Name, Value)> = filters
        .map(|(name, value)| (name.clone(), "=".into(), value.clone()))
        .collect();
    let request = FetchRequest {
        type_name,
        filters: &filters,
        annotations: &Value::Null,
    };
    let fetched = life.session.fetch(&life.call(), request).await?;
    Ok(fetched.candidates[0].fields.clone())
}

/// Sorts the resources, each after those that it refers to.
fn ordered(resources: &[Json]) -> Vec<&Json> {
    let mut rest: Vec<&Json> = resources.iter().collect();
    let mut done: Vec<&Json> = Vec::new();
    while !rest.is_empty() {
        let is_ready = |one: &&Json| {
            let text = one["arguments"].to_string() + &one["dependsOn"].to_string();
            let needed = resources
                .iter()
                .map(|other| format!("\"{}\"", text_of(&other["address"])));
            let done: Vec<String> = done
                .iter()
                .map(|other| format!("\"{}\"", text_of(&other["address"])))
                .collect();
            needed
                .filter(|address| text.contains(address.as_str()))
                .all(|address| done.contains(&address))
        };
        let at = rest.iter().position(is_ready).unwrap();
        done.push(rest.remove(at));
    }
    done
}

fn is_declared(resources: &[Json], address: &str) -> bool {
    resources
        .iter()
        .any(|resource| resource["address"] == address)
}

pub(crate) fn list(json: &Json) -> &[Json] {
    json.as_array().map_or(&[], Vec::as_slice)
}

pub(crate) fn text_of(json: &Json) -> &str {
    json.as_str().unwrap_or_default()
}
