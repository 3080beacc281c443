//! A cluster of Kubernetes for the tests: the real API server with its database, the controller
//! manager, and a program that plays a node. All of them listen on free ports of this machine.
//!
//! Not here: a scheduler. A pod runs if its template names the node (`NODE`), and waits otherwise.

use std::fs::{self, File};
use std::io;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::build_tool::target;
use crate::kubernetes_programs::{self, ClusterPrograms};
use crate::servers::{START_TIMEOUT, bound, delete_abandoned};

/// The variable in which tests find the file that describes how to connect. Its contexts are
/// `admin`, which may do everything and is the current one; `certificate`, the same with a client
/// certificate in place of a token; and `guest`, which may do nothing.
const KUBECONFIG: &str = "CYAN_TEST_KUBECONFIG";

/// The variable in which tests find `kubectl`.
const KUBECTL: &str = "CYAN_TEST_KUBECTL";

/// The name of the node.
const NODE: &str = "node";

/// The file in the folder of a cluster that describes how to connect.
const CONNECTION: &str = "kubeconfig";

/// The extensions of the certificates, for openssl.
const CERTIFICATES: &str = include_str!("../counterparts/kubernetes-certificates.cnf");

/// What becomes of nodes and pods.
const STAGES: &str = include_str!("../counterparts/kwok.yaml");

/// A running cluster. It is stopped, and its data deleted, when this is dropped.
pub(crate) struct Cluster {
    folder: PathBuf,
    kubectl: PathBuf,
    /// The servers with their names.
    servers: Vec<(&'static str, Child)>,
}

/// Builds the missing programs and starts a cluster. Returns when the controllers work and the node
/// is ready.
///
/// # Errors
/// If a program is missing, or a server ends or does not answer in time.
pub(crate) fn start(root: &Path) -> io::Result<Cluster> {
    let programs = kubernetes_programs::build(root)?;
    let all = target(root).join("kubernetes");
    fs::create_dir_all(&all)?;
    delete_abandoned(&all, |_| ())?;
    let folder = fs::canonicalize(all)?.join(std::process::id().to_string());
    // A former process with the same id may have left its folder.
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder)?;
    let mut cluster = Cluster {
        folder,
        kubectl: programs.kubectl.clone(),
        servers: Vec::new(),
    };
    let begin = Instant::now();
    cluster.launch_all(&programs)?;
    let passed = begin.elapsed().as_secs_f64();
    eprintln!("a cluster of Kubernetes is ready after {passed:.1} s");
    Ok(cluster)
}

/// Starts a cluster and prints the variables for a shell. Returns when standard input ends; an
/// interrupt ends the cluster too.
///
/// # Errors
/// If the cluster cannot be started.
pub(crate) fn serve(root: &Path) -> io::Result<bool> {
    let cluster = start(root)?;
    for (name, value) in cluster.variables() {
        println!("export {name}='{value}'");
    }
    eprintln!("it runs until Ctrl-C or the end of the input");
    io::copy(&mut io::stdin().lock(), &mut io::sink())?;
    Ok(true)
}

