//! Choices that a seed decides.

use serde_json::Value as Json;

/// A sequence of choices; the same seed gives the same ones.
pub(crate) struct Seeded(u64);

impl Seeded {
    pub(crate) fn new(seed: u64) -> Seeded {
        Seeded(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d_4c95_7f2d)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16
    }

    /// A number below `end`, which is not 0.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.next() % u64::try_from(end).unwrap()) as usize
    }

    /// Whether something happens that happens `times` times in a hundred.
    pub(crate) fn percent(&mut self, times: usize) -> bool {
        self.below(100) < times
    }

    pub(crate) fn one<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }

    /// Some of the values, in a random order.
    pub(crate) fn some(&mut self, of: &[Json]) -> Vec<Json> {
        let mut left = of.to_vec();
        let mut chosen = Vec::new();
        while !left.is_empty() {
            let value = left.remove(self.below(left.len()));
            if self.percent(50) {
                chosen.push(value);
            }
        }
        chosen
    }
}
