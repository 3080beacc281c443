//! The encoding of values in each call: the rules of the protocol as one function.

use crate::encode::Encoding;
use crate::lookups::Lookups;

/// The special values that a plugin accepts, according to its handshake or configuration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Accepts {
    /// Secrets in their wire form. If not accepted, they are sent without a mark.
    pub secrets: bool,
    /// References to resources. If not accepted, the id is sent, or the URN.
    pub resources: bool,
    /// Output values. Calls for ordinary resources never send them; answers may contain them.
    pub outputs: bool,
    /// Bytes that are not UTF-8.
    pub bytes: bool,
}

/// The purpose of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Planning: values may be unknown.
    Planning,
    /// Changing something: all values are known.
    Applying,
}

/// A part of a request. It decides how values are encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestPart {
    /// Settings of the provider: CheckConfig, DiffConfig, Configure.
    Config,
    /// Both sides of Check.
    Check,
    /// All sides of Diff.
    Diff,
    /// The desired inputs of Create and Update; with `Planning`, of their previews.
    Desired,
    /// Recorded values: the old side of Update, and the values of Read and Delete.
    Recorded,
    /// The arguments of Invoke.
    Arguments,
}

impl<'a> Encoding<'a> {
    /// The encoding of a part of a request.
    pub fn of(
        part: RequestPart,
        phase: Phase,
        accepts: Accepts,
        lookups: &'a dyn Lookups,
    ) -> Encoding<'a> {
        let negotiated = Encoding {
            unknowns: phase == Phase::Planning,
            secrets: accepts.secrets,
            references: accepts.resources,
            bytes: accepts.bytes,
            hash_only: false,
            lookups,
        };
        match part {
            RequestPart::Config => Encoding {
                secrets: false,
                references: false,
                ..negotiated
            },
            RequestPart::Check | RequestPart::Desired => negotiated,
            RequestPart::Diff => Encoding {
                hash_only: true,
                ..negotiated
            },
            RequestPart::Recorded => Encoding {
                unknowns: false,
                hash_only: true,
                ..negotiated
            },
            RequestPart::Arguments => Encoding {
                unknowns: false,
                ..negotiated
            },
        }
    }
}
