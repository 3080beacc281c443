//! The settings of the services of the cloud: ports, addresses, and files from the templates in
//! `counterparts/openstack/settings`.
//!
//! A template names values as `@NAME@`. A part is a template that other templates include.

use std::fs;
use std::io;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::install::CloudPrograms;

macro_rules! setting {
    ($name:literal) => {
        (
            $name,
            include_str!(concat!("../../counterparts/openstack/settings/", $name)),
        )
    };
}

/// The templates of the files, with the names of the files.
pub(super) const TEMPLATES: [(&str, &str); 17] = [
    setting!("keystone.conf"),
    setting!("glance-api.conf"),
    setting!("placement.conf"),
    setting!("neutron.conf"),
    setting!("nova.conf"),
    setting!("cinder.conf"),
    setting!("heat.conf"),
    setting!("octavia.conf"),
    setting!("barbican.conf"),
    setting!("barbican-paste.ini"),
    setting!("swift.conf"),
    setting!("swift-account.conf"),
    setting!("swift-container.conf"),
    setting!("swift-object.conf"),
    setting!("swift-proxy.conf"),
    setting!("rabbitmq.conf"),
    setting!("clouds.yaml"),
];

/// The parts that templates include. A part may include a later one.
pub(super) const PARTS: [(&str, &str); 4] = [
    ("swift", setting!("swift.part").1),
    ("tokens", setting!("tokens.part").1),
    ("login", setting!("login.part").1),
    ("common", setting!("common.part").1),
];

/// The password of every user. The cloud listens on this machine alone.
pub(super) const PASSWORD: &str = "secret";

/// The number of ports of one cloud.
const BLOCK: u16 = 32;

/// The ports from which blocks are taken. The system gives ports of connections from 32768 on, so
/// none of these is taken between the search and the start of a server.
const PORTS: std::ops::Range<u16> = 20_000..30_000;

/// What listens on a port. The value is the distance from the first port of the block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CloudPort {
    Keystone = 1,
    Glance,
    Placement,
    Neutron,
    Nova,
    Cinder,
    Heat,
    Octavia,
    Barbican,
    /// The server of Swift that users ask.
    Swift,
    SwiftAccounts,
    SwiftContainers,
    SwiftObjects,
    Database,
    Bus,
    /// The connections between nodes of Erlang.
    ErlangNode,
    /// The names of the nodes of Erlang.
    ErlangNames,
    /// No program. Heat needs an address for the calls of guests.
    Nothing,
}

/// A block of ports for one cloud. No other cloud takes them until this is dropped.
#[derive(Debug)]
struct PortBlock {
    /// Listens on the first port of the block, which says that the block is taken.
    first: TcpListener,
}

impl PortBlock {
    /// Takes a block on whose ports nothing listens.
    ///
    /// # Errors
    /// If there is none.
    fn take() -> io::Result<Self> {
        PORTS
            .step_by(usize::from(BLOCK))
            .find_map(|base| {
                let listen = |port: u16| TcpListener::bind(("127.0.0.1", port)).ok();
                let first = listen(base)?;
                let others: Option<Vec<TcpListener>> =
                    (base + 1..base + BLOCK).map(listen).collect();
                others.map(|_| Self { first })
            })
            .ok_or_else(|| io::Error::other(format!("no free ports in {PORTS:?}")))
    }

    fn base(&self) -> io::Result<u16> {
        Ok(self.first.local_addr()?.port())
    }
}

/// The settings of one cloud.
#[derive(Debug)]
pub(super) struct CloudSettings {
    /// The folder of the cloud: settings, logs and state. It has no links in it.
    pub(super) folder: PathBuf,
    pub(super) programs: CloudPrograms,
    /// The name of the user of this program.
    pub(super) user: String,
    base: u16,
    /// Keeps the ports.
    _ports: PortBlock,
}

impl CloudSettings {
    /// Takes ports for a cloud with this folder.
    ///
    /// # Errors
    /// If there are no free ports, or the system does not know the user.
    pub(super) fn new(folder: PathBuf, programs: CloudPrograms) -> io::Result<Self> {
        let ports = PortBlock::take()?;
        Ok(Self {
            folder,
            programs,
            user: user()?,
            base: ports.base()?,
            _ports: ports,
        })
    }

    pub(super) fn port(&self, port: CloudPort) -> u16 {
        self.base + port as u16
    }

    /// The address of a service.
    pub(super) fn address(&self, port: CloudPort) -> String {
        format!("http://127.0.0.1:{}", self.port(port))
    }

