//! Domains, projects, users, groups, roles and their assignments, services, endpoints, regions.

use provider::ReadOutcome;
use serde_json::{Value as Json, json};

use crate::support::{Live, Peer};

/// A role that the test may give.
async fn role<'p>(admin: &'p Peer, name: &str) -> Live<'p> {
    let spec = json!({ "name": format!("{}-{name}", admin.run) });
    admin
        .create("OS::Keystone::Role", name, spec)
        .await
        .unwrap()
}

#[tokio::test]
async fn a_domain_with_a_project_lives() {
    let Some(admin) = Peer::of("admin").await else {
        return;
    };
    let spec = |description: &str| json!({ "description": description });
    let mut domain = admin
        .create("OS::Keystone::Domain", "domain", spec("first"))
        .await
        .unwrap();
    domain.assert_found().await;
    domain.update(spec("second")).await.unwrap();
    assert_eq!(domain.field("show")["description"], "second");
    domain.assert_settled(&["description", "enabled"]).await;

    let name = format!("{}-project", admin.run);
    let spec = |domain: &str, more: Json| {
        let mut spec = json!({ "name": name, "domain": domain });
        if let (Some(spec), Json::Object(more)) = (spec.as_object_mut(), more) {
            spec.extend(more);
        }
        spec
    };
    let tagged = spec(domain.id(), json!({ "tags": ["b", "a"] }));
    let mut project = admin
        .create("OS::Keystone::Project", "project", tagged)
        .await
        .unwrap();
    assert_eq!(project.field("domain_id"), domain.id());
    assert_eq!(project.field("attribute_enabled"), true);
    assert_eq!(project.field("is_domain"), false);
    project.assert_found().await;
    project.assert_settled(&["name", "domain", "tags"]).await;
    let off = spec(domain.id(), json!({ "enabled": false }));
    project.update(off).await.unwrap();
    assert_eq!(project.field("show")["enabled"], false);
    assert_eq!(project.field("show")["tags"], json!([]));

    // Another domain is refused; another spelling of the same one is no change.
    let planned = project.plan(spec("default", json!({}))).await;
    assert_eq!(planned.diagnostics[0].path.to_string(), "domain");
    let called = domain.field("show")["name"].as_str().unwrap().to_owned();
    let planned = project.plan(spec(&called, json!({}))).await;
    assert_eq!(planned.diagnostics, []);
    assert_eq!(planned.only_recorded[0].to_string(), "domain");

    project.delete().await.unwrap();
    // A domain in use cannot be deleted, so that it is disabled first.
    domain.delete().await.unwrap();
}

#[tokio::test]
async fn a_user_in_a_group_has_roles() {
    let Some(admin) = Peer::of("admin").await else {
        return;
    };
    let role = role(&admin, "given").await;
    role.assert_found().await;
    role.assert_settled(&["name"]).await;
    let spec = json!({ "roles": [{ "role": role.id(), "domain": "Default" }] });
    let group = admin
        .create("OS::Keystone::Group", "group", spec)
        .await
        .unwrap();
    group.assert_found().await;
    let name = format!("{}-user", admin.run);
    let spec = |more: Json| {
        let mut spec = json!({ "name": name, "default_project": "demo", "password": "long-one" });
        if let (Some(spec), Json::Object(more)) = (spec.as_object_mut(), more) {
            spec.extend(more);
        }
        spec
    };
    let first = json!({ "groups": [group.id()], "email": "a@b.example",
        "roles": [{ "role": "reader", "project": "demo{Default}" }] });
    let mut user = admin
        .create("OS::Keystone::User", "user", spec(first))
        .await
        .unwrap();
    user.assert_found().await;
    let settled = [
        "name",
        "email",
        "default_project",
        "groups",
        "roles",
        "domain",
    ];
    user.assert_settled(&settled).await;
    assert_eq!(user.field("domain_id"), "default");
    assert_eq!(user.field("show").get("password"), None);

    // The assignments of a user who has them from its own property are there.
    let spec_of =
        |role: &str| json!({ "user": name, "roles": [{ "role": role, "project": "demo" }] });
    let seen = admin
        .create(
            "OS::Keystone::UserRoleAssignment",
            "seen",
            spec_of("reader"),
        )
        .await
        .unwrap();
    assert!(seen.read().await.is_some());
    let second = json!({ "roles": [{ "role": role.id(), "project": "demo" }] });
    user.update(spec(second)).await.unwrap();
    assert!(seen.read().await.is_none(), "the user has no role `reader`");
    let other = admin
        .create(
            "OS::Keystone::UserRoleAssignment",
            "other",
            spec_of(role.id()),
        )
        .await
        .unwrap();
    assert!(other.read().await.is_some());

    let wrong = json!({ "user": name, "roles": [{ "role": "reader" }] });
    let refused = admin
        .create("OS::Keystone::UserRoleAssignment", "wrong", wrong)
        .await;
    let refused = refused.err().unwrap();
    assert_eq!(refused.field.unwrap().to_string(), "roles[0]");
    other.delete().await.unwrap();
    user.delete().await.unwrap();
    group.delete().await.unwrap();
    role.delete().await.unwrap();
}

