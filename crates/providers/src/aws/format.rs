//! The compact form of a catalogue: many types in little room, each readable without the others.
//!
//! `CATALOG.md` beside this file describes every byte. Opening looks at the index alone; a block is unpacked when one
//! of its types is first asked for. A file that is not of this form gives [`Malformed`], never a panic: everything read
//! is looked up with its bounds.
//!
//! Not here: what becomes of a type ([`types`](super::types)), and writing the form (the example `aws_catalog`, which
//! `cargo xtask catalog aws` runs).

use std::borrow::Cow;
use std::io::Read as _;
use std::ops::Range;

/// How a file begins.
pub const MAGIC: &[u8; 8] = b"cyantyp1";

/// Bytes of the head after the magic: four numbers of 32 bits.
pub const HEAD: usize = 8 + 4 * 4;

/// Bytes of a row of the table of types.
pub const TYPE_ROW: usize = 4 + 2 + 2 + 2;

/// The bit of a type's position that says that all things of the type can be listed.
pub const LISTED: u16 = 1 << 15;

/// Bytes of a row of the table of blocks.
pub const BLOCK_ROW: usize = 4 + 4 + 4;

/// The kind of a shape: the lowest four bits of its first number.
pub mod kind {
    /// Anything.
    pub const ANY: u64 = 0;
    /// Text.
    pub const STRING: u64 = 1;
    /// A 64-bit integer.
    pub const INTEGER: u64 = 2;
    /// A float.
    pub const FLOAT: u64 = 3;
    /// True or false.
    pub const BOOLEAN: u64 = 4;
    /// Items of one shape.
    pub const ARRAY: u64 = 5;
    /// Any keys, values of one shape.
    pub const MAP: u64 = 6;
    /// Known keys.
    pub const OBJECT: u64 = 7;
    /// The first shape that fits.
    pub const UNION: u64 = 8;
}

/// What else is said of a shape: bits of its first number, from the fifth. Those from `ALLOWED` on are followed by
/// something.
pub mod mark {
    /// Null is a value of it.
    pub const NULLABLE: u64 = 1 << 4;
    /// Order and repetition do not count.
    pub const SET: u64 = 1 << 5;
    /// The only values allowed.
    pub const ALLOWED: u64 = 1 << 6;
    /// Least number.
    pub const MIN: u64 = 1 << 7;
    /// Greatest number.
    pub const MAX: u64 = 1 << 8;
    /// Least number of characters.
    pub const MIN_LENGTH: u64 = 1 << 9;
    /// Greatest number of characters.
    pub const MAX_LENGTH: u64 = 1 << 10;
    /// Least number of items.
    pub const MIN_ITEMS: u64 = 1 << 11;
    /// Greatest number of items.
    pub const MAX_ITEMS: u64 = 1 << 12;
    /// A regular expression.
    pub const PATTERN: u64 = 1 << 13;
    /// The field that identifies an item.
    pub const KEYED_BY: u64 = 1 << 14;
}

/// What a field of an object is beside its shape.
pub mod flag {
    /// Must be written.
    pub const REQUIRED: u64 = 1;
    /// Filled in by the provider.
    pub const COMPUTED: u64 = 1 << 1;
    /// Computed where it is not written.
    pub const OPTIONAL: u64 = 1 << 2;
    /// Must not be shown.
    pub const SENSITIVE: u64 = 1 << 3;
    /// No two things share it.
    pub const UNIQUE: u64 = 1 << 4;
    /// A change makes the thing anew.
    pub const MUST_RECREATE: u64 = 1 << 5;
    /// An update may change it.
    pub const CHANGES_ON_UPDATE: u64 = 1 << 6;
    /// Cannot be read back.
    pub const WRITE_ONLY: u64 = 1 << 7;
}

/// What a type can do: which of its handlers there are, and how it is replaced.
pub mod ability {
    /// It can be made.
    pub const CREATE: u64 = 1;
    /// It can be read.
    pub const READ: u64 = 1 << 1;
    /// It can be changed.
    pub const UPDATE: u64 = 1 << 2;
    /// It can be deleted.
    pub const DELETE: u64 = 1 << 3;
    /// All of them can be listed.
    pub const LIST: u64 = 1 << 4;
    /// The new one is made before the old one is deleted.
    pub const CREATE_FIRST: u64 = 1 << 5;
}

/// A file is not a catalogue in compact form, or is cut off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this is no catalogue in compact form, or a damaged one")]
pub struct Malformed;

/// A file in compact form.
#[derive(Debug)]
pub struct Packed {
    bytes: Cow<'static, [u8]>,
    types: usize,
    blocks: usize,
    about: Range<usize>,
    names: Range<usize>,
}

