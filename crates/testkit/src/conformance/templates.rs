//! Cases with templates of Heat: compares the result of `cyan` with the recorded result of Heat
//! (see the pack's README).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use blueprint::{Address, Name, Value};
use diag::{Diagnostic, Diagnostics, Files};
use engine::apply::OnFailure;
use engine::shell::Operated;
use engine::{Given, Options};
use serde_json::{Map, Value as Json, json};
use state::{Snapshot, StatusOp, StatusWord};

use super::case::{Case, read, read_json};
use super::heat_validated;
use super::heat_values::{Placeholders, plain_keys, same, to_json};
use super::resolved::{Resolved, ResolvedElement, resolved};
use crate::harness::{CheckedDocument, Harness, StageResult, settings};
use crate::runtime::in_runtime;

/// The cases of a pack. Counts messages in `messages`.
pub(super) fn cases(pack: &Path, messages: &MessageTally) -> Result<Vec<Case>, String> {
    let folder = pack.join("cases");
    let rules = read_json(&folder.join("MATCH.json"))?;
    let entries =
        std::fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter_map(|name| name.strip_suffix(".expected.json").map(str::to_owned))
        .collect();
    names.sort();
    let mut cases = Vec::new();
    for name in names {
        let case = TemplateCase {
            expected: plain_keys(read_json(&folder.join(format!("{name}.expected.json")))?),
            rule: rules.get(&name).cloned().unwrap_or(Json::Null),
            params: match folder.join(format!("{name}.params.json")) {
                path if path.is_file() => read_json(&path)?,
                _ => json!({}),
            },
            folder: folder.clone(),
            name: name.clone(),
            messages: messages.clone(),
        };
        cases.push(Case {
            id: name,
            run: Box::new(move || case.run()),
        });
    }
    Ok(cases)
}

struct TemplateCase {
    name: String,
    folder: PathBuf,
    params: Json,
    expected: Json,
    rule: Json,
    messages: MessageTally,
}

/// How many failing cases and outputs have exactly Heat's message, and how many there are.
#[derive(Clone, Debug, Default)]
pub struct MessageTally {
    equal: Arc<AtomicUsize>,
    all: Arc<AtomicUsize>,
    missed: Arc<Mutex<Vec<String>>>,
}

impl MessageTally {
    /// The number of equal messages, and of all messages.
    pub fn counts(&self) -> (usize, usize) {
        (
            self.equal.load(Ordering::Relaxed),
            self.all.load(Ordering::Relaxed),
        )
    }

    /// A line for each message that differs: Heat's message and ours.
    pub fn missed(&self) -> Vec<String> {
        self.missed
            .lock()
            .map(|missed| missed.clone())
            .unwrap_or_default()
    }

    fn compare_message<'d>(
        &self,
        case: &str,
        wanted: &str,
        reported: impl IntoIterator<Item = &'d Diagnostic>,
    ) {
        self.all.fetch_add(1, Ordering::Relaxed);
        let reported: Vec<String> = reported
            .into_iter()
            .map(|one| {
                one.native_message
                    .as_ref()
                    .map_or_else(|| format!("({})", one.message), ToString::to_string)
            })
            .collect();
        if reported.iter().any(|words| *words == wanted) {
            self.equal.fetch_add(1, Ordering::Relaxed);
        } else if let Ok(mut missed) = self.missed.lock() {
            missed.push(format!("{case}: {wanted:?} is missing among {reported:?}"));
        }
    }
}

/// The comparison of an answer with the recorded one.
#[derive(PartialEq, Eq)]
enum Comparison {
    /// They are equal.
    Same,
    /// They differ in a permitted way. The rest of the case is not compared.
    PermittedDifference,
}

/// The result of one step.
#[derive(Default)]
struct StepResult {
    ok: bool,
    /// The phase in which the step failed.
    phase: &'static str,
    diagnostics: Vec<Diagnostic>,
    resolved: Option<Resolved>,
    snapshot: Snapshot,
    /// The state before the step.
    before: Snapshot,
    /// The resolved document before the step.
    previous: Option<Resolved>,
    /// The declared elements that are present.
    declared: Vec<ResolvedElement>,
    /// The exports in the plan.
    exports: Vec<(Name, Value)>,
    /// Heat's answer to the validation of a template.
    validated: Option<Json>,
    /// The action and the status of the stack in Heat's terms.
    action: &'static str,
    status: &'static str,
}

