//! The smallest input that still breaks a law, as far as taking things away shows it.

use super::{Failure, Target, tried};

/// So many tries are made.
const TRIES: usize = 3_000;

/// Takes away what can be taken away.
pub(super) fn shrunk(target: &Target, input: Vec<u8>, said: String, case: u64) -> Failure {
    let mut best = Failure { input, said, case };
    let mut tries = 0;
    let mut length = best.input.len().div_ceil(2).max(1);
    loop {
        let mut at = 0;
        let mut smaller = false;
        while at < best.input.len() && tries < TRIES {
            tries += 1;
            let end = (at + length).min(best.input.len());
            let rest = [&best.input[..at], &best.input[end..]].concat();
            match tried(target, &rest) {
                Err(said) => {
                    best = Failure { input: rest, said, case };
                    smaller = true;
                }
                Ok(_) => at += length,
            }
        }
        if tries >= TRIES || length == 1 && !smaller {
            break;
        }
        length = length.div_ceil(2).max(1);
    }
    plain(target, &mut best, &mut tries);
    best
}

/// Replaces what does not matter by a plain letter.
fn plain(target: &Target, best: &mut Failure, tries: &mut usize) {
    for at in 0..best.input.len() {
        if best.input[at] == b'a' || best.input[at].is_ascii_whitespace() || *tries >= TRIES {
            continue;
        }
        *tries += 1;
        let mut input = best.input.clone();
        input[at] = b'a';
        if let Err(said) = tried(target, &input) {
            *best = Failure { input, said, case: best.case };
        }
    }
}
