//! Reads the DER elements of keys, and writes PEM.

use pem::{EncodeConfig, LineEnding, Pem};
use x509_parser::asn1_rs::{Any, FromDer, Tag};

/// The unread rest of a DER text.
pub(super) struct DerReader<'a>(&'a [u8]);

impl<'a> DerReader<'a> {
    /// A reader of these bytes.
    pub(super) fn new(der: &'a [u8]) -> DerReader<'a> {
        DerReader(der)
    }

    /// The content of the next element. `None` if it has another tag.
    fn element(&mut self, tag: Tag) -> Option<&'a [u8]> {
        let (rest, element) = Any::from_der(self.0).ok()?;
        self.0 = rest;
        (element.tag() == tag).then_some(element.data)
    }

    /// The elements of the next sequence.
    pub(super) fn sequence(&mut self) -> Option<DerReader<'a>> {
        self.element(Tag::Sequence).map(DerReader)
    }

    /// The bytes of the next integer, the most significant first, without leading zeros.
    pub(super) fn integer(&mut self) -> Option<&'a [u8]> {
        let bytes = self.element(Tag::Integer)?;
        let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
        bytes.get(zeros..)
    }

    /// The next octet string.
    pub(super) fn octets(&mut self) -> Option<&'a [u8]> {
        self.element(Tag::OctetString)
    }
}

/// The key inside a PKCS#8 document, in the form of its algorithm. `None` if the document is
/// invalid.
pub(super) fn inside_pkcs8(der: &[u8]) -> Option<&[u8]> {
    let mut document = DerReader::new(der).sequence()?;
    document.integer()?;
    document.sequence()?;
    document.octets()
}

/// A PEM text with lines of `width` characters.
pub(super) fn pem(label: &str, contents: &[u8], width: usize) -> String {
    let config = EncodeConfig::new()
        .set_line_ending(LineEnding::LF)
        .set_line_wrap(width);
    pem::encode_config(&Pem::new(label, contents), config)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_read_one_after_another() {
        let mut reader =
            DerReader::new(&[0x30, 0x07, 0x02, 0x02, 0x00, 0x80, 0x04, 0x01, 0x09, 0xff]);
        let mut inner = reader.sequence().unwrap();
        assert_eq!(inner.integer(), Some([0x80].as_slice()));
        assert_eq!(inner.octets(), Some([0x09].as_slice()));
        assert_eq!(inner.octets(), None);
    }

    #[test]
    fn truncated_elements_are_refused() {
        assert!(DerReader::new(&[0x30, 0x05, 0x02]).sequence().is_none());
        assert!(inside_pkcs8(&[]).is_none());
    }
}
