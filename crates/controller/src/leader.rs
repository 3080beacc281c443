//! Leader election by a Lease: one controller works, others wait.
//!
//! A leader renews its Lease. A controller that waits takes a Lease over once it did not change for
//! its whole duration, by the clock of the one who waits, so that clocks need not agree. A leader
//! that cannot renew stops before another one can take over.

use std::time::Duration;

use http::Method;
use jiff::Timestamp;
use kubernetes::GroupKind;
use serde_json::{Value as Json, json};
use tokio::time::Instant;

use crate::api::{JSON, RequestBody, RequestFailure};
use crate::calls::ClusterAccess;
use crate::options::{ControllerOptions, LeaderElection};

/// Tries to become and to stay leader.
pub(crate) struct LeaseCandidate<'a> {
    access: &'a ClusterAccess,
    election: &'a LeaderElection,
    options: &'a ControllerOptions,
    /// The Lease of another holder as it was last read, and since when it is like that.
    observed: Option<(Json, Instant)>,
}

/// What a try gave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LeaseState {
    Held,
    HeldByAnother,
}

impl<'a> LeaseCandidate<'a> {
    pub(crate) fn new(
        access: &'a ClusterAccess,
        election: &'a LeaderElection,
        options: &'a ControllerOptions,
    ) -> LeaseCandidate<'a> {
        LeaseCandidate {
            access,
            election,
            options,
            observed: None,
        }
    }

    /// Waits until this controller is leader.
    pub(crate) async fn acquire(&mut self) {
        loop {
            // A server that fails is asked again like one that says no.
            if let Ok(LeaseState::Held) = self.hold().await {
                return;
            }
            tokio::time::sleep(self.election.period).await;
        }
    }

    /// Renews the Lease until it is lost.
    pub(crate) async fn renew(&mut self) {
        // The rest of the duration is for requests that are on their way when the Lease is lost.
        let limit = self.election.lease * 2 / 3;
        let mut renewed = Instant::now();
        while renewed.elapsed() < limit {
            tokio::time::sleep(self.election.period).await;
            let left = limit.saturating_sub(renewed.elapsed());
            let tried = Instant::now();
            match tokio::time::timeout(left.max(Duration::from_millis(1)), self.hold()).await {
                Ok(Ok(LeaseState::Held)) => renewed = tried,
                Ok(Ok(LeaseState::HeldByAnother)) => return,
                Ok(Err(_)) | Err(_) => {}
            }
        }
    }

    /// Gives the Lease back, so that another controller need not wait. A failure is left: the Lease
    /// then ends by itself.
    pub(crate) async fn release(&mut self) {
        let Ok(mut lease) = self.read().await else {
            return;
        };
        if lease["spec"]["holderIdentity"].as_str() != Some(self.election.identity.as_str()) {
            return;
        }
        lease["spec"]["holderIdentity"] = json!("");
        lease["spec"]["renewTime"] = json!(self.now());
        lease["spec"]["leaseDurationSeconds"] = json!(1);
        let _ = self.replace(&lease).await;
    }

    async fn hold(&mut self) -> Result<LeaseState, RequestFailure> {
        let mut lease = match self.read().await {
            Ok(lease) => lease,
            Err(failure) if failure.is_missing() => return self.create().await,
            Err(failure) => return Err(failure),
        };
        let holder = lease["spec"]["holderIdentity"].as_str().unwrap_or_default();
        let own = holder == self.election.identity;
        if !own && !holder.is_empty() && !self.is_over(&lease) {
            return Ok(LeaseState::HeldByAnother);
        }
        let now = self.now();
        if !own {
            let transitions = lease["spec"]["leaseTransitions"].as_i64().unwrap_or(0);
            lease["spec"]["leaseTransitions"] = json!(transitions.saturating_add(1));
            lease["spec"]["acquireTime"] = json!(now);
        }
        lease["spec"]["holderIdentity"] = json!(self.election.identity);
        lease["spec"]["leaseDurationSeconds"] = json!(self.election.lease.as_secs().max(1));
        lease["spec"]["renewTime"] = json!(now);
        match self.replace(&lease).await {
            Ok(()) => Ok(LeaseState::Held),
            // Another controller was faster. If it is ours that changed, the next try says so.
            Err(failure) if failure.is_conflict() && !own => Ok(LeaseState::HeldByAnother),
            Err(failure) => Err(failure),
        }
    }

    /// Whether the Lease of another holder did not change for its duration.
    fn is_over(&mut self, lease: &Json) -> bool {
        let spec = &lease["spec"];
        let lasts = spec["leaseDurationSeconds"].as_u64();
        let lasts = lasts.map_or(self.election.lease, Duration::from_secs);
        match &self.observed {
            Some((known, since)) if known == spec => since.elapsed() >= lasts,
            _ => {
                self.observed = Some((spec.clone(), Instant::now()));
                false
            }
        }
    }

    async fn create(&mut self) -> Result<LeaseState, RequestFailure> {
        let now = self.now();
        let lease = json!({
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": {"name": self.election.name, "namespace": self.election.namespace},
            "spec": {
                "holderIdentity": self.election.identity,
                "leaseDurationSeconds": self.election.lease.as_secs().max(1),
                "acquireTime": now,
                "renewTime": now,
                "leaseTransitions": 0,
            },
        });
        let (collection, _) = self.paths();
        match self
            .send("create", Method::POST, &collection, Some(&lease))
            .await
        {
            Ok(_) => Ok(LeaseState::Held),
            Err(failure) if failure.is_already_there() => Ok(LeaseState::HeldByAnother),
            Err(failure) => Err(failure),
        }
    }

    async fn read(&self) -> Result<Json, RequestFailure> {
        let (_, path) = self.paths();
        self.send("get", Method::GET, &path, None).await
    }

    async fn replace(&self, lease: &Json) -> Result<(), RequestFailure> {
        let (_, path) = self.paths();
        let sent = self.send("update", Method::PUT, &path, Some(lease));
        sent.await.map(|_| ())
    }

    async fn send(
        &self,
        verb: &'static str,
        method: Method,
        path: &str,
        lease: Option<&Json>,
    ) -> Result<Json, RequestFailure> {
        let kind = GroupKind::new("coordination.k8s.io", "Lease");
        let body = lease.map(|object| RequestBody { form: JSON, object });
        let resource = "leases.coordination.k8s.io";
        self.access.counters.count_request(verb, resource);
        self.access.controller.send(method, path, &kind, body).await
    }

    /// The paths of all Leases of the namespace, and of the Lease.
    fn paths(&self) -> (String, String) {
        let (namespace, name) = (&self.election.namespace, &self.election.name);
        let all = format!("/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases");
        let one = format!("{all}/{name}");
        (all, one)
    }

    fn now(&self) -> String {
        microseconds(self.options.clock.as_ref()())
    }
}

/// A time as Leases write it.
fn microseconds(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%S.%6fZ").to_string()
}
