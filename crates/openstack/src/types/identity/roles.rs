//! Roles of users and groups in projects and domains: `OS::Keystone::UserRoleAssignment`,
//! `OS::Keystone::GroupRoleAssignment`, and the property `roles`.

use ::provider::{BoxFuture, ErrorKind, ProviderError};
use serde_json::{Value as Json, json};

use crate::client::{Service, ServiceRequest, path_segment};
use crate::managed::{CloudCall, JsonMap, Property, Related, Relation, body_of, each, reference};
use crate::types::kinds::{DOMAIN, PROJECT, ROLE, USER, USER_GROUP};

pub(super) static OF_USER: Related<GivenRoles<RolesOfUser>> = Related(GivenRoles(RolesOfUser));
pub(super) static OF_GROUP: Related<GivenRoles<RolesOfGroup>> = Related(GivenRoles(RolesOfGroup));

/// The property with role assignments.
pub(super) const ROLES: Property = each("roles", ITEM);

/// One role assignment.
const ITEM: &[Property] = &[
    reference("role", "role", &ROLE),
    reference("project", "project", &PROJECT),
    reference("domain", "domain", &DOMAIN),
];

/// Who has roles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Principal {
    User,
    Group,
}

impl Principal {
    /// The collection in paths.
    fn path(self) -> &'static str {
        match self {
            Principal::User => "users",
            Principal::Group => "groups",
        }
    }

    /// The parameter of a query for assignments.
    fn parameter(self) -> &'static str {
        match self {
            Principal::User => "user.id",
            Principal::Group => "group.id",
        }
    }
}

/// A role in a project or a domain, by ids.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Assignment {
    role: String,
    scope: RoleScope,
}

/// Where a role counts.
#[derive(Clone, Debug, PartialEq, Eq)]
enum RoleScope {
    Project(String),
    Domain(String),
}

impl Assignment {
    /// The assignments of a spec.
    ///
    /// # Errors
    /// [`ErrorKind::Document`] at an assignment with both a project and a domain, or with neither,
    /// and at a name that no object has.
    pub(super) async fn all_of(
        on: CloudCall<'_>,
        spec: &JsonMap,
    ) -> Result<Vec<Assignment>, ProviderError> {
        let body = body_of(on, const { &[ROLES] }, spec).await?;
        Assignment::in_body(&body)
    }

    /// The assignments of a body.
    fn in_body(body: &JsonMap) -> Result<Vec<Assignment>, ProviderError> {
        let all = body.get("roles").and_then(Json::as_array);
        let all = all.into_iter().flatten().enumerate();
        all.map(|(at, one)| {
            let text = |field: &str| one[field].as_str().map(str::to_owned);
            let scope = match (text("project"), text("domain")) {
                (Some(project), None) => RoleScope::Project(project),
                (None, Some(domain)) => RoleScope::Domain(domain),
                (Some(_), Some(_)) => {
                    let why = "a role counts in a project or in a domain, not in both";
                    return Err(refused(at, why));
                }
                (None, None) => {
                    let why = "a role needs the `project` or the `domain` in which it counts";
                    return Err(refused(at, why));
                }
            };
            let role = text("role").unwrap_or_default();
            Ok(Assignment { role, scope })
        })
        .collect()
    }

    /// The assignment in a list of Keystone; `None` for one that is inherited, or counts elsewhere.
    fn listed(entry: &Json) -> Option<Assignment> {
        let scope = &entry["scope"];
        if scope.get("OS-INHERIT:inherited_to").is_some() {
            return None;
        }
        let id = |field: &str| scope[field]["id"].as_str().map(str::to_owned);
        let scope = match id("project") {
            Some(project) => RoleScope::Project(project),
            None => RoleScope::Domain(id("domain")?),
        };
        let role = entry["role"]["id"].as_str()?.to_owned();
        Some(Assignment { role, scope })
    }

    /// As an item of the property.
    fn as_item(&self) -> Json {
        match &self.scope {
            RoleScope::Project(id) => json!({ "role": self.role, "project": id }),
            RoleScope::Domain(id) => json!({ "role": self.role, "domain": id }),
        }
    }

