//! How values are encoded in each call: the rules of the protocol as one function.

use crate::encode::Encoding;
use crate::lookups::Lookups;

/// What a plugin has said it understands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Accepts {
    /// Secrets in their wire form. Without it they are sent bare.
    pub secrets: bool,
    /// References to resources. Without it the id is sent, or the URN.
    pub resources: bool,
    /// Output values. Calls for plain resources never send them; answers may hold them.
    pub outputs: bool,
    /// Bytes that are not UTF-8.
    pub bytes: bool,
}

/// Whether a call is made for a plan or to change something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// For a plan: values may be unknown.
    Planning,
    /// With everything known.
    Applying,
}

/// A part of a request, as far as it decides how values are encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestPart {
    /// Settings of the provider: CheckConfig, DiffConfig, Configure.
    Config,
    /// Both sides of Check.
    Check,
    /// All sides of Diff.
    Diff,
    /// What Create and Update are to make. `Planning` is their preview.
    Desired,
    /// What is recorded: the old side of Update, and Read and Delete.
    Recorded,
    /// The arguments of Invoke.
    Arguments,
}

impl<'a> Encoding<'a> {
    /// The encoding of a part of a request.
    pub fn of(part: RequestPart, phase: Phase, accepts: Accepts, lookups: &'a dyn Lookups) -> Encoding<'a> {
        let negotiated = Encoding {
            unknowns: phase == Phase::Planning,
            secrets: accepts.secrets,
            references: accepts.resources,
            bytes: accepts.bytes,
            hash_only: false,
            lookups,
        };
        match part {
            RequestPart::Config => Encoding { secrets: false, references: false, ..negotiated },
            RequestPart::Check | RequestPart::Desired => negotiated,
            RequestPart::Diff => Encoding { hash_only: true, ..negotiated },
            RequestPart::Recorded => Encoding { unknowns: false, hash_only: true, ..negotiated },
            RequestPart::Arguments => Encoding { unknowns: false, ..negotiated },
        }
    }
}
