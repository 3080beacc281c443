//! The gRPC server of the stub: one message for one message.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use http::{HeaderMap, Request, Response};
use http_body::{Body, Frame};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpListener;

use super::Answer;

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

/// Serves all connections.
pub(crate) async fn serve<F, A>(listener: TcpListener, answer: F)
where
    F: Fn(String, Vec<u8>) -> A + Clone + Send + Sync + 'static,
    A: Future<Output = Answer> + Send + 'static,
{
    let answer = Arc::new(answer);
    loop {
        let (stream, _) = listener.accept().await.unwrap();
        let answer = answer.clone();
        let service = service_fn(move |request: Request<Incoming>| {
            let answer = answer.clone();
            // A call goes on after its caller has gone, as the calls of real plugins do.
            let answered = tokio::spawn(async move {
                let path = request.uri().path().to_owned();
                let sent = read(request.into_body()).await;
                answer(path, sent).await
            });
            async move {
                let (message, code, text) = match answered.await.unwrap() {
                    Answer::Message(message) => (Some(message), 0, String::new()),
                    Answer::Status(code, text) => (None, code, text),
                };
                let mut trailers = HeaderMap::new();
                trailers.insert("grpc-status", code.into());
                trailers.insert("grpc-message", text.replace(' ', "%20").parse().unwrap());
                let mut frames = Vec::new();
                frames.extend(message.map(|message| framed(&message)));
                frames.push(Frame::trailers(trailers));
                let response = Response::builder().header("content-type", "application/grpc");
                Ok::<_, Infallible>(response.body(Frames(frames)).unwrap())
            }
        });
        let connection = hyper::server::conn::http2::Builder::new(TokioExecutor::new())
            .serve_connection(TokioIo::new(stream), service);
        tokio::spawn(connection);
    }
}

/// A message in the framing of gRPC.
fn framed(message: &[u8]) -> Frame<Bytes> {
    let mut bytes = vec![0];
    bytes.extend(u32::try_from(message.len()).unwrap().to_be_bytes());
    bytes.extend(message);
    Frame::data(bytes.into())
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

/// Closes the standard output: a reader of it finds its end.
pub(crate) fn close_stdout() {
    use std::os::fd::AsFd as _;
    // The null device takes the place of the pipe.
    let null = std::fs::File::options()
        .write(true)
        .open("/dev/null")
        .unwrap();
    rustix::stdio::dup2_stdout(null.as_fd()).unwrap();
}
