//! Cases about deploys: the resulting cloud and state.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use engine::apply::OnFailure;
use engine::plan_file::hidden;
use engine::run::Operated;
use engine::{Options, Staged};
use providers::fake::ScriptedFault;
use serde_json::Value as Json;
use state::{InstanceInfo, Lease, OperationOutcome};

use super::case::{Case, differences, folder, read};
use super::staging::{change_world, codes_of, options};
use crate::harness::{Harness, RunResult, settings};
use crate::json_values::{equal, given, to_json};
use crate::runtime::in_runtime;

pub(super) fn cases(pack: &Path) -> Result<Vec<Case>, String> {
    let folder_of = pack.join("cases/deploy");
    let case = |(id, _, expect): (String, Option<PathBuf>, Json)| {
        let folder_of = folder_of.clone();
        Case {
            id,
            run: Box::new(move || deploy(&folder_of, &expect)),
        }
    };
    Ok(folder(pack, "deploy")?.into_iter().map(case).collect())
}

/// Creates a temporary folder with the files that the documents of the case read.
fn case_folder(pack: &Path, expect: &Json) -> Result<tempfile::TempDir, String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    if let Some(files) = expect["files"].as_str() {
        for entry in std::fs::read_dir(pack.join(files)).map_err(|error| error.to_string())? {
            let entry = entry.map_err(|error| error.to_string())?;
            std::fs::copy(entry.path(), folder.path().join(entry.file_name()))
                .map_err(|error| error.to_string())?;
        }
    }
    Ok(folder)
}

struct SavedPlan {
    staged: Staged,
}

fn deploy(pack: &Path, expect: &Json) -> Result<(), String> {
    let folder = case_folder(pack, expect)?;
    in_runtime(async {
        let mut harness = Harness::new(folder.path().to_path_buf(), Vec::new());
        let mut saved_plans: HashMap<String, SavedPlan> = HashMap::new();
        let mut held: Option<Lease> = None;
        for (number, step) in expect["steps"].as_array().into_iter().flatten().enumerate() {
            let mut wrong = Vec::new();
            match step["do"].as_str().unwrap_or_default() {
                "hold" => held = harness.take_lease().await,
                "release" => {
                    if let Some(lease) = held.take() {
                        harness
                            .store()
                            .release(&lease)
                            .await
                            .map_err(|error| error.to_string())?;
                    }
                }
                "world" => change_world(&harness, &step["changes"], folder.path())?,
                "stage" => stage(&harness, pack, step, &mut saved_plans, &mut wrong).await?,
                "deploy" | "destroy" => operate(&mut harness, pack, step, &mut wrong).await?,
                "apply" => apply(&harness, step, &mut saved_plans, &mut wrong).await?,
                other => return Err(format!("step {number}: nothing is known of `{other}`")),
            }
            differences(&wrong).map_err(|difference| format!("step {number}: {difference}"))?;
        }
        Ok(())
    })?
}

async fn stage(
    harness: &Harness,
    pack: &Path,
    step: &Json,
    kept: &mut HashMap<String, SavedPlan>,
    wrong: &mut Vec<String>,
) -> Result<(), String> {
    let name = step["document"].as_str().unwrap_or_default();
    let text = read(&pack.join(name))?;
    let stage = harness
        .stage(
            &document_name(name),
            &text,
            given(step.get("inputs"), None),
            options(&step["options"])?,
        )
        .await;
    let expect = &step["expect"];
    if let Some(wanted) = expect["codes"].as_array() {
        compare_codes(&codes_of(&stage.diagnostics), wanted, wrong);
    }
    let Some(staged) = stage.staged else {
        if expect.get("empty").is_some() {
            wrong.push(format!(
                "no plan was made: {:?}",
                codes_of(&stage.diagnostics)
            ));
        }
        return Ok(());
    };
    if let Some(empty) = expect["empty"].as_bool()
        && empty != staged.plan.is_empty()
    {
        let steps: Vec<_> = staged
            .plan
            .steps
            .iter()
            .map(|step| format!("{} {} {:?}", step.action.word(), step.address, step.reasons))
            .collect();
        wrong.push(format!("expected empty {empty}, got {steps:?}"));
    }
    if let Some(name) = step["keep"].as_str() {
        kept.insert(name.to_owned(), SavedPlan { staged });
    }
    Ok(())
}

/// All documents of a case are versions of one document.
fn document_name(_: &str) -> String {
    "case.yaml".to_owned()
}

fn compare_codes(got: &[&str], wanted: &[Json], wrong: &mut Vec<String>) {
    let got: BTreeSet<&str> = got.iter().copied().collect();
    let wanted: BTreeSet<&str> = wanted.iter().filter_map(Json::as_str).collect();
    if got != wanted {
        wrong.push(format!("expected codes {wanted:?}, got {got:?}"));
    }
}

