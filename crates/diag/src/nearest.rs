//! The nearest of some names to what was written.
//!
//! The search is linear in the candidates: a comparison of lengths and letters picks a few of them, and only those are
//! compared by edits.

/// So many candidates are looked at.
const LOOKED_AT: usize = 10_000;

/// So many of them, the most similar ones by their letters, are compared by edits.
const COMPARED: usize = 32;

/// Longer names are not compared.
const LONGEST: usize = 128;

/// The candidate that is most likely meant by `written`, or `None` if none is close.
///
/// Close means: the same but for case, `-` and `_`; or at most a third of the characters (at least one) edited, two
/// neighbours swapped counting as one edit. Ties go to the earlier candidate. Of very many candidates only the first
/// ones are looked at.
pub fn nearest<'a>(written: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wanted = Letters::of(written);
    if wanted.count == 0 || wanted.count > LONGEST {
        return None;
    }
    let allowed = (wanted.count / 3).max(1);
    // By the least number of edits that the letters leave possible, then by position.
    let mut close: Vec<(usize, usize, &str)> = Vec::new();
    for (at, candidate) in candidates.into_iter().take(LOOKED_AT).enumerate() {
        // A character has at most four bytes, and any number of `-` and `_` may stand beside those that count.
        if candidate == written || candidate.len() + allowed < wanted.count {
            continue;
        }
        let least = wanted.least_edits(&Letters::of(candidate));
        if least <= allowed {
            close.push((least, at, candidate));
        }
    }
    if close.len() > COMPARED {
        close.select_nth_unstable(COMPARED);
        close.truncate(COMPARED);
    }
    close.sort_unstable_by_key(|(_, at, _)| *at);
    let wanted = plain(written);
    let mut best: Option<(usize, &str)> = None;
    for (_, _, candidate) in close {
        let distance = edits(&wanted, &plain(candidate), allowed);
        if distance <= allowed && best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// The characters of a name that count, in lower case.
fn plain(name: &str) -> Vec<char> {
    name.chars().filter(|c| *c != '-' && *c != '_').flat_map(char::to_lowercase).collect()
}

/// How often the characters of a name occur, those with the same last bits together.
struct Letters {
    counts: [u8; 32],
    count: usize,
}

impl Letters {
    fn of(name: &str) -> Letters {
        let mut letters = Letters { counts: [0; 32], count: 0 };
        let mut add = |c: char| {
            let slot = &mut letters.counts[c as usize % 32];
            *slot = slot.saturating_add(1);
            letters.count += 1;
        };
        for c in name.chars().filter(|c| *c != '-' && *c != '_').take(LONGEST + 1) {
            if c.is_ascii() { add(c.to_ascii_lowercase()) } else { c.to_lowercase().for_each(&mut add) }
        }
        letters
    }

    /// An edit changes the number of at most two characters by one, and a swap changes none.
    fn least_edits(&self, other: &Letters) -> usize {
        let pairs = self.counts.iter().zip(&other.counts);
        let differing: usize = pairs.map(|(a, b)| usize::from(a.abs_diff(*b))).sum();
        self.count.abs_diff(other.count).max(differing.div_ceil(2))
    }
}

/// Insertions, deletions, substitutions and swaps of neighbours; gives up past `limit`.
fn edits(a: &[char], b: &[char], limit: usize) -> usize {
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let changed = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = changed.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before_last[j - 2] + 1);
            }
        }
        if row.iter().min().is_some_and(|least| *least > limit) {
            return limit + 1;
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn finds_what_is_close_and_nothing_else() {
        assert_eq!(nearest("bukcet", ["queue", "bucket"]), Some("bucket"));
        assert_eq!(nearest("transforms", ["transform", "exports"]), Some("transform"));
        assert_eq!(nearest("get_attr", ["getelem", "getattr"]), Some("getattr"));
        assert_eq!(nearest("x", ["abc"]), None);
        assert_eq!(nearest("", ["a"]), None);
        assert_eq!(nearest("ABC", ["a-b_c"]), Some("a-b_c"));
        assert_eq!(nearest("größe", ["grösse", "GRÖßE"]), Some("GRÖßE"));
    }

    #[test]
    fn of_many_candidates_the_most_similar_is_compared() {
        let names: Vec<String> = (0..1000).map(|number| format!("resource_number_{number}")).collect();
        let candidates = || names.iter().map(String::as_str);
        assert_eq!(nearest("resourse_nunber_731", candidates()), Some("resource_number_731"));
        assert_eq!(nearest("something_else", candidates()), None);
        // Long names are left alone.
        let long = "x".repeat(10_000);
        assert_eq!(nearest(&long, [&long[1..]]), None);
    }
}