    fn path(&self, whose: Principal, id: &str) -> String {
        let (scope, place) = match &self.scope {
            RoleScope::Project(place) => ("projects", place),
            RoleScope::Domain(place) => ("domains", place),
        };
        let (place, id, role) = (
            path_segment(place),
            path_segment(id),
            path_segment(&self.role),
        );
        format!("{scope}/{place}/{}/{id}/roles/{role}", whose.path())
    }

    /// Gives the role. Has no effect if it is given already.
    pub(super) async fn grant(
        &self,
        on: CloudCall<'_>,
        whose: Principal,
        id: &str,
    ) -> Result<(), ProviderError> {
        let call = ServiceRequest::put_nothing(Service::Identity, self.path(whose, id));
        on.change(call).await.map(|_| ())
    }

    /// Takes the role. Has no effect if it is not given, or if the user or the scope is gone.
    pub(super) async fn revoke(
        &self,
        on: CloudCall<'_>,
        whose: Principal,
        id: &str,
    ) -> Result<(), ProviderError> {
        let call = ServiceRequest::delete(Service::Identity, self.path(whose, id));
        match on.send(call).await {
            Err(error) if !error.is_not_found() => Err(error.into_provider_error(true)),
            _ => Ok(()),
        }
    }
}

fn refused(at: usize, why: &str) -> ProviderError {
    ProviderError::new(ErrorKind::Document, why).at(format!("roles[{at}]"))
}

/// The id of the user or group of a body.
fn principal<'b>(body: &'b JsonMap, property: &str) -> &'b str {
    body.get(property)
        .and_then(Json::as_str)
        .unwrap_or_default()
}

/// The assignments of a body, as the relation shows them.
fn shown(all: &[Assignment]) -> Json {
    json!({ "roles": all.iter().map(Assignment::as_item).collect::<Vec<_>>() })
}

/// Gives the roles of a body.
async fn establish(
    on: CloudCall<'_>,
    whose: Principal,
    id: &str,
    body: &JsonMap,
) -> Result<Json, ProviderError> {
    let all = Assignment::in_body(body)?;
    for one in &all {
        one.grant(on, whose, id).await?;
    }
    Ok(shown(&all))
}

/// The roles of a body that are given; `None` if none is.
async fn find(
    on: CloudCall<'_>,
    whose: Principal,
    id: &str,
    body: &JsonMap,
) -> Result<Option<Json>, ProviderError> {
    let wanted = Assignment::in_body(body)?;
    let list = ServiceRequest::get(Service::Identity, "role_assignments");
    let answer = on.get(list.with_query(whose.parameter(), id)).await?;
    let listed = answer["role_assignments"].as_array().into_iter().flatten();
    let listed: Vec<Assignment> = listed.filter_map(Assignment::listed).collect();
    let count = wanted.len();
    let given: Vec<Assignment> = wanted
        .into_iter()
        .filter(|it| listed.contains(it))
        .collect();
    let is_there = !given.is_empty() || count == 0;
    Ok(is_there.then(|| shown(&given)))
}

/// Takes the roles of a body.
async fn dissolve(
    on: CloudCall<'_>,
    whose: Principal,
    id: &str,
    body: &JsonMap,
) -> Result<(), ProviderError> {
    for one in Assignment::in_body(body)? {
        one.revoke(on, whose, id).await?;
    }
    Ok(())
}

/// Gives what a change adds, and takes what it removes.
async fn change(
    on: CloudCall<'_>,
    whose: Principal,
    [prior, desired]: [&JsonMap; 2],
    property: &str,
) -> Result<Json, ProviderError> {
    let (before, after) = (principal(prior, property), principal(desired, property));
    let kept = match before == after {
        true => Assignment::in_body(desired)?,
        false => Vec::new(),
    };
    // A role that somebody has taken is given again.
    let answer = establish(on, whose, after, desired).await?;
    for removed in Assignment::in_body(prior)? {
        if !kept.contains(&removed) {
            removed.revoke(on, whose, before).await?;
        }
    }
    Ok(answer)
}

