//! Shrinking: removes parts of an input as long as it still violates the invariant.

use super::target::{FuzzFailure, FuzzTarget, run_input};

/// The largest number of tries.
const TRIES: usize = 3_000;

/// Removes parts of the input of a failure, in halves, quarters and so on.
pub(super) fn shrunk(
    target: &FuzzTarget,
    input: Vec<u8>,
    message: String,
    case: u64,
) -> FuzzFailure {
    let mut best = FuzzFailure {
        input,
        message,
        case,
    };
    let mut tries = 0;
    let mut length = best.input.len().div_ceil(2).max(1);
    loop {
        let mut at = 0;
        let mut smaller = false;
        while at < best.input.len() && tries < TRIES {
            tries += 1;
            let end = (at + length).min(best.input.len());
            let rest = [&best.input[..at], &best.input[end..]].concat();
            match run_input(target, &rest) {
                Err(message) => {
                    best = FuzzFailure {
                        input: rest,
                        message,
                        case,
                    };
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
    simplify_bytes(target, &mut best, &mut tries);
    best
}

/// Replaces bytes with the letter `a` if the failure stays.
fn simplify_bytes(target: &FuzzTarget, best: &mut FuzzFailure, tries: &mut usize) {
    for at in 0..best.input.len() {
        if best.input[at] == b'a' || best.input[at].is_ascii_whitespace() || *tries >= TRIES {
            continue;
        }
        *tries += 1;
        let mut input = best.input.clone();
        input[at] = b'a';
        if let Err(message) = run_input(target, &input) {
            *best = FuzzFailure {
                input,
                message,
                case: best.case,
            };
        }
    }
}