impl TemplateCase {
    fn run(self) -> Result<(), String> {
        in_runtime(async move { self.compare().await })?
    }

    async fn compare(&self) -> Result<(), String> {
        let place = tempfile::tempdir().map_err(|error| error.to_string())?;
        self.write_files(place.path())?;
        let mut harness = Harness::with(
            place.path().to_owned(),
            Vec::new(),
            vec![Arc::new(providers::heat::provider())],
        );
        harness.context.dialect = Some("hot");
        for (name, content) in self.params["files"].as_object().into_iter().flatten() {
            if name.contains("://") {
                harness.web.insert(
                    name.clone(),
                    content.as_str().unwrap_or_default().as_bytes().to_vec(),
                );
            }
        }
        let name = self.params["stack_name"].as_str().unwrap_or("oracle");
        if let Some(refused) = crate::dialects().rules("hot").naming.instance(name, None) {
            let refused = StepResult {
                phase: "validate",
                diagnostics: vec![refused],
                ..StepResult::default()
            };
            return self
                .compare_step("", &refused, &self.expected, &mut Placeholders::default())
                .map(|_| ());
        }
        harness.name = state::InstanceName::from_free_text(name);
        let template = format!("{}.yaml", self.name);
        let text = read(&self.folder.join(&template))?;
        // The answer of a case with steps has an entry for each step.
        let steps = self.expected.get("create").is_some();
        let expected = if steps {
            &self.expected["create"]
        } else {
            &self.expected
        };
        let place = place.path();
        let mut placeholders = Placeholders::default();
        let given = match self.given(&mut harness, &text, None, place) {
            Ok(given) => given,
            Err(refused) => {
                return self
                    .compare_step("", &refused, expected, &mut placeholders)
                    .map(|_| ());
            }
        };
        let mode = self.params["mode"].as_str().unwrap_or("create");
        let rollback = self.params["disable_rollback"] == json!(false);
        let created = match mode {
            "create" => {
                step(
                    &harness,
                    (&template, &text, given.clone()),
                    None,
                    rollback,
                    "create",
                )
                .await
            }
            "validate" => validate_template(&harness, &template, &text, &given).await,
            _ => evaluate_offline(&harness, &template, &text, given.clone()).await,
        };
        if self.compare_step("", &created, expected, &mut placeholders)?
            == Comparison::PermittedDifference
        {
            return Ok(());
        }
        if let (Some(expected), Some(update)) =
            (self.expected.get("update"), self.params.get("update"))
        {
            let before = harness.snapshot().await;
            let (first, first_text) = (template.clone(), text.clone());
            let template = update["template"].as_str().unwrap_or(&template).to_owned();
            let text = read(&self.folder.join(&template))?;
            let rollback = update
                .get("disable_rollback")
                .map_or(rollback, |disabled| *disabled == json!(false));
            let updated = match self.given(&mut harness, &text, Some(update), place) {
                Ok(again) => {
                    step(
                        &harness,
                        (&template, &text, again),
                        Some((&first, &first_text, given)),
                        rollback,
                        "update",
                    )
                    .await
                }
                Err(refused) => *refused,
            };
            let updated = StepResult {
                previous: created.resolved.clone(),
                ..updated
            };
            if self.compare_step("update.", &updated, expected, &mut placeholders)?
                == Comparison::PermittedDifference
            {
                return Ok(());
            }
            if let Some(changes) = expected.get("changes") {
                let ours = changes_between(&before, &harness.snapshot().await);
                if ours != *changes {
                    return Err(format!("update.changes: {ours} where Heat has {changes}"));
                }
            }
        }
        if let Some(expected) = self.expected.get("delete") {
            let stage = harness.stage_destroy(Options::default()).await;
            let Some(staged) = stage.staged else {
                return Err("delete: nothing was staged".into());
            };
            let run = harness
                .run(staged, false, Vec::new(), settings(None, false))
                .await;
            let gone = run
                .outcome()
                .is_some_and(|outcome| outcome.outcome == Some(state::OperationOutcome::Gone));
            if gone != (expected["ok"] != json!(false)) {
                return Err("delete: ended otherwise".into());
            }
        }
        Ok(())
    }

