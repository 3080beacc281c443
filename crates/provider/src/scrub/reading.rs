//! The readings of a text: the text itself, and what is left when its escapes are decoded. A secret
//! in JSON, HTML, a URL, a CSV file or a shell command has the letters of the secret in one of
//! them, regardless of the characters that the writer chose to escape.
//!
//! Not here: encodings that change every character, such as base64 (`secrets`).

/// The number of encodings inside one another that are decoded, such as JSON in JSON in JSON.
const MAX_DEPTH: usize = 3;
/// The maximum number of readings of a text. The time for a text is linear in its length.
const MAX_READINGS: usize = 40;

/// A character with the byte range at which the text writes it.
#[derive(Clone, Copy)]
struct WrittenChar {
    letter: char,
    from: usize,
    to: usize,
}

/// The relevant letters of a reading in lower case.
pub(super) struct Letters<'t> {
    pub(super) letters: Vec<char>,
    /// Their byte ranges in the text.
    places: Vec<(usize, usize)>,
    surroundings: Surroundings<'t>,
}

/// What is around the letters.
enum Surroundings<'t> {
    Text(&'t str),
    /// All characters, and the position of each letter among them.
    Decoded(&'t [WrittenChar], Vec<usize>),
}

/// The letters that matter: a reading in which only other letters were decoded finds nothing new.
#[derive(Clone, Copy, Default)]
pub(super) struct LetterSet {
    ascii: u128,
    others: bool,
}

impl LetterSet {
    /// All letters.
    pub(super) const ALL: LetterSet = LetterSet {
        ascii: u128::MAX,
        others: true,
    };

    /// Adds letters in lower case.
    pub(super) fn add(&mut self, letters: &[char]) {
        for letter in letters {
            match bit(*letter) {
                Some(bit) => self.ascii |= bit,
                None => self.others = true,
            }
        }
    }

    /// Whether a decoded character can be a part of a secret, or stand between parts of one.
    fn matters(self, letter: char) -> bool {
        match bit(letter.to_ascii_lowercase()) {
            _ if !is_relevant(letter) => true,
            Some(bit) => self.ascii & bit != 0,
            None => self.others,
        }
    }
}

/// Does not show the letters.
impl std::fmt::Debug for LetterSet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("(letters of secrets)")
    }
}

fn bit(letter: char) -> Option<u128> {
    letter.is_ascii().then(|| 1 << u32::from(letter))
}

/// Calls `each` with the readings of a text, at first with the text itself. A reading that decodes
/// none of the letters of `secrets` is left out.
pub(super) fn for_each_reading(text: &str, secrets: LetterSet, mut each: impl FnMut(&Letters<'_>)) {
    each(&Letters::of_text(text));
    if !text.bytes().any(begins_escape) {
        return;
    }
    let written: Vec<WrittenChar> = text
        .char_indices()
        .map(|(from, letter)| WrittenChar {
            letter,
            from,
            to: from + letter.len_utf8(),
        })
        .collect();
    let mut readings = DecodedReadings {
        secrets,
        left: MAX_READINGS,
        each: &mut each,
    };
    // Few encodings are likelier than many.
    for depth in 1..=MAX_DEPTH {
        readings.visit(depth, &written, false);
    }
}

/// The readings of a text that are still to be visited.
struct DecodedReadings<'e> {
    secrets: LetterSet,
    left: usize,
    each: &'e mut dyn FnMut(&Letters<'_>),
}

impl DecodedReadings<'_> {
    /// Visits the readings that decode exactly `depth` times. `matters` tells whether an encoding
    /// around `written` had letters of secrets.
    fn visit(&mut self, depth: usize, written: &[WrittenChar], matters: bool) {
        if depth == 0 {
            self.left -= 1;
            if matters {
                (self.each)(&Letters::of_decoded(written));
            }
            return;
        }
        for decode in [backslashes, entities, percent, form, quotes] {
            if self.left == 0 {
                return;
            }
            let mut matters = matters;
            let mut note = |letter| matters |= self.secrets.matters(letter);
            if let Some(decoded) = decode(written, &mut note) {
                self.visit(depth - 1, &decoded, matters);
            }
        }
    }
}

/// Receives each decoded character.
type Note<'n> = &'n mut dyn FnMut(char);

fn begins_escape(byte: u8) -> bool {
    matches!(byte, b'\\' | b'&' | b'%' | b'+' | b'"' | b'\'')
}

/// Whether a character is relevant: neither white space nor a control character.
fn is_relevant(letter: char) -> bool {
    !letter.is_whitespace() && !letter.is_control()
}

/// The relevant letters of a text in lower case.
pub(super) fn plain(text: &str) -> impl Iterator<Item = char> {
    text.chars()
        .filter(|letter| is_relevant(*letter))
        .map(|letter| letter.to_ascii_lowercase())
}