#[tokio::test]
async fn a_role_assignment_lives() {
    let Some(admin) = Peer::of("admin").await else {
        return;
    };
    let role = role(&admin, "assigned").await;
    let group = admin
        .create("OS::Keystone::Group", "holders", json!({}))
        .await
        .unwrap();
    let spec = |roles: Json| json!({ "group": group.id(), "roles": roles });
    let in_demo = json!({ "role": role.id(), "project": "demo" });
    let in_domain = json!({ "role": "reader", "domain": "Default" });
    let mut given = admin
        .create(
            "OS::Keystone::GroupRoleAssignment",
            "given",
            spec(json!([in_demo, in_domain])),
        )
        .await
        .unwrap();
    assert_eq!(given.id(), "given");
    given.assert_found().await;
    given.assert_settled(&["group", "roles"]).await;
    let observed = given.read().await.unwrap();
    assert_eq!(
        crate::support::json_field(&observed.fields, "roles"),
        json!([in_demo, in_domain]),
        "names stay as they are written"
    );

    // Without one of its roles, the assignment has drifted.
    role.delete().await.unwrap();
    let observed = given.read().await.unwrap();
    let left = crate::support::json_field(&observed.fields, "roles");
    assert_eq!(left[0]["domain"], "default");
    assert_eq!(left.as_array().unwrap().len(), 1);
    given.update(spec(json!([in_domain]))).await.unwrap();
    given.assert_settled(&["roles"]).await;
    given.delete().await.unwrap();
    group.delete().await.unwrap();
}

#[tokio::test]
async fn a_service_with_an_endpoint_lives() {
    let Some(admin) = Peer::of("admin").await else {
        return;
    };
    let name = format!("{}-service", admin.run);
    let spec = |of: &str| json!({ "name": name, "type": of, "description": "a service" });
    let mut service = admin
        .create("OS::Keystone::Service", "service", spec("first"))
        .await
        .unwrap();
    service.assert_found().await;
    assert_eq!(service.field("show").get("cyan"), None, "no mark is shown");
    service.update(spec("second")).await.unwrap();
    service.assert_settled(&["name", "type", "enabled"]).await;
    assert_eq!(service.field("type"), "second");
    // A second service with the name is another one.
    let twin = admin
        .create("OS::Keystone::Service", "twin", spec("second"))
        .await
        .unwrap();
    service.assert_found().await;
    twin.assert_found().await;
    twin.delete().await.unwrap();

    let region = json!({ "id": format!("{} region", admin.run), "parent_region": "RegionOne" });
    let region = admin
        .create("OS::Keystone::Region", "region", region)
        .await
        .unwrap();
    region.assert_found().await;
    region.assert_settled(&["id", "parent_region"]).await;
    let spec = |url: &str| json!({ "service": name, "region": region.id(), "interface": "internal", "url": url });
    let mut endpoint = admin
        .create(
            "OS::Keystone::Endpoint",
            "endpoint",
            spec("http://one.example"),
        )
        .await
        .unwrap();
    endpoint.assert_found().await;
    endpoint.update(spec("http://two.example")).await.unwrap();
    assert_eq!(endpoint.field("show")["url"], "http://two.example");
    endpoint
        .assert_settled(&["service", "region", "interface", "url"])
        .await;
    endpoint.delete().await.unwrap();
    region.delete().await.unwrap();
    service.delete().await.unwrap();

    // A region without an id gets that of the create.
    let own = admin
        .create("OS::Keystone::Region", "own", json!({}))
        .await
        .unwrap();
    own.assert_found().await;
    own.delete().await.unwrap();
}

#[tokio::test]
async fn a_taken_name_is_not_adopted() {
    let Some(admin) = Peer::of("admin").await else {
        return;
    };
    let refused = admin
        .create("OS::Keystone::User", "taken", json!({ "name": "demo" }))
        .await;
    let refused = refused.err().unwrap();
    assert!(refused.partial.is_none(), "{refused}");
    let group = json!({ "name": format!("{}-kept", admin.run), "description": "mine" });
    let group = admin
        .create("OS::Keystone::Group", "kept", group)
        .await
        .unwrap();
    assert!(matches!(group.find().await, ReadOutcome::Present(_)));
    group.delete().await.unwrap();
}
