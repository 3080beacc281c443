//! Security groups with their rules, and single rules.

use ::provider::{BoxFuture, ProviderError};
use serde_json::{Value as Json, json};

use crate::client::{Service, ServiceRequest};
use crate::managed::{
    ASIDE, CloudCall, Hooks, JsonMap, LeftOver, Managed, Mark, PRIVATE, SpecChange, State, Unset,
    hook, reference, same,
};

use super::common::NEUTRON;
use super::kinds::GROUP as GROUPS;
use super::subnet::port_names;

pub(super) static GROUP: Managed = Managed {
    name: "OS::Neutron::SecurityGroup",
    path: "security-groups",
    envelope: "security_group",
    list: "security_groups",
    properties: &[
        same("name"),
        same("description").when_unset(Unset::Text),
        same("stateful").when_unset(Unset::True),
        hook("rules"),
    ],
    state: State::NONE,
    hooks: &GroupHooks,
    ..NEUTRON
};

pub(super) static RULE: Managed = Managed {
    name: "OS::Neutron::SecurityGroupRule",
    path: "security-group-rules",
    envelope: "security_group_rule",
    list: "security_group_rules",
    properties: &[
        reference("security_group", "security_group_id", &GROUPS),
        same("description"),
        same("direction"),
        same("ethertype"),
        same("protocol"),
        same("port_range_min"),
        same("port_range_max"),
        reference("remote_group", "remote_group_id", &GROUPS),
        same("remote_ip_prefix"),
    ],
    // Neutron refuses a second rule like that.
    mark: Mark::Unique(&RULE_OF_GROUP),
    state: State::NONE,
    hooks: &RuleHooks,
    ..NEUTRON
};

/// The fields that tell a rule from all others.
const RULE_OF_GROUP: [&str; 8] = [
    "security_group_id",
    "direction",
    "ethertype",
    "protocol",
    "port_range_min",
    "port_range_max",
    "remote_group_id",
    "remote_ip_prefix",
];

/// The hooks of single rules.
struct RuleHooks;

impl Hooks for RuleHooks {
    fn deletes_first(&self, prior: &JsonMap, desired: &JsonMap) -> bool {
        // A group has no two rules that differ in their description alone.
        let rule = |spec: &JsonMap| {
            let mut rule = spec.clone();
            rule.remove("description");
            rule
        };
        rule(prior) == rule(desired)
    }
}

/// The key in the private data of a group whose create was cut off, perhaps before it had its rules.
const UNFINISHED: &str = "unfinished";

/// Whether the create of a group has given it its rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum GroupCreate {
    Complete,
    /// It was cut off, perhaps when the group had the rules of Neutron only.
    CutOff,
}

/// The hooks of security groups: their rules are objects of their own.
struct GroupHooks;

/// A rule of a template as the body of a request, without null fields.
async fn body_of_rule(
    on: CloudCall<'_>,
    rule: &Json,
    group: &str,
) -> Result<JsonMap, ProviderError> {
    let mut body = plain_rule(rule, group);
    if let Some(named) = body.get("remote_group_id").and_then(Json::as_str) {
        let id = on.id_of(&GROUPS, named).await?;
        body.insert("remote_group_id".to_owned(), json!(id));
    }
    Ok(body)
}

/// A rule of a template as the body of a request, with names as they are written. A remote group
/// that is not named is the group itself.
fn plain_rule(rule: &Json, group: &str) -> JsonMap {
    let mut body = JsonMap::new();
    for field in RULE_OF_GROUP.into_iter().chain(["description"]) {
        if let Some(value) = rule.get(field).filter(|value| !value.is_null()) {
            body.insert(field.to_owned(), value.clone());
        }
    }
    body.insert("security_group_id".to_owned(), json!(group));
    body.entry("direction").or_insert_with(|| json!("ingress"));
    body.entry("ethertype").or_insert_with(|| json!("IPv4"));
    let by_group = rule["remote_mode"] == "remote_group_id";
    match by_group {
        true => {
            body.remove("remote_ip_prefix");
            body.entry("remote_group_id")
                .or_insert_with(|| json!(group));
        }
        false => {
            body.remove("remote_group_id");
        }
    }
    body
}

/// The rules with which Neutron makes a group.
fn default_rules(group: &str) -> Vec<JsonMap> {
    let rule = |ethertype: &str| {
        plain_rule(
            &json!({"direction": "egress", "ethertype": ethertype}),
            group,
        )
    };
    vec![rule("IPv4"), rule("IPv6")]
}

