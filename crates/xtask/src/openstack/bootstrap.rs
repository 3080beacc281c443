//! The state of a new cloud: databases, identities and first objects.
//!
//! Making it takes a minute or two, so it is made once and copied for each start. The name of the
//! folder contains a digest of what it was made from.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::install::{CloudPrograms, DRIVERS, REQUIREMENTS, digest};
use super::processes::{CloudProcesses, command, run};
use super::services::{self, DATA, DATABASE, query};
use super::settings::{CloudPort, CloudSettings, PARTS, PASSWORD, TEMPLATES};
use crate::packages::cache;

/// The script that makes users, roles, endpoints and the first objects.
const SEED: &str = include_str!("../../counterparts/openstack/seed.py");

/// Sends one request to Neutron.
const FIRST_REQUEST: &str =
    "import openstack; list(openstack.connect(cloud='demo').network.networks())";

/// The databases of the services.
const DATABASES: [&str; 11] = [
    "keystone",
    "glance",
    "placement",
    "neutron",
    "nova_api",
    "nova_cell0",
    "nova_cell1",
    "cinder",
    "heat",
    "octavia",
    "barbican",
];

/// What makes the tables of each service. Most of the work is the start of Python, so the services
/// with several programs come first.
const SCHEMAS: [fn(&CloudSettings) -> io::Result<()>; 9] = [
    make_keystone,
    make_nova,
    |settings| {
        let arguments = ["upgrade", "heads"];
        manage(settings, "neutron-db-manage", "neutron.conf", &arguments)
    },
    |settings| manage(settings, "cinder-manage", "cinder.conf", &["db", "sync"]),
    |settings| manage(settings, "heat-manage", "heat.conf", &["db_sync"]),
    make_octavia,
    make_barbican,
    |settings| manage(settings, "glance-manage", "glance-api.conf", &["db_sync"]),
    |settings| {
        manage(
            settings,
            "placement-manage",
            "placement.conf",
            &["db", "sync"],
        )
    },
];

/// The folders that services expect in the folder of the state.
const FOLDERS: [&str; 10] = [
    "keystone/tokens",
    "keystone/credentials",
    "glance/images",
    "glance/staging",
    "glance/tasks",
    "glance/cache",
    "nova/instances",
    "cinder/coordination",
    "octavia",
    "swift/disk",
];

/// The time within which Nova's scheduler must find the host.
const HOST_FOUND: Duration = Duration::from_secs(120);

/// The number of hosts that Nova knows.
const HOSTS: &str = "select count(*) from nova_api.host_mappings";

/// Copies the state of a new cloud into the folder `state` of this folder. Makes the state first if
/// it is missing.
///
/// # Errors
/// If the state cannot be made or copied.
pub(super) fn prepare_state(folder: &Path, programs: &CloudPrograms) -> io::Result<()> {
    let all = cache()?;
    let template = all.join(format!("openstack-state-{}", state_digest()));
    let lock = File::create(all.join("openstack-state.lock"))?;
    lock.lock()?;
    if !template.is_dir() {
        eprintln!("openstack: making the state of a new cloud, once");
        make_template(folder, programs, &template)?;
    }
    fs::create_dir_all(folder)?;
    copy(&template, &folder.join("state"))
}

/// A digest of everything that the state of a new cloud is made from.
fn state_digest() -> String {
    let mut sources = vec![
        REQUIREMENTS,
        SEED,
        include_str!("bootstrap.rs"),
        include_str!("settings.rs"),
    ];
    let settings = TEMPLATES.iter().chain(&PARTS).chain(&DRIVERS);
    sources.extend(settings.map(|(_, text)| *text));
    digest(&sources)
}