    /// Writes the files of the case beside the template.
    fn write_files(&self, place: &Path) -> Result<(), String> {
        let Some(files) = self.params["files"].as_object() else {
            return Ok(());
        };
        for (name, content) in files {
            let content = content.as_str().unwrap_or_default();
            let text = match content.strip_prefix('@') {
                Some(beside) => read(&self.folder.join(beside))?,
                None => content.to_owned(),
            };
            if name.contains("://") {
                continue;
            }
            let path = place.join(name);
            if let Some(folder) = path.parent() {
                std::fs::create_dir_all(folder).map_err(|error| error.to_string())?;
            }
            std::fs::write(&path, text).map_err(|error| error.to_string())?;
        }
        Ok(())
    }

    /// The environment of a step: the files, text and keys of the case, and the changes of an
    /// update.
    fn environments(&self, update: Option<&Json>, place: &Path) -> Vec<(String, String)> {
        const KEYS: [&str; 5] = [
            "parameters",
            "parameter_defaults",
            "resource_registry",
            "event_sinks",
            "encrypted_param_names",
        ];
        let existing = update.is_some_and(|update| update["existing"] == json!(true));
        let mut overrides = Map::new();
        let cleared = update
            .filter(|_| existing)
            .and_then(|update| update["clear_parameters"].as_array());
        let is_cleared =
            |name: &str| cleared.is_some_and(|cleared| cleared.iter().any(|one| *one == *name));
        for key in KEYS {
            let mut own = self.params.get(key).cloned();
            if let Some(own) = own
                .as_mut()
                .and_then(Json::as_object_mut)
                .filter(|_| key == "parameters")
            {
                own.retain(|name, _| !is_cleared(name));
            }
            let updated = update.and_then(|update| update.get(key));
            // Without `existing` an update replaces each section that it names. With it, new values
            // are merged into the former ones.
            let value = match (own, updated) {
                (Some(Json::Object(mut own)), Some(Json::Object(said))) if existing => {
                    own.extend(said.clone());
                    Some(Json::Object(own))
                }
                (_, Some(said)) => Some(said.clone()),
                (own, None) => own,
            };
            overrides.extend(value.map(|value| (key.to_owned(), value)));
        }
        let mut files = Vec::new();
        if let Some(text) = self.params["environment_text"].as_str() {
            files.push((String::new(), text.to_owned()));
        }
        if !overrides.is_empty() {
            files.push((String::new(), Json::Object(overrides).to_string()));
        }
        for name in self.params["environment_files"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Json::as_str)
        {
            if let Ok(text) = read(&place.join(name)) {
                files.push((name.to_owned(), text));
            }
        }
        files
    }

    /// The inputs of a step; `Err` with the result of the step if its environment is refused.
    fn given(
        &self,
        harness: &mut Harness,
        text: &str,
        update: Option<&Json>,
        place: &Path,
    ) -> Result<Given, Box<StepResult>> {
        let mut files = Files::new();
        let root = files.add("template.yaml", text);
        let (tree, _) = syntax::parse(root, text, syntax::Format::Yaml);
        let context = dialect::LoadContext {
            dialect: Some("hot"),
            ..Default::default()
        };
        let document = dialect::Document::new(
            root,
            "template.yaml",
            text,
            std::slice::from_ref(&tree),
            &context,
        );
        let texts = self.environments(update, place);
        let trees: Vec<_> = texts
            .iter()
            .map(|(name, text)| {
                let file = files.add(name.as_str(), text.as_str());
                (file, syntax::parse(file, text, syntax::Format::Yaml))
            })
            .collect();
        let beside: Vec<dialect::Companion<'_>> = texts
            .iter()
            .zip(&trees)
            .map(|((name, _), (file, (tree, _)))| dialect::Companion {
                file: *file,
                name,
                folder: "",
                tree,
            })
            .collect();
        let Some(surrounded) = crate::dialects()
            .get("hot")
            .and_then(|hot| hot.read_companions(&document, &beside))
        else {
            return Ok(Given::default());
        };
        let broken = trees
            .iter()
            .flat_map(|(_, (_, found))| found.iter())
            .chain(surrounded.diagnostics.iter());
        let broken: Vec<Diagnostic> = broken.filter(|one| one.is_error()).cloned().collect();
        if !broken.is_empty() {
            // Heat refuses an unreadable environment before it reads the template.
            let unread = [
                "unknown-section",
                "empty-section",
                "invalid-syntax",
                "wrong-shape",
            ];
            let is_unread = broken.iter().any(|one| unread.contains(&one.code.name));
            let phase = if is_unread { "environment" } else { "validate" };
            return Err(Box::new(StepResult {
                phase,
                diagnostics: broken,
                ..StepResult::default()
            }));
        }
        harness.context = surrounded.context;
        let mut typed = surrounded.input_values;
        if update.is_some_and(|update| update["existing"] == json!(true)) {
            // Former values of parameters that are no longer declared are dropped.
            let declared = crate::dialects()
                .get("hot")
                .and_then(|hot| hot.data(text)?.get("parameters").cloned());
            typed.retain(|name, _| {
                declared
                    .as_ref()
                    .is_some_and(|declared| declared.get(name).is_some())
            });
        }
        Ok(Given {
            typed,
            ..Given::default()
        })
    }