/// Who has the roles of a type.
pub(super) trait RoleHolder: Sync {
    const TYPE_NAME: &'static str;
    const WHOSE: Principal;
    /// The property that names the user or the group.
    const PROPERTY: &'static str;
    const PROPERTIES: &'static [Property];
}

/// A user who has roles.
pub(super) struct RolesOfUser;

impl RoleHolder for RolesOfUser {
    const TYPE_NAME: &'static str = "OS::Keystone::UserRoleAssignment";
    const WHOSE: Principal = Principal::User;
    const PROPERTY: &'static str = "user";
    const PROPERTIES: &'static [Property] = &[reference("user", "user", &USER).recorded(), ROLES];
}

/// A group that has roles.
pub(super) struct RolesOfGroup;

impl RoleHolder for RolesOfGroup {
    const TYPE_NAME: &'static str = "OS::Keystone::GroupRoleAssignment";
    const WHOSE: Principal = Principal::Group;
    const PROPERTY: &'static str = "group";
    const PROPERTIES: &'static [Property] =
        &[reference("group", "group", &USER_GROUP).recorded(), ROLES];
}

/// The roles that a resource gives.
pub(super) struct GivenRoles<H>(pub(super) H);

impl<H: RoleHolder> Relation for GivenRoles<H> {
    fn type_name(&self) -> &'static str {
        H::TYPE_NAME
    }

    const PROPERTIES: &'static [Property] = H::PROPERTIES;

    /// The name of the resource, which is its id in Heat: Keystone has none for assignments.
    fn id(&self, on: CloudCall<'_>, _: &str, _: &JsonMap) -> String {
        on.call.address.name.to_string()
    }

    fn establish<'a>(
        &'a self,
        on: CloudCall<'a>,
        body: &'a JsonMap,
    ) -> BoxFuture<'a, Result<Json, ProviderError>> {
        Box::pin(establish(on, H::WHOSE, principal(body, H::PROPERTY), body))
    }

    fn find<'a>(
        &'a self,
        on: CloudCall<'a>,
        body: &'a JsonMap,
    ) -> BoxFuture<'a, Result<Option<Json>, ProviderError>> {
        Box::pin(find(on, H::WHOSE, principal(body, H::PROPERTY), body))
    }

    fn change<'a>(
        &'a self,
        on: CloudCall<'a>,
        prior: &'a JsonMap,
        desired: &'a JsonMap,
    ) -> BoxFuture<'a, Result<Json, ProviderError>> {
        Box::pin(change(on, H::WHOSE, [prior, desired], H::PROPERTY))
    }

    fn dissolve<'a>(
        &'a self,
        on: CloudCall<'a>,
        body: &'a JsonMap,
    ) -> BoxFuture<'a, Result<(), ProviderError>> {
        Box::pin(dissolve(on, H::WHOSE, principal(body, H::PROPERTY), body))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_assignment_has_one_scope() {
        let wrong = |roles: Json| {
            let body = JsonMap::from_iter([("roles".to_owned(), roles)]);
            let error = Assignment::in_body(&body).err();
            error.and_then(|error| error.field.map(|field| field.to_string()))
        };
        let good = json!({ "role": "r", "project": "p" });
        assert_eq!(wrong(json!([good, { "role": "r", "domain": "d" }])), None);
        let both = json!({ "role": "r", "project": "p", "domain": "d" });
        assert_eq!(wrong(json!([good, both])).as_deref(), Some("roles[1]"));
        assert_eq!(wrong(json!([{ "role": "r" }])).as_deref(), Some("roles[0]"));
    }

    #[test]
    fn inherited_assignments_are_others() {
        let scope = |more: Json| {
            let mut scope = json!({ "project": { "id": "p" } });
            if let (Some(scope), Json::Object(more)) = (scope.as_object_mut(), more) {
                scope.extend(more);
            }
            Assignment::listed(&json!({ "role": { "id": "r" }, "scope": scope }))
        };
        let own = Assignment {
            role: "r".to_owned(),
            scope: RoleScope::Project("p".to_owned()),
        };
        assert_eq!(scope(json!({})), Some(own));
        assert_eq!(
            scope(json!({ "OS-INHERIT:inherited_to": "projects" })),
            None
        );
    }
}
