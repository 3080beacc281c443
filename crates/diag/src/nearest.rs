//! Finds the candidate that is most similar to a misspelt name.
//!
//! The cost is linear in the number of candidates: lengths and letter counts select a few of them,
//! and only these are compared by edit distance.

/// The maximum number of candidates that are considered.
const MAX_CANDIDATES: usize = 10_000;

/// The maximum number of candidates that are compared by edit distance: those with the most similar
/// letters.
const COMPARED: usize = 32;

/// Longer names, in characters, are not compared.
const LONGEST: usize = 128;

/// The candidate that `written` most likely means; `None` if none is close.
///
/// A candidate is close if it differs only in case, `-` and `_`, or by edits of at most a third of
/// the characters (at least one). A swap of neighbours counts as one edit. To a name of one
/// character, only the same one is close. The earlier candidate wins a tie. Only the first 10,000
/// candidates are considered.
pub fn nearest<'a>(
    written: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let wanted = Letters::of(written);
    if wanted.count == 0 || wanted.count > LONGEST {
        return None;
    }
    let allowed = match wanted.count {
        1 => 0,
        count => (count / 3).max(1),
    };
    // Sorted by the minimum number of edits that the letters allow, then by index.
    let mut close: Vec<(usize, usize, &str)> = Vec::new();
    for (at, candidate) in candidates.into_iter().take(MAX_CANDIDATES).enumerate() {
        // `len` is in bytes, which are at least as many as the characters that count.
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

/// The most names that a help text lists.
const MOST_LISTED: usize = 8;

/// The advice for an unknown name: a similar one, else the existing ones if they are few, else
/// `list`, which says what lists them.
pub fn help_for_unknown(written: &str, existing: &[&str], list: &str) -> String {
    if let Some(near) = nearest(written, existing.iter().copied()) {
        return format!("did you mean `{near}`?");
    }
    match existing {
        [] => "there is none".to_owned(),
        [one] => format!("there is only `{one}`"),
        many if many.len() <= MOST_LISTED => {
            let names: Vec<String> = many.iter().map(|name| format!("`{name}`")).collect();
            let (first, last) = names.split_at(names.len() - 1);
            format!("there are {} and {}", first.join(", "), last.join(""))
        }
        _ => list.to_owned(),
    }
}

/// The characters of a name that matter for comparison, in lower case.
fn plain(name: &str) -> Vec<char> {
    name.chars()
        .filter(|c| *c != '-' && *c != '_')
        .flat_map(char::to_lowercase)
        .collect()
}

/// Counts of the characters of a name. Characters with the same last bits share a counter.
struct Letters {
    counts: [u8; 32],
    count: usize,
}

impl Letters {
    fn of(name: &str) -> Letters {
        let mut letters = Letters {
            counts: [0; 32],
            count: 0,
        };
        let mut add = |c: char| {
            let slot = &mut letters.counts[c as usize % 32];
            *slot = slot.saturating_add(1);
            letters.count += 1;
        };
        for c in name
            .chars()
            .filter(|c| *c != '-' && *c != '_')
            .take(LONGEST + 1)
        {
            if c.is_ascii() {
                add(c.to_ascii_lowercase())
            } else {
                c.to_lowercase().for_each(&mut add)
            }
        }
        letters
    }

    /// A lower bound for the edit distance: an edit changes at most two counts by one, and a swap
    /// changes none.
    fn least_edits(&self, other: &Letters) -> usize {
        let pairs = self.counts.iter().zip(&other.counts);
        let differing: usize = pairs.map(|(a, b)| usize::from(a.abs_diff(*b))).sum();
        self.count.abs_diff(other.count).max(differing.div_ceil(2))
    }
}

/// The edit distance with insertions, deletions, substitutions and swaps of neighbours. Stops once
/// it exceeds `limit`.
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
    use super::{help_for_unknown, nearest};

    #[test]
    fn finds_what_is_close_and_nothing_else() {
        assert_eq!(nearest("bukcet", ["queue", "bucket"]), Some("bucket"));
        assert_eq!(
            nearest("transforms", ["transform", "exports"]),
            Some("transform")
        );
        assert_eq!(nearest("get_attr", ["getelem", "getattr"]), Some("getattr"));
        assert_eq!(nearest("x", ["abc"]), None);
        assert_eq!(nearest("", ["a"]), None);
        assert_eq!(nearest("b", ["a", "ab"]), None);
        assert_eq!(nearest("b", ["a", "B"]), Some("B"));
        assert_eq!(nearest("ABC", ["a-b_c"]), Some("a-b_c"));
        assert_eq!(nearest("größe", ["grösse", "GRÖßE"]), Some("GRÖßE"));
    }

    #[test]
    fn advice_for_an_unknown_name_is_a_similar_one_or_those_that_exist() {
        let help =
            |written, existing: &[&str]| help_for_unknown(written, existing, "`x` lists them");
        assert_eq!(help("bukcet", &["bucket", "b"]), "did you mean `bucket`?");
        assert_eq!(
            help("zzz", &["bucket", "a", "b"]),
            "there are `bucket`, `a` and `b`"
        );
        assert_eq!(help("zzz", &["bucket"]), "there is only `bucket`");
        assert_eq!(help("zzz", &[]), "there is none");
        assert_eq!(help("zzz", &["bucket"; 9]), "`x` lists them");
    }

    #[test]
    fn of_many_candidates_the_most_similar_is_compared() {
        let names: Vec<String> = (0..1000)
            .map(|number| format!("resource_number_{number}"))
            .collect();
        let candidates = || names.iter().map(String::as_str);
        assert_eq!(
            nearest("resourse_nunber_731", candidates()),
            Some("resource_number_731")
        );
        assert_eq!(nearest("something_else", candidates()), None);
        // Long names are not compared.
        let long = "x".repeat(10_000);
        assert_eq!(nearest(&long, [&long[1..]]), None);
    }
}
