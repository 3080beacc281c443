//! Patterns compared with recorded results of Python's `re`.

use super::*;

fn pattern(text: &str) -> Pattern {
    Pattern::new(text, Flags::default()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[test]
fn covers_requires_the_first_match_to_reach_the_end() {
    for (text, value, expected) in [
        ("a|ab", "ab", false),
        ("ab|a", "ab", true),
        ("[a-z]+$", "abc\n", false),
        ("[a-z]+$", "abc", true),
        ("[a-z]+", "abc1", false),
        ("[a-z]+?", "abc", false),
        ("(?=.*[0-9])[a-z0-9]+", "ab1", true),
        ("(?=.*[0-9])[a-z0-9]+", "abc", false),
        ("b", "ab", false),
        ("", "", true),
        ("", "a", false),
        ("^a$\\Z", "a", true),
        ("\\d+", "٣4", true),
        ("(?a)\\d+", "٣4", false),
        ("(?P<q>['\"]).*(?P=q)", "'a'", true),
        ("(?i)AbC", "aBc", true),
        ("(?x) a  b # c", "ab", true),
        ("(?s).", "\n", true),
        (".", "\n", false),
        ("(a)?b(?(1)c|d)", "abc", true),
        ("(a)?b(?(1)c|d)", "abd", false),
        ("x{,2}y", "xxy", true),
        ("x{a}", "x{a}", true),
        ("{}", "{}", true),
        ("[]a]+", "]a", true),
        ("[a&&b]+", "a&b", true),
        ("[[a]+", "[a", true),
        ("[\\w.-]+", "é_1.-", true),
        ("\\s", "\x1c", true),
        ("\\x41\\u0042\\103", "ABC", true),
        ("(.)\\1", "aa", true),
        ("(?:a++)b", "aab", true),
        (
            "(?:(?:(?:(?:25[0-5]|2[0-4][0-9]|[01]?[0-9][0-9]?)\\.){3}(?:25[0-5]|2[0-4][0-9]|[01]?[0-9][0-9]?)))",
            "10.0.0.255",
            true,
        ),
        ("(?<=a)b", "b", false),
        ("(?i:a)B", "AB", true),
        ("((?i:a))B", "Ab", false),
        ("(?=b)?ab", "ab", true),
        ("ab(?#again)*", "abbb", true),
        ("(?!b){2}ab", "ab", true),
        ("\\b²\\b", "²", true),
    ] {
        assert_eq!(
            pattern(text).covers(value),
            Ok(expected),
            "{text} on {value}"
        );
    }
}

#[test]
fn errors_have_pythons_messages() {
    for (text, expected) in [
        ("[a-", "unterminated character set at position 0"),
        ("(a", "missing ), unterminated subpattern at position 0"),
        ("a)", "unbalanced parenthesis at position 1"),
        ("*", "nothing to repeat at position 0"),
        ("a**", "multiple repeat at position 2"),
        ("^*", "nothing to repeat at position 1"),
        ("a{3,2}", "min repeat greater than max repeat at position 1"),
        ("\\y", "bad escape \\y at position 0"),
        ("[z-a]", "bad character range z-a at position 1"),
        ("[a-\\d]", "bad character range a-\\d at position 1"),
        ("(?<n>a)", "unknown extension ?<n at position 1"),
        ("\\2(a)", "invalid group reference 2 at position 1"),
        ("(\\1)", "cannot refer to an open group at position 1"),
        (
            "a(?i)b",
            "global flags not at the start of the expression at position 1",
        ),
        ("\\", "bad escape (end of pattern) at position 0"),
        ("(?P<1>a)", "bad character in group name '1' at position 4"),
        ("(?<=a+)b", "look-behind requires fixed-width pattern"),
        (
            "a\n*b\n**",
            "multiple repeat at position 6 (line 3, column 2)",
        ),
        ("(?-i)", "missing : at position 4"),
        ("(?i", "missing -, : or ) at position 3"),
        (
            "(?P<a>x)(?P<a>y)",
            "redefinition of group name 'a' as group 2; was group 1 at position 12",
        ),
        ("(a)(?(2)b)", "invalid group reference 2 at position 6"),
        ("\\x1", "incomplete escape \\x1 at position 0"),
    ] {
        assert_eq!(
            Pattern::new(text, Flags::default())
                .map(|_| ())
                .map_err(|error| error.to_string()),
            Err(expected.into())
        );
    }
    assert!(
        Pattern::new("(?<=a+)b", Flags::default())
            .is_err_and(|error| error.message.starts_with("look-behind"))
    );
    assert!(Pattern::new(&"(".repeat(10_000), Flags::default()).is_err());
}

#[test]
fn matches_are_found_in_order_without_overlap() {
    let found = |text: &str, value: &str| -> Vec<String> {
        let matches = pattern(text).find_all(value).expect("cheap");
        matches
            .iter()
            .map(|found| value[found.start..found.end].to_owned())
            .collect()
    };
    assert_eq!(found("[0-9]+", "a1b22"), ["1", "22"]);
    assert_eq!(found("a*", "baac"), ["", "aa", "", ""]);
    assert_eq!(found("", "é"), ["", ""]);
    assert_eq!(found("|a", "ba"), ["", "", "a", ""]);
    assert_eq!(found(".??", "ab"), ["", "a", "", "b", ""]);
    let both = pattern("(?P<k>\\w+)=(\\d)?");
    assert_eq!(both.group_names(), [None, Some("k".into()), None]);
    let first = both.find(" ab=", 0).expect("cheap").expect("matches");
    assert_eq!(
        (first.start, first.end, &first.groups[1..]),
        (1, 4, &[Some((1, 3)), None][..])
    );
}

#[test]
fn costly_pattern_fails_instead_of_hanging() {
    assert_eq!(
        pattern("(a|a)*(?=b)c").covers(&"a".repeat(60)),
        Err(TooCostly)
    );
}