/// Starts a cloud without a state, fills it, and keeps the state.
fn make_template(folder: &Path, programs: &CloudPrograms, template: &Path) -> io::Result<()> {
    let settings = CloudSettings::new(folder.to_owned(), programs.clone())?;
    let mut processes = CloudProcesses::new(folder)?;
    for name in FOLDERS {
        let folder = settings.state().join(name);
        fs::create_dir_all(&folder)?;
        // Keystone warns of keys that others may read.
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o700))?;
    }
    settings.write()?;
    install_database(&settings)?;
    services::start_database(&settings, &mut processes)?;
    services::start_bus(&settings, &mut processes)?;
    make_databases(&settings)?;
    make_schemas(&settings)?;
    services::start_keystone(&settings, &mut processes)?;
    seed(&settings, "identity")?;
    services::start_services(&settings, &mut processes)?;
    seed(&settings, "objects")?;
    processes.wait_for("the host of Nova", HOST_FOUND, || {
        Ok(query(&settings, HOSTS)? != "0")
    })?;
    // A database that was killed would repair itself at each start.
    processes.end(DATABASE)?;
    drop(processes);
    let part = template.with_extension(std::process::id().to_string());
    copy(&settings.state(), &part)?;
    fs::rename(&part, template)?;
    fs::remove_dir_all(folder)
}

fn install_database(settings: &CloudSettings) -> io::Result<()> {
    let data = settings.state().join(DATA);
    let mut installer = command(&settings.folder, Path::new("mariadb-install-db"));
    installer
        .arg("--no-defaults")
        .arg(format!("--datadir={}", data.display()))
        .arg(format!("--user={}", settings.user))
        .args(["--auth-root-authentication-method=normal", "--skip-test-db"]);
    run(&settings.folder, "mariadb-install-db", &mut installer)
}

fn make_databases(settings: &CloudSettings) -> io::Result<()> {
    let databases: String = DATABASES
        .iter()
        .map(|name| format!("create database {name} character set utf8mb3;\n"))
        .collect();
    let user = format!(
        "create user cloud@'127.0.0.1' identified by '{PASSWORD}';
         grant all on *.* to cloud@'127.0.0.1';"
    );
    query(settings, &(databases + &user)).map(|_| ())
}

/// Makes the tables of all databases, and the first user of Keystone. Two programs run at the same
/// time.
fn make_schemas(settings: &CloudSettings) -> io::Result<()> {
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some(make) = SCHEMAS.get(next.fetch_add(1, Ordering::Relaxed)) {
            make(settings).inspect_err(|_| next.store(SCHEMAS.len(), Ordering::Relaxed))?;
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let other = scope.spawn(work);
        let panicked = || Err(io::Error::other("a thread panicked"));
        work().and(other.join().unwrap_or_else(|_| panicked()))
    })
}

fn make_keystone(settings: &CloudSettings) -> io::Result<()> {
    let keystone =
        |arguments: &[&str]| manage(settings, "keystone-manage", "keystone.conf", arguments);
    let user = &settings.user;
    let address = format!("{}/v3", settings.address(CloudPort::Keystone));
    keystone(&["db_sync"])?;
    for keys in ["fernet_setup", "credential_setup"] {
        keystone(&[keys, "--keystone-user", user, "--keystone-group", &group()?])?;
    }
    keystone(&[
        "bootstrap",
        "--bootstrap-password",
        PASSWORD,
        "--bootstrap-region-id",
        "RegionOne",
        "--bootstrap-public-url",
        &address,
        "--bootstrap-internal-url",
        &address,
        "--bootstrap-admin-url",
        &address,
    ])
}

fn make_nova(settings: &CloudSettings) -> io::Result<()> {
    let nova = |arguments: &[&str]| manage(settings, "nova-manage", "nova.conf", arguments);
    let cell0 = cell_database(settings, "nova_cell0");
    nova(&["api_db", "sync"])?;
    nova(&["cell_v2", "map_cell0", "--database_connection", &cell0])?;
    nova(&["cell_v2", "create_cell", "--name", "cell1"])?;
    nova(&["db", "sync"])
}

/// Makes the tables of Octavia, and the authority that signs the certificates of its machines.
fn make_octavia(settings: &CloudSettings) -> io::Result<()> {
    let folder = settings.state().join("octavia");
    let mut authority = command(&settings.folder, Path::new("openssl"));
    authority
        .args(["req", "-x509", "-newkey", "rsa:2048", "-days", "3650"])
        .args(["-subj", "/CN=cloud"])
        .arg("-passout")
        .arg(format!("pass:{PASSWORD}"))
        .arg("-keyout")
        .arg(folder.join("authority.key"))
        .arg("-out")
        .arg(folder.join("authority.pem"));
    run(&settings.folder, "openssl", &mut authority)?;
    let arguments = ["upgrade", "head"];
    manage(settings, "octavia-db-manage", "octavia.conf", &arguments)
}