async fn operate(
    harness: &mut Harness,
    pack: &Path,
    step: &Json,
    wrong: &mut Vec<String>,
) -> Result<(), String> {
    let options: Options = options(&step["options"])?;
    harness.key = step["options"]["key"] != false;
    let mut faults: Vec<ScriptedFault> = match step.get("faults") {
        Some(faults) => {
            serde_json::from_value(faults.clone()).map_err(|error| format!("faults: {error}"))?
        }
        None => Vec::new(),
    };
    if step["do"] == "destroy" {
        let known = harness
            .store()
            .info(&Harness::instance())
            .await
            .map_err(|error| error.to_string())?;
        if known.is_none() {
            return check_outcome(
                harness,
                step,
                vec!["unknown-instance"],
                None,
                "refused",
                wrong,
            )
            .await;
        }
    }
    let stage = if step["do"] == "destroy" {
        harness.stage_destroy(options).await
    } else {
        let name = step["document"].as_str().unwrap_or_default();
        let text = read(&pack.join(name))?;
        harness
            .stage(
                &document_name(name),
                &text,
                given(step.get("inputs"), None),
                options,
            )
            .await
    };
    let codes = codes_of(&stage.diagnostics);
    let Some(staged) = stage.staged else {
        return check_outcome(harness, step, codes, None, "refused", wrong).await;
    };
    // A call of a link is a call of the resource that it writes into. A case may name either.
    for fault in &mut faults {
        if let Some((_, target)) = staged
            .plan
            .link_writes()
            .find(|(write, _)| write.to_string() == *fault.at)
        {
            fault.at = target.to_string().into();
        }
    }
    let parallel = step["options"]["parallel"]
        .as_u64()
        .map(|count| count as usize);
    let mut settings = settings(parallel, step["options"]["onFailure"] == "keep-going");
    if step["options"]["onFailure"] == "rollback" {
        settings.on_failure = OnFailure::Rollback;
    }
    let run = harness.run(staged, false, faults, settings).await;
    finish(harness, step, codes, run, wrong).await
}

async fn apply(
    harness: &Harness,
    step: &Json,
    kept: &mut HashMap<String, SavedPlan>,
    wrong: &mut Vec<String>,
) -> Result<(), String> {
    let name = step["plan"].as_str().unwrap_or_default();
    let Some(SavedPlan { staged }) = kept.remove(name) else {
        return Err(format!("no plan `{name}` is kept"));
    };
    let run = harness
        .run(staged, true, Vec::new(), settings(None, false))
        .await;
    finish(harness, step, Vec::new(), run, wrong).await
}

pub(super) async fn finish(
    harness: &Harness,
    step: &Json,
    mut codes: Vec<&'static str>,
    run: RunResult,
    wrong: &mut Vec<String>,
) -> Result<(), String> {
    let outcome = match &run.operated {
        None => "crashed",
        Some(Operated::Refused(found) | Operated::Busy(found)) => {
            codes.extend(codes_of(found));
            "refused"
        }
        Some(Operated::Nothing) => "ready",
        Some(Operated::Done(outcome)) => {
            codes.extend(codes_of(&outcome.diagnostics));
            match outcome.outcome {
                Some(OperationOutcome::Ready) => "ready",
                Some(OperationOutcome::Gone) => "gone",
                _ => "failed",
            }
        }
        Some(Operated::Aborted(lost)) => return Err(format!("{lost:?}")),
        Some(Operated::Store(error)) => return Err(error.to_string()),
    };
    let shown = serde_json::to_string(&run.events).map_err(|error| error.to_string())?;
    for never in step["expect"]["never"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Json::as_str)
    {
        if shown.contains(never) {
            wrong.push(format!("`{never}` shows in the events"));
        }
    }
    check_outcome(harness, step, codes, Some(&run), outcome, wrong).await
}

