//! Blueprints and options selected for recorded owners.

use blueprint::Value;
use cartographer::compat::Compat;
use cartographer::selection::{TemplateChoice, choose_template, select_blueprint};

use crate::pack::{self, Tally};

fn name(object: &Value) -> String {
    let name = object
        .get("metadata")
        .and_then(|metadata| metadata.get("name"));
    name.and_then(Value::as_text).unwrap_or_default().to_owned()
}

#[test]
fn blueprints_are_selected_as_recorded() {
    let Some(cases) = pack::cases("templating/blueprint.json") else {
        return;
    };
    let mut tally = Tally::new("templating/blueprint");
    for case in &cases {
        let owner = case.get("owner").expect("an owner");
        let blueprints = case
            .get("blueprints")
            .and_then(Value::as_list)
            .unwrap_or_default();
        let blueprints: Vec<&Value> = blueprints.iter().collect();
        let expect = case.get("expect").expect("an answer");
        let selection = select_blueprint(owner, &blueprints, Compat::Upstream);
        let found: Vec<Value> = selection
            .matches()
            .iter()
            .map(|at| Value::from(name(blueprints[*at])))
            .collect();
        let result = match expect.get("error") {
            Some(_) if !selection.refused.is_empty() => Ok(()),
            None if selection.refused.is_empty()
                && expect.get("matches").and_then(Value::as_list) == Some(found.as_slice()) =>
            {
                Ok(())
            }
            _ => Err(format!("{selection:?} instead of {expect}")),
        };
        tally.count(pack::id(case), result);
    }
    tally.finish(98);
}

#[test]
fn options_are_chosen_as_recorded() {
    let Some(cases) = pack::cases("templating/option.json") else {
        return;
    };
    let mut tally = Tally::new("templating/option");
    for case in &cases {
        let owner = case.get("owner").expect("an owner");
        let resource = case.get("resource").expect("a resource");
        let expect = case.get("expect").expect("an answer");
        let text = |key: &str| expect.get(key).and_then(Value::as_text);
        let choice = choose_template(owner, resource, Compat::Upstream);
        let fits = match &choice {
            Ok(TemplateChoice::Template(name)) => text("template") == Some(name.as_ref()),
            Ok(TemplateChoice::PassThrough(name)) => text("passThrough") == Some(name.as_ref()),
            Err(failure) => text("class") == Some(failure.class.as_str()),
        };
        let result = match fits {
            true => Ok(()),
            false => Err(format!("{choice:?} instead of {expect}")),
        };
        tally.count(pack::id(case), result);
    }
    tally.finish(98);
}
