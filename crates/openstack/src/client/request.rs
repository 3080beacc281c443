//! A request to a service, and its answer.

use reqwest::Method;
use serde_json::Value as Json;

use super::Service;

/// A request to a service.
#[derive(Clone, Debug)]
pub(crate) struct ServiceRequest {
    pub(crate) service: Service,
    pub(crate) method: Method,
    /// The path below the version of the API, without a leading slash: `networks/ID`.
    pub(crate) path: String,
    pub(crate) query: Vec<(&'static str, String)>,
    pub(crate) body: Option<Json>,
}

impl ServiceRequest {
    fn new(service: Service, method: Method, path: impl Into<String>) -> ServiceRequest {
        ServiceRequest {
            service,
            method,
            path: path.into(),
            query: Vec::new(),
            body: None,
        }
    }

    /// A request for an object or a list.
    pub(crate) fn get(service: Service, path: impl Into<String>) -> ServiceRequest {
        ServiceRequest::new(service, Method::GET, path)
    }

    /// A request that creates an object, or starts an action.
    pub(crate) fn post(service: Service, path: impl Into<String>, body: Json) -> ServiceRequest {
        ServiceRequest::new(service, Method::POST, path).with_body(body)
    }

    /// A request that changes an object.
    pub(crate) fn put(service: Service, path: impl Into<String>, body: Json) -> ServiceRequest {
        ServiceRequest::new(service, Method::PUT, path).with_body(body)
    }

    /// A request that changes parts of an object.
    pub(crate) fn patch(service: Service, path: impl Into<String>, body: Json) -> ServiceRequest {
        ServiceRequest::new(service, Method::PATCH, path).with_body(body)
    }

    /// A request that deletes an object.
    pub(crate) fn delete(service: Service, path: impl Into<String>) -> ServiceRequest {
        ServiceRequest::new(service, Method::DELETE, path)
    }

    fn with_body(mut self, body: Json) -> ServiceRequest {
        self.body = Some(body);
        self
    }

    /// Adds a parameter of the query.
    pub(crate) fn with_query(
        mut self,
        name: &'static str,
        value: impl Into<String>,
    ) -> ServiceRequest {
        self.query.push((name, value.into()));
        self
    }

    /// Whether the request changes nothing.
    pub(crate) fn only_reads(&self) -> bool {
        self.method == Method::GET || self.method == Method::HEAD
    }
}

/// The answer to a request that succeeded.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    /// The status, from 200 to 299.
    pub(crate) status: u16,
    /// The body; null if there is none.
    pub(crate) body: Json,
    /// The id under which the service logs the request.
    pub(crate) request_id: Option<String>,
}
