//! The search for runs of letters: for parts of secrets, and for whole secrets in blocks. Its time
//! depends on the length of the text, not on the number of secrets.
//!
//! Not here: the letters of a text (`reading`); the letters of a secret (`secrets`).

use std::collections::{HashMap, HashSet};

use super::reading::Letters;

/// Hashes of runs of one length.
#[derive(Clone, Default)]
pub(super) struct RunHashes(pub(super) HashSet<u64, foldhash::fast::FixedState>);

/// Does not show the secrets.
impl std::fmt::Debug for RunHashes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "({} parts of secrets)", self.0.len())
    }
}

/// Length of the blocks of a long secret that are searched.
const BLOCK: usize = 16;

/// Secrets that are searched as a whole.
#[derive(Clone, Debug, Default)]
pub(super) struct WholeRuns {
    /// Blocks of longer secrets, and shorter secrets as a whole, by length.
    blocks: [RunHashes; BLOCK + 1],
    /// The lengths of the secrets that end with a block.
    lengths: HashMap<u64, Vec<usize>, foldhash::fast::FixedState>,
}

/// The matches in a text.
pub(super) struct Hits {
    /// For each letter, whether it belongs to a block.
    pub(super) hidden: Vec<bool>,
    /// The ends of blocks that may be the last of a secret, as letter positions, with the hash of
    /// the block.
    ends: Vec<(usize, u64)>,
}

impl WholeRuns {
    /// Adds a secret.
    pub(super) fn add(&mut self, letters: &[char]) {
        let length = letters.len().min(BLOCK);
        if length == 0 {
            return;
        }
        self.blocks[length]
            .0
            .extend(letters.chunks_exact(length).map(rolling_hash));
        // The last block ends where the secret ends.
        let last = rolling_hash(&letters[letters.len() - length..]);
        self.blocks[length].0.insert(last);
        let lengths = self.lengths.entry(last).or_default();
        if !lengths.contains(&letters.len()) {
            lengths.push(letters.len());
        }
    }

    /// Searches a text. A secret with fewer letters than `inside_word` counts only as a whole word.
    pub(super) fn search(&self, text: &Letters<'_>, inside_word: usize) -> Hits {
        let letters = &text.letters;
        let mut hidden = vec![false; letters.len()];
        let mut ends = Vec::new();
        for (length, blocks) in filled(&self.blocks) {
            for_each_run(letters, length, |at, run| {
                if blocks.0.contains(&run)
                    && (length >= inside_word || text.is_whole_word(at, at + length - 1))
                {
                    hidden[at..at + length].fill(true);
                    if self.lengths.contains_key(&run) {
                        ends.push((at + length, run));
                    }
                }
            });
        }
        Hits { hidden, ends }
    }

    /// Whether the matches contain a whole secret.
    pub(super) fn has_whole(&self, hits: &Hits) -> bool {
        let Hits { hidden, ends } = hits;
        let is_whole = |end: usize, length: usize| {
            end.checked_sub(length)
                .is_some_and(|start| hidden[start..end].iter().all(|hidden| *hidden))
        };
        ends.iter().any(|(end, last)| {
            let lengths = self.lengths.get(last).into_iter().flatten();
            lengths.into_iter().any(|length| is_whole(*end, *length))
        })
    }
}

/// The lengths for which there are runs, with these runs.
pub(super) fn filled(runs: &[RunHashes]) -> impl Iterator<Item = (usize, &RunHashes)> {
    let all = runs.iter().enumerate();
    all.filter(|(_, runs)| !runs.0.is_empty())
}

/// The factor of the rolling hash.
const BASE: u64 = 0x9e37_79b9_7f4a_7c15;

/// The rolling hash of a run.
pub(super) fn rolling_hash(run: &[char]) -> u64 {
    run.iter().fold(0, |hash, letter| {
        hash.wrapping_mul(BASE).wrapping_add(spread(*letter))
    })
}

/// Calls `each` with the start and the hash of each run of that length. The time does not depend on
/// the length.
pub(super) fn for_each_run(letters: &[char], length: usize, mut each: impl FnMut(usize, u64)) {
    let Some(first) = letters.get(..length).filter(|_| length > 0) else {
        return;
    };
    let outgoing_factor = BASE.wrapping_pow(length as u32 - 1);
    let mut hash = rolling_hash(first);
    each(0, hash);
    for (at, (old, new)) in letters.iter().zip(&letters[length..]).enumerate() {
        let rest = hash.wrapping_sub(spread(*old).wrapping_mul(outgoing_factor));
        hash = rest.wrapping_mul(BASE).wrapping_add(spread(*new));
        each(at + 1, hash);
    }
}

fn spread(letter: char) -> u64 {
    (u64::from(letter) + 1)
        .wrapping_mul(0xbf58_476d_1ce4_e5b9)
        .rotate_left(29)
}
