//! A request, its options, and the place that its path names.

use bytes::Bytes;
use percent_encoding::percent_decode_str;

use crate::failure::RefusedRequest;
use crate::naming::ResourceName;

/// A request to a cluster.
#[derive(Clone, Debug)]
pub struct ApiRequest {
    /// The HTTP method.
    pub method: ApiMethod,
    /// The path, without a host and a query, percent-encoded.
    pub path: String,
    /// The query, decoded.
    pub query: Vec<(String, String)>,
    /// The type of the body.
    pub content_type: Option<String>,
    /// The types of answers that the client takes; empty for JSON.
    pub accept: String,
    /// Who asks.
    pub user: ApiUser,
    /// The program that asks, which names the field manager if the query does not.
    pub user_agent: String,
    /// The body.
    pub body: Bytes,
}

/// The methods of the API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApiMethod {
    /// Reads an object or a list, or watches.
    Get,
    /// Creates an object.
    Post,
    /// Replaces an object.
    Put,
    /// Changes an object.
    Patch,
    /// Deletes an object or a list.
    Delete,
}

/// Who asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiUser {
    /// The name, for example `system:serviceaccount:default:builder`.
    pub name: String,
    /// The groups.
    pub groups: Vec<String>,
}

impl ApiUser {
    /// The user of requests without credentials.
    pub fn administrator() -> ApiUser {
        ApiUser {
            name: "system:admin".to_owned(),
            groups: vec![
                "system:masters".to_owned(),
                "system:authenticated".to_owned(),
            ],
        }
    }
}

/// What a path names.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ApiRoute {
    /// `/version`.
    Version,
    /// `/readyz` and its like.
    Health,
    /// `/api`.
    CoreVersions,
    /// `/apis`.
    Groups,
    /// `/apis/GROUP`.
    Group(String),
    /// `/apis/GROUP/VERSION`.
    Resources { group: String, version: String },
    /// `/openapi/v3`.
    OpenApiIndex,
    /// `/openapi/v3/api/VERSION` and `/openapi/v3/apis/GROUP/VERSION`.
    OpenApi { group: String, version: String },
    /// An object or a list.
    Objects(ObjectRoute),
    /// Another path.
    Unknown,
}

/// The place of an object or of a list.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ObjectRoute {
    pub(crate) resource: ResourceName,
    pub(crate) version: String,
    /// Empty for a cluster-scoped kind, and for the lists of all namespaces.
    pub(crate) namespace: String,
    pub(crate) name: Option<String>,
    pub(crate) subresource: Option<String>,
}

impl ApiRoute {
    pub(crate) fn of_path(path: &str) -> ApiRoute {
        let decode = |part: &str| percent_decode_str(part).decode_utf8_lossy().into_owned();
        let parts: Vec<String> = path.trim_matches('/').split('/').map(decode).collect();
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        match &parts[..] {
            ["version"] => ApiRoute::Version,
            ["readyz" | "livez" | "healthz", ..] => ApiRoute::Health,
            ["openapi", "v3"] => ApiRoute::OpenApiIndex,
            ["openapi", "v3", "api", version] => ApiRoute::OpenApi {
                group: String::new(),
                version: (*version).to_owned(),
            },
            ["openapi", "v3", "apis", group, version] => ApiRoute::OpenApi {
                group: (*group).to_owned(),
                version: (*version).to_owned(),
            },
            ["api"] => ApiRoute::CoreVersions,
            ["apis"] => ApiRoute::Groups,
            ["apis", group] => ApiRoute::Group((*group).to_owned()),
            ["api", version] => ApiRoute::Resources {
                group: String::new(),
                version: (*version).to_owned(),
            },
            ["apis", group, version] => ApiRoute::Resources {
                group: (*group).to_owned(),
                version: (*version).to_owned(),
            },
            ["api", version, rest @ ..] => object_route("", version, rest),
            ["apis", group, version, rest @ ..] => object_route(group, version, rest),
            _ => ApiRoute::Unknown,
        }
    }
}

fn object_route(group: &str, version: &str, rest: &[&str]) -> ApiRoute {
    let is_own = matches!(rest, ["namespaces", _, "status" | "finalize"]) && group.is_empty();
    let (namespace, rest) = match rest {
        ["namespaces", namespace, rest @ ..] if !rest.is_empty() && !is_own => (*namespace, rest),
        _ => ("", rest),
    };
    let (plural, name, subresource) = match rest {
        [plural] => (*plural, None, None),
        [plural, name] => (*plural, Some(*name), None),
        [plural, name, subresource] => (*plural, Some(*name), Some(*subresource)),
        _ => return ApiRoute::Unknown,
    };
    ApiRoute::Objects(ObjectRoute {
        resource: ResourceName::new(group, plural),
        version: version.to_owned(),
        namespace: namespace.to_owned(),
        name: name.map(str::to_owned),
        subresource: subresource.map(str::to_owned),
    })
}

/// Whether a request is carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Commitment {
    /// It is.
    Stored,
    /// All of it but the commit.
    DryRun,
}

