//! Versions of plugins.

/// Whether a text is a semantic version. `v` may stand before it, and the last numbers may be
/// missing.
pub(crate) fn is_version(text: &str) -> bool {
    let text = text.strip_prefix('v').unwrap_or(text);
    let (text, build) = text.split_once('+').unwrap_or((text, "0"));
    let (numbers, before) = text.split_once('-').unwrap_or((text, "0"));
    let is_number = |part: &str| {
        let digits = part.bytes().all(|byte| byte.is_ascii_digit());
        digits && !part.is_empty() && (part == "0" || !part.starts_with('0'))
    };
    let is_label = |part: &str| {
        let mut letters = part.bytes();
        !part.is_empty() && letters.all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    numbers.split('.').count() <= 3
        && numbers.split('.').all(is_number)
        && before.split('.').all(is_label)
        && build.split('.').all(is_label)
}

/// Whether two texts are the same version, of which `v` may be the beginning.
pub(crate) fn is_same_version(one: &str, other: &str) -> bool {
    let [one, other] = [one, other].map(|text| text.strip_prefix('v').unwrap_or(text));
    one == other
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_has_one_to_three_numbers_and_labels() {
        for (text, is) in [
            ("1.2.3", true),
            ("v1.2.3", true),
            ("1.2", true),
            ("1.2.3-beta.1+build", true),
            ("abc", false),
            ("", false),
            ("1.2.3.4", false),
            ("01.2.3", false),
            ("1.2.3-", false),
        ] {
            assert_eq!(is_version(text), is, "{text}");
        }
    }
}