/// Where a type lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Which block.
    pub block: usize,
    /// Which type of it.
    pub position: usize,
    /// All things of the type can be listed.
    pub is_listed: bool,
}

impl Packed {
    /// Reads the head.
    pub fn open(bytes: Cow<'static, [u8]>) -> Result<Packed, Malformed> {
        if bytes.get(..8) != Some(MAGIC) {
            return Err(Malformed);
        }
        let number = |at: usize| u32_at(&bytes, 8 + 4 * at).ok_or(Malformed);
        let (types, blocks, about, names) = (number(0)?, number(1)?, number(2)?, number(3)?);
        let names_at = HEAD + about;
        let end = names_at + names + types * TYPE_ROW + blocks * BLOCK_ROW;
        if end > bytes.len() || std::str::from_utf8(&bytes[HEAD..names_at + names]).is_err() {
            return Err(Malformed);
        }
        Ok(Packed { types, blocks, about: HEAD..names_at, names: names_at..names_at + names, bytes })
    }

    /// Where its facts come from: the package, its version, and the day of the facts.
    pub fn about(&self) -> &str {
        self.text(self.about.clone())
    }

    /// How many types it has.
    pub fn len(&self) -> usize {
        self.types
    }

    /// Whether it has no type.
    pub fn is_empty(&self) -> bool {
        self.types == 0
    }

    /// How many blocks it has.
    pub fn blocks(&self) -> usize {
        self.blocks
    }

    /// The names of all types, in the order of the index.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        (0..self.types).map(|at| self.name(at))
    }

    /// The name of a type, by its place in the index; empty if there is none.
    pub fn name(&self, at: usize) -> &str {
        let Some(row) = self.type_row(at) else { return "" };
        let start = self.names.start + u32_at(row, 0).unwrap_or_default();
        self.text(start..start + u16_at(row, 4))
    }

    /// Where the type of that place in the index lies.
    pub fn entry(&self, at: usize) -> Option<Entry> {
        let row = self.type_row(at)?;
        let position = u16_at(row, 8);
        let listed = usize::from(LISTED);
        Some(Entry { block: u16_at(row, 6), position: position & !listed, is_listed: position & listed != 0 })
    }

    /// The place in the index of the type with this name, without hyphens and in lower case.
    pub fn find(&self, plain: &str) -> Option<usize> {
        let (mut low, mut high) = (0, self.types);
        while low < high {
            let middle = low + (high - low) / 2;
            match self.name(middle).bytes().filter(|byte| *byte != b'-').cmp(plain.bytes()) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => return Some(middle),
            }
        }
        None
    }

    /// Unpacks a block.
    pub fn block(&self, at: usize) -> Result<Block, Malformed> {
        let row = self.names.end + self.types * TYPE_ROW + at * BLOCK_ROW;
        let number = |place: usize| u32_at(&self.bytes, row + 4 * place).ok_or(Malformed);
        let (offset, packed, unpacked) = (number(0)?, number(1)?, number(2)?);
        if at >= self.blocks {
            return Err(Malformed);
        }
        let start = self.names.end + self.types * TYPE_ROW + self.blocks * BLOCK_ROW + offset;
        let packed = self.bytes.get(start..start + packed).ok_or(Malformed)?;
        let mut bytes = Vec::with_capacity(unpacked);
        // One byte more than there should be, so that a block which lies about its length is noticed.
        let read = flate2::read::DeflateDecoder::new(packed).take(unpacked as u64 + 1).read_to_end(&mut bytes);
        if read.is_err() || bytes.len() != unpacked {
            return Err(Malformed);
        }
        Block::open(bytes)
    }

    fn type_row(&self, at: usize) -> Option<&[u8]> {
        let start = self.names.end + at * TYPE_ROW;
        (at < self.types).then(|| self.bytes.get(start..start + TYPE_ROW))?
    }

    fn text(&self, range: Range<usize>) -> &str {
        self.bytes.get(range).and_then(|bytes| std::str::from_utf8(bytes).ok()).unwrap_or_default()
    }
}

fn u32_at(bytes: &[u8], at: usize) -> Option<usize> {
    let bytes: [u8; 4] = bytes.get(at..at + 4)?.try_into().ok()?;
    Some(u32::from_le_bytes(bytes) as usize)
}

fn u16_at(bytes: &[u8], at: usize) -> usize {
    bytes.get(at..at + 2).and_then(|bytes| bytes.try_into().ok()).map_or(0, |bytes| u16::from_le_bytes(bytes) as usize)
}

/// An unpacked block: texts, shapes, types.
#[derive(Debug)]
pub struct Block {
    bytes: Vec<u8>,
    /// Where each text lies.
    texts: Vec<Range<u32>>,
    /// Where each shape begins.
    shapes: Vec<u32>,
    /// Where each type begins.
    types: Vec<u32>,
}