async fn check_outcome(
    harness: &Harness,
    step: &Json,
    codes: Vec<&'static str>,
    run: Option<&RunResult>,
    outcome: &str,
    wrong: &mut Vec<String>,
) -> Result<(), String> {
    let expect = &step["expect"];
    if let Some(wanted) = expect["outcome"].as_str()
        && wanted != outcome
    {
        wrong.push(format!("expected {wanted}, got {outcome} with {codes:?}"));
    }
    if let Some(wanted) = expect["codes"].as_array() {
        compare_codes(&codes, wanted, wrong);
    }
    for code in expect["codesInclude"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Json::as_str)
    {
        if !codes.contains(&code) {
            wrong.push(format!("expected the code {code}, got {codes:?}"));
        }
    }
    let snapshot = harness.snapshot().await;
    if let Some(records) = expect["records"].as_object() {
        let got: BTreeMap<String, String> = snapshot
            .records
            .iter()
            .filter(|(address, _)| is_compared(address, |address| records.contains_key(address)))
            .map(|(address, record)| (address.to_string(), record.status.to_string()))
            .collect();
        let wanted: BTreeMap<String, String> = records
            .iter()
            .map(|(address, status)| {
                (
                    address.clone(),
                    status.as_str().unwrap_or_default().to_owned(),
                )
            })
            .collect();
        if got != wanted {
            wrong.push(format!("expected records {wanted:?}, got {got:?}"));
        }
    }
    if let Some(addresses) = expect["addresses"].as_array() {
        let listed = |address: &str| addresses.iter().any(|it| it.as_str() == Some(address));
        let got: BTreeSet<String> = snapshot
            .records
            .keys()
            .filter(|address| is_compared(address, listed))
            .map(ToString::to_string)
            .collect();
        let wanted: BTreeSet<String> = addresses
            .iter()
            .filter_map(|it| it.as_str().map(str::to_owned))
            .collect();
        if got != wanted {
            wrong.push(format!("expected addresses {wanted:?}, got {got:?}"));
        }
    }
    if let Some(exports) = expect["exports"].as_object() {
        let same = snapshot.exports.len() == exports.len()
            && exports.iter().all(|(name, value)| {
                snapshot
                    .exports
                    .get(name.as_str())
                    .is_some_and(|got| equal(&to_json(&hidden(got)), value, false))
            });
        if !same {
            wrong.push(format!(
                "expected exports {}, got {:?}",
                expect["exports"], snapshot.exports
            ));
        }
    }
    if let Some(cloud) = expect["cloud"].as_object() {
        compare_cloud(harness, cloud, wrong);
    }
    if let Some(run) = run {
        compare_journal(run, expect, wrong);
    }
    let _: Option<InstanceInfo> = None;
    Ok(())
}

/// Whether a record is compared: those of resources always, those of links and their resources only
/// if they are listed.
fn is_compared(address: &blueprint::Address, listed: impl Fn(&str) -> bool) -> bool {
    address.link.is_none() || listed(&address.to_string())
}

fn compare_cloud(
    harness: &Harness,
    cloud: &serde_json::Map<String, Json>,
    wrong: &mut Vec<String>,
) {
    let world = harness
        .world
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    let mut left: BTreeMap<String, _> = world
        .objects()
        .map(|object| (object.id.to_string(), object))
        .collect();
    for (id, wanted) in cloud {
        let Some(object) = left.remove(id) else {
            wrong.push(format!("`{id}` is not in the cloud"));
            continue;
        };
        if wanted["type"] != object.type_name.as_ref() {
            wrong.push(format!("`{id}` is a {}", object.type_name));
        }
        for (field, value) in wanted["spec"].as_object().into_iter().flatten() {
            let got = object.fields.get(field);
            let same = match got {
                Some(got) if !got.is_null() => equal(&to_json(got), value, false),
                _ => value.is_null(),
            };
            if !same {
                wrong.push(format!("`{id}` has {field} {got:?}, expected {value}"));
            }
        }
    }
    wrong.extend(
        left.keys()
            .map(|id| format!("`{id}` should not be in the cloud")),
    );
}

fn compare_journal(run: &RunResult, expect: &Json, wrong: &mut Vec<String>) {
    if let Some(calls) = expect["calls"].as_object() {
        let got = run.journal.calls();
        let wanted: BTreeMap<String, u32> = calls
            .iter()
            .map(|(call, count)| (call.clone(), count.as_u64().unwrap_or(0) as u32))
            .collect();
        // Calls of addresses that the case does not name are not compared.
        let got: BTreeMap<String, u32> = got
            .into_iter()
            .filter(|(call, _)| wanted.contains_key(call))
            .collect();
        let wanted: BTreeMap<String, u32> =
            wanted.into_iter().filter(|(_, count)| *count > 0).collect();
        if got != wanted {
            wrong.push(format!("expected calls {wanted:?}, got {got:?}"));
        }
    }
    for pair in expect["order"].as_array().into_iter().flatten() {
        let (first, second) = (
            pair[0].as_str().unwrap_or_default(),
            pair[1].as_str().unwrap_or_default(),
        );
        if run.journal.before(first, second) != Some(true) {
            wrong.push(format!("`{first}` did not end before `{second}` began"));
        }
    }
    if let Some(most) = expect["parallel"]["max"].as_u64()
        && u64::from(run.journal.most_in_flight) > most
    {
        wrong.push(format!(
            "{} calls were in flight at once",
            run.journal.most_in_flight
        ));
    }
}
