//! As much of DER and PEM as keys need.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// DER tags that keys are made of.
const INTEGER: u8 = 0x02;
const OCTETS: u8 = 0x04;
const SEQUENCE: u8 = 0x30;

/// What is left to read of some DER text.
pub(super) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    /// Reads these bytes.
    pub(super) fn new(der: &'a [u8]) -> Reader<'a> {
        Reader(der)
    }

    /// The contents of the next element, if it has this tag.
    fn element(&mut self, tag: u8) -> Option<&'a [u8]> {
        let (&found, rest) = self.0.split_first()?;
        let (&first, mut rest) = rest.split_first()?;
        let mut length = usize::from(first);
        if first >= 0x80 {
            let (digits, after) = rest.split_at_checked(usize::from(first & 0x7f))?;
            length = digits
                .iter()
                .try_fold(0_usize, |length, digit| length.checked_mul(256)?.checked_add(usize::from(*digit)))?;
            rest = after;
        }
        let (contents, rest) = rest.split_at_checked(length)?;
        self.0 = rest;
        (found == tag).then_some(contents)
    }

    /// The elements of the sequence that comes next.
    pub(super) fn sequence(&mut self) -> Option<Reader<'a>> {
        self.element(SEQUENCE).map(Reader)
    }

    /// The bytes of the integer that comes next, the most significant first, without leading zeros.
    pub(super) fn integer(&mut self) -> Option<&'a [u8]> {
        let bytes = self.element(INTEGER)?;
        let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
        bytes.get(zeros..)
    }

    /// The octet string that comes next.
    pub(super) fn octets(&mut self) -> Option<&'a [u8]> {
        self.element(OCTETS)
    }
}

/// The key inside a PKCS#8 document, in the form of its algorithm.
pub(super) fn inside_pkcs8(der: &[u8]) -> Option<&[u8]> {
    let mut document = Reader::new(der).sequence()?;
    document.integer()?;
    document.sequence()?;
    document.octets()
}

/// A PEM text with lines of this many characters.
pub(super) fn pem(label: &str, contents: &[u8], width: usize) -> String {
    let encoded = STANDARD.encode(contents);
    let mut text = format!("-----BEGIN {label}-----\n");
    for (at, letter) in encoded.chars().enumerate() {
        if at > 0 && at % width == 0 {
            text.push('\n');
        }
        text.push(letter);
    }
    text.push_str(&format!("\n-----END {label}-----\n"));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_read_one_after_another() {
        let mut reader = Reader::new(&[0x30, 0x07, 0x02, 0x02, 0x00, 0x80, 0x04, 0x01, 0x09, 0xff]);
        let mut inner = reader.sequence().unwrap();
        assert_eq!(inner.integer(), Some([0x80].as_slice()));
        assert_eq!(inner.octets(), Some([0x09].as_slice()));
        assert_eq!(inner.octets(), None);
    }

    #[test]
    fn what_is_cut_or_too_long_is_refused() {
        assert!(Reader::new(&[0x30, 0x05, 0x02]).sequence().is_none());
        assert!(Reader::new(&[0x30, 0x89, 1, 1, 1, 1, 1, 1, 1, 1, 1]).sequence().is_none());
        assert!(Reader::new(&[0x30]).sequence().is_none());
        assert!(inside_pkcs8(&[]).is_none());
    }

    #[test]
    fn lines_are_wrapped() {
        assert_eq!(pem("X", &[0; 6], 4), "-----BEGIN X-----\nAAAA\nAAAA\n-----END X-----\n");
    }
}