/// A shape as it is written: what a field holds, apart from where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Shape<'b> {
    /// What it holds.
    pub kind: ShapeKind<'b>,
    /// The marks without a value: [`mark::NULLABLE`], [`mark::SET`].
    pub marks: u64,
    /// The only values allowed; JSON texts if the kind is not that of texts.
    pub allowed: Vec<&'b str>,
    /// Least and greatest number, as decimal texts.
    pub range: (Option<&'b str>, Option<&'b str>),
    /// Least and greatest number of characters.
    pub length: (Option<u64>, Option<u64>),
    /// Least and greatest number of items.
    pub items: (Option<u64>, Option<u64>),
    /// A regular expression.
    pub pattern: Option<&'b str>,
    /// The field that identifies an item.
    pub keyed_by: Option<&'b str>,
}

/// What a shape holds; shapes inside by their numbers, which may lead back to one around.
#[derive(Clone, Debug, PartialEq)]
pub enum ShapeKind<'b> {
    /// Anything.
    Any,
    /// Text.
    String,
    /// A 64-bit integer.
    Integer,
    /// A float.
    Float,
    /// True or false.
    Boolean,
    /// Items of one shape.
    Array(usize),
    /// Any keys, values of one shape.
    Map(usize),
    /// Known keys.
    Object(Vec<Member<'b>>),
    /// The first that fits.
    Union(Vec<usize>),
}

/// A field of an object.
#[derive(Clone, Debug, PartialEq)]
pub struct Member<'b> {
    /// As a document writes it.
    pub name: Cow<'b, str>,
    /// As CloudFormation writes it.
    pub original: &'b str,
    /// What it is beside its shape: [`flag`].
    pub flags: u64,
    /// Its shape.
    pub shape: usize,
}

/// A type as it is written.
#[derive(Clone, Debug, PartialEq)]
pub struct PackedType<'b> {
    /// As CloudFormation writes it: `AWS::S3::Bucket`.
    pub original: &'b str,
    /// The shape of its spec: an object.
    pub shape: usize,
    /// What it can do: [`ability`].
    pub abilities: u64,
    /// The field that stands for it.
    pub id_field: Option<&'b str>,
    /// The paths that identify it together, in CloudFormation's names, with `/` between: `RestApiId`,
    /// `Device/DeviceName`.
    pub identifier: Vec<&'b str>,
}

impl Block {
    /// Finds out where everything begins.
    pub fn open(bytes: Vec<u8>) -> Result<Block, Malformed> {
        let mut block = Block { texts: Vec::new(), shapes: Vec::new(), types: Vec::new(), bytes };
        let (texts, shapes, types) = {
            let mut reader = Reader { bytes: &block.bytes, at: 0 };
            let count = reader.count()?;
            let mut lengths = Vec::with_capacity(count);
            for _ in 0..count {
                lengths.push(reader.count()?);
            }
            let mut texts = Vec::with_capacity(count);
            for length in lengths {
                let start = reader.at;
                let text = reader.skip(length)?;
                std::str::from_utf8(text).map_err(|_| Malformed)?;
                texts.push(start as u32..reader.at as u32);
            }
            (texts, reader.parts()?, reader.parts()?)
        };
        (block.texts, block.shapes, block.types) = (texts, shapes, types);
        Ok(block)
    }

    /// How many shapes there are.
    pub fn shapes(&self) -> usize {
        self.shapes.len()
    }

    /// How many types there are.
    pub fn types(&self) -> usize {
        self.types.len()
    }

