//! A server for the tests that can also send answers that no real server would send.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use http::{HeaderMap, Request, Response};
use http_body::{Body, Frame};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::io::{AsyncRead, AsyncWrite};

/// A server whose answer depends on the method in the path.
#[derive(Clone, Default)]
pub(crate) struct Server {
    /// Set while a call of `Hang` waits, and unset when it is cancelled.
    pub(crate) hangs: Arc<AtomicBool>,
}

/// A body of frames that are ready to be sent.
struct Frames(Vec<Frame<Bytes>>);

impl Body for Frames {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready((!self.0.is_empty()).then(|| Ok(self.0.remove(0))))
    }
}

/// A message in the framing of gRPC.
fn framed(message: &[u8]) -> Frame<Bytes> {
    let mut bytes = vec![0];
    bytes.extend(u32::try_from(message.len()).unwrap().to_be_bytes());
    bytes.extend(message);
    Frame::data(bytes.into())
}

fn trailers(code: &str, message: &str, details: &str) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert("grpc-status", code.parse().unwrap());
    headers.insert("grpc-message", message.parse().unwrap());
    if !details.is_empty() {
        headers.insert("grpc-status-details-bin", details.parse().unwrap());
    }
    headers
}

/// Base64 of the message `google.rpc.Status` with the code 2 and one detail of type `t/a.B` with
/// this number of bytes, which must be a multiple of three. The message is long, like an error that
/// contains the state of a resource.
fn details(padding: usize) -> String {
    let length = |mut n: usize| {
        let mut bytes = Vec::new();
        while n >= 0x80 {
            bytes.push(u8::try_from(n & 0x7f).unwrap() | 0x80);
            n >>= 7;
        }
        bytes.push(u8::try_from(n).unwrap());
        bytes
    };
    let mut any = vec![0x0a, 5];
    any.extend(b"t/a.B");
    any.push(0x12);
    any.extend(length(padding));
    any.extend(vec![b'v'; padding]);
    let mut status = vec![0x08, 2, 0x1a];
    status.extend(length(any.len()));
    status.extend(any);
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in status.chunks(3) {
        let bits = chunk
            .iter()
            .fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte))
            << (8 * (3 - chunk.len()));
        for place in 0..=chunk.len() {
            text.push(char::from(DIGITS[(bits >> (18 - 6 * place) & 63) as usize]));
        }
    }
    text
}

/// Unsets a flag when a call is cancelled.
struct CancelFlag(Arc<AtomicBool>);

impl Drop for CancelFlag {
    fn drop(&mut self) {
        self.0.store(false, Ordering::SeqCst);
    }
}

impl Server {
    /// Serves one connection until it ends.
    pub(crate) async fn serve(self, stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) {
        let service = service_fn(move |request| {
            let server = self.clone();
            async move { server.answer(request).await }
        });
        let connection = hyper::server::conn::http2::Builder::new(TokioExecutor::new())
            .max_header_list_size(16 << 20)
            .serve_connection(TokioIo::new(stream), service);
        // A client may disconnect at any time.
        let _ = connection.await;
    }

    async fn answer(&self, request: Request<Incoming>) -> Result<Response<Frames>, std::io::Error> {
        let path = request.uri().path().to_owned();
        let sent = read(request.into_body()).await;
        let ok = || Frame::trailers(trailers("0", "", ""));
        let frames = match path.as_str() {
            "/test.Test/Echo" => vec![framed(&sent), ok()],
            "/test.Test/Twice" => vec![framed(&sent), framed(&sent), ok()],
            "/test.Test/TwiceFail" => {
                vec![
                    framed(&sent),
                    framed(&sent),
                    Frame::trailers(trailers("5", "not%20here", "")),
                ]
            }
            "/test.Test/Split" => {
                // A message in two frames.
                let whole = framed(&sent).into_data().unwrap();
                let (first, second) = (whole.slice(..3), whole.slice(3..));
                vec![Frame::data(first), Frame::data(second), ok()]
            }
            "/test.Test/Fail" => vec![Frame::trailers(trailers(
                "5",
                "not%20here",
                &details(300_000),
            ))],
            "/test.Test/Garbage" => vec![framed(&[0xff; 9]), ok()],
            "/test.Test/Large" => vec![framed(&vec![0; 2_000_000]), ok()],
            "/test.Test/NoStatus" => vec![framed(&sent)],
            "/test.Test/NoMessage" => vec![ok()],
            "/test.Test/Short" => vec![Frame::data(Bytes::from_static(&[0, 0, 0, 0, 9, 1])), ok()],
            "/test.Test/Break" => return Err(std::io::Error::other("broken")),
            "/test.Test/Hang" => {
                let _flag = CancelFlag(Arc::clone(&self.hangs));
                self.hangs.store(true, Ordering::SeqCst);
                std::future::pending().await
            }
            _ => {
                let mut response = Response::new(Frames(Vec::new()));
                response
                    .headers_mut()
                    .extend(trailers("12", "unknown%20method", ""));
                return Ok(response);
            }
        };
        Ok(Response::new(Frames(frames)))
    }
}

/// The message of a request.
async fn read(mut body: Incoming) -> Vec<u8> {
    let mut all = Vec::new();
    while let Some(Ok(frame)) =
        std::future::poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await
    {
        all.extend(frame.into_data().unwrap_or_default());
    }
    all.split_off(all.len().min(5))
}
