//! The areas `validation` and `validation/owners`: what upstream's webhooks and an API server say to
//! an object.

use blueprint::Value;
use cartographer::validation::{Fault, faults};

use crate::pack::{Tally, cases, id};

#[test]
fn objects_are_judged_as_by_the_webhooks() {
    let Some(cases) = cases("validation/cases.json") else {
        return;
    };
    let mut tally = Tally::new("validation");
    for case in &cases {
        tally.count(id(case), webhook_agrees(case));
    }
    tally.finish(98);
}

/// One of the faults must be of the class of the fault at which upstream stops.
fn webhook_agrees(case: &Value) -> Result<(), String> {
    let found = faults(case.get("object").unwrap_or(&Value::Null));
    let webhook = case.get("webhook");
    let class = webhook.and_then(|webhook| webhook.get("class")?.as_text());
    let shown = || format!("found {:?}", found.iter().map(shown).collect::<Vec<_>>());
    match class {
        None if found.is_empty() => Ok(()),
        None => Err(format!("upstream accepts it, {}", shown())),
        Some(class) if found.iter().any(|fault| fault.class.as_str() == class) => Ok(()),
        Some(class) => Err(format!("upstream says {class}, {}", shown())),
    }
}

fn shown(fault: &Fault) -> String {
    format!("{} {} {}", fault.class.as_str(), fault.path, fault.message)
}
