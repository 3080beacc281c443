//! A cluster as the transport of a client of Kubernetes.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures::StreamExt as _;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderName, USER_AGENT};
use http::{HeaderMap, HeaderValue, Method, Request, Response};
use http_body::{Body, Frame};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full, StreamBody};

use crate::cluster::LocalCluster;
use crate::failure::RefusedRequest;
use crate::request::{ApiMethod, ApiRequest, ApiUser};
use crate::views::ApiResponse;

/// The body of an answer.
pub type ClusterBody = UnsyncBoxBody<Bytes, Infallible>;

/// A cluster as the transport of a client: `kube::Client::new(cluster.service(), "default")`.
///
/// A bearer token must be one that the cluster has issued; a request without one is that of an
/// administrator. The headers `Impersonate-User` and `Impersonate-Group` are followed.
#[derive(Clone, Debug)]
pub struct ClusterService(LocalCluster);

impl LocalCluster {
    /// The cluster as a transport.
    pub fn service(&self) -> ClusterService {
        ClusterService(self.clone())
    }
}

impl<B> tower_service::Service<Request<B>> for ClusterService
where
    B: Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    type Response = Response<ClusterBody>;
    type Error = Box<dyn std::error::Error + Send + Sync>;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Self::Error>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let cluster = self.0.clone();
        Box::pin(async move {
            let (parts, body) = request.into_parts();
            let body = body.collect().await.map_err(Into::into)?.to_bytes();
            let Some(method) = method_of(&parts.method) else {
                let refused = RefusedRequest::no_such_resource();
                return Ok(written(ApiResponse::json(405, &refused.status())));
            };
            let Some(user) = user_of(&cluster, &parts.headers) else {
                let refused = RefusedRequest::unauthorized();
                return Ok(written(ApiResponse::json(refused.code, &refused.status())));
            };
            let query = parts.uri.query().unwrap_or_default();
            let query = form_urlencoded::parse(query.as_bytes()).into_owned();
            let request = ApiRequest {
                method,
                path: parts.uri.path().to_owned(),
                query: query.collect(),
                content_type: header(&parts.headers, &CONTENT_TYPE).map(str::to_owned),
                accept: header(&parts.headers, &ACCEPT)
                    .unwrap_or_default()
                    .to_owned(),
                user,
                user_agent: header(&parts.headers, &USER_AGENT)
                    .unwrap_or_default()
                    .to_owned(),
                body,
            };
            Ok(written(cluster.answer(&request)))
        })
    }
}

fn method_of(method: &Method) -> Option<ApiMethod> {
    match *method {
        Method::GET => Some(ApiMethod::Get),
        Method::POST => Some(ApiMethod::Post),
        Method::PUT => Some(ApiMethod::Put),
        Method::PATCH => Some(ApiMethod::Patch),
        Method::DELETE => Some(ApiMethod::Delete),
        _ => None,
    }
}

fn header<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    headers.get(name)?.to_str().ok()
}

/// Who asks. `None` if the credentials are not valid.
fn user_of(cluster: &LocalCluster, headers: &HeaderMap) -> Option<ApiUser> {
    let user = match headers.get(AUTHORIZATION) {
        None => ApiUser::administrator(),
        Some(value) => {
            let token = value.to_str().ok()?.strip_prefix("Bearer ")?;
            cluster.user_of_token(token)?
        }
    };
    let Some(name) = header(headers, &HeaderName::from_static("impersonate-user")) else {
        return Some(user);
    };
    let groups = headers.get_all("impersonate-group").iter();
    let mut groups: Vec<String> = groups
        .filter_map(|group| group.to_str().ok())
        .map(str::to_owned)
        .collect();
    groups.push("system:authenticated".to_owned());
    Some(ApiUser {
        name: name.to_owned(),
        groups,
    })
}

pub(crate) fn written(answer: ApiResponse) -> Response<ClusterBody> {
    match answer {
        ApiResponse::Whole {
            status,
            content_type,
            body,
            warnings,
        } => {
            let mut response = Response::new(Full::new(body).boxed_unsync());
            *response.status_mut() = http::StatusCode::from_u16(status).unwrap_or_default();
            let headers = response.headers_mut();
            headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
            for warning in warnings {
                let text = warning.replace('\\', "\\\\").replace('"', "\\\"");
                if let Ok(value) = HeaderValue::from_str(&format!("299 - \"{text}\"")) {
                    headers.append(http::header::WARNING, value);
                }
            }
            response
        }
        ApiResponse::Watch(events) => {
            let lines = events.map(|event| Ok(Frame::data(Bytes::from(event.line()))));
            let mut response = Response::new(StreamBody::new(lines).boxed_unsync());
            let headers = response.headers_mut();
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
            response
        }
    }
}