/// What becomes of fields that the schema does not declare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FieldValidation {
    /// They are dropped.
    Ignore,
    /// They are dropped with a warning.
    Warn,
    /// The request is refused.
    Strict,
}

/// The options of a request that writes.
#[derive(Clone, Debug)]
pub(crate) struct WriteSettings {
    pub(crate) commitment: Commitment,
    pub(crate) validation: FieldValidation,
    /// The manager that the query names.
    pub(crate) named_manager: Option<String>,
    /// The manager of the fields: the named one, or the program that asks.
    pub(crate) manager: String,
    pub(crate) takes_over: bool,
}

impl ApiRequest {
    /// The value of a parameter. `None` if it is missing or empty.
    pub(crate) fn parameter(&self, name: &str) -> Option<&str> {
        let found = self.query.iter().find(|(own, _)| own == name);
        found
            .map(|(_, value)| value.as_str())
            .filter(|value| !value.is_empty())
    }

    /// Whether a parameter is set to true.
    ///
    /// # Errors
    /// If it is no boolean.
    pub(crate) fn flag(&self, name: &str) -> Result<bool, RefusedRequest> {
        match self.parameter(name) {
            None | Some("false" | "0" | "f" | "F" | "False" | "FALSE") => Ok(false),
            Some("true" | "1" | "t" | "T" | "True" | "TRUE") => Ok(true),
            Some(other) => Err(RefusedRequest::bad_request(format!(
                "the parameter `{name}` must be a boolean, found `{other}`"
            ))),
        }
    }

    /// A parameter that is a number.
    ///
    /// # Errors
    /// If it is no whole number from 0.
    pub(crate) fn number(&self, name: &str) -> Result<Option<u64>, RefusedRequest> {
        let Some(text) = self.parameter(name) else {
            return Ok(None);
        };
        text.parse().map(Some).map_err(|_| {
            RefusedRequest::bad_request(format!("the parameter `{name}` must be a number"))
        })
    }

    /// Whether the query asks for a dry run.
    ///
    /// # Errors
    /// If it asks for one of another kind than `All`.
    pub(crate) fn commitment(&self) -> Result<Commitment, RefusedRequest> {
        match self.parameter("dryRun") {
            None => Ok(Commitment::Stored),
            Some("All") => Ok(Commitment::DryRun),
            Some(other) => Err(RefusedRequest::bad_request(format!(
                "dryRun: Unsupported value: \"{other}\": supported values: \"All\""
            ))),
        }
    }

    /// The options of a write.
    ///
    /// # Errors
    /// If one has a value that does not exist.
    pub(crate) fn write_settings(&self) -> Result<WriteSettings, RefusedRequest> {
        let validation = match self.parameter("fieldValidation") {
            None | Some("Warn") => FieldValidation::Warn,
            Some("Ignore") => FieldValidation::Ignore,
            Some("Strict") => FieldValidation::Strict,
            Some(other) => {
                return Err(RefusedRequest::bad_request(format!(
                    "fieldValidation: Unsupported value: \"{other}\": supported values: \
                     \"Ignore\", \"Strict\", \"Warn\""
                )));
            }
        };
        let named = self.parameter("fieldManager").map(str::to_owned);
        let program = self.user_agent.split('/').next().unwrap_or_default();
        let program = if program.is_empty() {
            "unknown"
        } else {
            program
        };
        Ok(WriteSettings {
            commitment: self.commitment()?,
            validation,
            manager: named.clone().unwrap_or_else(|| program.to_owned()),
            named_manager: named,
            takes_over: self.flag("force")?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn objects(path: &str) -> (String, String, Option<String>, Option<String>) {
        match ApiRoute::of_path(path) {
            ApiRoute::Objects(route) => (
                route.resource.to_string(),
                route.namespace,
                route.name,
                route.subresource,
            ),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn paths_name_objects_lists_and_subresources() {
        let some = |text: &str| Some(text.to_owned());
        let cases = [
            ("/api/v1/pods", ("pods", "", None, None)),
            ("/api/v1/namespaces", ("namespaces", "", None, None)),
            ("/api/v1/namespaces/a", ("namespaces", "", some("a"), None)),
            (
                "/api/v1/namespaces/a/status",
                ("namespaces", "", some("a"), some("status")),
            ),
            ("/api/v1/namespaces/a/pods", ("pods", "a", None, None)),
            (
                "/apis/apps/v1/namespaces/a/deployments/b%2ec/status",
                ("deployments.apps", "a", some("b.c"), some("status")),
            ),
            (
                "/apis/shop.io/v1/tills/x",
                ("tills.shop.io", "", some("x"), None),
            ),
        ];
        for (path, (resource, namespace, name, subresource)) in cases {
            let expected = (resource.to_owned(), namespace.to_owned(), name, subresource);
            assert_eq!(objects(path), expected, "{path}");
        }
        assert_eq!(ApiRoute::of_path("/logs"), ApiRoute::Unknown);
        assert_eq!(ApiRoute::of_path("/apis/a/b/c/d/e/f"), ApiRoute::Unknown);
    }
}