    /// Compares one step with Heat's.
    fn compare_step(
        &self,
        step: &str,
        answer: &StepResult,
        expected: &Json,
        placeholders: &mut Placeholders,
    ) -> Result<Comparison, String> {
        let ok = expected["ok"] != json!(false);
        // In a case with steps, a different answer belongs to the step that fails.
        if !(ok && self.expected.get("create").is_some()) {
            for other in self.rule["also"].as_array().into_iter().flatten() {
                let fits = other.get("ok").is_none_or(|ok| *ok == json!(answer.ok))
                    && other
                        .get("phase")
                        .is_none_or(|phase| *phase == json!(answer.phase));
                if fits {
                    return Ok(Comparison::PermittedDifference);
                }
            }
        }
        if answer.ok != ok {
            let said = self.error_summary(answer);
            return Err(format!(
                "{step}ok: {} where Heat has {ok} ({}) {said}",
                answer.ok, expected["error"]
            ));
        }
        if !ok {
            if let Some(words) = expected["error"]
                .as_str()
                .filter(|_| self.rule["error"] != json!("loose"))
            {
                self.messages.compare_message(
                    &self.name,
                    words,
                    answer.diagnostics.iter().filter(|one| one.is_error()),
                );
            }
            if expected["phase"] != json!(answer.phase) {
                let said = self.error_summary(answer);
                return Err(format!(
                    "{step}phase: {} where Heat has {} {said}",
                    answer.phase, expected["phase"]
                ));
            }
            if let Some(code) = self.rule.get("code") {
                let codes: Vec<&str> = match code {
                    Json::Array(codes) => codes.iter().filter_map(Json::as_str).collect(),
                    one => one.as_str().into_iter().collect(),
                };
                let errors: Vec<&Diagnostic> = answer
                    .diagnostics
                    .iter()
                    .filter(|one| one.is_error())
                    .collect();
                if !errors.iter().any(|one| codes.contains(&one.code.name)) {
                    return Err(format!(
                        "{step}code: {} where {codes:?} is meant",
                        self.error_summary(answer)
                    ));
                }
            }
            if let Some(states) = expected.get("resource_states") {
                let ours = states_of(answer);
                if ours != *states {
                    return Err(format!(
                        "{step}resource_states: {ours} where Heat has {states}"
                    ));
                }
            }
            if expected["deleted"] == json!(true) && !answer.snapshot.records.is_empty() {
                return Err(format!("{step}deleted: something is left"));
            }
            return Ok(Comparison::Same);
        }
        if let Some(wanted) = expected.get("validate") {
            let ours = answer.validated.as_ref().unwrap_or(&Json::Null);
            same(ours, wanted, "validate", placeholders)?;
            return Ok(Comparison::Same);
        }
        let ours = self.answer_of(answer);
        for key in [
            "outputs",
            "parameters",
            "conditions",
            "disabled_resources",
            "resources",
            "action",
            "status",
        ] {
            let nothing = match key {
                "parameters" | "conditions" => json!({}),
                "disabled_resources" => json!([]),
                _ => Json::Null,
            };
            let wanted = match expected.get(key) {
                Some(wanted) => wanted,
                None if nothing.is_null() => continue,
                None => &nothing,
            };
            let mine = ours.get(key).unwrap_or(&nothing);
            if self.params["mode"] == json!("resolve") {
                // Before a resource exists Heat shows null or its name. Our values are known, or
                // known later (decisions/heat#unknown-instead-of-null).
                placeholders.before_creation = true;
            }
            if let Err(difference) = same(mine, wanted, key, placeholders) {
                return Err(format!("{step}{difference} {}", self.error_summary(answer)));
            }
        }
        if let Some(wanted) = expected.get("output_errors").and_then(Json::as_object) {
            let codes = &self.rule["output_codes"];
            for (name, words) in wanted {
                let note = format!("`{name}` is null therefore");
                let Some(failed) = answer
                    .diagnostics
                    .iter()
                    .find(|one| one.notes.contains(&note))
                else {
                    return Err(format!("{step}output_errors: `{name}` did not fail"));
                };
                let loose = self.rule["loose_outputs"]
                    .as_array()
                    .into_iter()
                    .flatten()
                    .any(|loose| loose == name.as_str());
                if let Some(words) = words.as_str().filter(|_| !loose) {
                    self.messages.compare_message(&self.name, words, [failed]);
                }
                let code = codes.get(name).and_then(Json::as_str);
                if code.is_some_and(|code| code != failed.code.name) {
                    return Err(format!(
                        "{step}output_errors.{name}: {} where {code:?} is meant",
                        failed.code.name
                    ));
                }
            }
        }
        for (name, _) in &answer.exports {
            let note = format!("`{name}` is null therefore");
            let failed = answer
                .diagnostics
                .iter()
                .find(|one| one.notes.contains(&note));
            if let Some(failed) =
                failed.filter(|_| expected["output_errors"].get(name.as_ref()).is_none())
            {
                return Err(format!(
                    "{step}output_errors: `{name}` failed: {}",
                    failed.message
                ));
            }
        }
        Ok(Comparison::Same)
    }

