//! A request to a service, and its answer.
#![cfg_attr(
    not(test),
    expect(
        dead_code,
        reason = "no type of the tables uploads data or reads headers"
    )
)]

use bytes::Bytes;
use reqwest::Method;
use reqwest::header::HeaderMap;
use serde_json::Value as Json;

use super::Service;

/// A body of another type than JSON.
#[derive(Clone, Debug)]
pub(crate) struct RawBody {
    /// Its type, such as `application/octet-stream`.
    pub(crate) content_type: &'static str,
    pub(crate) bytes: Bytes,
}

/// A request to a service.
#[derive(Clone, Debug)]
pub(crate) struct ServiceRequest {
    pub(crate) service: Service,
    pub(crate) method: Method,
    /// The path below the version of the API, without a leading slash: `networks/ID`.
    pub(crate) path: String,
    pub(crate) query: Vec<(&'static str, String)>,
    /// Headers besides those of every request.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Option<Json>,
    /// A body in place of JSON.
    pub(crate) raw: Option<RawBody>,
}

impl ServiceRequest {
    fn new(service: Service, method: Method, path: impl Into<String>) -> ServiceRequest {
        ServiceRequest {
            service,
            method,
            path: path.into(),
            query: Vec::new(),
            headers: Vec::new(),
            body: None,
            raw: None,
        }
    }

    /// A request for an object or a list.
    pub(crate) fn get(service: Service, path: impl Into<String>) -> ServiceRequest {
        ServiceRequest::new(service, Method::GET, path)
    }

    /// A request for the headers of an object, or whether it exists.
    pub(crate) fn head(service: Service, path: impl Into<String>) -> ServiceRequest {
        ServiceRequest::new(service, Method::HEAD, path)
    }

    /// A request that creates an object, or starts an action.
    pub(crate) fn post(service: Service, path: impl Into<String>, body: Json) -> ServiceRequest {
        ServiceRequest::new(service, Method::POST, path).with_body(body)
    }

    /// A request without a body that changes an object by its headers, or starts an action.
    pub(crate) fn post_nothing(service: Service, path: impl Into<String>) -> ServiceRequest {
        ServiceRequest::new(service, Method::POST, path)
    }

    /// A request that changes an object.
    pub(crate) fn put(service: Service, path: impl Into<String>, body: Json) -> ServiceRequest {
        ServiceRequest::new(service, Method::PUT, path).with_body(body)
    }

    /// A request that changes some fields of an object.
    pub(crate) fn patch(service: Service, path: impl Into<String>, body: Json) -> ServiceRequest {
        ServiceRequest::new(service, Method::PATCH, path).with_body(body)
    }

    /// A request without a body that creates an object, or asserts that it exists.
    pub(crate) fn put_nothing(service: Service, path: impl Into<String>) -> ServiceRequest {
        ServiceRequest::new(service, Method::PUT, path)
    }

    /// A request that deletes an object.
    pub(crate) fn delete(service: Service, path: impl Into<String>) -> ServiceRequest {
        ServiceRequest::new(service, Method::DELETE, path)
    }

    fn with_body(mut self, body: Json) -> ServiceRequest {
        self.body = Some(body);
        self
    }

    /// Sets a body of another type than JSON, such as data of an image or a JSON patch.
    pub(crate) fn with_bytes(
        mut self,
        content_type: &'static str,
        bytes: impl Into<Bytes>,
    ) -> ServiceRequest {
        self.raw = Some(RawBody {
            content_type,
            bytes: bytes.into(),
        });
        self
    }

    /// Adds a header.
    pub(crate) fn with_header(
        mut self,
        name: impl Into<String>,
        value: impl Into<String>,
    ) -> ServiceRequest {
        self.headers.push((name.into(), value.into()));
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

/// A text as one segment of a path: what has a meaning in addresses is percent-encoded.
pub(crate) fn path_segment(text: &str) -> String {
    let mut segment = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                segment.push(char::from(byte));
            }
            _ => segment.push_str(&format!("%{byte:02X}")),
        }
    }
    segment
}

/// The answer to a request that succeeded.
#[derive(Clone, Debug)]
pub(crate) struct ServiceAnswer {
    /// The status, from 200 to 299.
    pub(crate) status: u16,
    /// The body; null if there is none, or if it is of another type than JSON.
    pub(crate) body: Json,
    /// The body as it came.
    pub(crate) bytes: Bytes,
    pub(super) headers: HeaderMap,
    /// The id under which the service logs the request.
    pub(crate) request_id: Option<String>,
}

impl ServiceAnswer {
    /// The headers with their texts, by their names in lower case. Headers that are no text are left
    /// out.
    pub(crate) fn headers(&self) -> impl Iterator<Item = (&str, &str)> {
        let texts = self.headers.iter();
        texts.filter_map(|(name, value)| Some((name.as_str(), value.to_str().ok()?)))
    }

    /// The text of a header; the name counts in any case of letters.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_has_no_separators() {
        assert_eq!(path_segment("Region-1.a_b~"), "Region-1.a_b~");
        assert_eq!(path_segment("a b/ä%?"), "a%20b%2F%C3%A4%25%3F");
    }
}