    /// A file of the settings.
    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.folder.join("settings").join(name)
    }

    /// The folder with what outlives a restart.
    pub(super) fn state(&self) -> PathBuf {
        self.folder.join("state")
    }

    /// The address of the database server for the services, without the name of a database.
    pub(super) fn database(&self) -> String {
        let port = self.port(CloudPort::Database);
        format!("mysql+pymysql://cloud:{PASSWORD}@127.0.0.1:{port}")
    }

    /// The address of the message bus.
    pub(super) fn bus(&self) -> String {
        format!(
            "rabbit://guest:guest@127.0.0.1:{}/",
            self.port(CloudPort::Bus)
        )
    }

    /// The catalogue: type, name and address of each service. A service that is added needs a row.
    pub(super) fn catalogue(&self) -> [(&'static str, &'static str, String); 10] {
        let at = |port, path: &str| format!("{}{path}", self.address(port));
        [
            ("identity", "keystone", at(CloudPort::Keystone, "/v3")),
            ("image", "glance", at(CloudPort::Glance, "")),
            ("placement", "placement", at(CloudPort::Placement, "")),
            ("network", "neutron", at(CloudPort::Neutron, "")),
            ("compute", "nova", at(CloudPort::Nova, "/v2.1")),
            ("block-storage", "cinder", at(CloudPort::Cinder, "/v3")),
            (
                "orchestration",
                "heat",
                at(CloudPort::Heat, "/v1/%(project_id)s"),
            ),
            ("load-balancer", "octavia", at(CloudPort::Octavia, "")),
            ("key-manager", "barbican", at(CloudPort::Barbican, "")),
            (
                "object-store",
                "swift",
                at(CloudPort::Swift, "/v1/AUTH_%(project_id)s"),
            ),
        ]
    }

    /// Writes the files of the settings.
    ///
    /// # Errors
    /// If a folder or file cannot be written.
    pub(super) fn write(&self) -> io::Result<()> {
        fs::create_dir_all(self.folder.join("settings"))?;
        for (name, template) in TEMPLATES {
            fs::write(self.file(name), self.fill(template))?;
        }
        Ok(())
    }

    /// Fills a template with the values of this cloud.
    fn fill(&self, template: &str) -> String {
        let path = |path: &Path| path.display().to_string();
        let port = |port| self.port(port).to_string();
        let values = [
            ("folder", path(&self.folder)),
            ("settings", path(&self.folder.join("settings"))),
            ("state", path(&self.state())),
            ("packages", path(&self.programs.packages)),
            ("database", self.database()),
            ("bus", self.bus()),
            ("keystone", self.address(CloudPort::Keystone)),
            ("glance", self.address(CloudPort::Glance)),
            ("barbican", self.address(CloudPort::Barbican)),
            ("swift-proxy", port(CloudPort::Swift)),
            ("swift-account", port(CloudPort::SwiftAccounts)),
            ("swift-container", port(CloudPort::SwiftContainers)),
            ("swift-object", port(CloudPort::SwiftObjects)),
            ("user", self.user.clone()),
            ("nothing", self.address(CloudPort::Nothing)),
            ("password", PASSWORD.to_owned()),
        ];
        let with_parts = PARTS
            .iter()
            .fold(template.to_owned(), |text, (name, part)| {
                text.replace(&format!("@{name}@"), part)
            });
        values.iter().fold(with_parts, |text, (name, value)| {
            text.replace(&format!("@{name}@"), value)
        })
    }
}

/// The name of the user of this program.
///
/// # Errors
/// If the system does not know it.
fn user() -> io::Result<String> {
    let output = Command::new("id").arg("-un").output()?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::{CloudPort, CloudSettings, TEMPLATES};
    use crate::openstack::install::CloudPrograms;

    fn settings() -> CloudSettings {
        let programs = CloudPrograms {
            packages: "/packages".into(),
            database: "mariadbd".into(),
            bus: "rabbitmq-server".into(),
        };
        CloudSettings::new("/cloud".into(), programs).expect("some ports are free")
    }

    #[test]
    fn every_value_of_a_template_is_known() {
        let settings = settings();
        for (name, template) in TEMPLATES {
            let filled = settings.fill(template);
            let left: Vec<&str> = filled
                .lines()
                .filter(|line| line.matches('@').count() > 1)
                .collect();
            assert!(left.is_empty(), "{name}: {left:?}");
        }
    }

    #[test]
    fn two_clouds_have_different_ports() {
        let (one, other) = (settings(), settings());
        assert!(one.port(CloudPort::Nothing) < other.port(CloudPort::Keystone));
    }
}