    /// The errors of a step in one line.
    fn error_summary(&self, answer: &StepResult) -> String {
        let errors = answer.diagnostics.iter().filter(|one| one.is_error());
        let said: Vec<String> = errors
            .map(|one| format!("{}: {}", one.code.name, one.message))
            .collect();
        format!("[{}]", said.join("; "))
    }

    fn answer_of(&self, answer: &StepResult) -> Map<String, Json> {
        let mut out = Map::new();
        out.insert("action".into(), json!(answer.action));
        out.insert("status".into(), json!(answer.status));
        let outputs = answer
            .exports
            .iter()
            .map(|(name, value)| (name.to_string(), to_json(&value.revealed())));
        out.insert("outputs".into(), Json::Object(outputs.collect()));
        let Some(resolved) = &answer.resolved else {
            return out;
        };
        let encrypted = self.params["encrypted_param_names"].as_array();
        // Heat stores these parameters encrypted and shows their values.
        let is_encrypted =
            |name: &str| encrypted.is_some_and(|names| names.iter().any(|one| *one == *name));
        let parameters = resolved.inputs.iter().map(|(name, value)| {
            let shown = match value.has_secret() {
                true if is_encrypted(name) => to_json(&value.revealed()),
                true => json!("******"),
                false => to_json(value),
            };
            (name.to_string(), shown)
        });
        out.insert("parameters".into(), Json::Object(parameters.collect()));
        let conditions = resolved.locals.iter().filter_map(|(name, value)| {
            value
                .as_ref()
                .map(|value| (name.to_string(), to_json(value)))
        });
        out.insert("conditions".into(), Json::Object(conditions.collect()));
        let mut resources = Map::new();
        let mut disabled = Vec::new();
        for element in &resolved.elements {
            if !element.is_present {
                disabled.push(json!(element.name.as_ref()));
                continue;
            }
            let address = Address::root(element.name.clone());
            let record = answer.snapshot.records.get(&address);
            let child = answer
                .snapshot
                .records
                .iter()
                .filter(|(at, _)| at.path.first() == Some(&element.name));
            let child_state = || {
                let ops: Vec<&str> = child
                    .map(|(_, record)| state_of(record))
                    .map(|state| {
                        if state.starts_with("UPDATE") {
                            "UPDATE_COMPLETE"
                        } else {
                            "CREATE_COMPLETE"
                        }
                    })
                    .collect();
                if answer.action == "CREATE" && answer.status == "IN_PROGRESS" {
                    "INIT_COMPLETE"
                } else if ops.contains(&"UPDATE_COMPLETE") {
                    "UPDATE_COMPLETE"
                } else {
                    "CREATE_COMPLETE"
                }
                .to_owned()
            };
            let mut one = Map::new();
            one.insert("type".into(), json!(element.type_name.as_ref()));
            let state = match record {
                _ if element.external.is_some() => "CHECK_COMPLETE".to_owned(),
                // Heat never updates a resource of this type.
                Some(record) if record.type_name.as_ref() == "OS::Heat::None" => state_of(record),
                Some(record)
                    if is_updated(answer, element) && state_of(record) == "CREATE_COMPLETE" =>
                {
                    "UPDATE_COMPLETE".to_owned()
                }
                // Heat counts a change of the record alone as an update.
                Some(record)
                    if answer
                        .before
                        .records
                        .get(&address)
                        .is_some_and(|before| only_recorded(before, record)) =>
                {
                    "UPDATE_COMPLETE".to_owned()
                }
                Some(record) => state_of(record),
                // Heat counts an unchanged resource as updated in every update.
                None if element.is_child && child_existed(answer, element) => {
                    "UPDATE_COMPLETE".to_owned()
                }
                None if element.is_child => child_state(),
                None => "INIT_COMPLETE".to_owned(),
            };
            one.insert("state".into(), json!(state));
            let written = element
                .written
                .as_ref()
                .map(|value| to_json(&value.revealed()));
            one.insert("properties".into(), written.unwrap_or_default());
            let given = element.given.revealed();
            let typed = given
                .as_map()
                .into_iter()
                .flatten()
                .filter(|(_, value)| !value.is_null());
            let typed = typed.map(|(name, value)| (name.to_string(), to_json(value)));
            one.insert("typed_properties".into(), Json::Object(typed.collect()));
            one.insert(
                "requires".into(),
                json!(
                    element
                        .needs
                        .iter()
                        .map(|name| name.as_ref())
                        .collect::<Vec<_>>()
                ),
            );
            let stays = element.external.as_ref().map(|_| "Retain");
            one.insert(
                "deletion_policy".into(),
                json!(stays.unwrap_or(element.deletion_policy.as_ref())),
            );
            one.extend(
                element
                    .external
                    .as_ref()
                    .map(|id| ("external_id".to_owned(), json!(id.as_ref()))),
            );
            if !element.update_policy.is_null() {
                one.insert(
                    "update_policy".into(),
                    to_json(&element.update_policy.revealed()),
                );
            }
            if let Some(metadata) = element.metadata.get("custom") {
                one.insert("metadata".into(), to_json(&metadata.revealed()));
            }
            resources.insert(element.name.to_string(), Json::Object(one));
        }
        disabled.sort_by_key(|name| name.to_string());
        out.insert("disabled_resources".into(), Json::Array(disabled));
        out.insert("resources".into(), Json::Object(resources));
        out
    }
}

