//! The servers of the cloud: how each one is started, and when it is ready.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use super::processes::{CloudProcesses, command, log_file, run};
use super::settings::{CloudPort, CloudSettings};
use crate::servers::answers;

/// The time within which a server must be ready. Two dozen programs start at the same time, perhaps
/// beside a build.
const READY: Duration = Duration::from_secs(300);

/// The name of the database server among the processes.
pub(super) const DATABASE: &str = "mariadb";

/// The folder of the data of the database server, in the folder of the state.
pub(super) const DATA: &str = "database";

/// The socket of the database server for administration, in the folder of its data. It is named
/// relative to a working folder, because the path of a socket is short.
const SOCKET: &str = "server.sock";

/// The script that writes the rings of Swift.
const RINGS: &str = include_str!("../../counterparts/openstack/rings.py");

/// Where a WSGI application is.
enum ApiApplication {
    /// In a module of Python.
    Module(&'static str),
    /// Its parts are in this file of the settings.
    Pipeline(&'static str),
}

/// An API, which uWSGI serves.
struct ApiServer {
    name: &'static str,
    port: CloudPort,
    application: ApiApplication,
    /// The file of its settings, if it is an argument. Other APIs read variables.
    settings: Option<&'static str>,
}

impl ApiServer {
    const fn new(name: &'static str, port: CloudPort, module: &'static str) -> Self {
        Self {
            name,
            port,
            application: ApiApplication::Module(module),
            settings: None,
        }
    }

    const fn piped(mut self, file: &'static str) -> Self {
        self.application = ApiApplication::Pipeline(file);
        self
    }

    const fn configured(mut self, settings: &'static str) -> Self {
        self.settings = Some(settings);
        self
    }
}

/// The APIs that need no bus. The first one is asked by all others.
const APIS: [ApiServer; 9] = [
    ApiServer::new("keystone", CloudPort::Keystone, "keystone.wsgi.api"),
    ApiServer::new("placement", CloudPort::Placement, "placement.wsgi.api"),
    ApiServer::new("neutron", CloudPort::Neutron, "neutron.wsgi.api"),
    ApiServer::new("glance", CloudPort::Glance, "glance.wsgi.api"),
    ApiServer::new("nova-api", CloudPort::Nova, "nova.wsgi.osapi_compute"),
    ApiServer::new("cinder-api", CloudPort::Cinder, "cinder.wsgi.api").configured("cinder.conf"),
    ApiServer::new("heat-api", CloudPort::Heat, "heat.wsgi.api").configured("heat.conf"),
    ApiServer::new("octavia-api", CloudPort::Octavia, "octavia.wsgi.api")
        .configured("octavia.conf"),
    ApiServer::new("barbican", CloudPort::Barbican, "").piped("barbican-paste.ini"),
];

/// The programs that work for the APIs, with their settings.
const WORKERS: [(&str, &str); 6] = [
    ("nova-conductor", "nova.conf"),
    ("nova-scheduler", "nova.conf"),
    ("nova-compute", "nova.conf"),
    ("cinder-scheduler", "cinder.conf"),
    ("cinder-volume", "cinder.conf"),
    ("heat-engine", "heat.conf"),
];

/// The worker of Octavia, with its settings and what its log says once it takes requests. A request
/// before that would be lost.
const BALANCERS: (&str, &str, &str) = ("octavia-worker", "octavia.conf", "Starting V2 consumer");

/// The servers of Swift, with their settings and ports. The first one is for users, the others have
/// the rings of their names.
const SWIFT: [(&str, &str, CloudPort); 4] = [
    ("swift-proxy-server", "swift-proxy.conf", CloudPort::Swift),
    (
        "swift-account-server",
        "swift-account.conf",
        CloudPort::SwiftAccounts,
    ),
    (
        "swift-container-server",
        "swift-container.conf",
        CloudPort::SwiftContainers,
    ),
    (
        "swift-object-server",
        "swift-object.conf",
        CloudPort::SwiftObjects,
    ),
];

/// The rows of workers that have reported since a moment.
const REPORTS: &str = "
    select (select count(*) from nova_cell1.services where updated_at >= '@since@'
            and `binary` in ('nova-conductor', 'nova-scheduler', 'nova-compute'))
         + (select count(*) from cinder.services where updated_at >= '@since@'
            and `binary` in ('cinder-scheduler', 'cinder-volume'))
         + (select count(*) from heat.service where updated_at >= '@since@'
            or created_at >= '@since@')";

/// Starts the database server, and waits until it answers.
///
/// # Errors
/// If it cannot be started, or does not answer in time.
pub(super) fn start_database(
    settings: &CloudSettings,
    processes: &mut CloudProcesses,
) -> io::Result<()> {
    let data = settings.state().join(DATA);
    let mut server = command(&settings.folder, &settings.programs.database);
    server
        .args(["--no-defaults", "--bind-address=127.0.0.1"])
        .arg(format!("--datadir={}", data.display()))
        .arg(format!("--socket={SOCKET}"))
        .arg(format!("--port={}", settings.port(CloudPort::Database)))
        .arg(format!("--user={}", settings.user))
        .arg("--pid-file=server.pid")
        .args(["--skip-name-resolve", "--max-connections=500"])
        .args([
            "--character-set-server=utf8mb4",
            "--performance-schema=0",
            "--skip-log-bin",
        ])
        .args([
            "--innodb-buffer-pool-size=64M",
            "--innodb-log-file-size=32M",
            "--key-buffer-size=1M",
        ])
        // The data does not outlive the cloud.
        .args([
            "--innodb-flush-log-at-trx-commit=0",
            "--innodb-flush-method=nosync",
            "--innodb-doublewrite=0",
        ]);
    processes.launch(DATABASE, server)?;
    processes.wait_for("the database", READY, || {
        Ok(query(settings, "select 1").is_ok())
    })
}

/// Starts the message bus, with a program of its own for the names of its nodes, so that it is
/// separate from other buses.
///
/// # Errors
/// If one of the two cannot be started.
pub(super) fn start_bus(
    settings: &CloudSettings,
    processes: &mut CloudProcesses,
) -> io::Result<()> {
    let home = settings.folder.join("bus");
    fs::create_dir_all(&home)?;
    fs::write(home.join("plugins"), "[].\n")?;
    let mut names = command(&settings.folder, Path::new("epmd"));
    names
        .args(["-address", "127.0.0.1", "-port"])
        .arg(settings.port(CloudPort::ErlangNames).to_string());
    processes.launch("epmd", names)?;
    let mut bus = command(&settings.folder, &settings.programs.bus);
    let port = |port| settings.port(port).to_string();
    bus.arg("-noinput")
        // The script becomes the server, so that the server ends with this program.
        .env("RABBITMQ_ALLOW_INPUT", "1")
        .env("HOME", &home)
        .env("ERL_EPMD_ADDRESS", "127.0.0.1")
        .env("ERL_EPMD_PORT", port(CloudPort::ErlangNames))
        .env("RABBITMQ_NODENAME", "cloud@localhost")
        .env("RABBITMQ_NODE_IP_ADDRESS", "127.0.0.1")
        .env("RABBITMQ_NODE_PORT", port(CloudPort::Bus))
        .env("RABBITMQ_DIST_PORT", port(CloudPort::ErlangNode))
        .env("RABBITMQ_MNESIA_BASE", home.join("data"))
        .env("RABBITMQ_LOG_BASE", home.join("logs"))
        .env("RABBITMQ_PID_FILE", home.join("pid"))
        .env("RABBITMQ_ENABLED_PLUGINS_FILE", home.join("plugins"))
        .env("RABBITMQ_CONFIG_FILE", settings.file("rabbitmq.conf"))
        .env("RABBITMQ_CONF_ENV_FILE", "/dev/null")
        // One scheduler that does not spin, and no connections from other machines.
        .env(
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS",
            "+S 1:1 +sbwt none +sbwtdcpu none +sbwtdio none \
             -kernel inet_dist_use_interface {127,0,0,1}",
        );
    processes.launch("rabbitmq", bus)
}

/// Starts Keystone alone, and waits until it answers.
///
/// # Errors
/// If it cannot be started, or does not answer in time.
pub(super) fn start_keystone(
    settings: &CloudSettings,
    processes: &mut CloudProcesses,
) -> io::Result<()> {
    let [keystone, ..] = &APIS;
    start_api(settings, processes, keystone)?;
    wait_for_api(settings, processes, keystone)
}

/// Starts the other services, and waits until the APIs answer and the workers have reported.
///
/// # Errors
/// If one cannot be started, or is not ready in time.
pub(super) fn start_services(
    settings: &CloudSettings,
    processes: &mut CloudProcesses,
) -> io::Result<()> {
    let since = query(settings, "select utc_timestamp()")?;
    let bus = settings.port(CloudPort::Bus);
    for api in &APIS[1..] {
        start_api(settings, processes, api)?;
    }
    start_swift(settings, processes)?;
    processes.wait_for("the message bus", READY, || {
        Ok(std::net::TcpStream::connect(("127.0.0.1", bus)).is_ok())
    })?;
    let (balancers, file, takes_requests) = BALANCERS;
    for (name, file) in WORKERS.into_iter().chain([(balancers, file)]) {
        let mut worker = command(&settings.folder, &settings.programs.program(name));
        worker.arg("--config-file").arg(settings.file(file));
        processes.launch(name, worker)?;
    }
    for api in &APIS[1..] {
        wait_for_api(settings, processes, api)?;
    }
    for (name, _, port) in SWIFT {
        let address = settings.address(port);
        processes.wait_for(name, READY, || Ok(answers(&address)))?;
    }
    let log = log_file(&settings.folder, balancers);
    processes.wait_for(balancers, READY, || {
        Ok(fs::read_to_string(&log)?.contains(takes_requests))
    })?;
    let reports = REPORTS.replace("@since@", &since);
    processes.wait_for("the reports of all workers", READY, || {
        let reported: usize = query(settings, &reports)?.parse().unwrap_or(0);
        Ok(reported >= WORKERS.len())
    })
}

fn start_api(
    settings: &CloudSettings,
    processes: &mut CloudProcesses,
    api: &ApiServer,
) -> io::Result<()> {
    let folder = settings.folder.join("settings");
    let nova_pipelines = settings.programs.packages.join("etc/nova/api-paste.ini");
    let nova_files =
        [nova_pipelines, settings.file("nova.conf")].map(|file| file.display().to_string());
    let mut server = command(&settings.folder, &settings.programs.program("uwsgi"));
    server
        .arg("--http-socket")
        .arg(format!("127.0.0.1:{}", settings.port(api.port)))
        .arg("--venv")
        .arg(&settings.programs.packages)
        .args(["--processes", "1", "--threads", "8", "--enable-threads"])
        // The process that loads the API also serves it, and ends with the cloud.
        .args(["--need-app", "--die-on-term", "--disable-logging"])
        .args(["--buffer-size", "65535"])
        // uWSGI closes each connection. Without the header a client may use it again.
        .args(["--add-header", "Connection: close"])
        // Barbican searches the folder of the user for its settings.
        .env("HOME", &folder)
        .env("OS_KEYSTONE_CONFIG_FILES", settings.file("keystone.conf"))
        .env("OS_GLANCE_CONFIG_DIR", &folder)
        .env("OS_PLACEMENT_CONFIG_DIR", &folder)
        .env("OS_NEUTRON_CONFIG_DIR", &folder)
        .env("OS_NEUTRON_CONFIG_FILES", "neutron.conf")
        .env("OS_NOVA_CONFIG_DIR", &folder)
        .env("OS_NOVA_CONFIG_FILES", nova_files.join(";"));
    match api.application {
        ApiApplication::Module(module) => server.arg("--module").arg(module),
        ApiApplication::Pipeline(file) => server
            .arg("--paste")
            .arg(format!("config:{}", settings.file(file).display())),
    };
    if let Some(file) = api.settings {
        let file = settings.file(file);
        server
            .arg("--pyargv")
            .arg(format!("--config-file {}", file.display()));
    }
    processes.launch(api.name, server)
}

/// Starts the servers of Swift. Their rings have the ports of this cloud, so each start writes them.
fn start_swift(settings: &CloudSettings, processes: &mut CloudProcesses) -> io::Result<()> {
    let mut rings = command(&settings.folder, &settings.programs.program("python"));
    rings
        .args(["-c", RINGS])
        .arg(settings.folder.join("settings"));
    for (name, _, port) in &SWIFT[1..] {
        let ring = name.split('-').nth(1).unwrap_or_default();
        rings.arg(format!("{ring}={}", settings.port(*port)));
    }
    run(&settings.folder, "swift-rings", &mut rings)?;
    for (name, file, _) in SWIFT {
        let mut server = command(&settings.folder, &settings.programs.program(name));
        server.arg(settings.file(file));
        processes.launch(name, server)?;
    }
    Ok(())
}

fn wait_for_api(
    settings: &CloudSettings,
    processes: &mut CloudProcesses,
    api: &ApiServer,
) -> io::Result<()> {
    let address = settings.address(api.port);
    processes.wait_for(api.name, READY, || Ok(answers(&address)))
}

/// Runs statements as the administrator of the database server. Returns the rows as text.
///
/// # Errors
/// If the server is not there or refuses a statement, with its message.
pub(super) fn query(settings: &CloudSettings, statements: &str) -> io::Result<String> {
    let socket = PathBuf::from("state").join(DATA).join(SOCKET);
    let output = command(&settings.folder, Path::new("mariadb"))
        .args(["--no-defaults", "--user=root", "--skip-column-names"])
        .arg("--socket")
        .arg(socket)
        .arg("--execute")
        .arg(statements)
        .stdin(Stdio::null())
        .output()?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    if output.status.success() {
        Ok(text(&output.stdout))
    } else {
        Err(io::Error::other(format!(
            "the database: {}",
            text(&output.stderr)
        )))
    }
}
