//! Where chance comes from: the operating system, or a seed in tests.

use provider::{Call, ErrorKind, ProviderError};
use rand::SeedableRng;
use rand::rngs::{StdRng, SysRng};
use sha2::{Digest, Sha256};

/// A source of randomness. It holds no state, so that calls that run at the same time do not disturb each other.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Source {
    /// The operating system's.
    System,
    /// A seed: what is drawn depends on it, on the address and on the token of the call, and on nothing else.
    Seed(u64),
}

impl Source {
    /// A generator fit for passwords and other secrets, for one call. [`ErrorKind::Transient`] if the operating system
    /// gives none.
    pub(crate) fn draw(self, call: &Call) -> Result<StdRng, ProviderError> {
        match self {
            Source::System => StdRng::try_from_rng(&mut SysRng).map_err(|_| {
                ProviderError::new(ErrorKind::Transient, "the operating system gives no random numbers at the moment")
            }),
            Source::Seed(seed) => {
                let text = format!("{seed}/{}/{}", call.address, call.token);
                Ok(StdRng::from_seed(Sha256::digest(text.as_bytes()).into()))
            }
        }
    }
}