/// The element in the step before, if it is the same resource.
fn element_before<'a>(
    answer: &'a StepResult,
    element: &ResolvedElement,
) -> Option<&'a ResolvedElement> {
    let before = answer
        .previous
        .iter()
        .flat_map(|previous| &previous.elements)
        .find(|one| one.name == element.name)?;
    let address = Address::root(element.name.clone());
    let id = |snapshot: &Snapshot| {
        snapshot
            .records
            .get(&address)
            .map(|record| record.id.clone())
    };
    let same = before.is_present
        && before.is_child == element.is_child
        && id(&answer.before) == id(&answer.snapshot);
    same.then_some(before)
}

/// Whether the child existed before.
fn child_existed(answer: &StepResult, element: &ResolvedElement) -> bool {
    element_before(answer, element).is_some()
}

/// Whether an update of the resource changes its dependencies, the spelling of its type, its update
/// policy, or the set of written properties. Heat counts such a change as an update.
fn is_updated(answer: &StepResult, element: &ResolvedElement) -> bool {
    let written = |element: &ResolvedElement| -> Vec<Name> {
        let fields = element
            .written
            .as_ref()
            .map(blueprint::Value::revealed)
            .unwrap_or_default();
        fields
            .as_map()
            .into_iter()
            .flatten()
            .map(|(name, _)| name.clone())
            .collect()
    };
    element_before(answer, element).is_some_and(|before| {
        before.depends_on != element.depends_on
            || before.type_name != element.type_name
            || before.update_policy != element.update_policy
            || written(element)
                .iter()
                .any(|name| !written(before).contains(name))
            || written(before)
                .iter()
                .any(|name| !written(element).contains(name))
    })
}

/// Whether only the metadata of a resource or its retention has changed.
fn only_recorded(before: &state::Record, now: &state::Record) -> bool {
    before.id == now.id && (before.metadata != now.metadata || before.retain != now.retain)
}

