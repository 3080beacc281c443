//! Parameters merged from recorded lists.

use cartographer::params::{ParamSources, Params};

use crate::pack::{self, Tally};

#[test]
fn parameters_have_the_recorded_values() {
    let Some(cases) = pack::cases("templating/params.json") else {
        return;
    };
    let mut tally = Tally::new("templating/params");
    for case in &cases {
        let list = |key: &str| case.get(key).cloned().unwrap_or_default();
        let (template, blueprint) = (list("templateParams"), list("blueprintParams"));
        let (resource, owner) = (list("resourceParams"), list("ownerParams"));
        let merged = Params::merge(&ParamSources {
            template: &template,
            blueprint: &blueprint,
            resource: &resource,
            owner: &owner,
        })
        .values();
        let expected = case.get("expect").and_then(|expect| expect.get("params"));
        let expected = expected.cloned().unwrap_or_default();
        let result = match pack::equal(&merged, &expected) {
            true => Ok(()),
            false => Err(format!("{merged} instead of {expected}")),
        };
        tally.count(pack::id(case), result);
    }
    tally.finish(98);
}
