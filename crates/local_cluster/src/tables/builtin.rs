//! The columns of the kinds of every server.

use jiff::Timestamp;
use serde_json::{Value as Json, json};

use super::cells::{NONE, age, count, duration, each, entries, selector, text_or_none};
use super::column::TableColumn;
use crate::naming::ResourceName;

type Cell = fn(&Json, Timestamp) -> Json;

/// Names, types and cells of columns.
type Columns = &'static [(&'static str, &'static str, Cell)];

/// The columns of a kind: name and age if there are no others.
pub(super) fn columns(resource: &ResourceName) -> Vec<TableColumn> {
    if resource.is("", "events") || resource.is("events.k8s.io", "events") {
        return events();
    }
    let (middle, wide): (Columns, Columns) = match (&*resource.group, &*resource.plural) {
        ("", "pods") => (PODS, PODS_WIDE),
        ("", "services") => (SERVICES, SELECTOR),
        ("", "configmaps") => (CONFIG_MAPS, &[]),
        ("", "secrets") => (SECRETS, &[]),
        ("", "serviceaccounts") => (SERVICE_ACCOUNTS, &[]),
        ("", "namespaces") => (NAMESPACES, &[]),
        ("apps", "deployments") => (DEPLOYMENTS, WORKLOAD_WIDE),
        ("apps", "statefulsets") => (STATEFUL_SETS, WORKLOAD_WIDE),
        ("apps", "replicasets") => (REPLICA_SETS, WORKLOAD_WIDE),
        ("batch", "jobs") => (JOBS, WORKLOAD_WIDE),
        ("apiextensions.k8s.io", "customresourcedefinitions") => return definitions(),
        _ => (&[], &[]),
    };
    let column =
        |(name, of_type, cell): &(&str, &str, Cell)| TableColumn::function(name, of_type, *cell);
    let mut columns = vec![TableColumn::name()];
    columns.extend(middle.iter().map(column));
    columns.push(TableColumn::age());
    columns.extend(wide.iter().map(|wide| column(wide).wide()));
    columns
}

const PODS: Columns = &[
    ("Ready", "string", |pod, _| {
        let statuses = pod["status"]["containerStatuses"].as_array();
        let ready = statuses.into_iter().flatten();
        let ready = ready.filter(|status| status["ready"] == true).count();
        let all = pod["spec"]["containers"].as_array().map_or(0, Vec::len);
        format!("{ready}/{all}").into()
    }),
    ("Status", "string", |pod, _| pod_status(pod).into()),
    ("Restarts", "string", |pod, _| {
        let statuses = pod["status"]["containerStatuses"].as_array();
        let restarts = statuses.into_iter().flatten();
        let restarts: i64 = restarts.map(|status| count(&status["restartCount"])).sum();
        restarts.to_string().into()
    }),
];

const PODS_WIDE: Columns = &[
    ("IP", "string", |pod, _| {
        text_or_none(&pod["status"]["podIP"])
    }),
    ("Node", "string", |pod, _| {
        text_or_none(&pod["spec"]["nodeName"])
    }),
    ("Nominated Node", "string", |pod, _| {
        text_or_none(&pod["status"]["nominatedNodeName"])
    }),
    ("Readiness Gates", "string", |_, _| NONE.into()),
];

const SERVICES: Columns = &[
    ("Type", "string", |service, _| {
        service["spec"]["type"].clone()
    }),
    ("Cluster-IP", "string", |service, _| {
        text_or_none(&service["spec"]["clusterIP"])
    }),
    ("External-IP", "string", |service, _| external_ip(service)),
    ("Port(s)", "string", |service, _| ports(service)),
];

const SELECTOR: Columns = &[("Selector", "string", |service, _| {
    selector(&service["spec"]["selector"])
})];

const CONFIG_MAPS: Columns = &[("Data", "string", |map, _| {
    entries(map, &["data", "binaryData"])
})];

const SECRETS: Columns = &[
    ("Type", "string", |secret, _| secret["type"].clone()),
    ("Data", "string", |secret, _| entries(secret, &["data"])),
];

const SERVICE_ACCOUNTS: Columns = &[("Secrets", "string", |account, _| {
    account["secrets"].as_array().map_or(0, Vec::len).into()
})];

const NAMESPACES: Columns = &[("Status", "string", |namespace, _| {
    namespace["status"]["phase"].clone()
})];

const DEPLOYMENTS: Columns = &[
    ("Ready", "string", |object, _| ready_of_desired(object)),
    ("Up-to-date", "string", |object, _| {
        count(&object["status"]["updatedReplicas"]).into()
    }),
    ("Available", "string", |object, _| {
        count(&object["status"]["availableReplicas"]).into()
    }),
];

const STATEFUL_SETS: Columns = &[("Ready", "string", |object, _| ready_of_desired(object))];

