//! One call on an HTTP/2 connection. Observes whether the plugin itself sent the status of the
//! call.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use http::{HeaderMap, Request, Response};
use http_body::{Body, Frame, SizeHint};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http2::SendRequest;
use tonic::client::GrpcService;

type CallFuture =
    Pin<Box<dyn Future<Output = Result<Response<ObservedBody>, hyper::Error>> + Send>>;

/// The service of one call.
pub(crate) struct CallService {
    sender: SendRequest<tonic::body::Body>,
    answered: Arc<AtomicBool>,
}

impl CallService {
    /// Creates the service of a call, and the flag that is set when an error of the plugin arrives.
    pub(crate) fn new(sender: SendRequest<tonic::body::Body>) -> (CallService, Arc<AtomicBool>) {
        let answered = Arc::new(AtomicBool::new(false));
        (
            CallService {
                sender,
                answered: Arc::clone(&answered),
            },
            answered,
        )
    }
}

impl GrpcService<tonic::body::Body> for CallService {
    type ResponseBody = ObservedBody;
    type Error = hyper::Error;
    type Future = CallFuture;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), hyper::Error>> {
        self.sender.poll_ready(context)
    }

    fn call(&mut self, request: Request<tonic::body::Body>) -> CallFuture {
        let (response, answered) = (
            self.sender.send_request(request),
            Arc::clone(&self.answered),
        );
        Box::pin(async move {
            let response = response.await?;
            note(response.headers(), &answered);
            Ok(response.map(|body| ObservedBody { body, answered }))
        })
    }
}

/// Sets the flag if the headers have a status that is an error. Code 0 does not count: a successful
/// call has an answer.
fn note(headers: &HeaderMap, answered: &AtomicBool) {
    if headers.get("grpc-status").is_some_and(|code| code != "0") {
        answered.store(true, Ordering::Release);
    }
}

/// The body of an answer. It observes the status at the end of the answer.
pub(crate) struct ObservedBody {
    body: Incoming,
    answered: Arc<AtomicBool>,
}

impl Body for ObservedBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let frame = Pin::new(&mut self.body).poll_frame(context);
        if let Poll::Ready(Some(Ok(frame))) = &frame
            && let Some(trailers) = frame.trailers_ref()
        {
            note(trailers, &self.answered);
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