impl<'t> Letters<'t> {
    fn of_text(text: &'t str) -> Letters<'t> {
        let mut letters = Vec::with_capacity(text.len());
        let mut places = Vec::with_capacity(text.len());
        for (from, letter) in text
            .char_indices()
            .filter(|(_, letter)| is_relevant(*letter))
        {
            letters.push(letter.to_ascii_lowercase());
            places.push((from, from + letter.len_utf8()));
        }
        Letters {
            letters,
            places,
            surroundings: Surroundings::Text(text),
        }
    }

    fn of_decoded(written: &'t [WrittenChar]) -> Letters<'t> {
        let relevant = || {
            let all = written.iter().enumerate();
            all.filter(|(_, one)| is_relevant(one.letter))
        };
        Letters {
            letters: relevant()
                .map(|(_, one)| one.letter.to_ascii_lowercase())
                .collect(),
            places: relevant().map(|(_, one)| (one.from, one.to)).collect(),
            surroundings: Surroundings::Decoded(written, relevant().map(|(at, _)| at).collect()),
        }
    }

    /// Whether no letter or digit is next to the letters from `first` to `last`.
    pub(super) fn is_whole_word(&self, first: usize, last: usize) -> bool {
        let (before, after) = match &self.surroundings {
            Surroundings::Text(text) => (
                text[..self.places[first].0].chars().next_back(),
                text[self.places[last].1..].chars().next(),
            ),
            Surroundings::Decoded(written, positions) => {
                let at = |position: Option<usize>| Some(written.get(position?)?.letter);
                (
                    at(positions[first].checked_sub(1)),
                    at(Some(positions[last] + 1)),
                )
            }
        };
        !before.into_iter().chain(after).any(char::is_alphanumeric)
    }

    /// Adds the byte ranges of hidden letters to `found`.
    pub(super) fn add_ranges(&self, hidden: &[bool], found: &mut Vec<(usize, usize)>) {
        let mut follows = false;
        for ((from, to), hidden) in self.places.iter().zip(hidden) {
            match found.last_mut() {
                Some(last) if *hidden && follows => last.1 = *to,
                _ if *hidden => found.push((*from, *to)),
                _ => {}
            }
            follows = *hidden;
        }
    }
}

/// Decodes escapes. `escape` returns the decoded characters and the number of characters that they
/// replace; `None` where no escape begins. Returns `None` if there is no escape.
fn decoded(
    written: &[WrittenChar],
    note: Note<'_>,
    escape: impl Fn(&[WrittenChar]) -> Option<(Decoded, usize)>,
) -> Option<Vec<WrittenChar>> {
    let mut read = Vec::new();
    let mut at = 0;
    let mut copied = 0;
    while let Some(rest) = written.get(at..).filter(|rest| !rest.is_empty()) {
        let Some((decoded, length)) = escape(rest) else {
            at += 1;
            continue;
        };
        read.extend_from_slice(&written[copied..at]);
        let (from, to) = (written[at].from, written[at + length - 1].to);
        let mut push = |letter| {
            note(letter);
            read.push(WrittenChar { letter, from, to });
        };
        match decoded {
            Decoded::Char(letter) => push(letter),
            Decoded::Bytes(bytes) => match std::str::from_utf8(&bytes) {
                Ok(text) => text.chars().for_each(push),
                Err(_) => bytes.into_iter().map(char::from).for_each(push),
            },
        }
        at += length;
        copied = at;
    }
    if copied == 0 {
        return None;
    }
    read.extend_from_slice(&written[copied..]);
    Some(read)
}

/// What an escape stands for.
enum Decoded {
    Char(char),
    /// Bytes of UTF-8, if they are that.
    Bytes(Vec<u8>),
}

/// The number that `length` digits write.
fn number(digits: &[WrittenChar], length: usize, radix: u32) -> Option<u32> {
    let digits = digits.get(..length).filter(|digits| !digits.is_empty())?;
    digits.iter().try_fold(0_u32, |number, digit| {
        let digit = digit.letter.to_digit(radix)?;
        number.checked_mul(radix)?.checked_add(digit)
    })
}

/// Backslash escapes of JSON, programming languages and shells.
fn backslashes(written: &[WrittenChar], note: Note<'_>) -> Option<Vec<WrittenChar>> {
    decoded(written, note, |rest| {
        let [first, second, tail @ ..] = rest else {
            return None;
        };
        if first.letter != '\\' {
            return None;
        }
        let unicode = |length| {
            let letter = char::from_u32(number(tail, length, 16)?)?;
            Some((Decoded::Char(letter), 2 + length))
        };
        let escape = match second.letter {
            'u' if tail.first().is_some_and(|one| one.letter == '{') => {
                let length = tail.iter().take(10).position(|one| one.letter == '}');
                length.and_then(|end| {
                    let letter = char::from_u32(number(tail.get(1..)?, end.checked_sub(1)?, 16)?)?;
                    Some((Decoded::Char(letter), 3 + end))
                })
            }
            'u' => unicode(4).or_else(|| surrogates(rest)),
            'U' => unicode(8),
            'x' | '0'..='3' => escaped_bytes(rest),
            'n' | 'r' | 't' | 'f' | 'v' | 'b' => Some((Decoded::Char('\n'), 2)),
            _ => None,
        };
        escape.or(Some((Decoded::Char(second.letter), 2)))
    })
}

/// A character that JSON writes as two escapes.
fn surrogates(rest: &[WrittenChar]) -> Option<(Decoded, usize)> {
    let unit = |at: usize| {
        let escape = rest.get(at..)?;
        let is_unicode = escape.first()?.letter == '\\' && escape.get(1)?.letter == 'u';
        let unit = number(escape.get(2..)?, 4, 16).filter(|_| is_unicode)?;
        u16::try_from(unit).ok()
    };
    let letter = char::decode_utf16([unit(0)?, unit(6)?]).next()?.ok()?;
    Some((Decoded::Char(letter), 12))
}

/// A run of bytes as `\xHH` or `\OOO`.
fn escaped_bytes(rest: &[WrittenChar]) -> Option<(Decoded, usize)> {
    let mut bytes = Vec::new();
    let mut used = 0;
    while let Some([first, second, tail @ ..]) = rest.get(used..)
        && first.letter == '\\'
    {
        let byte = match second.letter {
            'x' => number(tail, 2, 16),
            _ => number(&rest[used + 1..], 3, 8),
        };
        let Some(byte) = byte.and_then(|byte| u8::try_from(byte).ok()) else {
            break;
        };
        bytes.push(byte);
        used += 4;
    }
    (used > 0).then_some((Decoded::Bytes(bytes), used))
}

/// The character references of HTML and XML.
fn entities(written: &[WrittenChar], note: Note<'_>) -> Option<Vec<WrittenChar>> {
    /// The longest reference without `&` and `;`, such as `#x10FFFF`.
    const LONGEST: usize = 8;
    decoded(written, note, |rest| {
        let (first, tail) = rest.split_first()?;
        if first.letter != '&' {
            return None;
        }
        let end = tail
            .iter()
            .take(LONGEST + 1)
            .position(|one| one.letter == ';')?;
        let name: String = tail[..end].iter().map(|one| one.letter).collect();
        let number = |digits: &str, radix| char::from_u32(u32::from_str_radix(digits, radix).ok()?);
        let letter = match name.to_ascii_lowercase().as_str() {
            "amp" => '&',
            "lt" => '<',
            "gt" => '>',
            "quot" => '"',
            "apos" => '\'',
            "nbsp" => ' ',
            name => match name.strip_prefix('#')? {
                digits if digits.starts_with('x') => number(&digits[1..], 16)?,
                digits => number(digits, 10)?,
            },
        };
        Some((Decoded::Char(letter), end + 2))
    })
}

/// The escapes of URLs.
fn percent(written: &[WrittenChar], note: Note<'_>) -> Option<Vec<WrittenChar>> {
    decoded(written, note, percent_escape)
}

/// The escapes of forms, in which `+` is a space.
fn form(written: &[WrittenChar], note: Note<'_>) -> Option<Vec<WrittenChar>> {
    // Without a space it is the same as `percent`.
    if !written.iter().any(|one| one.letter == '+') {
        return None;
    }
    decoded(written, note, |rest| match rest.first()?.letter {
        '+' => Some((Decoded::Char(' '), 1)),
        _ => percent_escape(rest),
    })
}

fn percent_escape(rest: &[WrittenChar]) -> Option<(Decoded, usize)> {
    let mut bytes = Vec::new();
    let mut used = 0;
    while let Some([first, tail @ ..]) = rest.get(used..)
        && first.letter == '%'
        && let Some(byte) = number(tail, 2, 16).and_then(|byte| u8::try_from(byte).ok())
    {
        bytes.push(byte);
        used += 3;
    }
    (used > 0).then_some((Decoded::Bytes(bytes), used))
}

/// Quotes in quoted texts: doubled as in CSV, SQL and YAML, or closed and opened again as in
/// shells.
fn quotes(written: &[WrittenChar], note: Note<'_>) -> Option<Vec<WrittenChar>> {
    const ESCAPES: [(&str, char); 4] = [
        ("'\\''", '\''),
        ("'\"'\"'", '\''),
        ("''", '\''),
        ("\"\"", '"'),
    ];
    decoded(written, note, |rest| {
        let is_next = |escape: &str| {
            let mut next = rest.iter().map(|one| one.letter);
            escape.chars().all(|letter| next.next() == Some(letter))
        };
        let (escape, letter) = ESCAPES.into_iter().find(|(escape, _)| is_next(escape))?;
        Some((Decoded::Char(letter), escape.len()))
    })
}