fn state_of(record: &state::Record) -> String {
    let op = match record.status.op {
        StatusOp::Create => "CREATE",
        StatusOp::Update => "UPDATE",
        StatusOp::Delete => "DELETE",
    };
    let word = match record.status.word {
        StatusWord::Ready | StatusWord::Gone | StatusWord::Retained => "COMPLETE",
        StatusWord::Failed => "FAILED",
        _ => "IN_PROGRESS",
    };
    format!("{op}_{word}")
}

/// The states of resources after a failure. A child failed if any of its resources failed. A child
/// without members has no records: it is created as soon as everything that it needs is created.
fn states_of(answer: &StepResult) -> Json {
    let mut states: BTreeMap<String, String> = BTreeMap::new();
    for (address, record) in &answer.snapshot.records {
        let name = address
            .path
            .first()
            .map_or_else(|| address.name.to_string(), |child| child.to_string());
        let state = state_of(record);
        match states.get(&name) {
            Some(known) if known.ends_with("FAILED") => {}
            _ => drop(states.insert(name, state)),
        }
    }
    let mut open: Vec<&ResolvedElement> = answer
        .declared
        .iter()
        .filter(|one| !states.contains_key(one.name.as_ref()))
        .collect();
    loop {
        let is_made = |one: &&ResolvedElement| {
            let done = |name: &Name| {
                states
                    .get(name.as_ref())
                    .is_some_and(|state| state.ends_with("COMPLETE"))
            };
            one.is_child && one.needs.iter().all(done)
        };
        let Some(at) = open.iter().position(is_made) else {
            break;
        };
        let one = open.remove(at);
        let was_there = answer.before.declared.children.contains_key(&one.name);
        let state = if was_there {
            "UPDATE_COMPLETE"
        } else {
            "CREATE_COMPLETE"
        };
        states.insert(one.name.to_string(), state.to_owned());
    }
    states.extend(
        open.into_iter()
            .map(|one| (one.name.to_string(), "INIT_COMPLETE".to_owned())),
    );
    json!(states)
}

/// The results of the resources of the root, with each child as one resource, also a child without
/// members.
fn changes_between(before: &Snapshot, after: &Snapshot) -> Json {
    let ids = |snapshot: &Snapshot| -> BTreeMap<Name, Vec<Name>> {
        let mut ids: BTreeMap<Name, Vec<Name>> = BTreeMap::new();
        for (address, record) in &snapshot.records {
            match address.path.first() {
                Some(child) => drop(ids.entry(child.clone()).or_default()),
                None => ids
                    .entry(address.name.clone())
                    .or_default()
                    .push(record.id.clone()),
            }
        }
        for child in snapshot
            .declared
            .children
            .keys()
            .filter(|name| !name.contains('/'))
        {
            ids.entry(child.clone()).or_default();
        }
        ids
    };
    let (before, after) = (ids(before), ids(after));
    let names = |filter: &dyn Fn(&Name) -> bool, of: &BTreeMap<Name, Vec<Name>>| -> Vec<String> {
        of.keys()
            .filter(|name| filter(name))
            .map(|name| name.to_string())
            .collect()
    };
    json!({
        "added": names(&|name| !before.contains_key(name), &after),
        "kept": names(&|name| before.get(name) == after.get(name), &after),
        "removed": names(&|name| !after.contains_key(name), &before),
        "replaced": names(&|name| before.get(name).is_some_and(|ids| Some(ids) != after.get(name)), &after),
    })
}

/// Checks a document and evaluates what is known, without creating resources.
async fn evaluate_offline(harness: &Harness, name: &str, text: &str, given: Given) -> StepResult {
    let StageResult {
        diagnostics,
        staged,
        ..
    } = harness.stage(name, text, given, Options::default()).await;
    let changes = staged.iter().flat_map(|staged| &staged.plan.exports);
    let exports = changes
        .map(|one| (one.name.clone(), one.after.clone().unwrap_or_default()))
        .collect();
    let resolved = staged.map(|mut staged| resolved(&mut staged).unwrap_or_default());
    let ok = resolved.is_some();
    let phase = if ok { "" } else { phase_of(&diagnostics) };
    let diagnostics = diagnostics.iter().cloned().collect();
    let snapshot = harness.snapshot().await;
    let (action, status) = ("CREATE", "IN_PROGRESS");
    StepResult {
        ok,
        phase,
        diagnostics,
        resolved,
        snapshot,
        exports,
        action,
        status,
        ..StepResult::default()
    }
}

