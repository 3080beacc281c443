//! Tests of the output for groups that change in batches.

use serde_json::{Value as Json, json};

use crate::place::Place;

const GROUP: &str = "heat_template_version: 2018-08-31
parameters: {v: {type: string, default: a}}
resources:
  web:
    type: OS::Heat::ResourceGroup
    update_policy: {rolling_update: {min_in_service: 2, pause_time: 0.1}}
    properties:
      count: 2
      resource_def: {type: OS::Heat::Value, properties: {value: {get_param: v}}}
";

#[test]
fn plans_and_events_contain_batches_and_pauses() {
    let place = Place::with("web.yaml", GROUP);
    place.ends(0, &["deploy", "-y", "-i", "web"]);
    let staged = place.ends(0, &["stage", "-i", "web", "--var", "v=b"]).out;
    for line in [
        "+ web/2 OS::Heat::Value create: new; batch 1 of 4, temporary: deleted in batch 4, then a pause of 100ms",
        "~ web/1 OS::Heat::Value update: changed; batch 2 of 4, then a pause of 100ms",
        "~ web/0 OS::Heat::Value update: changed; batch 3 of 4, then a pause of 100ms",
        "1 to create, 2 to update, 1 to delete",
    ] {
        assert!(
            staged.lines().any(|shown| shown == line),
            "{line}\n{staged}"
        );
    }
    let reported = place
        .ends(0, &["deploy", "-y", "-i", "web", "--var", "v=b", "--json"])
        .out;
    let reported: Vec<Json> = reported
        .lines()
        .map(|line| serde_json::from_str(line).expect("it is JSON"))
        .collect();
    let first = &reported[0]["steps"][0];
    assert_eq!(
        first["batch"],
        json!({"number": 1, "of": 4, "pause_ms": 100, "until": 4})
    );
    assert_eq!(
        (&first["temporary"], &reported[0]["steps"][1]["temporary"]),
        (&json!(true), &Json::Null)
    );
    let pauses: Vec<&Json> = reported
        .iter()
        .filter(|event| event["event"] == "pausing")
        .collect();
    assert_eq!(
        pauses
            .iter()
            .map(|pause| &pause["for_ms"])
            .collect::<Vec<_>>(),
        [&json!(100); 3]
    );
    assert_eq!(
        place
            .ends(0, &["stage", "-i", "web", "--var", "v=b"])
            .last_line(),
        "0 to create, 0 to update, 0 to delete"
    );
}
