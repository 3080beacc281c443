//! Uids, generated names and tokens, from a seed.

use rand::rngs::StdRng;
use rand::{Rng, RngExt, SeedableRng};

/// The letters of generated names: no vowels, so that no words appear.
const LETTERS: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";

/// The number of generated letters.
const SUFFIX_LENGTH: usize = 5;

/// The longest name before the generated letters.
const LONGEST_BASE: usize = 63 - SUFFIX_LENGTH;

/// A source of uids, names and tokens.
#[derive(Debug)]
pub(crate) struct IdSource(StdRng);

impl IdSource {
    pub(crate) fn new(seed: u64) -> IdSource {
        IdSource(StdRng::seed_from_u64(seed))
    }

    /// A uid: a random UUID of version 4.
    pub(crate) fn uid(&mut self) -> String {
        let mut bytes = [0_u8; 16];
        self.0.fill_bytes(&mut bytes);
        bytes[6] = bytes[6] & 0x0f | 0x40;
        bytes[8] = bytes[8] & 0x3f | 0x80;
        let digits = hex(&bytes);
        let parts = [
            &digits[..8],
            &digits[8..12],
            &digits[12..16],
            &digits[16..20],
            &digits[20..],
        ];
        parts.join("-")
    }

    /// A name that begins with a base.
    pub(crate) fn name(&mut self, base: &str) -> String {
        let mut name: String = base.chars().take(LONGEST_BASE).collect();
        for _ in 0..SUFFIX_LENGTH {
            let at = self.0.random_range(0..LETTERS.len());
            name.push(char::from(LETTERS[at]));
        }
        name
    }

    /// The random part of a token.
    pub(crate) fn token(&mut self) -> String {
        let mut bytes = [0_u8; 32];
        self.0.fill_bytes(&mut bytes);
        hex(&bytes)
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