/// Whether a body and a rule that the service shows are the same rule.
fn is_rule(body: &JsonMap, shown: &Json) -> bool {
    let text = |value: Option<&Json>| match value {
        None | Some(Json::Null) => String::new(),
        Some(Json::String(text)) => text.to_lowercase(),
        Some(other) => other.to_string(),
    };
    let same = |field: &str| text(body.get(field)) == text(shown.get(field));
    let (prefix, shown_prefix) = (
        text(body.get("remote_ip_prefix")),
        text(shown.get("remote_ip_prefix")),
    );
    // Neutron completes the address of a host.
    let same_prefix = prefix == shown_prefix
        || ["/32", "/128"]
            .iter()
            .any(|length| shown_prefix == format!("{prefix}{length}"));
    let fields = RULE_OF_GROUP
        .into_iter()
        .filter(|field| *field != "remote_ip_prefix");
    fields.into_iter().all(same) && same_prefix && same("description")
}

fn has_egress(rules: &[JsonMap]) -> bool {
    rules.iter().any(|rule| rule["direction"] == "egress")
}

/// The rules that a group gets, and the ids of those that it loses.
fn rule_changes(
    group: &str,
    shown: &[Json],
    [prior, desired]: [&[JsonMap]; 2],
    made: GroupCreate,
) -> (Vec<JsonMap>, Vec<String>) {
    // Rules of Neutron allow all traffic to the outside. They go with the first rule about it, and
    // return with the last one.
    let (egress_before, egress_now) = (has_egress(prior), has_egress(desired));
    let defaults = default_rules(group);
    let mut wanted = desired.to_vec();
    let mut dropped: Vec<&JsonMap> = prior.iter().collect();
    if egress_now && (!egress_before || made == GroupCreate::CutOff) {
        dropped.extend(&defaults);
    }
    if egress_before && !egress_now {
        wanted.extend(defaults.iter().cloned());
    }
    // Other rules of the group belong to resources of their own.
    let goes = |rule: &&Json| {
        let keeps = wanted.iter().any(|it| is_rule(it, rule));
        !keeps && dropped.iter().any(|it| is_rule(it, rule))
    };
    let gone = shown.iter().filter(goes);
    let gone = gone
        .filter_map(|rule| rule["id"].as_str().map(str::to_owned))
        .collect();
    let new = wanted
        .iter()
        .filter(|it| !shown.iter().any(|rule| is_rule(it, rule)));
    (new.cloned().collect(), gone)
}

/// The rules of a spec as bodies of requests.
async fn bodies(
    on: CloudCall<'_>,
    spec: &JsonMap,
    group: &str,
) -> Result<Vec<JsonMap>, ProviderError> {
    let rules = spec.get("rules").and_then(Json::as_array);
    let mut all = Vec::new();
    for rule in rules.into_iter().flatten() {
        all.push(
            body_of_rule(on, rule, group)
                .await
                .map_err(|error| error.at("rules"))?,
        );
    }
    Ok(all)
}