    /// The type at a position.
    pub fn ty(&self, position: usize) -> Result<PackedType<'_>, Malformed> {
        let mut reader = self.reader(&self.types, position)?;
        let original = self.text(reader.count()?)?;
        let shape = self.shape_number(reader.count()?)?;
        let abilities = reader.number()?;
        let id_field = reader.number()?;
        let id_field = if id_field == 0 { None } else { Some(self.text(id_field as usize - 1)?) };
        let mut identifier = Vec::new();
        for _ in 0..reader.count()? {
            identifier.push(self.text(reader.count()?)?);
        }
        Ok(PackedType { original, shape, abilities, id_field, identifier })
    }

    /// The shape of a number.
    pub fn shape(&self, number: usize) -> Result<Shape<'_>, Malformed> {
        let mut reader = self.reader(&self.shapes, number)?;
        let head = reader.number()?;
        let has = |mark: u64| head & mark != 0;
        let mut allowed = Vec::new();
        if has(mark::ALLOWED) {
            for _ in 0..reader.count()? {
                allowed.push(self.text(reader.count()?)?);
            }
        }
        let mut text = |mark: u64| if has(mark) { self.text(reader.count()?).map(Some) } else { Ok(None) };
        let range = (text(mark::MIN)?, text(mark::MAX)?);
        let mut number = |mark: u64| if has(mark) { reader.number().map(Some) } else { Ok(None) };
        let length = (number(mark::MIN_LENGTH)?, number(mark::MAX_LENGTH)?);
        let items = (number(mark::MIN_ITEMS)?, number(mark::MAX_ITEMS)?);
        let mut text = |mark: u64| if has(mark) { self.text(reader.count()?).map(Some) } else { Ok(None) };
        let pattern = text(mark::PATTERN)?;
        let keyed_by = text(mark::KEYED_BY)?;
        let kind = match head & 0xf {
            kind::ANY => ShapeKind::Any,
            kind::STRING => ShapeKind::String,
            kind::INTEGER => ShapeKind::Integer,
            kind::FLOAT => ShapeKind::Float,
            kind::BOOLEAN => ShapeKind::Boolean,
            kind::ARRAY => ShapeKind::Array(self.shape_number(reader.count()?)?),
            kind::MAP => ShapeKind::Map(self.shape_number(reader.count()?)?),
            kind::OBJECT => {
                let count = reader.count()?;
                let mut members = Vec::with_capacity(count.min(self.bytes.len()));
                for _ in 0..count {
                    members.push(self.member(&mut reader)?);
                }
                ShapeKind::Object(members)
            }
            kind::UNION => {
                let mut branches = Vec::new();
                for _ in 0..reader.count()? {
                    branches.push(self.shape_number(reader.count()?)?);
                }
                ShapeKind::Union(branches)
            }
            _ => return Err(Malformed),
        };
        let marks = head & (mark::NULLABLE | mark::SET);
        Ok(Shape { kind, marks, allowed, range, length, items, pattern, keyed_by })
    }

    fn member<'b>(&'b self, reader: &mut Reader<'b>) -> Result<Member<'b>, Malformed> {
        let name = reader.count()?;
        let original = self.text(name >> 1)?;
        let name = if name & 1 == 1 { Cow::Borrowed(self.text(reader.count()?)?) } else { usual_name(original) };
        let shape = reader.count()?;
        let flags = if shape & 1 == 1 { reader.number()? } else { 0 };
        Ok(Member { name, original, flags, shape: self.shape_number(shape >> 1)? })
    }

    fn reader(&self, starts: &[u32], number: usize) -> Result<Reader<'_>, Malformed> {
        let at = *starts.get(number).ok_or(Malformed)? as usize;
        Ok(Reader { bytes: &self.bytes, at })
    }

    fn shape_number(&self, number: usize) -> Result<usize, Malformed> {
        if number < self.shapes.len() { Ok(number) } else { Err(Malformed) }
    }

    fn text(&self, number: usize) -> Result<&str, Malformed> {
        let range = self.texts.get(number).ok_or(Malformed)?;
        let bytes = self.bytes.get(range.start as usize..range.end as usize).ok_or(Malformed)?;
        std::str::from_utf8(bytes).map_err(|_| Malformed)
    }
}

/// How a document writes a name for which the file says nothing else: with a small first letter.
pub fn usual_name(original: &str) -> Cow<'_, str> {
    match original.bytes().next() {
        Some(first) if first.is_ascii_uppercase() => {
            let mut name = original.to_owned();
            name[..1].make_ascii_lowercase();
            Cow::Owned(name)
        }
        _ => Cow::Borrowed(original),
    }
}

struct Reader<'b> {
    bytes: &'b [u8],
    at: usize,
}

impl<'b> Reader<'b> {
    /// Seven bits a byte, the lowest first; the highest bit says that more follow.
    fn number(&mut self) -> Result<u64, Malformed> {
        let mut number = 0;
        for shift in (0..63).step_by(7) {
            let byte = *self.bytes.get(self.at).ok_or(Malformed)?;
            self.at += 1;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(Malformed)
    }

    /// A number of things or the place of one. Never more than there are bytes, so nobody reserves room for a lie.
    fn count(&mut self) -> Result<usize, Malformed> {
        let number = self.number()? as usize;
        // Numbers of shapes and texts carry a bit beside.
        if number <= 2 * self.bytes.len() + 1 { Ok(number) } else { Err(Malformed) }
    }

    fn skip(&mut self, length: usize) -> Result<&'b [u8], Malformed> {
        let bytes = self.bytes.get(self.at..self.at + length).ok_or(Malformed)?;
        self.at += length;
        Ok(bytes)
    }

    /// Parts one after another, each with its length in front: where each begins.
    fn parts(&mut self) -> Result<Vec<u32>, Malformed> {
        let count = self.count()?;
        let mut starts = Vec::with_capacity(count);
        for _ in 0..count {
            let length = self.count()?;
            starts.push(self.at as u32);
            self.skip(length)?;
        }
        Ok(starts)
    }
}
