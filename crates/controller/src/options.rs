//! What a controller is started with.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use cartographer::compat::Compat;
use jiff::Timestamp;
use kube::Client;

/// Tells the time for statuses, events and leases.
pub type WallClock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// Makes a client that signs its requests with a token. The error is a message.
pub type TokenClient = Arc<dyn Fn(&str) -> Result<Client, String> + Send + Sync>;

/// How requests of service accounts are sent.
#[derive(Clone)]
pub enum AccountClients {
    /// Through the client of the controller, with the token as a header. Right for a client that
    /// has no credentials of its own, as that of a local cluster.
    SameConnection,
    /// Through a client for each account.
    PerToken(TokenClient),
}

impl fmt::Debug for AccountClients {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            AccountClients::SameConnection => "SameConnection",
            AccountClients::PerToken(_) => "PerToken",
        })
    }
}

/// The clients of service accounts for a server that `config` names: the same connection, without
/// the credentials of the configuration.
pub fn clients_for(config: &kube::Config) -> AccountClients {
    let config = config.clone();
    AccountClients::PerToken(Arc::new(move |token: &str| {
        let mut config = config.clone();
        config.auth_info = kube::config::AuthInfo {
            token: Some(token.to_owned().into()),
            ..kube::config::AuthInfo::default()
        };
        Client::try_from(config).map_err(|error| error.to_string())
    }))
}

/// How one of several controllers is chosen: by a Lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaderElection {
    /// The namespace of the Lease.
    pub namespace: String,
    /// The name of the Lease.
    pub name: String,
    /// Who this controller is: different for each one.
    pub identity: String,
    /// How long a leader that does not renew its Lease stays leader.
    pub lease: Duration,
    /// How often the leader renews its Lease, and others try to take it.
    pub period: Duration,
}

impl LeaderElection {
    /// An election with the usual times: a lease of 15 s, renewed every 2 s.
    pub fn new(
        namespace: impl Into<String>,
        name: impl Into<String>,
        identity: impl Into<String>,
    ) -> LeaderElection {
        LeaderElection {
            namespace: namespace.into(),
            name: name.into(),
            identity: identity.into(),
            lease: Duration::from_secs(15),
            period: Duration::from_secs(2),
        }
    }
}

/// What a controller is started with.
#[derive(Clone)]
pub struct ControllerOptions {
    /// Whose behaviour counts where documents mean something else upstream.
    pub compat: Compat,
    /// How many objects are reconciled at the same time, at least one.
    pub workers: usize,
    /// Every object is reconciled again after this time.
    pub resync: Duration,
    /// How one of several controllers is chosen; `None` for the only one.
    pub leader_election: Option<LeaderElection>,
    /// How requests of service accounts are sent.
    pub accounts: AccountClients,
    /// Tells the time.
    pub clock: WallClock,
}

impl ControllerOptions {
    /// The usual options, for the only controller of a cluster.
    pub fn new(clock: WallClock) -> ControllerOptions {
        ControllerOptions {
            compat: Compat::Ours,
            workers: 8,
            resync: Duration::from_secs(10 * 60 * 60),
            leader_election: None,
            accounts: AccountClients::SameConnection,
            clock,
        }
    }

    /// The time now, in whole seconds, as objects write it.
    pub(crate) fn now(&self) -> String {
        seconds(self.clock.as_ref()())
    }
}

impl fmt::Debug for ControllerOptions {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("ControllerOptions")
            .field("compat", &self.compat)
            .field("workers", &self.workers)
            .field("resync", &self.resync)
            .field("leader_election", &self.leader_election)
            .field("accounts", &self.accounts)
            .finish_non_exhaustive()
    }
}

/// A time in whole seconds, as objects write it.
pub(crate) fn seconds(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}