impl Cluster {
    /// The variables for the tests.
    pub(crate) fn variables(&self) -> [(&'static str, String); 2] {
        let connection = self.folder.join(CONNECTION);
        [
            (KUBECONFIG, connection.display().to_string()),
            (KUBECTL, self.kubectl.display().to_string()),
        ]
    }

    fn launch_all(&mut self, programs: &ClusterPrograms) -> io::Result<()> {
        let [client, peer, secure] = free_ports()?;
        self.write_files(secure)?;
        let database = format!("http://127.0.0.1:{client}");
        let peer = format!("http://127.0.0.1:{peer}");
        self.launch(
            "etcd",
            &programs.etcd,
            &[
                "--data-dir=etcd",
                // The data does not outlive the cluster.
                "--unsafe-no-fsync",
                "--log-level=warn",
                &format!("--listen-client-urls={database}"),
                &format!("--advertise-client-urls={database}"),
                &format!("--listen-peer-urls={peer}"),
                &format!("--initial-advertise-peer-urls={peer}"),
                &format!("--initial-cluster=default={peer}"),
            ],
        )?;
        self.launch(
            "kube-apiserver",
            &programs.api_server,
            &[
                &format!("--etcd-servers={database}"),
                "--bind-address=127.0.0.1",
                "--advertise-address=127.0.0.1",
                &format!("--secure-port={secure}"),
                "--tls-cert-file=server.crt",
                "--tls-private-key-file=server.key",
                "--client-ca-file=authority.crt",
                "--token-auth-file=tokens.csv",
                "--authorization-mode=RBAC",
                "--service-account-issuer=https://kubernetes.default.svc",
                "--service-account-key-file=server.crt",
                "--service-account-signing-key-file=server.key",
                "--service-cluster-ip-range=10.96.0.0/16",
                // Pods need no token, and are admitted before the controllers work.
                "--disable-admission-plugins=ServiceAccount",
                "--endpoint-reconciler-type=none",
                "--profiling=false",
            ],
        )?;
        self.wait_for(&["get", "--raw=/readyz"])?;
        self.launch(
            "kube-controller-manager",
            &programs.controller_manager,
            &[
                &format!("--kubeconfig={CONNECTION}"),
                "--secure-port=0",
                "--leader-elect=false",
                "--root-ca-file=authority.crt",
                // By default it creates a folder of the system.
                "--flex-volume-plugin-dir=flexvolume",
                // The default limits are for a shared server, and slow the tests down.
                "--kube-api-qps=200",
                "--kube-api-burst=400",
                "--profiling=false",
            ],
        )?;
        self.launch(
            "kwok",
            &programs.kwok,
            &[
                &format!("--kubeconfig={CONNECTION}"),
                "--config=kwok.yaml",
                "--manage-all-nodes=true",
                "--node-lease-duration-seconds=40",
            ],
        )?;
        self.wait_for(&["apply", "--server-side", "--filename=node.json"])?;
        self.wait_for(&[
            "wait",
            "--for=condition=Ready",
            &format!("node/{NODE}"),
            "--timeout=1s",
        ])?;
        self.wait_for(&["get", "serviceaccount/default", "--namespace=default"])
    }

    /// Writes the keys, certificates, tokens and configuration of the servers, and the file that
    /// describes how to connect.
    fn write_files(&self, port: u16) -> io::Result<()> {
        let write = |name: &str, text: &str| fs::write(self.folder.join(name), text);
        write("certificates.cnf", CERTIFICATES)?;
        write("kwok.yaml", STAGES)?;
        let node = format!(r#"{{"apiVersion":"v1","kind":"Node","metadata":{{"name":"{NODE}"}}}}"#);
        write("node.json", &node)?;
        for (name, subject) in [
            ("authority", "/CN=authority"),
            ("server", "/CN=server"),
            ("client", "/O=system:masters/CN=certificate"),
        ] {
            self.certify(name, subject)?;
        }
        let token = || self.openssl(&["rand", "-hex", "16"]);
        let (admin, guest) = (token()?, token()?);
        write(
            "tokens.csv",
            &format!("{admin},admin,admin,system:masters\n{guest},guest,guest\n"),
        )?;
        let encoded = |name: &str| self.openssl(&["base64", "-A", "-in", name]);
        let (authority, certificate, key) = (
            encoded("authority.crt")?,
            encoded("client.crt")?,
            encoded("client.key")?,
        );
        let connection = format!(
            "\
apiVersion: v1
kind: Config
clusters:
- name: test
  cluster: {{server: 'https://127.0.0.1:{port}', certificate-authority-data: {authority}}}
users:
- name: admin
  user: {{token: '{admin}'}}
- name: certificate
  user: {{client-certificate-data: {certificate}, client-key-data: {key}}}
- name: guest
  user: {{token: '{guest}'}}
contexts:
- name: admin
  context: {{cluster: test, user: admin}}
- name: certificate
  context: {{cluster: test, user: certificate}}
- name: guest
  context: {{cluster: test, user: guest}}
current-context: admin
"
        );
        write(CONNECTION, &connection)
    }

    /// Makes a key and its certificate, with the extensions of that name. The certificate of the
    /// authority comes first, and signs the others.
    fn certify(&self, name: &str, subject: &str) -> io::Result<()> {
        let (key, certificate) = (format!("{name}.key"), format!("{name}.crt"));
        let mut arguments = vec![
            "req",
            "-x509",
            "-config",
            "certificates.cnf",
            "-extensions",
            name,
            "-subj",
            subject,
            "-days",
            "3650",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:prime256v1",
            "-nodes",
            "-keyout",
            &key,
            "-out",
            &certificate,
        ];
        if name != "authority" {
            arguments.extend(["-CA", "authority.crt", "-CAkey", "authority.key"]);
        }
        self.openssl(&arguments).map(|_| ())
    }

    /// Runs openssl in the folder of the cluster. Returns its output without blanks at the ends.
    fn openssl(&self, arguments: &[&str]) -> io::Result<String> {
        run(Command::new("openssl")
            .args(arguments)
            .current_dir(&self.folder))
    }

    /// Starts a server in the folder of the cluster, with a log there.
    fn launch(&mut self, name: &'static str, program: &Path, arguments: &[&str]) -> io::Result<()> {
        let log = File::create(self.folder.join(format!("{name}.log")))?;
        let child = bound(program)
            .args(arguments)
            .current_dir(&self.folder)
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()?;
        self.servers.push((name, child));
        Ok(())
    }

    /// Repeats a command of `kubectl` until it succeeds.
    ///
    /// # Errors
    /// If a server has ended, with the end of its log; or if the time is over.
    fn wait_for(&mut self, arguments: &[&str]) -> io::Result<()> {
        let begin = Instant::now();
        loop {
            let asked = run(Command::new(&self.kubectl)
                .arg(format!("--kubeconfig={CONNECTION}"))
                .args(["--cache-dir=kubectl-cache", "--request-timeout=10s"])
                .args(arguments)
                .current_dir(&self.folder));
            let Err(error) = asked else {
                return Ok(());
            };
            self.check()?;
            if begin.elapsed() > START_TIMEOUT {
                return Err(error);
            }
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// Checks that all servers run.
    fn check(&mut self) -> io::Result<()> {
        for (name, child) in &mut self.servers {
            if let Some(status) = child.try_wait()? {
                let log = fs::read(self.folder.join(format!("{name}.log")))?;
                let log = String::from_utf8_lossy(&log);
                let last = log.trim().lines().last().unwrap_or("it wrote no log");
                return Err(io::Error::other(format!(
                    "{name} ended with {status}: {last}"
                )));
            }
        }
        Ok(())
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for (_, child) in &mut self.servers {
            let _ = child.kill();
            let _ = child.wait();
        }
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Runs a program. Returns its output without blanks at the ends.
///
/// # Errors
/// If it cannot be started or fails, with the last line that it wrote to stderr.
fn run(command: &mut Command) -> io::Result<String> {
    let shown = command.get_program().to_string_lossy().into_owned();
    let output = command
        .stdin(Stdio::null())
        .output()
        .map_err(|error| io::Error::other(format!("`{shown}` cannot be started: {error}")))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned());
    }
    let text = String::from_utf8_lossy(&output.stderr);
    let last = text.trim().lines().last().unwrap_or("it says nothing");
    Err(io::Error::other(format!("`{shown}` failed: {last}")))
}

/// Finds ports on which nothing listens.
fn free_ports<const N: usize>() -> io::Result<[u16; N]> {
    // All are taken at the same time, so that they are different.
    let listeners: Vec<TcpListener> = (0..N)
        .map(|_| TcpListener::bind("127.0.0.1:0"))
        .collect::<io::Result<_>>()?;
    let mut ports = [0; N];
    for (port, listener) in ports.iter_mut().zip(&listeners) {
        *port = listener.local_addr()?.port();
    }
    Ok(ports)
}