const REPLICA_SETS: Columns = &[
    ("Desired", "integer", |object, _| desired(object).into()),
    ("Current", "integer", |object, _| {
        count(&object["status"]["replicas"]).into()
    }),
    ("Ready", "integer", |object, _| {
        count(&object["status"]["readyReplicas"]).into()
    }),
];

const JOBS: Columns = &[
    ("Status", "string", |job, _| job_status(job).into()),
    ("Completions", "string", |job, _| {
        let done = count(&job["status"]["succeeded"]);
        let all = job["spec"]["completions"].as_i64().unwrap_or(1);
        format!("{done}/{all}").into()
    }),
    ("Duration", "string", |job, now| {
        let second = |value: &Json| {
            let time: Timestamp = value.as_str()?.parse().ok()?;
            Some(time.as_second())
        };
        let Some(start) = second(&job["status"]["startTime"]) else {
            return "".into();
        };
        let end = second(&job["status"]["completionTime"]);
        duration(end.unwrap_or(now.as_second()) - start).into()
    }),
];

const WORKLOAD_WIDE: Columns = &[
    ("Containers", "string", |object, _| {
        each(&object["spec"]["template"]["spec"]["containers"], "name")
    }),
    ("Images", "string", |object, _| {
        each(&object["spec"]["template"]["spec"]["containers"], "image")
    }),
    ("Selector", "string", |object, _| {
        selector(&object["spec"]["selector"]["matchLabels"])
    }),
];

fn definitions() -> Vec<TableColumn> {
    vec![
        TableColumn::name(),
        TableColumn::function("Created At", "date", |definition, _| {
            definition["metadata"]["creationTimestamp"].clone()
        }),
    ]
}

fn events() -> Vec<TableColumn> {
    let text = |name: &str, cell: Cell| TableColumn::function(name, "string", cell);
    vec![
        text("Last Seen", |event, now| {
            let times = [
                &event["series"]["lastObservedTime"],
                &event["lastTimestamp"],
                &event["deprecatedLastTimestamp"],
                &event["eventTime"],
            ];
            let last = times.into_iter().find(|time| time.is_string());
            age(last.unwrap_or(&Json::Null), now)
        }),
        text("Type", |event, _| event["type"].clone()),
        text("Reason", |event, _| event["reason"].clone()),
        text("Object", |event, _| {
            let object = match &event["involvedObject"] {
                Json::Null => &event["regarding"],
                object => object,
            };
            let part = |field: &str| object[field].as_str().unwrap_or_default();
            format!("{}/{}", part("kind").to_lowercase(), part("name")).into()
        }),
        text("Message", |event, _| {
            let message = match &event["message"] {
                Json::Null => &event["note"],
                message => message,
            };
            message.as_str().unwrap_or_default().trim().into()
        }),
        text("Count", |event, _| {
            event["count"].as_i64().unwrap_or(1).to_string().into()
        })
        .wide(),
        TableColumn {
            priority: 1,
            ..TableColumn::name()
        },
    ]
}

fn pod_status(pod: &Json) -> String {
    if pod["metadata"]["deletionTimestamp"].is_string() {
        return "Terminating".to_owned();
    }
    let statuses = pod["status"]["containerStatuses"].as_array();
    let reasons = statuses.into_iter().flatten().filter_map(|status| {
        let state = &status["state"];
        let reason = state["waiting"]["reason"].as_str();
        reason.or_else(|| state["terminated"]["reason"].as_str())
    });
    // The reason of the first container counts most.
    let reason = reasons.into_iter().find(|reason| !reason.is_empty());
    let own = pod["status"]["reason"].as_str();
    let phase = own.or_else(|| pod["status"]["phase"].as_str());
    reason.or(phase).unwrap_or("Unknown").to_owned()
}

fn job_status(job: &Json) -> &'static str {
    let conditions = job["status"]["conditions"].as_array();
    let holds = |name: &str| {
        let mut conditions = conditions.into_iter().flatten();
        conditions.any(|condition| condition["type"] == name && condition["status"] == "True")
    };
    if holds("Complete") {
        "Complete"
    } else if holds("Failed") {
        "Failed"
    } else if job["metadata"]["deletionTimestamp"].is_string() {
        "Terminating"
    } else if holds("Suspended") {
        "Suspended"
    } else if holds("FailureTarget") {
        "FailureTarget"
    } else if holds("SuccessCriteriaMet") {
        "SuccessCriteriaMet"
    } else {
        "Running"
    }
}

fn desired(object: &Json) -> i64 {
    object["spec"]["replicas"].as_i64().unwrap_or(1)
}

fn ready_of_desired(object: &Json) -> Json {
    let ready = count(&object["status"]["readyReplicas"]);
    format!("{ready}/{}", desired(object)).into()
}

