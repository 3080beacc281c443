//! Cases with templates of Heat: compares the result of `cyan` with the recorded result of Heat
//! (see the pack's README).

mod answer;
mod step;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use diag::{Diagnostic, Files};
use engine::{Given, Options};
use serde_json::{Map, Value as Json, json};

use super::case::{Case, read, read_json};
use super::heat_values::{Placeholders, plain_keys, same};
use crate::harness::{Harness, settings};
use crate::runtime::in_runtime;
use answer::{answer_of, changes_between, states_of};
use step::{StepResult, evaluate_offline, step, validate_template};

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
            vec![Arc::new(openstack::heat::provider())],
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
        let context = dialect::LoadContext {
            dialect: Some("hot"),
            ..Default::default()
        };
        let dialects = crate::dialects();
        let parsed = dialects.parse(root, "template.yaml", text, &context);
        let document = parsed.document();
        let texts = self.environments(update, place);
        let trees: Vec<_> = texts
            .iter()
            .map(|(name, text)| {
                let file = files.add(name.as_str(), text.as_str());
                (file, dialects.parse_companion(file, name, text))
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
                is_check: false,
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
            self.compare_failure(step, answer, expected)?;
            return Ok(Comparison::Same);
        }
        if let Some(wanted) = expected.get("validate") {
            let ours = answer.validated.as_ref().unwrap_or(&Json::Null);
            same(ours, wanted, "validate", placeholders)?;
            return Ok(Comparison::Same);
        }
        self.compare_answer(step, answer, expected, placeholders)?;
        self.compare_output_errors(step, answer, expected)?;
        Ok(Comparison::Same)
    }

    /// Compares a failed step: its message, its phase, its code, and what it leaves behind.
    fn compare_failure(
        &self,
        step: &str,
        answer: &StepResult,
        expected: &Json,
    ) -> Result<(), String> {
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
        Ok(())
    }

    /// Compares the parts of the answer of a step that succeeded.
    fn compare_answer(
        &self,
        step: &str,
        answer: &StepResult,
        expected: &Json,
        placeholders: &mut Placeholders,
    ) -> Result<(), String> {
        let ours = answer_of(answer, &self.params["encrypted_param_names"]);
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
        Ok(())
    }

    /// Compares the outputs that failed: which ones, their messages and codes.
    fn compare_output_errors(
        &self,
        step: &str,
        answer: &StepResult,
        expected: &Json,
    ) -> Result<(), String> {
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
        Ok(())
    }

    /// The errors of a step in one line.
    fn error_summary(&self, answer: &StepResult) -> String {
        let errors = answer.diagnostics.iter().filter(|one| one.is_error());
        let said: Vec<String> = errors
            .map(|one| format!("{}: {}", one.code.name, one.message))
            .collect();
        format!("[{}]", said.join("; "))
    }
}