/// Gives a group the rules of a spec.
async fn set_rules(
    on: CloudCall<'_>,
    change: SpecChange<'_>,
    made: GroupCreate,
    object: &mut Json,
) -> Result<(), ProviderError> {
    let group = object["id"].as_str().unwrap_or_default().to_owned();
    let prior = bodies(on, change.prior, &group).await?;
    let desired = bodies(on, change.desired, &group).await?;
    let shown = object["security_group_rules"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    let (new, gone) = rule_changes(&group, &shown, [&prior, &desired], made);
    for id in &gone {
        let path = format!("security-group-rules/{id}");
        match on
            .send(ServiceRequest::delete(Service::Network, path))
            .await
        {
            Ok(_) => {}
            Err(error) if error.is_not_found() => {}
            Err(error) => return Err(error.into_provider_error(true)),
        }
    }
    let mut rules = shown;
    rules.retain(|rule| !gone.iter().any(|id| rule["id"] == id.as_str()));
    if !new.is_empty() {
        let body = json!({ "security_group_rules": new });
        let request = ServiceRequest::post(Service::Network, "security-group-rules", body);
        let mut answer = on.change(request).await?;
        if let Json::Array(made) = answer["security_group_rules"].take() {
            rules.extend(made);
        }
    }
    object["security_group_rules"] = Json::Array(rules);
    Ok(())
}

impl Hooks for GroupHooks {
    fn created<'a>(
        &'a self,
        on: CloudCall<'a>,
        spec: &'a JsonMap,
        object: &'a mut Json,
    ) -> BoxFuture<'a, Result<(), ProviderError>> {
        Box::pin(async move {
            let change = SpecChange {
                prior: &JsonMap::new(),
                desired: spec,
            };
            set_rules(on, change, GroupCreate::Complete, object).await
        })
    }

    fn update<'a>(
        &'a self,
        on: CloudCall<'a>,
        change: SpecChange<'a>,
        object: &'a mut Json,
    ) -> BoxFuture<'a, Result<(), ProviderError>> {
        Box::pin(async move {
            let made = match object[ASIDE][PRIVATE].take()[UNFINISHED] == true {
                true => GroupCreate::CutOff,
                false => GroupCreate::Complete,
            };
            set_rules(on, change, made, object).await
        })
    }

    // The private data are a note for the next update.
    fn left_over(&self) -> LeftOver {
        LeftOver::Nothing
    }

    fn found<'a>(
        &'a self,
        _on: CloudCall<'a>,
        _token: &'a str,
        _spec: &'a JsonMap,
        object: &'a mut Json,
    ) -> BoxFuture<'a, Result<(), ProviderError>> {
        object[ASIDE][PRIVATE] = json!({ UNFINISHED: true });
        Box::pin(std::future::ready(Ok(())))
    }

    fn property(&self, name: &str, object: &Json, declared: &Json) -> Option<Json> {
        let declared = declared.as_array().filter(|_| name == "rules")?;
        let group = object["id"].as_str().unwrap_or_default();
        let shown = object["security_group_rules"].as_array()?;
        // The rules that the group still has. Other ones belong to resources of their own. The
        // name of a remote group counts as its id.
        let present = declared.iter().filter(|rule| {
            let mut body = plain_rule(rule, group);
            let named = body.get("remote_group_id").and_then(Json::as_str);
            let is_name = named.is_some_and(|named| uuid::Uuid::try_parse(named).is_err());
            if !is_name {
                return shown.iter().any(|it| is_rule(&body, it));
            }
            shown.iter().any(|it| {
                body.insert("remote_group_id".to_owned(), it["remote_group_id"].clone());
                !it["remote_group_id"].is_null() && is_rule(&body, it)
            })
        });
        Some(Json::Array(present.cloned().collect()))
    }

    fn blockers<'a>(
        &'a self,
        on: CloudCall<'a>,
        id: &'a str,
    ) -> BoxFuture<'a, Result<Vec<String>, ProviderError>> {
        Box::pin(async move {
            let request = ServiceRequest::get(Service::Network, "ports");
            let answer = on.get(request.with_query("security_groups", id)).await?;
            Ok(port_names(&answer))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(rules: Json) -> Vec<JsonMap> {
        let rules = rules.as_array().cloned().unwrap_or_default();
        rules.iter().map(|rule| plain_rule(rule, "g")).collect()
    }

    /// Rules as the service shows them, with their places as ids.
    fn shown(rules: &[JsonMap]) -> Vec<Json> {
        let shown = rules.iter().enumerate().map(|(at, rule)| {
            let mut rule = Json::Object(rule.clone());
            rule["id"] = json!(at.to_string());
            rule
        });
        shown.collect()
    }

    #[test]
    fn a_remote_group_without_a_name_is_the_group_itself() {
        let rule =
            json!({"remote_mode": "remote_group_id", "protocol": "tcp", "port_range_min": null});
        let expected = json!({
            "security_group_id": "g", "direction": "ingress", "ethertype": "IPv4",
            "protocol": "tcp", "remote_group_id": "g",
        });
        assert_eq!(Json::Object(plain_rule(&rule, "g")), expected);
    }

    #[test]
    fn the_address_of_a_host_is_the_network_that_neutron_shows() {
        let body = plain_rule(&json!({"remote_ip_prefix": "10.0.0.5"}), "g");
        let mut shown = Json::Object(body.clone());
        shown["remote_ip_prefix"] = json!("10.0.0.5/32");
        shown["port_range_min"] = Json::Null;
        assert!(is_rule(&body, &shown));
        shown["protocol"] = json!("udp");
        assert!(!is_rule(&body, &shown));
    }

    #[test]
    fn a_group_loses_only_rules_that_its_spec_had() {
        let before =
            rules(json!([{"protocol": "tcp", "port_range_min": 22, "port_range_max": 22}]));
        let after = rules(json!([{"protocol": "tcp", "port_range_min": 80, "port_range_max": 80}]));
        let others = rules(json!([{"protocol": "udp"}]));
        let all = [default_rules("g"), before.clone(), others].concat();
        let (new, gone) = rule_changes("g", &shown(&all), [&before, &after], GroupCreate::Complete);
        assert_eq!((new, gone), (after, vec!["2".to_owned()]));
    }

    #[test]
    fn rules_about_outgoing_traffic_replace_those_of_neutron() {
        let egress = rules(json!([{"direction": "egress", "protocol": "tcp"}]));
        let (new, gone) = rule_changes(
            "g",
            &shown(&default_rules("g")),
            [&[], &egress],
            GroupCreate::Complete,
        );
        assert_eq!(
            (new, gone),
            (egress.clone(), vec!["0".to_owned(), "1".to_owned()])
        );
        let (new, gone) = rule_changes("g", &shown(&egress), [&egress, &[]], GroupCreate::Complete);
        assert_eq!((new, gone), (default_rules("g"), vec!["0".to_owned()]));
    }

    #[test]
    fn a_group_whose_create_was_cut_off_loses_the_rules_of_neutron() {
        let egress = rules(json!([{"direction": "egress", "protocol": "tcp"}]));
        let (new, gone) = rule_changes(
            "g",
            &shown(&default_rules("g")),
            [&egress, &egress],
            GroupCreate::CutOff,
        );
        assert_eq!((new, gone), (egress, vec!["0".to_owned(), "1".to_owned()]));
    }
}
