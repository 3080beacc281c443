//! Reads directives and tags.
//!
//! Not here: what a tag means (the dialects).

use super::cursor::Cursor;
use super::problem::{Problem, Scan};
use super::token::{YamlToken, YamlTokenKind};

impl<'t> Cursor<'t> {
    /// Reads a directive and the rest of its line.
    pub(super) fn directive(&mut self) -> Scan<YamlToken> {
        let start = self.at;
        let problem = |what, at| Problem::new(what, at).within(start);
        self.skip();
        let name = self.at;
        if self.skip_letters() == 0 {
            let what = "could not find expected directive name";
            return Err(problem(what, self.at));
        }
        if !self.is_blank_or_end(0) {
            let what = "found unexpected non-alphabetical character";
            return Err(problem(what, self.at));
        }
        let mut token = match &self.text[name..self.at] {
            "YAML" => {
                self.skip_blanks();
                let major = self.version_number(start)?;
                if self.byte(0) != Some(b'.') {
                    let what = "did not find expected digit or '.' character";
                    return Err(problem(what, self.at));
                }
                self.skip();
                let minor = self.version_number(start)?;
                YamlToken::new(
                    YamlTokenKind::VersionDirective(major, minor),
                    start,
                    self.at,
                )
            }
            "TAG" => {
                self.skip_blanks();
                let handle = self.tag_handle(true, start)?;
                if !matches!(self.byte(0), Some(b' ' | b'\t')) {
                    return Err(problem("did not find expected whitespace", self.at));
                }
                self.skip_blanks();
                let prefix = self.at;
                self.skip_uri(true, 0, start)?;
                if !self.is_blank_or_end(0) {
                    let what = "did not find expected whitespace or line break";
                    return Err(problem(what, self.at));
                }
                YamlToken {
                    kind: YamlTokenKind::TagDirective,
                    start,
                    end: self.at,
                    text: format!("{handle} {}", &self.text[prefix..self.at]),
                }
            }
            _ => return Err(problem("found unknown directive name", self.at)),
        };
        token.end = self.at;
        self.skip_blanks();
        self.skip_comment();
        if self.byte(0).is_some() {
            if !self.is_break(0) {
                let what = "did not find expected comment or line break";
                return Err(problem(what, self.at));
            }
            self.skip_line();
        }
        Ok(token)
    }

    fn version_number(&mut self, start: usize) -> Scan<u32> {
        let mut value = 0;
        let mut length = 0;
        while let Some(digit) = self.byte(0).filter(u8::is_ascii_digit) {
            length += 1;
            if length > 9 {
                let what = "found extremely long version number";
                return Err(Problem::new(what, self.at).within(start));
            }
            value = value * 10 + u32::from(digit - b'0');
            self.skip();
        }
        if length == 0 {
            let what = "did not find expected version number";
            return Err(Problem::new(what, self.at).within(start));
        }
        Ok(value)
    }

    /// Reads a tag. In brackets a comma ends it.
    pub(super) fn tag(&mut self, in_flow: bool) -> Scan<YamlToken> {
        let start = self.at;
        let mut text = String::new();
        if self.byte(1) == Some(b'<') {
            self.skip();
            self.skip();
            self.skip_uri(true, 0, start)?;
            if self.byte(0) != Some(b'>') {
                let what = "did not find the expected '>'";
                return Err(Problem::new(what, self.at).within(start));
            }
            self.skip();
        } else {
            let handle = self.tag_handle(false, start)?;
            if handle.len() > 1 && handle.ends_with('!') {
                self.skip_uri(false, 0, start)?;
                text = handle.to_owned();
            } else {
                self.skip_uri(false, handle.len(), start)?;
                text.push('!');
            }
        }
        let ends = self.is_blank_or_end(0) || in_flow && self.byte(0) == Some(b',');
        if !ends {
            let what = "did not find expected whitespace or line break";
            return Err(Problem::new(what, self.at).within(start));
        }
        let mut token = YamlToken::new(YamlTokenKind::Tag, start, self.at);
        token.text = text;
        Ok(token)
    }

    /// Reads `!`, or a handle between two `!`.
    fn tag_handle(&mut self, in_directive: bool, start: usize) -> Scan<&'t str> {
        let from = self.at;
        let missing = |at| Problem::new("did not find expected '!'", at).within(start);
        if self.byte(0) != Some(b'!') {
            return Err(missing(self.at));
        }
        self.skip();
        let letters = self.skip_letters();
        if self.byte(0) == Some(b'!') {
            self.skip();
        } else if in_directive && letters > 0 {
            return Err(missing(self.at));
        }
        Ok(&self.text[from..self.at])
    }

    /// Skips the characters of a tag. `read` is the number of those that are read already. Some
    /// characters are possible only `in_full`, where brackets do not end the tag.
    fn skip_uri(&mut self, in_full: bool, read: usize, start: usize) -> Scan<()> {
        let from = self.at;
        while let Some(byte) = self.byte(0)
            && (byte.is_ascii_alphanumeric()
                || b"_-;/?:@&=+$.%!~*'()".contains(&byte)
                || in_full && b",[]".contains(&byte))
        {
            if byte == b'%' {
                self.skip_escaped_character(start)?;
            } else {
                self.skip();
            }
        }
        if read == 0 && self.at == from {
            let what = "did not find expected tag URI";
            return Err(Problem::new(what, self.at).within(start));
        }
        Ok(())
    }

    /// Skips the escaped bytes of one character.
    fn skip_escaped_character(&mut self, start: usize) -> Scan<()> {
        let mut rest = 0;
        loop {
            let hex = |byte: Option<u8>| char::from(byte?).to_digit(16);
            let (Some(b'%'), Some(high), Some(low)) =
                (self.byte(0), hex(self.byte(1)), hex(self.byte(2)))
            else {
                let what = "did not find URI escaped octet";
                return Err(Problem::new(what, self.at).within(start));
            };
            let octet = high * 16 + low;
            if rest == 0 {
                rest = match octet {
                    0..0x80 => 1,
                    0xc0..0xe0 => 2,
                    0xe0..0xf0 => 3,
                    0xf0..0xf8 => 4,
                    _ => {
                        let what = "found an incorrect leading UTF-8 octet";
                        return Err(Problem::new(what, self.at).within(start));
                    }
                };
            } else if octet & 0xc0 != 0x80 {
                let what = "found an incorrect trailing UTF-8 octet";
                return Err(Problem::new(what, self.at).within(start));
            }
            for _ in 0..3 {
                self.skip();
            }
            rest -= 1;
            if rest == 0 {
                return Ok(());
            }
        }
    }
}