fn make_barbican(settings: &CloudSettings) -> io::Result<()> {
    let program = settings.programs.program("barbican-manage");
    let mut manager = command(&settings.folder, &program);
    manager
        .args(["db", "upgrade"])
        // It searches the folder of the user for its settings.
        .env("HOME", settings.folder.join("settings"));
    run(&settings.folder, "barbican-manage", &mut manager)
}

/// Runs a program of a service with its settings.
fn manage(
    settings: &CloudSettings,
    program: &'static str,
    file: &str,
    arguments: &[&str],
) -> io::Result<()> {
    let mut manager: Command = command(&settings.folder, &settings.programs.program(program));
    manager
        .arg("--config-file")
        .arg(settings.file(file))
        .args(arguments);
    run(&settings.folder, program, &mut manager)
}

/// Runs a part of the script that fills a new cloud.
fn seed(settings: &CloudSettings, part: &str) -> io::Result<()> {
    let endpoints: Vec<String> = settings
        .catalogue()
        .into_iter()
        // Keystone makes its own.
        .filter(|(kind, _, _)| *kind != "identity")
        .map(|(kind, name, url)| format!("{kind} {name} {url}"))
        .collect();
    let mut python = command(&settings.folder, &settings.programs.program("python"));
    python
        .args(["-c", SEED, part])
        .env("OS_CLIENT_CONFIG_FILE", settings.file("clouds.yaml"))
        .env("CLOUD_PASSWORD", PASSWORD)
        .env("CLOUD_ENDPOINTS", endpoints.join("\n"));
    run(&settings.folder, "seed", &mut python)
}

/// Sends the first request to Neutron, which loads its policies. Requests that arrive meanwhile
/// would be refused, so this one must be alone.
///
/// # Errors
/// If Neutron does not answer it.
pub(super) fn load_policies(settings: &CloudSettings) -> io::Result<()> {
    let mut python = command(&settings.folder, &settings.programs.program("python"));
    python
        .args(["-c", FIRST_REQUEST])
        .env("OS_CLIENT_CONFIG_FILE", settings.file("clouds.yaml"));
    run(&settings.folder, "first-request", &mut python)
}

/// Writes the addresses of this cloud over those of the cloud in which the state was made. The
/// database server must run.
///
/// # Errors
/// If the database refuses it.
pub(super) fn move_addresses(settings: &CloudSettings) -> io::Result<()> {
    let endpoints: String = settings
        .catalogue()
        .iter()
        .map(|(kind, _, url)| {
            format!(
                "update keystone.endpoint join keystone.service on service_id = service.id \
                 set url = '{url}' where type = '{kind}';\n"
            )
        })
        .collect();
    let cells: String = ["cell0", "cell1"]
        .iter()
        .map(|cell| {
            let database = cell_database(settings, &format!("nova_{cell}"));
            format!(
                "update nova_api.cell_mappings set database_connection = '{database}' \
                 where name = '{cell}';\n"
            )
        })
        .collect();
    let bus = format!(
        "update nova_api.cell_mappings set transport_url = '{}' where name = 'cell1';\n",
        settings.bus()
    );
    let images = format!(
        "update glance.image_locations set value = concat('file://{}/glance/images/', image_id);\n",
        settings.state().display()
    );
    query(settings, &[endpoints, cells, bus, images].concat()).map(|_| ())
}

fn cell_database(settings: &CloudSettings, name: &str) -> String {
    format!("{}/{name}?charset=utf8mb4", settings.database())
}

/// The name of the group of this program.
fn group() -> io::Result<String> {
    let output = Command::new("id").arg("-gn").output()?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Copies a folder with its permissions.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let status = Command::new("cp")
        .args(["--archive", "--reflink=auto"])
        .args([from, to])
        .status()?;
    if status.success() {
        Ok(())
    } else {
        let (from, to) = (from.display(), to.display());
        Err(io::Error::other(format!("cannot copy {from} to {to}")))
    }
}