fn external_ip(service: &Json) -> Json {
    let spec = &service["spec"];
    if spec["type"] == "ExternalName" {
        return text_or_none(&spec["externalName"]);
    }
    let ingress = &service["status"]["loadBalancer"]["ingress"];
    let given = ingress
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|ingress| {
            let ip = ingress["ip"].as_str();
            ip.or_else(|| ingress["hostname"].as_str())
        });
    let own = spec["externalIPs"].as_array().into_iter().flatten();
    let all: Vec<&str> = given.chain(own.filter_map(Json::as_str)).collect();
    match all.as_slice() {
        [] if spec["type"] == "LoadBalancer" => json!("<pending>"),
        [] => NONE.into(),
        all => all.join(",").into(),
    }
}

fn ports(service: &Json) -> Json {
    let ports = service["spec"]["ports"].as_array().into_iter().flatten();
    let text = |port: &Json| {
        let protocol = port["protocol"].as_str().unwrap_or("TCP");
        match port["nodePort"].as_i64().filter(|node| *node > 0) {
            Some(node) => format!("{}:{node}/{protocol}", count(&port["port"])),
            None => format!("{}/{protocol}", count(&port["port"])),
        }
    };
    let all: Vec<String> = ports.map(text).collect();
    match all.is_empty() {
        true => NONE.into(),
        false => all.join(",").into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(plural: &str, group: &str, object: &Json) -> Vec<(String, Json)> {
        let now = "2026-01-01T01:00:00Z".parse().unwrap();
        let columns = columns(&ResourceName::new(group, plural));
        let cell = |column: &TableColumn| match &column.cell {
            super::super::column::CellSource::Function(function) => function(object, now),
            super::super::column::CellSource::Path(_) => Json::Null,
        };
        let cells = columns
            .iter()
            .map(|column| (column.name.clone(), cell(column)));
        cells.collect()
    }

    fn shown(cells: &[(String, Json)]) -> Vec<String> {
        let text = |value: &Json| {
            value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned)
        };
        cells
            .iter()
            .map(|(name, cell)| format!("{name}={}", text(cell)))
            .collect()
    }

    #[test]
    fn kinds_show_their_state() {
        let metadata = json!({"name": "a", "creationTimestamp": "2026-01-01T00:00:00Z"});
        let deployment = json!({"metadata": metadata, "spec": {"replicas": 3, "selector": {"matchLabels": {"app": "a"}},
            "template": {"spec": {"containers": [{"name": "a", "image": "i"}]}}},
            "status": {"readyReplicas": 2, "updatedReplicas": 3, "availableReplicas": 2}});
        assert_eq!(
            shown(&cells("deployments", "apps", &deployment)),
            [
                "Name=a",
                "Ready=2/3",
                "Up-to-date=3",
                "Available=2",
                "Age=60m",
                "Containers=a",
                "Images=i",
                "Selector=app=a"
            ]
        );
        let service = json!({"metadata": metadata, "spec": {"type": "ClusterIP", "clusterIP": "10.0.0.1",
            "ports": [{"port": 80}, {"port": 53, "protocol": "UDP", "nodePort": 30000}]}});
        assert_eq!(
            shown(&cells("services", "", &service))[1..5],
            [
                "Type=ClusterIP",
                "Cluster-IP=10.0.0.1",
                "External-IP=<none>",
                "Port(s)=80/TCP,53:30000/UDP"
            ]
        );
        let pod = json!({"metadata": metadata, "spec": {"containers": [{}, {}]},
            "status": {"phase": "Running", "containerStatuses": [{"ready": true, "restartCount": 2}]}});
        assert_eq!(
            shown(&cells("pods", "", &pod))[1..4],
            ["Ready=1/2", "Status=Running", "Restarts=2"]
        );
        let job = json!({"metadata": metadata, "spec": {}, "status": {"succeeded": 1, "startTime": "2026-01-01T00:00:00Z",
            "completionTime": "2026-01-01T00:00:30Z", "conditions": [{"type": "Complete", "status": "True"}]}});
        assert_eq!(
            shown(&cells("jobs", "batch", &job))[1..4],
            ["Status=Complete", "Completions=1/1", "Duration=30s"]
        );
        let event = json!({"metadata": metadata, "type": "Normal", "reason": "Pulled", "message": "done\n",
            "lastTimestamp": "2026-01-01T00:59:30Z", "involvedObject": {"kind": "Pod", "name": "p"}});
        assert_eq!(
            shown(&cells("events", "", &event))[..5],
            [
                "Last Seen=30s",
                "Type=Normal",
                "Reason=Pulled",
                "Object=pod/p",
                "Message=done"
            ]
        );
        assert_eq!(
            shown(&cells("leases", "coordination.k8s.io", &deployment)),
            ["Name=a", "Age=60m"]
        );
    }
}
