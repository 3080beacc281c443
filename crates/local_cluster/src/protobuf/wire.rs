//! The wire format of protobuf: numbered fields, each with a number or bytes.

/// The bytes are not well formed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Damaged;

/// Reads the fields of a message.
pub(super) struct WireReader<'b> {
    rest: &'b [u8],
}

/// The value of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WireValue<'b> {
    Varint(u64),
    Fixed64(u64),
    Fixed32(u32),
    Bytes(&'b [u8]),
}

impl<'b> WireReader<'b> {
    pub(super) fn new(message: &'b [u8]) -> WireReader<'b> {
        WireReader { rest: message }
    }

    /// The number and value of the next field. `None` at the end of the message.
    ///
    /// # Errors
    /// If the message is not well formed.
    pub(super) fn next(&mut self) -> Result<Option<(u64, WireValue<'b>)>, Damaged> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        let tag = self.varint()?;
        let value = match tag & 7 {
            0 => WireValue::Varint(self.varint()?),
            1 => WireValue::Fixed64(u64::from_le_bytes(self.array()?)),
            2 => {
                let length = usize::try_from(self.varint()?).map_err(|_| Damaged)?;
                WireValue::Bytes(self.take(length)?)
            }
            5 => WireValue::Fixed32(u32::from_le_bytes(self.array()?)),
            _ => return Err(Damaged),
        };
        Ok(Some((tag >> 3, value)))
    }

    fn varint(&mut self) -> Result<u64, Damaged> {
        let mut value = 0_u64;
        for shift in (0..70).step_by(7) {
            let (byte, rest) = self.rest.split_first().ok_or(Damaged)?;
            self.rest = rest;
            // The tenth byte has only one bit of the number.
            if shift == 63 && *byte > 1 {
                return Err(Damaged);
            }
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(Damaged)
    }

    fn take(&mut self, length: usize) -> Result<&'b [u8], Damaged> {
        let (taken, rest) = self.rest.split_at_checked(length).ok_or(Damaged)?;
        self.rest = rest;
        Ok(taken)
    }

    fn array<const LENGTH: usize>(&mut self) -> Result<[u8; LENGTH], Damaged> {
        self.take(LENGTH)?.try_into().map_err(|_| Damaged)
    }
}

impl<'b> WireValue<'b> {
    /// The bytes of a text, of bytes or of a message.
    ///
    /// # Errors
    /// If the value is a number.
    pub(super) fn bytes(&self) -> Result<&'b [u8], Damaged> {
        match self {
            WireValue::Bytes(bytes) => Ok(bytes),
            WireValue::Varint(_) | WireValue::Fixed64(_) | WireValue::Fixed32(_) => Err(Damaged),
        }
    }

    /// The text.
    ///
    /// # Errors
    /// If the value is a number, or the bytes are no UTF-8.
    pub(super) fn text(&self) -> Result<String, Damaged> {
        let text = std::str::from_utf8(self.bytes()?).map_err(|_| Damaged)?;
        Ok(text.to_owned())
    }

    /// The whole number.
    ///
    /// # Errors
    /// If the value is none.
    pub(super) fn integer(&self) -> Result<i64, Damaged> {
        match self {
            WireValue::Varint(number) => Ok(number.cast_signed()),
            WireValue::Fixed64(_) | WireValue::Fixed32(_) | WireValue::Bytes(_) => Err(Damaged),
        }
    }

    /// The floating-point number.
    ///
    /// # Errors
    /// If the value is none.
    pub(super) fn float(&self) -> Result<f64, Damaged> {
        match self {
            WireValue::Fixed64(bits) => Ok(f64::from_bits(*bits)),
            WireValue::Fixed32(bits) => Ok(f32::from_bits(*bits).into()),
            WireValue::Varint(_) | WireValue::Bytes(_) => Err(Damaged),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_read_to_the_end() {
        let bytes = [0x08, 0x96, 0x01, 0x12, 2, b'a', b'b', 0x1d, 1, 0, 0, 0];
        let mut reader = WireReader::new(&bytes);
        assert_eq!(reader.next(), Ok(Some((1, WireValue::Varint(150)))));
        assert_eq!(reader.next(), Ok(Some((2, WireValue::Bytes(b"ab")))));
        assert_eq!(reader.next(), Ok(Some((3, WireValue::Fixed32(1)))));
        assert_eq!(reader.next(), Ok(None));
    }

    #[test]
    fn negative_numbers_have_ten_bytes() {
        let mut bytes = vec![0x08];
        bytes.extend([0xff; 9]);
        bytes.push(1);
        let (_, value) = WireReader::new(&bytes).next().unwrap().unwrap();
        assert_eq!(value.integer(), Ok(-1));
        *bytes.last_mut().unwrap() = 2;
        assert_eq!(WireReader::new(&bytes).next(), Err(Damaged));
    }

    #[test]
    fn damaged_bytes_are_an_error() {
        for bytes in [&[0x08][..], &[0x12, 5, 1], &[0x0b], &[0x09, 1]] {
            assert_eq!(WireReader::new(bytes).next(), Err(Damaged), "{bytes:?}");
        }
    }
}
