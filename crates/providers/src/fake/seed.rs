//! Deterministic pseudo-random numbers: the same text gives the same numbers.

use sha2::{Digest, Sha256};

/// A generator that draws from a hash chain over the seed.
pub(super) struct Seed {
    state: [u8; 32],
    at: usize,
}

impl Seed {
    /// The generator for a seed.
    pub(super) fn new(text: &str) -> Seed {
        Seed {
            state: Sha256::digest(text.as_bytes()).into(),
            at: 0,
        }
    }

    /// The next byte.
    pub(super) fn byte(&mut self) -> u8 {
        if self.at == self.state.len() {
            self.state = Sha256::digest(self.state).into();
            self.at = 0;
        }
        let byte = self.state.get(self.at).copied().unwrap_or_default();
        self.at += 1;
        byte
    }

    /// The next number of 64 bits.
    pub(super) fn number(&mut self) -> u64 {
        (0..8).fold(0, |number, _| number << 8 | u64::from(self.byte()))
    }

    /// A number below `most`; 0 if `most` is 0.
    pub(super) fn below(&mut self, most: u64) -> u64 {
        self.number().checked_rem(most).unwrap_or(0)
    }

    /// A text with this number of hexadecimal digits.
    pub(super) fn hex(&mut self, digits: usize) -> String {
        (0..digits)
            .filter_map(|_| char::from_digit(u32::from(self.byte() & 15), 16))
            .collect()
    }
}
