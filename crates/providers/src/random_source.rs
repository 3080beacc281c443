//! Randomness: from the operating system, or from a seed in tests.

use provider::{Call, ErrorKind, ProviderError};
use rand::SeedableRng;
use rand::rngs::{StdRng, SysRng};
use sha2::{Digest, Sha256};

/// A source of randomness. It has no state, so concurrent calls do not affect each other.
#[derive(Clone, Copy, Debug)]
pub enum RandomSource {
    /// The operating system.
    System,
    /// A seed. The numbers depend only on the seed, on the address and on the token of the call.
    Seed(u64),
}

impl RandomSource {
    /// Creates a cryptographically secure generator for one call.
    ///
    /// # Errors
    /// [`ErrorKind::Transient`] if the operating system gives no random numbers.
    pub fn draw(self, call: &Call) -> Result<StdRng, ProviderError> {
        match self {
            RandomSource::System => StdRng::try_from_rng(&mut SysRng).map_err(|_| {
                ProviderError::new(
                    ErrorKind::Transient,
                    "the operating system gives no random numbers at the moment",
                )
            }),
            RandomSource::Seed(seed) => {
                let text = format!("{seed}/{}/{}", call.address, call.token);
                Ok(StdRng::from_seed(Sha256::digest(text.as_bytes()).into()))
            }
        }
    }
}
