//! Cases about plans.

use std::collections::BTreeMap;
use std::path::Path;

use blueprint::Address;
use engine::plan_file::{hidden, hidden_export, hidden_step};
use engine::run::{Clock, Operated};
use engine::{Action, Options, Staged, Step};
use providers::fake::FakeCloud;
use serde_json::{Value as Json, json};
use state::OperationOutcome;

use super::case::{Case, differences, folder, read};
use crate::harness::{Harness, settings};
use crate::json_values::{equal, from_json, given, to_json};
use crate::runtime::in_runtime;

pub(super) fn cases(pack: &Path) -> Result<Vec<Case>, String> {
    let mut cases = Vec::new();
    for (id, document, expect) in folder(pack, "stage")? {
        let Some(document) = document else {
            return Err(format!("stage {id} has no document"));
        };
        cases.push(Case {
            id,
            run: Box::new(move || stage(&document, &expect)),
        });
    }
    Ok(cases)
}

/// The options of the plan of a case. `Err` for an option that is not supported.
pub(super) fn options(json: &Json) -> Result<Options, String> {
    let mut options = Options::default();
    for (key, value) in json.as_object().into_iter().flatten() {
        match key.as_str() {
            "refresh" => options.refresh = value.as_bool().unwrap_or(true).into(),
            "parallel" | "key" | "onFailure" => {}
            "drift" => {
                options.drift =
                    serde_json::from_value(value.clone()).map_err(|error| error.to_string())?
            }
            "targets" => options.targets = addresses(value)?,
            "renew" => options.renew = addresses(value)?,
            "replace" => options.replace = addresses(value)?,
            other => return Err(format!("the option `{other}` cannot be carried out yet")),
        }
    }
    Ok(options)
}

fn addresses(value: &Json) -> Result<Vec<Address>, String> {
    let texts = value
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Json::as_str);
    texts
        .map(|text| text.parse().map_err(|error| format!("`{text}`: {error}")))
        .collect()
}

/// Changes the cloud and files as another user would.
pub(super) fn change_world(harness: &Harness, changes: &Json, folder: &Path) -> Result<(), String> {
    let catalog = providers::fake::catalog();
    for change in changes.as_array().into_iter().flatten() {
        if let (Some(file), Some(text)) = (change["file"].as_str(), change["text"].as_str()) {
            std::fs::write(folder.join(file), text).map_err(|error| error.to_string())?;
            continue;
        }
        let mut world = harness
            .world
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        let world: &mut FakeCloud = &mut world;
        let at = change["at"].as_str().unwrap_or_default();
        if change["vanish"] == true {
            world
                .delete_externally("case", at)
                .map_err(|refusal| format!("{refusal:?}"))?;
        } else if let Some(make) = change["make"].as_str() {
            let id = change["id"].as_str().unwrap_or_default();
            world
                .make(&catalog, make, id, &from_json(&change["spec"]))
                .map_err(|refusal| format!("{refusal:?}"))?;
        } else {
            for (field, value) in change["set"].as_object().into_iter().flatten() {
                world
                    .set("case", at, field, from_json(value))
                    .map_err(|refusal| format!("{refusal:?}"))?;
            }
        }
    }
    Ok(())
}

fn stage(document: &Path, expect: &Json) -> Result<(), String> {
    let folder = document.parent().map(Path::to_path_buf).unwrap_or_default();
    let name = document
        .file_name()
        .and_then(|name| name.to_str())
        .unwrap_or_default()
        .to_owned();
    let text = read(document)?;
    in_runtime(async {
        let mut harness = Harness::new(folder.clone(), Vec::new());
        if let Some(before) = expect.get("before") {
            let first = before["document"].as_str().unwrap_or_default();
            let stage = harness
                .stage(
                    first,
                    &read(&folder.join(first))?,
                    given(before.get("inputs"), None),
                    Options::default(),
                )
                .await;
            let Some(staged) = stage.staged else {
                return Err(format!("before: {:?}", codes_of(&stage.diagnostics)));
            };
            let run = harness
                .run(staged, false, Vec::new(), settings(None, false))
                .await;
            match &run.operated {
                Some(Operated::Done(outcome))
                    if outcome.outcome == Some(OperationOutcome::Ready) => {}
                other => return Err(format!("before: {other:?}")),
            }
        }
        change_world(&harness, &expect["world"], &folder)?;
        if let Some(at) = expect["clock"].as_str() {
            let at: jiff::Timestamp = at.parse().map_err(|error| format!("{error}"))?;
            harness.clock = Clock::at(at.as_second());
        }
        let options = options(&expect["options"])?;
        let stage = if expect["purpose"] == "destroy" {
            harness.stage_destroy(options).await
        } else {
            harness
                .stage(&name, &text, given(expect.get("inputs"), None), options)
                .await
        };
        let mut wrong = Vec::new();
        let mut codes = codes_of(&stage.diagnostics);
        codes.sort_unstable();
        let mut wanted: Vec<&str> = expect["codes"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Json::as_str)
            .collect();
        wanted.sort_unstable();
        if codes != wanted {
            wrong.push(format!("expected codes {wanted:?}, got {codes:?}"));
        }
        match (&stage.staged, expect["refused"] == true) {
            (Some(_), true) => wrong.push("a plan was made".to_owned()),
            (None, false) => wrong.push("no plan was made".to_owned()),
            (Some(staged), false) => compare(staged, expect, &mut wrong),
            (None, true) => {}
        }
        differences(&wrong)
    })?
}

pub(super) fn codes_of(diagnostics: &diag::Diagnostics) -> Vec<&'static str> {
    diagnostics.iter().map(|it| it.code.name).collect()
}

