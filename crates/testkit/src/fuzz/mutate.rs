//! Mutations of inputs: of bytes, lines, brackets, numbers, and words of the target.

use super::random::Random;

/// Numbers at limits.
const NUMBERS: [&str; 16] = [
    "0",
    "-1",
    "1",
    "-0",
    "1e999",
    "0.1",
    "-2.5e-7",
    "255",
    "256",
    "65536",
    "2147483648",
    "9007199254740993",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551616",
    "00012",
];

/// Characters that need special treatment.
const CHARACTERS: [&str; 22] = [
    "\0", "\t", "\r", "\r\n", "\n", "\u{85}", "\u{a0}", "\u{2028}", "\u{feff}", "\u{301}", "é",
    "ß", "İ", "😀", "\u{202e}", "\u{7f}", "\u{fffd}", "\\", "\"", "'", "$", "#",
];

/// One of the inputs with a few changes.
pub(super) fn mutated(pool: &[Vec<u8>], words: &[&str], random: &mut Random) -> Vec<u8> {
    let mut input = random.one_of(pool).cloned().unwrap_or_default();
    for _ in 0..=random.below(4) {
        change(&mut input, pool, words, random);
    }
    input
}

fn change(input: &mut Vec<u8>, pool: &[Vec<u8>], words: &[&str], random: &mut Random) {
    let (from, to) = range(input, random);
    match random.below(16) {
        0 => input.truncate(from),
        1 => drop(input.drain(from..to)),
        2 => {
            let again = input[from..to].to_vec();
            let at = place(input, random);
            splice(input, at, at, &again);
        }
        3 | 4 => {
            let word = random.one_of(words).copied().unwrap_or(" ");
            splice(input, from, from, word.as_bytes());
        }
        5 => {
            let word = random.one_of(words).copied().unwrap_or(" ");
            splice(input, from, to, word.as_bytes());
        }
        6 => {
            let character = random.one_of(&CHARACTERS).copied().unwrap_or(" ");
            splice(input, from, from, character.as_bytes());
        }
        7 => replace_number(input, from, random),
        8 => {
            if let Some(byte) = input.get_mut(from) {
                *byte ^= 1 << random.below(8);
            }
        }
        9 => {
            if let Some(byte) = input.get_mut(from) {
                *byte = random.number().to_le_bytes()[0];
            }
        }
        10 => {
            // Appends the end of another input.
            let other = random.one_of(pool).cloned().unwrap_or_default();
            let at = place(&other, random);
            input.truncate(from);
            input.extend_from_slice(&other[at..]);
        }
        11 => {
            // Inserts a piece of another input.
            let other = random.one_of(pool).cloned().unwrap_or_default();
            let (start, end) = range(&other, random);
            splice(input, from, to, &other[start..end]);
        }
        12 => nest(input, from, to, random),
        13 => swap_lines(input, random),
        14 => indent(input, from, random),
        _ => swap_tokens(input, random),
    }
}

fn splice(input: &mut Vec<u8>, from: usize, to: usize, with: &[u8]) {
    drop(input.splice(from..to, with.iter().copied()));
}

/// A random offset, more often at the start of a token.
fn place(input: &[u8], random: &mut Random) -> usize {
    let at = random.below(input.len() + 1);
    if random.below(2) == 0 {
        return at;
    }
    let begins = |at: &usize| {
        let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte >= 0x80;
        *at == 0 || *at >= input.len() || is_word(input[at - 1]) != is_word(input[*at])
    };
    (at..=input.len()).find(begins).unwrap_or(at)
}

fn range(input: &[u8], random: &mut Random) -> (usize, usize) {
    let from = place(input, random);
    let most = [1, 4, 16, 64, 1024][random.below(5)];
    let to = match random.below(3) {
        // Ends at the end of the line.
        0 => input[from..]
            .iter()
            .position(|byte| *byte == b'\n')
            .map_or(input.len(), |at| from + at),
        _ => (from + random.below(most + 1)).min(input.len()),
    };
    (from, to)
}

fn replace_number(input: &mut Vec<u8>, from: usize, random: &mut Random) {
    let Some(start) = input[from..]
        .iter()
        .position(u8::is_ascii_digit)
        .map(|at| from + at)
    else {
        return;
    };
    let end = input[start..]
        .iter()
        .position(|byte| !byte.is_ascii_digit())
        .map_or(input.len(), |at| start + at);
    let number = random.one_of(&NUMBERS).copied().unwrap_or("0");
    splice(input, start, end, number.as_bytes());
}

/// Puts one or many brackets around a range.
fn nest(input: &mut Vec<u8>, from: usize, to: usize, random: &mut Random) {
    const PAIRS: [(&str, &str); 8] = [
        ("[", "]"),
        ("{a: ", "}"),
        ("{\"a\":", "}"),
        ("(", ")"),
        ("${", "}"),
        ("list(", ")"),
        ("- ", ""),
        ("\"", "\""),
    ];
    let (open, close) = random.one_of(&PAIRS).copied().unwrap_or(("[", "]"));
    let deep = [1, 1, 1, 2, 8, 300][random.below(6)];
    splice(input, to, to, close.repeat(deep).as_bytes());
    splice(input, from, from, open.repeat(deep).as_bytes());
}

/// The ranges of lines with their line ends.
fn lines(input: &[u8]) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut from = 0;
    for (at, _) in input.iter().enumerate().filter(|(_, byte)| **byte == b'\n') {
        found.push((from, at + 1));
        from = at + 1;
    }
    found.push((from, input.len()));
    found
}

fn swap_lines(input: &mut Vec<u8>, random: &mut Random) {
    let lines = lines(input);
    let (one, other) = (random.below(lines.len()), random.below(lines.len()));
    swap(input, lines[one.min(other)], lines[one.max(other)]);
}

fn swap_tokens(input: &mut Vec<u8>, random: &mut Random) {
    let (a, b) = (range(input, random), range(input, random));
    let (one, other) = if a.0 <= b.0 { (a, b) } else { (b, a) };
    swap(input, one, other);
}

fn swap(input: &mut Vec<u8>, one: (usize, usize), other: (usize, usize)) {
    if one.1 > other.0 {
        return;
    }
    let mut swapped = input[..one.0].to_vec();
    swapped.extend_from_slice(&input[other.0..other.1]);
    swapped.extend_from_slice(&input[one.1..other.0]);
    swapped.extend_from_slice(&input[one.0..one.1]);
    swapped.extend_from_slice(&input[other.1..]);
    *input = swapped;
}

/// Indents a line more or less.
fn indent(input: &mut Vec<u8>, from: usize, random: &mut Random) {
    let start = input[..from]
        .iter()
        .rposition(|byte| *byte == b'\n')
        .map_or(0, |at| at + 1);
    let blanks = input[start..]
        .iter()
        .take_while(|byte| **byte == b' ')
        .count();
    match random.below(3) {
        0 => drop(input.drain(start..start + random.below(blanks + 1))),
        1 => splice(
            input,
            start,
            start,
            " ".repeat(1 + random.below(6)).as_bytes(),
        ),
        _ => splice(input, start, start, b"\t"),
    }
}
