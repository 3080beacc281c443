//! The nearest of some names to what was written.

/// The candidate that is most likely meant by `written`, or `None` if none is close.
///
/// Close means: the same but for case, `-` and `_`; or at most a third of the characters (at least one) edited, two
/// neighbours swapped counting as one edit. Ties go to the earlier candidate.
pub fn nearest<'a>(written: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let plain =
        |name: &str| name.chars().filter(|c| *c != '-' && *c != '_').flat_map(char::to_lowercase).collect::<Vec<_>>();
    let wanted = plain(written);
    if wanted.is_empty() {
        return None;
    }
    let allowed = (wanted.len() / 3).max(1);
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates {
        if candidate == written {
            continue;
        }
        let have = plain(candidate);
        if have.len().abs_diff(wanted.len()) > allowed {
            continue;
        }
        let distance = edits(&wanted, &have, allowed);
        if distance <= allowed && best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
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
    }
}
