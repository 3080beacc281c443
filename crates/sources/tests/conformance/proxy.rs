//! Proxies from the environment.
//!
//! The environment is read by another process: this test program again, which runs `a_reader`.

use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};

use source::{ReadLimits, Request, Source, Sources};
use sources::https::Https;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;

use crate::server::{Server, text};

/// All variables that configure a proxy.
const VARIABLES: [&str; 8] = [
    "HTTPS_PROXY",
    "https_proxy",
    "HTTP_PROXY",
    "http_proxy",
    "ALL_PROXY",
    "all_proxy",
    "NO_PROXY",
    "no_proxy",
];

/// A proxy that connects every host to one local port.
struct Proxy {
    port: u16,
    heads: Arc<Mutex<Vec<String>>>,
}

impl Proxy {
    /// Starts a proxy with this target port. With `None` it refuses every request.
    fn to(target: Option<u16>) -> Proxy {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let port = listener.local_addr().unwrap().port();
        let listener = TcpListener::from_std(listener).unwrap();
        let heads: Arc<Mutex<Vec<String>>> = Arc::default();
        let all = heads.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, target, all.clone()));
            }
        });
        Proxy { port, heads }
    }

    /// The first line of each request.
    fn request_lines(&self) -> Vec<String> {
        let heads = self.heads.lock().unwrap();
        heads
            .iter()
            .map(|head| head.lines().next().unwrap_or_default().to_owned())
            .collect()
    }
}

async fn serve(mut stream: TcpStream, target: Option<u16>, heads: Arc<Mutex<Vec<String>>>) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        match stream.read_u8().await {
            Ok(byte) => head.push(byte),
            Err(_) => return,
        }
    }
    heads
        .lock()
        .unwrap()
        .push(String::from_utf8_lossy(&head).into_owned());
    let Some(target) = target else {
        let refusal = b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n";
        let _ = stream.write_all(refusal).await;
        return;
    };
    let mut to = TcpStream::connect(("127.0.0.1", target)).await.unwrap();
    stream
        .write_all(b"HTTP/1.1 200 Connection established\r\n\r\n")
        .await
        .unwrap();
    let _ = copy_bidirectional(&mut stream, &mut to).await;
}

/// Reads an address in a process with these variables. Returns the text or the error.
async fn read(server: &Server, url: &str, variables: &[(&str, &str)]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "--ignored", "proxy::a_reader"]);
    for name in VARIABLES {
        command.env_remove(name);
    }
    command
        .env("CYAN_TEST_URL", url)
        .env("CYAN_TEST_AUTHORITY", &server.authority)
        .env("CYAN_TEST_OUT", &out);
    command.envs(variables.iter().copied());
    let ended = tokio::task::spawn_blocking(move || command.output())
        .await
        .unwrap()
        .unwrap();
    assert!(
        ended.status.success(),
        "{}",
        String::from_utf8_lossy(&ended.stdout)
    );
    std::fs::read_to_string(out).unwrap()
}

#[tokio::test]
#[ignore = "the other tests here run it, in a process of its own"]
async fn a_reader() {
    // A run of all ignored tests sets no variables and reads nothing.
    let (Ok(url), Ok(authority)) = (
        std::env::var("CYAN_TEST_URL"),
        std::env::var("CYAN_TEST_AUTHORITY"),
    ) else {
        return;
    };
    let sources = Sources::new([Arc::new(Https::trusting(&authority)) as Arc<dyn Source>]);
    let read = sources
        .read(
            &Request::path(None, url),
            &ReadLimits::document(CancellationToken::new()),
        )
        .await;
    let said = match read {
        Ok(document) => String::from_utf8(document.bytes.to_vec()).unwrap(),
        Err(error) => error.to_string(),
    };
    std::fs::write(Path::new(&std::env::var_os("CYAN_TEST_OUT").unwrap()), said).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn servers_are_requested_through_the_proxy_of_the_environment() {
    let server = Server::tls_of("docs.example", |_| text("x: 1"));
    let url = "https://docs.example/a.yaml";
    for variable in ["HTTPS_PROXY", "https_proxy", "ALL_PROXY"] {
        let proxy = Proxy::to(Some(server.port));
        let address = format!("http://127.0.0.1:{}", proxy.port);
        assert_eq!(
            read(&server, url, &[(variable, &address)]).await,
            "x: 1",
            "{variable}"
        );
        assert_eq!(
            proxy.request_lines(),
            ["CONNECT docs.example:443 HTTP/1.1"],
            "{variable}"
        );
    }
    assert_eq!(server.paths(), ["/a.yaml", "/a.yaml", "/a.yaml"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn only_the_proxy_gets_the_proxy_credentials() {
    let server = Server::tls_of("docs.example", |_| text("x: 1"));
    let proxy = Proxy::to(Some(server.port));
    let address = format!("http://ann:hush@127.0.0.1:{}", proxy.port);
    assert_eq!(
        read(
            &server,
            "https://docs.example/a.yaml",
            &[("HTTPS_PROXY", &address)]
        )
        .await,
        "x: 1"
    );
    let head = proxy
        .heads
        .lock()
        .unwrap()
        .first()
        .cloned()
        .unwrap()
        .to_ascii_lowercase();
    assert!(head.contains("proxy-authorization: basic "), "{head}");
    assert!(
        !server.received()[0]
            .headers
            .keys()
            .any(|name| name.contains("auth")),
        "{:?}",
        server.received()
    );
    // The error does not contain the password of the proxy.
    let proxy = Proxy::to(None);
    let address = format!("http://ann:hush@127.0.0.1:{}", proxy.port);
    let said = read(
        &server,
        "https://docs.example/a.yaml",
        &[("HTTPS_PROXY", &address)],
    )
    .await;
    assert!(
        said.starts_with("it cannot be read: no connection: ") && !said.contains("hush"),
        "{said}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn local_and_excluded_hosts_bypass_the_proxy() {
    let server = Server::tls(|_| text("x: 1"));
    let proxy = Proxy::to(Some(server.port));
    let address = format!("http://127.0.0.1:{}", proxy.port);
    let variables = [("HTTPS_PROXY", &*address), ("ALL_PROXY", &*address)];
    assert_eq!(
        read(&server, &server.url("/a.yaml"), &variables).await,
        "x: 1"
    );
    let spared = [("HTTPS_PROXY", &*address), ("NO_PROXY", "docs.invalid")];
    let said = read(&server, "https://docs.invalid/a.yaml", &spared).await;
    assert!(
        said.starts_with("it cannot be read: no connection: "),
        "{said}"
    );
    assert_eq!(proxy.request_lines(), Vec::<String>::new());
}