pub(super) fn compare(staged: &Staged, expect: &Json, wrong: &mut Vec<String>) {
    let steps: Vec<Step> = staged
        .plan
        .steps
        .iter()
        .filter(|step| step.action != Action::None)
        .map(hidden_step)
        .collect();
    let of_links = [Action::Link, Action::Relink, Action::Unlink];
    let mut left: BTreeMap<String, &Step> = steps
        .iter()
        .filter(|step| !of_links.contains(&step.action))
        .map(|step| (step.address.to_string(), step))
        .collect();
    for wanted in expect["plan"].as_array().into_iter().flatten() {
        let address = wanted["address"].as_str().unwrap_or_default();
        let Some(step) = left.remove(address) else {
            wrong.push(format!("no step for {address}"));
            continue;
        };
        if wanted["action"] != step.action.word() {
            wrong.push(format!(
                "{address}: expected {}, got {}",
                wanted["action"],
                step.action.word()
            ));
        }
        if let Some(reason) = wanted["reason"].as_str()
            && !step.reasons.iter().any(|it| it.word() == reason)
        {
            wrong.push(format!(
                "{address}: expected reason {reason}, got {:?}",
                step.reasons
            ));
        }
        if let Some(order) = wanted.get("replaceOrder") {
            let got = serde_json::to_value(step.replace_order).unwrap_or_default();
            if got != *order {
                wrong.push(format!(
                    "{address}: expected replace order {order}, got {got}"
                ));
            }
        }
        if let Some(known) = wanted["conditionKnown"].as_bool()
            && known != step.condition_known
        {
            wrong.push(format!(
                "{address}: condition known is {}",
                step.condition_known
            ));
        }
        if let Some(changes) = wanted["changes"].as_array() {
            compare_changes(address, changes, step, wrong);
        }
    }
    wrong.extend(
        left.values()
            .map(|step| format!("unexpected {} of {}", step.action.word(), step.address)),
    );
    for pair in expect["order"].as_array().into_iter().flatten() {
        let position = |text: &Json| {
            staged
                .plan
                .steps
                .iter()
                .position(|step| text == step.address.to_string().as_str())
        };
        let (first, second) = (position(&pair[0]), position(&pair[1]));
        if !first
            .zip(second)
            .is_some_and(|(first, second)| is_before(&staged.plan.steps, first, second))
        {
            wrong.push(format!("{} does not come before {}", pair[0], pair[1]));
        }
    }
    if let Some(exports) = expect["exports"].as_object() {
        let planned: BTreeMap<&str, Json> = staged
            .plan
            .exports
            .iter()
            .filter_map(|export| {
                Some((
                    export.name.as_ref(),
                    to_json(&hidden(export.after.as_ref()?)),
                ))
            })
            .collect();
        let same = planned.len() == exports.len()
            && exports.iter().all(|(name, value)| {
                planned
                    .get(name.as_str())
                    .is_some_and(|got| equal(got, value, false))
            });
        if !same {
            wrong.push(format!(
                "expected exports {}, got {planned:?}",
                expect["exports"]
            ));
        }
    }
    if let Some(links) = expect["links"].as_object() {
        let planned: BTreeMap<String, &str> = staged
            .plan
            .links
            .iter()
            .map(|link| (link.address.to_string(), link.action.word()))
            .collect();
        let wanted: BTreeMap<String, &str> = links
            .iter()
            .map(|(address, action)| (address.clone(), action.as_str().unwrap_or_default()))
            .collect();
        if planned != wanted {
            wrong.push(format!("expected links {wanted:?}, got {planned:?}"));
        }
    }
    let exports: Vec<_> = staged.plan.exports.iter().map(hidden_export).collect();
    let printed = format!("{} {}", json!(steps), json!(exports));
    let file = engine::plan_file::write(&staged.plan, &state::seal::Sealer::with_key([7; 32]))
        .unwrap_or_default();
    for never in expect["never"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Json::as_str)
    {
        if printed.contains(never) || file.contains(never) {
            wrong.push(format!("`{never}` shows"));
        }
    }
}

/// Whether the step at `first` comes before the one at `second` in the graph.
fn is_before(steps: &[Step], first: usize, second: usize) -> bool {
    let mut seen = vec![false; steps.len()];
    let mut stack = vec![second];
    while let Some(at) = stack.pop() {
        for on in &steps[at].waits_on {
            let on = *on as usize;
            if on == first {
                return true;
            }
            if !std::mem::replace(&mut seen[on], true) {
                stack.push(on);
            }
        }
    }
    false
}

fn compare_changes(address: &str, wanted: &[Json], step: &Step, wrong: &mut Vec<String>) {
    let mut left: BTreeMap<&str, &engine::Change> = step
        .changes
        .iter()
        .map(|change| (change.path.as_str(), change))
        .collect();
    for change in wanted {
        let path = change["path"].as_str().unwrap_or_default();
        let Some(got) = left.remove(path) else {
            wrong.push(format!("{address}: no change of {path}"));
            continue;
        };
        for (side, value) in [("before", &got.before), ("after", &got.after)] {
            let same = match (change.get(side), value) {
                (None, None) => true,
                (Some(wanted), Some(got)) => equal(wanted, &to_json(got), false),
                _ => false,
            };
            if !same {
                wrong.push(format!(
                    "{address} {path}: expected {side} {:?}, got {value:?}",
                    change.get(side)
                ));
            }
        }
    }
    wrong.extend(
        left.keys()
            .map(|path| format!("{address}: unexpected change of {path}")),
    );
}