/// Checks a template without a plan; parameters need no value.
async fn validate_template(harness: &Harness, name: &str, text: &str, given: &Given) -> StepResult {
    let CheckedDocument {
        diagnostics,
        checked,
        ..
    } = harness.validate(name, text, given).await;
    let ok = !diagnostics.has_errors();
    let phase = if ok { "" } else { phase_of(&diagnostics) };
    let validated = checked.map(|checked| heat_validated::answer(&checked.blueprint, text, given));
    let diagnostics = diagnostics.iter().cloned().collect();
    StepResult {
        ok,
        phase,
        diagnostics,
        validated,
        ..StepResult::default()
    }
}

/// The phase in which Heat reports the errors: parsing or validation.
fn phase_of(diagnostics: &Diagnostics) -> &'static str {
    // Heat reads nested templates and checks version keys only in validation.
    let in_root = |one: &&Diagnostic| one.is_error() && one.trail.is_empty();
    let unread = |one: &Diagnostic| {
        let words = one.native_message.as_deref();
        let early = [
            "Template format version not found.",
            "The template is not a JSON object or YAML mapping.",
        ];
        match one.code.name {
            "invalid-syntax" | "multiple-documents" => true,
            "unsupported-version" => words.is_none(),
            _ => words.is_some_and(|words| {
                words.class == "ValueError" && early.contains(&&*words.message)
            }),
        }
    };
    let mut errors = diagnostics.iter().filter(in_root);
    if errors.clone().any(unread) {
        "parse"
    } else if errors.any(|one| one.code.name == "empty-section") {
        "environment"
    } else {
        "validate"
    }
}

/// One create or update, and its result.
async fn step(
    harness: &Harness,
    (name, text, given): (&str, &str, Given),
    before: Option<(&str, &str, Given)>,
    rollback: bool,
    word: &'static str,
) -> StepResult {
    let state_before = harness.snapshot().await;
    let stage = harness
        .stage(name, text, given.clone(), Options::default())
        .await;
    let StageResult {
        diagnostics,
        mut staged,
        ..
    } = stage;
    let declared = staged.as_mut().and_then(resolved).unwrap_or_default();
    let declared: Vec<ResolvedElement> = declared
        .elements
        .into_iter()
        .filter(|one| one.is_present)
        .collect();
    let mut all: Vec<Diagnostic> = diagnostics.iter().cloned().collect();
    let Some(staged) = staged else {
        let phase = phase_of(&diagnostics);
        return StepResult {
            phase,
            diagnostics: all,
            snapshot: harness.snapshot().await,
            ..StepResult::default()
        };
    };
    let mut settings = settings(None, false);
    if rollback {
        settings.on_failure = OnFailure::Rollback;
    }
    let run = harness.run(staged, false, Vec::new(), settings).await;
    let (done, rolled_back) = match &run.operated {
        Some(Operated::Nothing) => (true, false),
        Some(Operated::Done(outcome)) => {
            all.extend(outcome.diagnostics.iter().cloned());
            (
                outcome.outcome == Some(state::OperationOutcome::Ready),
                outcome.rolled_back.is_some(),
            )
        }
        _ => {
            return StepResult {
                phase: word,
                diagnostics: all,
                ..StepResult::default()
            };
        }
    };
    let snapshot = harness.snapshot().await;
    if !(done || rolled_back && word == "update") {
        let before = state_before;
        return StepResult {
            phase: word,
            diagnostics: all,
            snapshot,
            before,
            declared,
            ..StepResult::default()
        };
    }
    // Stages once more to get the resolved document; after a rollback with the former inputs.
    let (name, text, given) = if done {
        (name, text, given)
    } else {
        before.unwrap_or((name, text, given))
    };
    let mut again = harness.stage(name, text, given, Options::default()).await;
    all.extend(again.diagnostics.iter().cloned());
    let resolved = again.staged.as_mut().and_then(resolved);
    let action = match (done, word) {
        (false, _) => "ROLLBACK",
        (true, "update") => "UPDATE",
        _ => "CREATE",
    };
    let exports = snapshot
        .exports
        .iter()
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    StepResult {
        ok: true,
        phase: "",
        diagnostics: all,
        resolved,
        snapshot,
        before: state_before,
        declared,
        exports,
        action,
        status: "COMPLETE",
        ..StepResult::default()
    }
}
